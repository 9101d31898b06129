//! The server of the mock Copilot, its keyboard on stdin, and what it says on stdout.
//! What is asked, and which answer counts, is left to `core.rs`.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{SyncSender, sync_channel},
    },
    thread,
};

use serde_json::{Value, json};

use super::{
    core::{Core, Sample},
    frame,
};
use crate::{exit, terminal::printable_line};

/// What is said below the options.
pub const HELP: &str = "\
Lines on stdin are its keyboard:
  ask [question|choices|permission|plan]   ask something
  answer TEXT                              answer what was asked first
  approve, decline                         allow or reject what was asked first
  cd FOLDER                                let the session work in another folder
  gap                                      close all connections

It says on stdout what the model is told, as `told REQUEST CLIENT JSON`; the
client is `keyboard` for an answer there. `late REQUEST` is an answer that it did
not take.

Environment:
  COPILOT_CONNECTION_TOKEN  the token that it wants

Exit codes:
  0    stdin has ended
  2    the command line was not understood
  125  the port cannot be bound";

/// The session that its terminal shows.
const SESSION: &str = "session-1";
/// The folder that Copilot keeps for the session. It is not the project.
const WORKSPACE: &str = "/nonexistent/.copilot/session-state/session-1";
/// Messages that may wait for a client.
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
    /// The token that it wants.
    pub token: Option<String>,
}

struct Server {
    token: Option<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    core: Core,
    /// The folder that the session works in.
    cwd: String,
    clients: Vec<Client>,
}

struct Client {
    stream: TcpStream,
    /// Set once it has joined the session: only then it is told of events.
    has_joined: bool,
    number: u64,
    messages: SyncSender<String>,
}

/// Runs the mock until stdin ends.
pub fn run(settings: &CopilotSettings) -> ExitCode {
    let served = serve(settings);
    ExitCode::from(served.err().map_or(exit::OK, |error| {
        let error = printable_line(&error.to_string()).to_string();
        writeln!(io::stderr().lock(), "askbridge mock copilot: {error}").unwrap_or_default();
        exit::FAILED
    }))
}

fn serve(settings: &CopilotSettings) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port))?;
    let state = State { cwd: settings.cwd.display().to_string(), ..State::default() };
    let server = Arc::new(Server { token: settings.token.clone(), state: Mutex::new(state) });
    say(&format!("listening {}", listener.local_addr()?.port()))?;
    let accepting = Arc::clone(&server);
    thread::spawn(move || {
        for (number, stream) in (1..).zip(listener.incoming().flatten()) {
            let server = Arc::clone(&accepting);
            // A client that is gone needs no reply.
            thread::spawn(move || server.connection(number, stream).unwrap_or_default());
        }
    });
    for line in io::stdin().lock().lines() {
        server.key(&line?)?;
    }
    Ok(())
}

/// Says something on stdout at once.
fn say(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    stdout.flush()
}

impl Server {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what a line of the keyboard says.
    fn key(&self, line: &str) -> io::Result<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "ask" => {
                let sample = if rest.is_empty() { Some(Sample::Form) } else { Sample::named(rest) };
                let Some(sample) = sample else { return say(&format!("unknown {line}")) };
                let mut state = self.lock();
                let (id, event) = state.core.ask(sample);
                state.tell(&event);
                say(&format!("asked {id}"))
            }
            "answer" | "approve" | "decline" => self.press(word, rest),
            "cd" => {
                self.lock().cwd = rest.to_owned();
                say("cd")
            }
            "gap" => {
                for client in self.lock().clients.drain(..) {
                    client.stream.shutdown(Shutdown::Both).unwrap_or_default();
                }
                say("gap")
            }
            _ => say(&format!("unknown {line}")),
        }
    }

    /// Answers what was asked first.
    fn press(&self, word: &str, text: &str) -> io::Result<()> {
        let mut state = self.lock();
        let Some((id, sample)) = state.core.oldest().map(|(id, sample)| (id.to_owned(), sample)) else {
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
        state.end(&id, sample, "keyboard", &by).map(|_| ())
    }

    fn connection(&self, number: u64, stream: TcpStream) -> io::Result<()> {
        let (messages, written) = sync_channel::<String>(MESSAGES);
        let output = stream.try_clone()?;
        thread::spawn(move || {
            while let Ok(message) = written.recv() {
                if frame::write(&output, &message).is_err() {
                    break;
                }
            }
        });
        let client =
            Client { stream: stream.try_clone()?, has_joined: false, number, messages: messages.clone() };
        self.lock().clients.push(client);
        let mut input = BufReader::new(stream);
        while let Some(message) = frame::read(&mut input)? {
            let Ok(request) = serde_json::from_slice::<Value>(&message) else { continue };
            let Some(id) = request.get("id") else { continue };
            let reply = match self.call(
                number,
                request["method"].as_str().unwrap_or_default(),
                &request["params"],
            )? {
                Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                Err((code, message)) => {
                    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
                }
            };
            if messages.send(reply.to_string()).is_err() {
                break;
            }
        }
        self.lock().clients.retain(|client| client.number != number);
        Ok(())
    }

    /// Does what a client calls for.
    fn call(&self, client: u64, method: &str, params: &Value) -> io::Result<Result<Value, (i64, String)>> {
        let mut state = self.lock();
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
            "session.getForeground" => Ok(json!({ "sessionId": SESSION, "workspacePath": WORKSPACE })),
            "session.metadata.snapshot" => Ok(json!({
                "sessionId": SESSION, "workspacePath": WORKSPACE, "workingDirectory": state.cwd,
            })),
            "session.resume" if params["sessionId"] == SESSION => {
                let joined = state.clients.iter_mut().filter(|known| known.number == client);
                joined.for_each(|client| client.has_joined = true);
                Ok(json!({ "sessionId": SESSION, "workspacePath": WORKSPACE }))
            }
            "session.resume" => Err((BAD_PARAMS, "no such session".to_owned())),
            "session.permissions.pendingRequests" => Ok(json!({ "items": state.core.permissions() })),
            "session.eventLog.read" => Ok(json!({
                "events": state.core.log(), "cursor": "end", "hasMore": false, "cursorStatus": "ok",
            })),
            _ => Err((NO_METHOD, format!("Unhandled method {method}"))),
        })
    }
}

impl State {
    /// Ends something, unless it has ended before. Returns whether it was open.
    fn end(&mut self, id: &str, sample: Sample, client: &str, by: &Value) -> io::Result<bool> {
        let Some(event) = self.core.end(id, sample, by, client == "keyboard") else {
            say(&format!("late {id}"))?;
            return Ok(false);
        };
        self.tell(&event);
        say(&format!("told {id} {client} {by}"))?;
        Ok(true)
    }

    /// Tells all clients. One that does not read is dropped.
    fn tell(&mut self, event: &Value) {
        let params = json!({ "sessionId": SESSION, "event": event });
        let message = json!({ "jsonrpc": "2.0", "method": "session.event", "params": params }).to_string();
        self.clients.retain(|client| !client.has_joined || client.messages.try_send(message.clone()).is_ok());
    }
}
