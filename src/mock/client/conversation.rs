//! The client's side of the protocol: one session, one turn, and what is asked in it.
//! What comes from the peer is handled in `hearing.rs`, and what is asked answered in `person.rs`.

use std::{
    collections::VecDeque,
    env,
    io::Write,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    asked::{Asked, capabilities},
    error::ClientError,
    given::Given,
    person::Asking,
    process::{Event, Process},
    screen::Screen,
};
use crate::{
    cli::Tier,
    mock::{
        lines::{READ, WRITTEN},
        message::{self, RpcError},
    },
};

/// How long nothing comes from the agent's end of a bridge before it is taken to have nothing to show.
const QUIET: Duration = Duration::from_millis(20);
/// How many events may wait for what the agent's end of a bridge has to show.
const MOST_PUT_OFF: usize = 64;
/// How long the peer may take to end. A bridge has its own deadlines for the agent, which are shorter.
const LAST_PATIENCE: Duration = Duration::from_secs(30);

/// How the client behaves.
#[derive(Clone, Copy, Debug)]
pub(in crate::mock) struct Settings {
    /// What it calls itself.
    pub(in crate::mock) name: &'static str,
    /// What it started: `bridge` or `agent`.
    pub(in crate::mock) peer: &'static str,
    pub(in crate::mock) tier: Tier,
    /// Whether every line is shown.
    pub(in crate::mock) wire: bool,
    /// How long the peer may take to answer what needs no person.
    pub(in crate::mock) patience: Option<Duration>,
    /// When the turn must have ended.
    pub(in crate::mock) deadline: Option<Instant>,
    /// Whether it waits for what the agent asks and says after its turn.
    pub(in crate::mock) lingers: bool,
}

/// The client's side of the conversation.
pub(in crate::mock) struct Conversation<W> {
    pub(super) process: Process,
    pub(super) screen: Screen<W>,
    pub(super) settings: Settings,
    /// What happened while the agent's end of the bridge was listened to.
    put_off: VecDeque<Event>,
    pub(super) given: Given,
    next_id: u64,
    /// What was asked and is not being answered yet.
    pub(super) waiting: VecDeque<Asked>,
    pub(super) asking: Option<Asking>,
    /// Whether everything that the agent had to say to what we did last has been shown.
    pub(super) caught_up: bool,
    /// The first thing that the peer said and that nobody could understand.
    pub(super) wrong: Option<String>,
}

/// A response that came, by the id of our request.
pub(super) type Response = (Option<u64>, Result<Box<RawValue>, RpcError>);

impl<W: Write> Conversation<W> {
    pub(in crate::mock) fn new(
        process: Process,
        screen: Screen<W>,
        given: Given,
        settings: Settings,
    ) -> Self {
        Self {
            process,
            screen,
            settings,
            put_off: VecDeque::new(),
            given,
            next_id: 0,
            waiting: VecDeque::new(),
            asking: None,
            caught_up: true,
            wrong: None,
        }
    }

    /// Has one turn with this prompt, ends the peer, and returns why the turn ended.
    pub(in crate::mock) fn converse(mut self, prompt: &str) -> Result<String, ClientError> {
        let ended = self.have_turn(prompt);
        self.close(ended)
    }

    fn have_turn(&mut self, prompt: &str) -> Result<String, ClientError> {
        let initialize = json!({
            "protocolVersion": 1,
            "clientCapabilities": capabilities(self.settings.tier),
            "clientInfo": { "name": self.settings.name, "version": env!("CARGO_PKG_VERSION") },
        });
        self.call::<Value>("initialize", initialize)?;
        let cwd = env::current_dir().unwrap_or_else(|_| "/".into());
        let new = json!({ "cwd": cwd.to_string_lossy(), "mcpServers": [] });
        let NewSession { session_id } = self.call("session/new", new)?;
        self.screen.say("you", prompt)?;
        let prompt = json!([{ "type": "text", "text": prompt }]);
        let prompt = self.request("session/prompt", json!({ "sessionId": session_id, "prompt": prompt }))?;
        let reason = self.run_turn(prompt)?;
        self.screen.say("done", &reason)?;
        Ok(reason)
    }

    /// Asks and shows until the turn has ended and nothing is left to ask, and returns why it ended.
    fn run_turn(&mut self, prompt: u64) -> Result<String, ClientError> {
        let mut ended = None;
        let mut check = None;
        loop {
            if self.asking.is_none() && check.is_none() {
                if !self.caught_up && self.settings.lingers {
                    // The agent answers in order: with the answer to this, all that it said before is here.
                    self.caught_up = true;
                    check = Some(self.request("session/list", json!({}))?);
                } else if let Some(asked) = self.next_to_answer() {
                    self.begin(asked)?;
                    continue;
                } else if let Some(reason) = ended {
                    return Ok(reason);
                }
            }
            match self.next(None)? {
                Some((id, outcome)) if id == Some(prompt) => {
                    let Ended { stop_reason } = read_result("session/prompt", outcome)?;
                    self.caught_up = false;
                    ended = Some(stop_reason);
                }
                Some((id, _)) if id == check => check = None,
                _ => {}
            }
        }
    }

    fn next_to_answer(&mut self) -> Option<Asked> {
        if self.given.leaves_open() { None } else { self.waiting.pop_front() }
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

    pub(super) fn send(&mut self, line: &[u8]) -> Result<(), ClientError> {
        if self.settings.wire {
            self.screen.wire(&format!("client → {}", self.settings.peer), line)?;
        }
        self.process.send(line);
        Ok(())
    }

    /// Waits for something to happen, and handles it, unless it is a response.
    /// A method that is waited for is one that needs no person, and must be answered soon.
    fn next(&mut self, waits_for: Option<&'static str>) -> Result<Option<Response>, ClientError> {
        // A peer that never stops talking must not talk past it.
        if self.wait(None).is_some_and(|left| left.is_zero()) {
            return Err(ClientError::TimedOut);
        }
        let event = match self.put_off.pop_front() {
            Some(event) => Some(event),
            None => self.process.next_event(self.wait(waits_for.and(self.settings.patience))),
        };
        if matches!(event, Some(Event::Line(_))) {
            self.hear_the_other_side()?;
        }
        let response = match (event, waits_for) {
            (Some(Event::Line(line)), _) => self.handle(&line)?,
            (Some(Event::Said(line)), _) => {
                self.show_said(&line)?;
                None
            }
            (Some(Event::Typed(line)), _) => {
                self.take_typed(line)?;
                None
            }
            (Some(Event::Ended), _) => return Err(ClientError::Gone),
            (None, method) => return Err(self.silence(method)),
        };
        self.ask_typing_again()?;
        Ok(response)
    }

    /// How long to wait for something to happen, if not for ever.
    fn wait(&self, patience: Option<Duration>) -> Option<Duration> {
        let left = self.settings.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        left.into_iter().chain(patience).min()
    }

    /// Why nothing happened for so long.
    fn silence(&self, waits_for: Option<&'static str>) -> ClientError {
        match (waits_for, self.settings.patience) {
            (Some(method), Some(patience)) => ClientError::Silence { method, seconds: patience.as_secs() },
            _ => ClientError::TimedOut,
        }
    }

    /// Shows what happened at the agent's end before what it led to here. It comes another way, a little later.
    fn hear_the_other_side(&mut self) -> Result<(), ClientError> {
        while self.settings.wire && self.process.is_heard && self.put_off.len() < MOST_PUT_OFF {
            match self.process.next_event(Some(QUIET)) {
                Some(Event::Said(line)) => self.show_said(&line)?,
                Some(event) => self.put_off.push_back(event),
                None => break,
            }
        }
        Ok(())
    }

    /// Shows what came over stderr: the lines at the agent's end of the bridge, as the agent sees them, and
    /// whatever else is said there.
    fn show_said(&mut self, line: &[u8]) -> Result<(), ClientError> {
        let directions = [(READ, "bridge → agent"), (WRITTEN, "agent → bridge")];
        let shown = directions.iter().find_map(|(label, direction)| {
            Some((*direction, line.strip_prefix(label.as_bytes())?.strip_prefix(b" ")?))
        });
        let (direction, line) = shown.unwrap_or(("stderr", line));
        Ok(self.screen.wire(direction, line)?)
    }

    /// Ends the peer, and returns what became of it all.
    fn close(mut self, ended: Result<String, ClientError>) -> Result<String, ClientError> {
        let peer = self.settings.peer;
        self.process.close();
        if matches!(ended, Err(ClientError::TimedOut)) {
            self.process.terminate();
        }
        self.asking = None;
        if !matches!(ended, Err(ClientError::Gone)) {
            self.wait_for_end();
        }
        self.screen.finish_line()?;
        match (ended, self.process.finish(), self.wrong) {
            (Err(ClientError::Gone), Ok(status), _) => Err(ClientError::Ended { peer, status }),
            (Ok(_), _, Some(what)) => Err(ClientError::Wrong { peer, what }),
            (Ok(_), Ok(status), _) if !status.success() => Err(ClientError::BadEnd { peer, status }),
            (ended, ..) => ended,
        }
    }

    /// Shows what still comes until the peer has ended, or has not for too long.
    fn wait_for_end(&mut self) {
        let end = Instant::now() + LAST_PATIENCE;
        loop {
            match self.process.next_event(Some(end.saturating_duration_since(Instant::now()))) {
                _ if Instant::now() >= end => return,
                Some(Event::Line(line)) if self.handle(&line).is_ok() => {}
                Some(Event::Said(line)) if self.show_said(&line).is_ok() => {}
                Some(Event::Typed(_)) => {}
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
struct Ended {
    stop_reason: String,
}
