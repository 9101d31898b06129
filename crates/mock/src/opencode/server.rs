//! The HTTP server of the mock opencode, with one request for each connection, its keyboard on stdin, and its output
//! on stdout.
//! The requests, and the choice of the answer that counts, are left to `core.rs`.

use std::{
    collections::BTreeSet,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    time::{Duration, SystemTime},
};

use askbridge_os::exit;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::core::{Core, OpencodeEvent, Sample};
use crate::keyboard::{self, say};

/// The help text below the options.
pub const HELP: &str = "\
Lines on stdin are its keyboard:
  ask [question|several|permission|edit] [DIRECTORY]
                      ask in a project, or in the folder that it runs in
  say TEXT            let the agent say this, and run `make` in vain
  answer TEXT ...     answer the oldest question with an option or a text
  approve, always     allow what the oldest permission is for
  decline             reject what was asked first
  gap [LINE]          close all streams of events, and do LINE before another
                      one is opened
  break COUNT         end so many streams as they begin, and say `broken`
  fail DIRECTORY      return an error for the lists of this project

It says on stdout what the model is told, as `told REQUEST CLIENT JSON`; the
client is `keyboard` for an answer there. `late REQUEST` is an answer that it did
not take.

Environment:
  OPENCODE_SERVER_PASSWORD  the password that it wants, with the user `opencode`

Exit codes:
  0    stdin has ended
  2    the command line was not understood
  125  the port cannot be bound";

/// The most events that may wait for a client.
const EVENTS: usize = 256;
/// Interval of the heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Settings of the mock opencode.
#[derive(Clone, Debug)]
pub struct OpencodeSettings {
    /// The port; 0 stands for any that is free.
    pub port: u16,
    /// The folder that it runs in.
    pub cwd: PathBuf,
    /// The password that a client must send.
    pub password: Option<String>,
}

struct Server {
    authorization: Option<String>,
    state: Mutex<State>,
}

struct State {
    cwd: String,
    core: Core,
    /// The projects in which something was asked.
    projects: BTreeSet<String>,
    /// The projects whose lists fail.
    failing: BTreeSet<String>,
    /// How many streams end as they begin.
    breaks: u32,
    /// The streams of events. The flag says whether a stream has the events of all projects.
    streams: Vec<(bool, SyncSender<Value>)>,
}

/// Runs the mock until stdin ends.
pub fn run(settings: &OpencodeSettings) -> ExitCode {
    keyboard::code("opencode", serve(settings).map(|()| exit::OK))
}

fn serve(settings: &OpencodeSettings) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port))?;
    let authorization = settings.password.as_ref();
    let state = State {
        cwd: settings.cwd.display().to_string(),
        core: Core::default(),
        projects: BTreeSet::new(),
        failing: BTreeSet::new(),
        breaks: 0,
        streams: Vec::new(),
    };
    let server = Arc::new(Server {
        authorization: authorization
            .map(|password| format!("Basic {}", STANDARD.encode(format!("opencode:{password}")))),
        state: Mutex::new(state),
    });
    say(format_args!("listening http://{}", listener.local_addr()?))?;
    let accepting = Arc::clone(&server);
    keyboard::accept(listener, move |_, stream| accepting.connection(&stream));
    keyboard::type_on(|line| server.lock().key(line))
}

impl Server {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic in one connection must not end the others.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connection(&self, stream: &TcpStream) -> io::Result<()> {
        let request = read(stream)?;
        if self.authorization.is_some() && request.authorization != self.authorization {
            return respond(stream, 401, "text/plain", "");
        }
        let mut state = self.lock();
        let directory = request.directory.clone().unwrap_or_else(|| state.cwd.clone());
        let directory = &*directory;
        let json = |status, body: Value| respond(stream, status, "application/json", &body.to_string());
        let path: Vec<_> = request.path.split('/').skip(1).collect();
        match (&*request.method, &*path) {
            ("GET", ["global", "health"]) => json(200, json!({ "healthy": true, "version": "1.18.33" })),
            ("GET", ["global", "event"]) => serve_events(stream, true, state),
            ("GET", ["event"]) => serve_events(stream, false, state),
            ("GET", ["path"]) => json(200, json!({ "directory": directory, "worktree": directory })),
            ("GET", ["project"]) => json(200, state.projects()),
            ("GET", ["question" | "permission"]) if state.failing.contains(directory) => {
                json(500, json!({ "name": "UnknownError" }))
            }
            ("GET", [kind @ ("question" | "permission")]) => {
                let open = state.core.list(directory, *kind == "permission");
                json(200, open.into())
            }
            ("POST", ["question" | "permission", id, "reply" | "reject"]) if !id.is_empty() => {
                match state.reply(&request, id, directory)? {
                    Some(true) => json(200, true.into()),
                    Some(false) => {
                        let tag = if path[0] == "question" { "Question" } else { "Permission" };
                        json(404, json!({ "_tag": format!("{tag}NotFoundError"), "requestID": id }))
                    }
                    None => json(400, json!({ "name": "BadRequest" })),
                }
            }
            // Any other path returns the web page.
            _ => respond(stream, 200, "text/html", "<!doctype html><title>opencode</title>"),
        }
    }
}

/// Writes the events that happen from now on.
fn serve_events(stream: &TcpStream, is_global: bool, mut state: MutexGuard<'_, State>) -> io::Result<()> {
    if state.breaks > 0 {
        state.breaks -= 1;
        say("broken")?;
        return begin_events(stream);
    }
    let (tell, told) = sync_channel(EVENTS);
    // The stream is registered before its head is written, so that the client misses no event after the head.
    state.streams.push((is_global, tell));
    // The lock must not be held while a client reads.
    drop(state);
    begin_events(stream)?;
    let connected = json!({ "id": "evt_0", "type": "server.connected", "properties": {} });
    write_event(stream, &if is_global { json!({ "payload": connected }) } else { connected })?;
    write_events(stream, is_global, &told)
}

fn write_events(stream: &TcpStream, is_global: bool, told: &Receiver<Value>) -> io::Result<()> {
    let beat = json!({ "id": "evt_0", "type": "server.heartbeat", "properties": {} });
    let beat = if is_global { json!({ "payload": beat }) } else { beat };
    loop {
        match told.recv_timeout(HEARTBEAT) {
            Ok(event) => write_event(stream, &event)?,
            Err(RecvTimeoutError::Timeout) => write_event(stream, &beat)?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

fn write_event(mut stream: &TcpStream, event: &Value) -> io::Result<()> {
    stream.write_all(format!("data: {event}\n\n").as_bytes())
}

impl State {
    /// Carries out a line of the keyboard.
    fn key(&mut self, line: &str) -> io::Result<()> {
        let words: Vec<_> = line.split_whitespace().collect();
        match *words {
            ["ask", ref rest @ ..] => {
                let sample = rest.first().map_or(Some(Sample::Question), |name| Sample::named(name));
                let Some(sample) = sample else { return say(format_args!("unknown {line}")) };
                let directory = rest.get(1).map_or(&*self.cwd, |directory| directory).to_owned();
                let (id, happened) = self.core.ask(sample, &directory);
                self.projects.insert(directory);
                self.tell(&happened);
                say(format_args!("asked {id}"))
            }
            ["say", ..] => {
                let text = line.trim_start_matches("say").trim();
                for happened in self.core.say(text, &self.cwd.clone()) {
                    self.tell(&happened);
                }
                Ok(())
            }
            ["answer", ref texts @ ..] => {
                self.press(&json!({ "answers": texts.iter().map(|text| [text]).collect::<Vec<_>>() }))
            }
            ["approve"] => self.press(&json!({ "reply": "once" })),
            ["always"] => self.press(&json!({ "reply": "always" })),
            ["decline"] => {
                let is_permission = self.core.oldest().is_some_and(|id| id.starts_with("per"));
                self.press(&if is_permission { json!({ "reply": "reject" }) } else { Value::Null })
            }
            ["gap", ref rest @ ..] => {
                // The caller holds the lock until the line is done, so no stream is opened in between.
                self.streams.clear();
                say("gap")?;
                if rest.is_empty() { Ok(()) } else { self.key(&rest.join(" ")) }
            }
            ["break", count] => {
                self.breaks = count.parse().unwrap_or_default();
                Ok(())
            }
            ["fail", directory] => {
                self.failing.insert(directory.to_owned());
                say(format_args!("failing {directory}"))
            }
            _ => say(format_args!("unknown {line}")),
        }
    }

    /// Answers the oldest open request.
    fn press(&mut self, by: &Value) -> io::Result<()> {
        match self.core.oldest().map(str::to_owned) {
            Some(id) => self.end(&id, None, "keyboard", by).map(|_| ()),
            None => say("nothing is open"),
        }
    }

    /// Handles a reply. Returns whether it came in time, or `None` if its body does not fit.
    fn reply(&mut self, request: &Request, id: &str, directory: &str) -> io::Result<Option<bool>> {
        let by: Value = match request.path.ends_with("/reject") {
            true => Value::Null,
            false => serde_json::from_slice(&request.body).unwrap_or_default(),
        };
        let wanted = if request.path.starts_with("/permission") { "reply" } else { "answers" };
        if by.get(wanted).is_none() && !request.path.ends_with("/reject") {
            return Ok(None);
        }
        self.end(id, Some(directory), "http", &by).map(Some)
    }

    /// Settles a request, unless it is settled already. Returns whether it was open.
    fn end(&mut self, id: &str, directory: Option<&str>, client: &str, by: &Value) -> io::Result<bool> {
        let Some(happened) = self.core.end(id, directory, by) else {
            say(format_args!("late {id}"))?;
            return Ok(false);
        };
        self.tell(&happened);
        say(format_args!("told {id} {client} {by}"))?;
        Ok(true)
    }

    /// Returns the projects in which something was asked. All of them count as updated just now.
    fn projects(&self) -> Value {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
        let project =
            |folder: &String| json!({ "id": folder, "worktree": folder, "time": { "updated": now } });
        self.projects.iter().map(project).collect()
    }

    /// Sends an event to all streams. A stream whose client does not read is dropped.
    fn tell(&mut self, happened: &OpencodeEvent) {
        let OpencodeEvent { directory, event } = happened;
        self.streams.retain(|(is_global, stream)| {
            let told = match is_global {
                true => json!({ "directory": directory, "payload": event }),
                false => event.clone(),
            };
            stream.try_send(told).is_ok()
        });
    }
}

/// The most bytes of a request that are read.
const LONGEST: u64 = 1 << 20;

/// A request.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub method: String,
    /// The path without the query.
    pub path: String,
    pub directory: Option<String>,
    pub authorization: Option<String>,
    pub body: Vec<u8>,
}

/// Reads a request.
pub(super) fn read(stream: &TcpStream) -> io::Result<Request> {
    let mut input = BufReader::new(stream.take(LONGEST));
    let mut line = String::new();
    input.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (method, target) = words.next().zip(words.next()).ok_or(io::ErrorKind::InvalidData)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let directory = pairs.find(|(name, _)| *name == "directory").map(|(_, value)| decoded(value));
    let mut request =
        Request { method: method.to_owned(), path: path.to_owned(), directory, ..Request::default() };
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => request.authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    input.take(length).read_to_end(&mut request.body)?;
    Ok(request)
}

/// Writes a whole response, after which the connection closes.
pub(super) fn respond(mut stream: &TcpStream, status: u16, kind: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} Mock\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Writes the head of a stream of events.
pub(super) fn begin_events(mut stream: &TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
}

fn decoded(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
