//! The demonstration's side of the protocol: one session, one turn, and the questions in it.
//! Asking a person is left to `person.rs`, and how it looks to `screen.rs`.

use std::{collections::VecDeque, env, io::Write, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    client::{Client, Event},
    demo::DemoError,
    form::Form,
    lines::{READ, WRITTEN},
    message::{self, CANCELLED, INVALID_PARAMS, Id, Message, Params, RpcError},
    person::{Asking, Given},
    screen::Screen,
};

/// How long the bridge may take to answer what needs no person.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How long nothing comes from the other end of the bridge before it is taken to have nothing to show.
const QUIET: Duration = Duration::from_millis(20);
/// How many events may wait for what the other end of the bridge has to show.
const MOST_PUT_OFF: usize = 64;
/// How long the bridge may take to end. It has its own deadlines for the agent, which are shorter.
const LAST_PATIENCE: Duration = Duration::from_secs(30);
const METHOD: &str = "_sandboxagent/session/request_question";

/// The client's side of the conversation.
pub(super) struct Conversation<W> {
    pub(super) client: Client,
    pub(super) screen: Screen<W>,
    wire: bool,
    /// What happened while the other end of the bridge was listened to.
    put_off: VecDeque<Event>,
    pub(super) given: Given,
    next_id: u64,
    /// Questions that came while another one is being asked.
    pub(super) waiting: VecDeque<(Id, Form)>,
    pub(super) asking: Option<Asking>,
    /// Whether everything that the agent had to say to what we did last has been shown.
    pub(super) caught_up: bool,
}

/// A response that came, by the id of our request.
type Response = (Option<u64>, Result<Box<RawValue>, RpcError>);

impl<W: Write> Conversation<W> {
    pub(super) fn new(client: Client, screen: Screen<W>, given: Given, wire: bool) -> Self {
        Self {
            client,
            screen,
            wire,
            put_off: VecDeque::new(),
            given,
            next_id: 0,
            waiting: VecDeque::new(),
            asking: None,
            caught_up: true,
        }
    }

    /// Has one turn with this prompt.
    pub(super) fn converse(&mut self, prompt: &str) -> Result<(), DemoError> {
        let extensions = json!({ "sandboxagent.dev": { "extensions": { "sessionRequestQuestion": true } } });
        let initialize = json!({
            "protocolVersion": 1,
            "clientCapabilities": { "_meta": extensions },
            "clientInfo": { "name": "askbridge-demo", "version": env!("CARGO_PKG_VERSION") },
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
        if reason == "end_turn" { Ok(()) } else { Err(DemoError::Stopped(reason)) }
    }

    /// Asks and shows until the turn has ended and nothing is left to ask, and returns why it ended.
    fn run_turn(&mut self, prompt: u64) -> Result<String, DemoError> {
        let mut ended = None;
        let mut check = None;
        loop {
            if self.asking.is_none() && check.is_none() {
                // The agent answers in order: with the answer to this, all that it said before is here.
                if !self.caught_up {
                    self.caught_up = true;
                    check = Some(self.request("session/list", json!({}))?);
                } else if let Some((id, form)) = self.waiting.pop_front() {
                    self.asking = Some(Asking::new(id, form));
                    self.ask()?;
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

    /// Sends a request and waits for its result.
    fn call<T: for<'a> Deserialize<'a>>(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<T, DemoError> {
        let id = self.request(method, params)?;
        loop {
            match self.next(Some(method))? {
                Some((got, outcome)) if got == Some(id) => return read_result(method, outcome),
                _ => {}
            }
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Result<u64, DemoError> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&message::request(id, method, params)?)?;
        Ok(id)
    }

    pub(super) fn send(&mut self, line: &[u8]) -> Result<(), DemoError> {
        if self.wire {
            self.screen.wire("client → bridge", line)?;
        }
        self.client.send(line);
        Ok(())
    }

    /// Waits for something to happen, and handles it, unless it is a response.
    /// A method that is waited for is one that needs no person, and must be answered soon.
    fn next(&mut self, waits_for: Option<&'static str>) -> Result<Option<Response>, DemoError> {
        let event = match self.put_off.pop_front() {
            Some(event) => Some(event),
            None => self.client.next_event(waits_for.map(|_| PATIENCE)),
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
            (Some(Event::Ended), _) => return Err(DemoError::BridgeGone),
            (None, Some(method)) => return Err(DemoError::Silence(method)),
            (None, None) => None,
        };
        self.ask_typing_again()?;
        Ok(response)
    }

    /// Shows what happened at the agent's end before what it led to here. It comes another way, a little later.
    fn hear_the_other_side(&mut self) -> Result<(), DemoError> {
        while self.wire && self.put_off.len() < MOST_PUT_OFF {
            match self.client.next_event(Some(QUIET)) {
                Some(Event::Said(line)) => self.show_said(&line)?,
                Some(event) => self.put_off.push_back(event),
                None => break,
            }
        }
        Ok(())
    }

    /// Shows what came over stderr: the lines at the agent's end of the bridge, as the agent sees them, and
    /// whatever else is said there.
    fn show_said(&mut self, line: &[u8]) -> Result<(), DemoError> {
        let directions = [(READ, "bridge → agent"), (WRITTEN, "agent → bridge")];
        let shown = directions.iter().find_map(|(label, direction)| {
            Some((*direction, line.strip_prefix(label.as_bytes())?.strip_prefix(b" ")?))
        });
        let (direction, line) = shown.unwrap_or(("stderr", line));
        Ok(self.screen.wire(direction, line)?)
    }

    fn handle(&mut self, line: &[u8]) -> Result<Option<Response>, DemoError> {
        if self.wire {
            self.screen.wire("bridge → client", line)?;
        }
        match Message::read(line) {
            Ok(Message::Response { id, outcome }) => return Ok(Some((id.number(), outcome))),
            Ok(Message::Notification { method, params }) => match method.as_str() {
                "session/update" => self.show_update(&params)?,
                "$/cancel_request" => self.forget_question(&params)?,
                _ => {}
            },
            Ok(Message::Request { id, method, params }) if method == METHOD => {
                match params.read().ok().as_ref().and_then(Form::read) {
                    Some(form) => self.waiting.push_back((id, form)),
                    None => {
                        let error = RpcError::new(INVALID_PARAMS, "the question was not understood");
                        self.send(&message::refusal(&id, &error)?)?;
                    }
                }
            }
            Ok(Message::Request { id, method, .. }) => {
                self.send(&message::refusal(&id, &RpcError::method_not_found(&method))?)?;
            }
            Err((_, error)) => {
                self.screen.say("", &format!("a line that is no message: {}", error.message))?
            }
        }
        Ok(None)
    }

    fn show_update(&mut self, params: &Params) -> Result<(), DemoError> {
        let Ok(SessionUpdate { update }) = params.read() else { return Ok(()) };
        if update.kind == "agent_message_chunk" {
            self.screen
                .say_piece(update.message_id.as_deref(), update.content["text"].as_str().unwrap_or("…"))?;
        }
        Ok(())
    }

    /// The agent took a question back, or somebody else has answered it.
    fn forget_question(&mut self, params: &Params) -> Result<(), DemoError> {
        let Ok(CancelRequest { request_id }) = params.read() else { return Ok(()) };
        let open = self.waiting.len() + usize::from(self.asking.is_some());
        self.waiting.retain(|(id, _)| *id != request_id);
        self.asking.take_if(|asking| asking.id == request_id);
        if self.waiting.len() + usize::from(self.asking.is_some()) < open {
            self.screen.say("", "The question was taken back, or answered elsewhere.")?;
            let error = RpcError::new(CANCELLED, "request cancelled");
            self.settle(message::refusal(&request_id, &error)?)?;
        }
        Ok(())
    }

    /// Ends the bridge, and returns what became of it all.
    pub(super) fn close(mut self, ended: Result<(), DemoError>) -> Result<(), DemoError> {
        self.client.close();
        self.asking = None;
        if !matches!(ended, Err(DemoError::BridgeGone)) {
            self.wait_for_end();
        }
        self.screen.finish_line()?;
        match (ended, self.client.finish()) {
            (Err(DemoError::BridgeGone), Ok(status)) => Err(DemoError::BridgeEnded(status)),
            (Ok(()), Ok(status)) if !status.success() => Err(DemoError::BadEnd(status)),
            (ended, _) => ended,
        }
    }

    /// Shows what still comes until the bridge has ended, or has not for too long.
    fn wait_for_end(&mut self) {
        loop {
            match self.client.next_event(Some(LAST_PATIENCE)) {
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
) -> Result<T, DemoError> {
    let result = outcome.map_err(|error| DemoError::Refused { method, error })?;
    serde_json::from_str(result.get()).map_err(|_| DemoError::Misunderstood(method))
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

#[derive(Deserialize)]
struct SessionUpdate {
    update: Update,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    #[serde(rename = "sessionUpdate")]
    kind: String,
    message_id: Option<String>,
    #[serde(default)]
    content: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelRequest {
    request_id: Id,
}
