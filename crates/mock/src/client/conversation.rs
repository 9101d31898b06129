//! The client's side of the protocol: one session, one turn, and the questions in it.
//! Messages of the peer, and answering questions, are left to `answering.rs`.

use std::{
    collections::VecDeque,
    env,
    io::Write,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    answers::{Draft, HeldRefusal, ScriptedAnswers},
    error::ClientError,
    manner::Manner,
    permission::ToolCalls,
    process::{ClientEvent, Process},
    request::{AgentRequest, capabilities},
    screen::Screen,
};
use crate::{
    AskConsent, ClientKind, PermissionAnswer,
    lines::{READ, WRITTEN},
    message::{self, Id, RpcError},
};

/// The debounce of the agent's trace on stderr: after this time without a line, the trace is taken to be complete.
const TRACE_DEBOUNCE: Duration = Duration::from_millis(20);
/// The most events that are deferred while the agent's trace is shown.
const MAX_DEFERRED: usize = 64;
/// The time that the peer has to end. A bridge has its own deadlines for the agent, which are shorter.
const EXIT_TIMEOUT: Duration = Duration::from_secs(30);

/// How the client behaves.
#[derive(Clone, Debug)]
pub(crate) struct ConversationSettings {
    /// The client's name in `initialize`.
    pub(crate) name: &'static str,
    /// The program that the client started: `bridge` or `agent`.
    pub(crate) peer: &'static str,
    /// What the client can show.
    pub(crate) kind: ClientKind,
    /// The answer to each permission request.
    pub(crate) permission: Option<PermissionAnswer>,
    /// How the client replies without its person.
    pub(crate) manner: Option<Manner>,
    /// How long the person takes to refuse a request, at least.
    pub(crate) reaction: Duration,
    /// Asks a person for a permission. Without it, a permission is asked like a question.
    pub(crate) consent: Option<AskConsent>,
    /// Whether every line is shown.
    pub(crate) wire: bool,
    /// The timeout of requests that need no person.
    pub(crate) patience: Option<Duration>,
    /// The deadline of the turn.
    pub(crate) deadline: Option<Instant>,
    /// Whether the client waits for questions and messages after the turn.
    pub(crate) lingers: bool,
}

/// The client's side of the conversation.
pub(crate) struct Conversation<W> {
    pub(super) process: Process,
    pub(super) screen: Screen<W>,
    pub(super) settings: ConversationSettings,
    /// Events that came while the agent's trace was shown.
    deferred: VecDeque<ClientEvent>,
    pub(super) answers: ScriptedAnswers,
    next_id: u64,
    /// Requests that wait for their turn.
    pub(super) waiting: VecDeque<AgentRequest>,
    /// The request that is being answered.
    pub(super) draft: Option<Draft>,
    /// The refusals that the person has not given yet.
    pub(super) held: Vec<HeldRefusal>,
    /// The IDs of the requests so far, for a client that takes each once.
    pub(super) taken_ids: Vec<Id>,
    pub(super) tool_calls: ToolCalls,
    /// Whether everything that the agent sent in reaction to our last message has been shown.
    pub(super) caught_up: bool,
    /// The peer's first violation of the protocol.
    pub(super) violation: Option<String>,
}

/// A response to one of our requests. The ID is `None` if it is not in our spelling.
pub(super) type OwnResponse = (Option<u64>, Result<Box<RawValue>, RpcError>);

impl<W: Write> Conversation<W> {
    /// Returns a client that talks to this process and has not sent `initialize` yet.
    pub(crate) fn new(
        process: Process,
        screen: Screen<W>,
        answers: ScriptedAnswers,
        settings: ConversationSettings,
    ) -> Self {
        Self {
            process,
            screen,
            settings,
            deferred: VecDeque::new(),
            answers,
            next_id: 0,
            waiting: VecDeque::new(),
            draft: None,
            held: Vec::new(),
            taken_ids: Vec::new(),
            tool_calls: ToolCalls::default(),
            caught_up: true,
            violation: None,
        }
    }

    /// Runs one turn for each of these prompts, stops at the first turn that does not end well, and ends the peer.
    /// Returns the stop reason of the last turn.
    pub(crate) fn converse(mut self, prompts: &[String]) -> Result<String, ClientError> {
        let ended = self.have_turns(prompts);
        self.close(ended)
    }

    fn have_turns(&mut self, prompts: &[String]) -> Result<String, ClientError> {
        let initialize = json!({
            "protocolVersion": 1,
            "clientCapabilities": capabilities(self.settings.kind),
            "clientInfo": { "name": self.settings.name, "version": env!("CARGO_PKG_VERSION") },
        });
        self.call::<Value>("initialize", initialize)?;
        // The protocol asks for an absolute path, which `/` is on every machine.
        let cwd = env::current_dir().unwrap_or_else(|_| "/".into());
        let new = json!({ "cwd": cwd.to_string_lossy(), "mcpServers": [] });
        let NewSession { session_id } = self.call("session/new", new)?;
        let mut reason = "end_turn".to_owned();
        for prompt in prompts {
            if reason == "end_turn" {
                reason = self.have_turn(&session_id, prompt)?;
            }
        }
        Ok(reason)
    }

    fn have_turn(&mut self, session: &str, prompt: &str) -> Result<String, ClientError> {
        self.screen.say("you", prompt)?;
        let prompt = json!([{ "type": "text", "text": prompt }]);
        let prompt = self.request("session/prompt", json!({ "sessionId": session, "prompt": prompt }))?;
        let reason = self.run_turn(prompt)?;
        self.screen.say("done", &reason)?;
        Ok(reason)
    }

    /// Answers questions and shows messages until the turn has ended and no question is left. Returns the stop reason.
    fn run_turn(&mut self, prompt: u64) -> Result<String, ClientError> {
        let mut ended = None;
        let mut check = None;
        loop {
            if self.draft.is_none() && self.held.is_empty() && check.is_none() {
                if !self.caught_up && self.settings.lingers {
                    // The agent answers in order: when this response comes, all earlier messages have come.
                    self.caught_up = true;
                    check = Some(self.request("session/list", json!({}))?);
                } else if let Some(request) = self.next_to_answer() {
                    self.begin(request)?;
                    continue;
                } else if let Some(reason) = ended {
                    return Ok(reason);
                }
            }
            match self.next(None)? {
                Some((id, outcome)) if id == Some(prompt) => {
                    let PromptResult { stop_reason } = read_result("session/prompt", outcome)?;
                    self.caught_up = false;
                    ended = Some(stop_reason);
                }
                Some((id, _)) if id == check => check = None,
                _ => {}
            }
        }
    }

    fn next_to_answer(&mut self) -> Option<AgentRequest> {
        if self.answers.leaves_open() { None } else { self.waiting.pop_front() }
    }

    /// Sends a request and waits for its result.
    fn call<T: for<'a> Deserialize<'a>>(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<T, ClientError> {
        let id = self.request(method, params)?;
        loop {
            match self.next(Some(method))? {
                Some((got, outcome)) if got == Some(id) => return read_result(method, outcome),
                _ => {}
            }
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Result<u64, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&message::request(id, method, params)?)?;
        Ok(id)
    }

    /// Sends a line, and shows it if every line is shown.
    pub(super) fn send(&mut self, line: &[u8]) -> Result<(), ClientError> {
        if self.settings.wire {
            self.screen.wire(&format!("client → {}", self.settings.peer), line)?;
        }
        self.process.send(line);
        Ok(())
    }

    /// Waits for the next event and handles it. Returns the response if the event is one.
    ///
    /// `waits_for` is a method that the peer answers without a person, so the wait has a timeout.
    fn next(&mut self, waits_for: Option<&'static str>) -> Result<Option<OwnResponse>, ClientError> {
        self.give_refusals()?;
        // The deadline is checked first, because a peer that sends without a pause would never let the wait time out.
        if self.settings.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(ClientError::TimedOut);
        }
        let event = match self.deferred.pop_front() {
            Some(event) => Some(event),
            None => self.process.next_event(self.wait(waits_for.and(self.settings.patience))),
        };
        if matches!(event, Some(ClientEvent::Line(_))) {
            self.show_trace_first()?;
        }
        let response = match (event, waits_for) {
            (Some(ClientEvent::Line(line)), _) => self.handle(&line)?,
            (Some(ClientEvent::Stderr(line)), _) => {
                self.show_stderr(&line)?;
                None
            }
            (Some(ClientEvent::Typed(line)), _) => {
                self.take_typed(line)?;
                None
            }
            (Some(ClientEvent::Pasted(count)), _) => {
                self.refuse_paste(count)?;
                None
            }
            (Some(ClientEvent::Ended), _) => return Err(ClientError::Gone),
            (None, _) if self.give_refusals()? => None,
            (None, method) => return Err(self.silence(method)),
        };
        self.ask_typing_again()?;
        Ok(response)
    }

    /// Returns how long to wait for the next event, or `None` for no limit.
    fn wait(&self, patience: Option<Duration>) -> Option<Duration> {
        let left = self.settings.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let held = self.held.iter().map(|held| held.until.saturating_duration_since(Instant::now()));
        left.into_iter().chain(patience).chain(held).min()
    }

    /// Returns the error for a wait that timed out.
    fn silence(&self, waits_for: Option<&'static str>) -> ClientError {
        match (waits_for, self.settings.patience) {
            (Some(method), Some(patience)) => ClientError::Silence { method, seconds: patience.as_secs() },
            _ => ClientError::TimedOut,
        }
    }

    /// Shows the trace of the agent's pipe before the bridge's line that follows from it. The trace comes over stderr,
    /// a little later than the line.
    fn show_trace_first(&mut self) -> Result<(), ClientError> {
        while self.settings.wire && self.process.reads_stderr && self.deferred.len() < MAX_DEFERRED {
            match self.process.next_event(Some(TRACE_DEBOUNCE)) {
                Some(ClientEvent::Stderr(line)) => self.show_stderr(&line)?,
                Some(event) => self.deferred.push_back(event),
                None => break,
            }
        }
        Ok(())
    }

    /// Shows a line of stderr: a line of the agent's trace with its direction, or any other text unchanged.
    fn show_stderr(&mut self, line: &[u8]) -> Result<(), ClientError> {
        let directions = [(READ, "bridge → agent"), (WRITTEN, "agent → bridge")];
        let shown = directions.iter().find_map(|(label, direction)| {
            Some((*direction, line.strip_prefix(label.as_bytes())?.strip_prefix(b" ")?))
        });
        let (direction, line) = shown.unwrap_or(("stderr", line));
        Ok(self.screen.wire(direction, line)?)
    }

    /// Ends the peer, and returns the result of the conversation.
    fn close(mut self, ended: Result<String, ClientError>) -> Result<String, ClientError> {
        let peer = self.settings.peer;
        self.process.close();
        // A peer that was too slow may not react to the end of its stdin.
        if matches!(ended, Err(ClientError::TimedOut)) {
            self.process.terminate();
        }
        self.draft = None;
        if !matches!(ended, Err(ClientError::Gone)) {
            self.wait_for_end();
        }
        self.screen.finish_line()?;
        match (ended, self.process.finish(), self.violation) {
            (Err(ClientError::Gone), Ok(status), _) => Err(ClientError::Ended { peer, status }),
            (Ok(_), _, Some(what)) => Err(ClientError::Wrong { peer, what }),
            (Ok(_), Ok(status), _) if !status.success() => Err(ClientError::BadEnd { peer, status }),
            (ended, ..) => ended,
        }
    }

    /// Shows further messages until the peer has ended or the timeout is over.
    fn wait_for_end(&mut self) {
        let end = Instant::now() + EXIT_TIMEOUT;
        loop {
            match self.process.next_event(Some(end.saturating_duration_since(Instant::now()))) {
                // The deadline is checked after each event, so that a peer that never stops writing cannot extend the
                // wait.
                _ if Instant::now() >= end => return,
                Some(ClientEvent::Line(line)) if self.handle(&line).is_ok() => {}
                Some(ClientEvent::Stderr(line)) if self.show_stderr(&line).is_ok() => {}
                Some(ClientEvent::Typed(_) | ClientEvent::Pasted(_)) => {}
                _ => return,
            }
        }
    }
}

fn read_result<T: for<'a> Deserialize<'a>>(
    method: &'static str,
    outcome: Result<Box<RawValue>, RpcError>,
) -> Result<T, ClientError> {
    let result = outcome.map_err(|error| ClientError::Refused { method, error })?;
    serde_json::from_str(result.get()).map_err(|_| ClientError::Misunderstood(method))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewSession {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptResult {
    stop_reason: String,
}
