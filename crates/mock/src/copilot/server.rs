//! The server of the mock Copilot: messages behind headers with their length, its keyboard on stdin, and its output on
//! stdout. The requests, and the choice of the answer that counts, are left to `core.rs`.

use std::{
    collections::BTreeSet,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{SyncSender, sync_channel},
    },
    thread,
};

use askbridge_os::exit;
use serde_json::{Value, json};

use super::core::{CopilotEvent, Core, Sample};
use crate::keyboard::{self, say};

/// The help text below the options.
pub const HELP: &str = "\
Lines on stdin are its keyboard:
  ask [question|choices|permission|plan]   ask something
  say TEXT                                 let the agent say this, and run `make` in vain
  answer TEXT                              answer what was asked first
  approve, decline                         allow or reject what was asked first
  cd FOLDER                                let the sessions work in another folder
  session NAME                             show this session; the others continue
  leave NAME                               end a session and what is open there
  forget                                   forget all earlier events
  gap [LINE; ...]                          close all connections, and do these
                                           lines before another one is served
  break COUNT                              close so many connections when they
                                           join a session

It says on stdout which clients join a session, as `joined CLIENT SESSION`, and
what the model is told, as `told REQUEST CLIENT JSON`; the client is `keyboard`
for an answer there. `late REQUEST` is an answer that it did not take.

Environment:
  COPILOT_CONNECTION_TOKEN  the token that it wants

Exit codes:
  0    stdin has ended
  2    the command line was not understood
  125  the port cannot be bound";

/// The session that its terminal shows first.
const SESSION: &str = "session-1";
/// The most messages that may wait for a client.
const MESSAGES: usize = 256;
/// JSON-RPC's code for a method that does not exist.
const NO_METHOD: i64 = -32601;
/// JSON-RPC's code for parameters that do not fit.
const BAD_PARAMS: i64 = -32602;

/// Settings of the mock Copilot.
#[derive(Clone, Debug)]
pub struct CopilotSettings {
    /// The port; 0 stands for any that is free.
    pub port: u16,
    /// The folder that it works in.
    pub cwd: PathBuf,
    /// The token that a client must send.
    pub token: Option<String>,
}

struct Server {
    token: Option<String>,
    state: Mutex<State>,
}

struct State {
    core: Core,
    /// The folder that the sessions work in.
    cwd: PathBuf,
    clients: Vec<Client>,
    /// The session that the terminal shows.
    shown: String,
    sessions: BTreeSet<String>,
    /// How many connections close when they join a session.
    breaks: u32,
}

struct Client {
    stream: TcpStream,
    /// The sessions that the client has joined. It gets the events of these only.
    joined: BTreeSet<String>,
    number: u64,
    messages: SyncSender<String>,
}

/// Runs the mock until stdin ends.
pub fn run(settings: &CopilotSettings) -> ExitCode {
    keyboard::code("copilot", serve(settings).map(|()| exit::OK))
}

fn serve(settings: &CopilotSettings) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port))?;
    let CopilotSettings { cwd, token, .. } = settings.clone();
    let state = State {
        core: Core::default(),
        cwd,
        clients: Vec::new(),
        shown: SESSION.to_owned(),
        sessions: [SESSION.to_owned()].into(),
        breaks: 0,
    };
    let server = Arc::new(Server { token, state: Mutex::new(state) });
    say(format_args!("listening {}", listener.local_addr()?.port()))?;
    let accepting = Arc::clone(&server);
    keyboard::accept(listener, move |number, stream| accepting.connection(number, stream));
    keyboard::type_on(|line| server.lock().key(line))
}

impl Server {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic in one connection must not end the others.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connection(&self, number: u64, stream: TcpStream) -> io::Result<()> {
        let (messages, written) = sync_channel::<String>(MESSAGES);
        // A separate thread writes, so that a client that does not read cannot hold up the lock.
        let output = stream.try_clone()?;
        thread::spawn(move || {
            while let Ok(message) = written.recv() {
                if write(&output, &message).is_err() {
                    break;
                }
            }
        });
        let (joined, messages_of) = (BTreeSet::new(), messages.clone());
        let client = Client { stream: stream.try_clone()?, joined, number, messages: messages_of };
        self.lock().clients.push(client);
        let served = self.calls(number, &stream, &messages);
        // Dropping the stream would not close the connection, because clones of it exist.
        stream.shutdown(Shutdown::Both).unwrap_or_default();
        self.lock().clients.retain(|client| client.number != number);
        served
    }

    fn calls(&self, number: u64, stream: &TcpStream, messages: &SyncSender<String>) -> io::Result<()> {
        let mut input = BufReader::new(stream);
        while let Some(message) = read(&mut input)? {
            let Ok(request) = serde_json::from_slice::<Value>(&message) else { continue };
            let Some(id) = request.get("id") else { continue };
            let method = request["method"].as_str().unwrap_or_default();
            let reply = match self.call(number, method, &request["params"])? {
                Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                Err((code, message)) => {
                    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
                }
            };
            // This waits for a client that does not read, and holds up only this client: the lock is free here.
            if messages.send(reply.to_string()).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Handles a request of a client.
    fn call(&self, client: u64, method: &str, params: &Value) -> io::Result<Result<Value, (i64, String)>> {
        let mut state = self.lock();
        let session = params["sessionId"].as_str().unwrap_or_default();
        if let Some((sample, member)) = Sample::of_method(method) {
            let id = params["requestId"].as_str().unwrap_or_default();
            let success = state.end(id, sample, "rpc", &params[member])?;
            return Ok(Ok(json!({ "success": success })));
        }
        Ok(match method {
            "connect" if self.token.is_some() && params["token"].as_str() != self.token.as_deref() => {
                Err((BAD_PARAMS, "the token is not valid".to_owned()))
            }
            "connect" => Ok(json!({ "ok": true, "protocolVersion": 3, "version": "1.0.102" })),
            "session.getForeground" => {
                Ok(json!({ "sessionId": state.shown, "workspacePath": files(&state.shown) }))
            }
            "session.resume" if state.breaks > 0 => {
                state.breaks -= 1;
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            _ if !state.sessions.contains(session) => Err((BAD_PARAMS, "no such session".to_owned())),
            "session.resume" => {
                let known = state.clients.iter_mut().filter(|known| known.number == client);
                known.for_each(|client| client.joined.extend([session.to_owned()]));
                say(format_args!("joined {client} {session}"))?;
                Ok(json!({ "sessionId": session, "workspacePath": files(session) }))
            }
            "session.metadata.snapshot" => Ok(json!({
                "sessionId": session, "workingDirectory": state.cwd, "workspacePath": files(session),
            })),
            "session.permissions.pendingRequests" => Ok(json!({ "items": state.core.permissions(session) })),
            "session.eventLog.read" => Ok(json!({
                "events": state.core.log(session), "cursor": "end", "hasMore": false, "cursorStatus": "ok",
            })),
            _ => Err((NO_METHOD, format!("Unhandled method {method}"))),
        })
    }
}

/// Returns the folder of Copilot's own files for a session. It is not the project.
fn files(session: &str) -> PathBuf {
    Path::new("/nonexistent/.copilot/session-state").join(session)
}

impl State {
    /// Carries out a line of the keyboard.
    fn key(&mut self, line: &str) -> io::Result<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "ask" => {
                let sample = if rest.is_empty() { Some(Sample::Form) } else { Sample::named(rest) };
                let Some(sample) = sample else { return say(format_args!("unknown {line}")) };
                let (id, happened) = self.core.ask(sample, &self.shown);
                self.tell(&happened);
                say(format_args!("asked {id}"))
            }
            "say" => {
                let make = json!({ "toolCallId": "call-make", "toolName": "bash", "arguments": { "command": "make" } });
                for (kind, data) in [
                    ("assistant.message", json!({ "messageId": "message-1", "content": rest })),
                    ("tool.execution_start", make),
                    ("tool.execution_complete", json!({ "toolCallId": "call-make", "success": false })),
                ] {
                    let event = json!({ "type": kind, "data": data });
                    self.tell(&CopilotEvent { session: self.shown.clone(), event });
                }
                Ok(())
            }
            "answer" | "approve" | "decline" => self.press(word, rest),
            "cd" => {
                self.cwd = rest.into();
                let event = json!({ "type": "session.context_changed", "data": { "cwd": rest } });
                for session in self.sessions.clone() {
                    self.tell(&CopilotEvent { session, event: event.clone() });
                }
                say("cd")
            }
            "session" => {
                self.shown = rest.to_owned();
                self.sessions.insert(rest.to_owned());
                let shown = json!({ "sessionId": rest, "type": "session.foreground" });
                self.notify("session.lifecycle", &shown, |_| true);
                Ok(())
            }
            "leave" => {
                self.sessions.remove(rest);
                self.core.leave(rest);
                Ok(())
            }
            "forget" => {
                self.core.forget();
                Ok(())
            }
            "gap" => {
                // The caller holds the lock until the lines are done, so no connection is served between them.
                for client in self.clients.drain(..) {
                    client.stream.shutdown(Shutdown::Both).unwrap_or_default();
                }
                say("gap")?;
                rest.split_terminator(';').try_for_each(|line| self.key(line.trim()))
            }
            "break" => {
                self.breaks = rest.parse().unwrap_or_default();
                Ok(())
            }
            _ => say(format_args!("unknown {line}")),
        }
    }

    /// Answers the oldest open request.
    fn press(&mut self, word: &str, text: &str) -> io::Result<()> {
        let Some((id, sample)) = self.core.oldest().map(|(id, sample)| (id.to_owned(), sample)) else {
            return say("nothing is open");
        };
        let by = match (sample, word) {
            (Sample::Form, "decline") => json!({ "action": "decline" }),
            (Sample::Form, _) => json!({ "action": "accept", "content": { "database": text } }),
            (Sample::Text, _) => json!({ "answer": text, "wasFreeform": false }),
            (Sample::Command, "approve") => json!({ "kind": "approve-once" }),
            (Sample::Command, _) => json!({ "kind": "reject" }),
            (Sample::Plan, "approve") => json!({ "approved": true, "selectedAction": "interactive" }),
            (Sample::Plan, _) => json!({ "approved": false }),
        };
        self.end(&id, sample, "keyboard", &by).map(|_| ())
    }

    /// Settles a request, unless it is settled already. Returns whether it was open.
    fn end(&mut self, id: &str, sample: Sample, client: &str, by: &Value) -> io::Result<bool> {
        let Some(happened) = self.core.end(id, sample, by, client == "keyboard") else {
            say(format_args!("late {id}"))?;
            return Ok(false);
        };
        self.tell(&happened);
        say(format_args!("told {id} {client} {by}"))?;
        Ok(true)
    }

    /// Sends an event to the clients that have joined its session.
    fn tell(&mut self, CopilotEvent { session, event }: &CopilotEvent) {
        let params = json!({ "sessionId": session, "event": event });
        self.notify("session.event", &params, |client| client.joined.contains(session));
    }

    /// Sends a notification to each client for which `is_meant` holds. A client that does not read is dropped.
    fn notify(&mut self, method: &str, params: &Value, is_meant: impl Fn(&Client) -> bool) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string();
        self.clients.retain(|client| !is_meant(client) || client.messages.try_send(message.clone()).is_ok());
    }
}

/// The longest message that is read.
const LONGEST: u64 = 1 << 20;

/// Reads a message, or `None` at the end.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or(io::ErrorKind::InvalidData)?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let length = length.filter(|length| *length <= LONGEST).ok_or(io::ErrorKind::InvalidData)?;
    let mut message = Vec::new();
    input.take(length).read_to_end(&mut message)?;
    Ok(Some(message))
}

/// Writes a message.
pub(super) fn write(mut output: impl Write, message: &str) -> io::Result<()> {
    output.write_all(format!("Content-Length: {}\r\n\r\n{message}", message.len()).as_bytes())
}
