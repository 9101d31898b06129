//! A deterministic ACP agent: its loop and its methods.
//! The turn, whose behaviour the words of the prompt choose, is left to `turn.rs`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    io::{self, Read, Write},
    process::ExitCode,
    thread,
};

use askbridge_os::{exit, terminal::printable_line};
use rustix::process::{Signal, getpid, kill_process};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    AgentSettings, MockDialect,
    behaviour::End,
    dialects::{ClientCapabilities, MockQuestion},
    faulty::Received,
    lines::{LineReader, LineWriter, READ, WRITTEN, WireTrace},
    message::{Id, Params, RpcError, RpcMessage},
    permissions::MockPermission,
    script::{Script, ScriptError},
    session::{Session, SessionUpdate, Sessions},
};

/// The exit code if reading or writing failed.
const FAILED: u8 = 1;

/// Runs the agent on our stdin and stdout until stdin ends.
pub fn run(settings: &AgentSettings) -> ExitCode {
    let input = LineReader::new(io::stdin().lock(), WireTrace::new(READ, settings.wire));
    let mut output = LineWriter::new(io::stdout().lock(), WireTrace::new(WRITTEN, settings.wire));
    if let Some(fault) = settings.fault {
        output.break_rule(fault);
    }
    let ended = match &settings.script {
        Some(path) => Script::read(path).and_then(|script| script.play(input, output)),
        None => MockAgent::new(settings.dialect, output).serve(input).map_err(ScriptError::Io),
    };
    ExitCode::from(ended.unwrap_or_else(|error| {
        let code = error.exit_code();
        if code != exit::OK {
            complain(error);
        }
        code
    }))
}

/// Prints a complaint on stderr, and ignores a stderr that cannot be written.
pub(super) fn complain(what: impl Display) {
    let line = format!("askbridge mock-agent: {what}");
    writeln!(io::stderr().lock(), "{}", printable_line(&line)).unwrap_or_default();
}

/// The agent's whole state. It blocks only on the next line.
pub(super) struct MockAgent<W: Write> {
    pub(super) output: LineWriter<W>,
    pub(super) dialect: MockDialect,
    pub(super) sessions: Sessions,
    /// The open questions, by the IDs of their requests, which count from 0.
    pub(super) questions: BTreeMap<u64, MockQuestion>,
    /// The open permissions, by the IDs of their requests. Permissions and questions share the counter of these IDs.
    pub(super) permissions: BTreeMap<u64, MockPermission>,
    /// The IDs of withdrawn questions for which no turn waits: their responses are dropped.
    pub(super) withdrawn: BTreeSet<u64>,
    pub(super) asked: u64,
    pub(super) messages: u64,
    pub(super) capabilities: ClientCapabilities,
    /// Whether the client speaks version 2 of the protocol.
    pub(super) version_2: bool,
    pub(super) outlives_stdin: bool,
}

/// Why a request failed.
pub(super) enum RequestFailure {
    /// The request is answered with this error.
    Refused(RpcError),
    /// stdin or stdout failed, which ends the agent.
    Io(io::Error),
}

impl From<RpcError> for RequestFailure {
    fn from(error: RpcError) -> Self {
        Self::Refused(error)
    }
}

impl From<io::Error> for RequestFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl<W: Write> MockAgent<W> {
    fn new(dialect: MockDialect, output: LineWriter<W>) -> Self {
        Self {
            output,
            dialect,
            sessions: Sessions::default(),
            questions: BTreeMap::new(),
            permissions: BTreeMap::new(),
            withdrawn: BTreeSet::new(),
            asked: 0,
            messages: 0,
            capabilities: ClientCapabilities::default(),
            version_2: false,
            outlives_stdin: false,
        }
    }

    /// Handles lines until stdin ends or a prompt ends the process. Returns the exit code.
    fn serve<R: Read>(mut self, mut input: LineReader<R>) -> io::Result<u8> {
        while let Some(line) = input.next_line()? {
            let end = match self.output.received(line) {
                Received::Line(line) => self.handle(&line)?,
                Received::Nothing => None,
                Received::Death => Some(End::Exit(FAILED)),
            };
            if let Some(end) = end {
                self.output.flush()?;
                return Ok(end_now(end));
            }
            while let Some(line) = self.output.injected() {
                self.handle(&line)?;
            }
            // Lines that came together are answered in one write.
            if !input.has_line() {
                self.output.flush()?;
            }
        }
        self.output.flush()?;
        if self.outlives_stdin || self.output.stays() {
            sleep_until_killed();
        }
        Ok(exit::OK)
    }

    fn handle(&mut self, line: &[u8]) -> io::Result<Option<End>> {
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        match RpcMessage::read(line) {
            Ok(RpcMessage::Request { id, method, params }) => match self.request(&id, &method, &params) {
                Ok(end) => return Ok(end),
                Err(RequestFailure::Refused(error)) => self.output.refuse(&id, &error)?,
                Err(RequestFailure::Io(error)) => return Err(error),
            },
            Ok(RpcMessage::Notification { method, params }) => self.notification(&method, &params)?,
            Ok(RpcMessage::Response { id, outcome }) => self.response(&id, outcome.as_deref())?,
            Err((id, error)) => self.output.refuse(&id, &error)?,
        }
        Ok(None)
    }

    fn request(&mut self, id: &Id, method: &str, params: &Params) -> Result<Option<End>, RequestFailure> {
        let result = match method {
            "initialize" => self.initialize(params)?,
            "session/new" => self.new_session(params)?,
            "session/load" => self.load_session(params, true)?,
            "session/resume" => self.load_session(params, false)?,
            "session/fork" => self.fork_session(params)?,
            "session/list" => self.list_sessions(params)?,
            "session/set_mode" => self.set_mode(params)?,
            "session/set_config_option" => self.set_option(params)?,
            "session/close" => self.close_session(params)?,
            "session/prompt" => return self.prompt(id, params),
            _ => return Err(RpcError::method_not_found(method).into()),
        };
        self.output.respond(id, result)?;
        Ok(None)
    }

    /// Handles a notification, and ignores unknown and invalid ones, as JSON-RPC asks.
    fn notification(&mut self, method: &str, params: &Params) -> io::Result<()> {
        match method {
            "session/cancel" => match params.read::<SessionParams>() {
                Ok(params) => self.cancel_turn(&params.session_id),
                Err(_) => Ok(()),
            },
            "$/cancel_request" => match params.read::<CancelRequest>() {
                Ok(params) => self.cancel_prompt(&params.request_id),
                Err(_) => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn response(&mut self, id: &Id, outcome: Result<&RawValue, &RpcError>) -> io::Result<()> {
        if let Some((id, permission)) = id.number().and_then(|id| Some((id, self.permissions.remove(&id)?))) {
            return self.permission_answered(id, &permission, outcome);
        }
        match id.number().and_then(|id| Some((id, self.questions.remove(&id)?))) {
            Some((id, question)) => self.answered(id, &question, outcome),
            // The client may have responded before it read that the question is withdrawn.
            None if id.number().is_some_and(|id| self.withdrawn.remove(&id)) => Ok(()),
            None => {
                complain(format_args!("a response to no open request, with the id {}", id.text()));
                Ok(())
            }
        }
    }

    fn initialize(&mut self, params: &Params) -> Result<Value, RpcError> {
        let params: Initialize = params.read()?;
        let capabilities = json!({
            "loadSession": true,
            "promptCapabilities": { "image": true, "audio": true, "embeddedContext": true },
            "sessionCapabilities": { "list": {}, "resume": {}, "fork": {}, "close": {} },
        });
        let mut result = json!({
            "agentInfo": {
                "name": "askbridge-mock-agent",
                "title": "Mock agent",
                "version": env!("CARGO_PKG_VERSION"),
            },
            "authMethods": [],
        });
        // An unknown version is answered with 1. In version 2, the capabilities of both sides are members of the same
        // name.
        self.version_2 = params.protocol_version == 2;
        if self.version_2 {
            self.capabilities = ClientCapabilities::read(&params.capabilities);
            result["protocolVersion"] = json!(2);
            result["capabilities"] = capabilities;
        } else {
            self.capabilities = ClientCapabilities::read(&params.client_capabilities);
            result["protocolVersion"] = json!(1);
            result["agentCapabilities"] = capabilities;
        }
        Ok(result)
    }

    fn new_session(&mut self, params: &Params) -> Result<Value, RpcError> {
        let params: NewSession = params.read()?;
        let session = self.sessions.create(absolute(params.cwd)?);
        Ok(opened(session))
    }

    fn fork_session(&mut self, params: &Params) -> Result<Value, RpcError> {
        let params: LoadSession = params.read()?;
        let cwd = absolute(params.cwd)?;
        Ok(opened(self.sessions.fork(&params.session_id, cwd)?))
    }

    fn set_mode(&mut self, params: &Params) -> Result<Value, RpcError> {
        let params: SetMode = params.read()?;
        self.sessions.get_open(&params.session_id)?.choices.set_mode(&params.mode_id)?;
        Ok(json!({}))
    }

    fn set_option(&mut self, params: &Params) -> Result<Value, RpcError> {
        let params: SetOption = params.read()?;
        let choices = &mut self.sessions.get_open(&params.session_id)?.choices;
        choices.set(&params.config_id, &params.value)?;
        Ok(json!({ "configOptions": choices.options() }))
    }

    fn load_session(&mut self, params: &Params, is_told: bool) -> Result<Value, RequestFailure> {
        let params: LoadSession = params.read()?;
        let cwd = absolute(params.cwd)?;
        let session = self.sessions.get(&params.session_id)?;
        (session.cwd, session.open) = (cwd, true);
        // The protocol wants the history before the response.
        for update in session.history().iter().filter(|_| is_told) {
            self.output.notify("session/update", SessionUpdate { session_id: &session.id, update })?;
        }
        Ok(json!({}))
    }

    fn list_sessions(&self, params: &Params) -> Result<Value, RpcError> {
        let params: ListSessions = params.read()?;
        // All sessions are on one page, so no response had a cursor.
        if let Some(cursor) = params.cursor {
            return Err(RpcError::invalid_params(format_args!("no such cursor: {cursor}")));
        }
        let listed =
            self.sessions.iter().filter(|session| params.cwd.as_ref().is_none_or(|cwd| *cwd == session.cwd));
        let sessions: Vec<Value> = listed
            .map(|session| json!({ "sessionId": session.id, "cwd": session.cwd, "title": session.title }))
            .collect();
        Ok(json!({ "sessions": sessions }))
    }

    fn close_session(&mut self, params: &Params) -> Result<Value, RequestFailure> {
        let params: SessionParams = params.read()?;
        self.sessions.get(&params.session_id)?;
        self.withdraw_on_cancel(&params.session_id)?;
        if let Some(turn) = self.sessions.turn_of(&params.session_id) {
            // A closed session gets no more updates, so its turn does not wait for its questions.
            turn.waits_for.clear();
        }
        self.cancel_turn(&params.session_id)?;
        self.sessions.get(&params.session_id)?.open = false;
        Ok(json!({}))
    }
}

/// Returns what a client gets of a session that it opens.
fn opened(session: &Session) -> Value {
    let choices = &session.choices;
    json!({ "sessionId": session.id, "modes": choices.modes(), "configOptions": choices.options() })
}

fn sleep_until_killed() -> ! {
    // `park` may return without a reason.
    loop {
        thread::park();
    }
}

fn end_now(end: End) -> u8 {
    match end {
        End::Exit(code) => code,
        End::Crash => match kill_process(getpid(), Signal::KILL) {
            // Not reached: SIGKILL ends the process before `kill` returns.
            Ok(()) => FAILED,
            Err(error) => {
                complain(error);
                FAILED
            }
        },
    }
}

fn absolute(cwd: String) -> Result<String, RpcError> {
    if cwd.starts_with('/') {
        Ok(cwd)
    } else {
        Err(RpcError::invalid_params(format_args!("cwd is not an absolute path: {cwd}")))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialize {
    protocol_version: u16,
    #[serde(default)]
    client_capabilities: Value,
    #[serde(default)]
    capabilities: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewSession {
    cwd: String,
    #[serde(default, rename = "mcpServers")]
    _mcp_servers: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoadSession {
    session_id: String,
    cwd: String,
    #[serde(default, rename = "mcpServers")]
    _mcp_servers: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetMode {
    session_id: String,
    mode_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetOption {
    session_id: String,
    config_id: String,
    value: String,
}

#[derive(Deserialize)]
struct ListSessions {
    cwd: Option<String>,
    cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionParams {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelRequest {
    request_id: Id,
}
