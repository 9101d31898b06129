//! Codex' app-server under a program that hosts it: JSON-RPC without the `jsonrpc` member, one message a line. The
//! format of a request and its result is left to the dialect.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::{
    pending::AwaitedRequests,
    protocol::{AgentMessage, AgentRequest, HostProtocol, LineClass, Place},
};
use crate::{
    dialect::{
        Rejection,
        codex::{self, Changes, CodexReply},
    },
    engine::{Base, Introduction, Peer, Sessions},
    limits,
    question::{Answer, Outcome, Question, Said},
    wire::{
        envelope::{Envelope, Message, peek},
        line,
        scan::{self, Members, Text, member},
    },
};

/// The host introduces itself.
const INITIALIZE: &str = "initialize";
/// The host opens a thread. The response names it and its folder.
const THREADS: [&str; 3] = ["thread/start", "thread/resume", "thread/fork"];
/// A request is over, whichever client responded first.
const RESOLVED: &str = "serverRequest/resolved";
/// An item starts. The item of a file change contains the changes, which the request for its approval lacks.
const ITEM_STARTED: &str = "item/started";
/// The changes of an item are others now.
const CHANGES_UPDATED: &str = "item/fileChange/patchUpdated";
/// An item or a turn ends.
const ITEM_COMPLETED: &str = "item/completed";
const TURN_COMPLETED: &str = "turn/completed";
/// The text that the line of a file change contains.
const FILE_CHANGE: &[u8] = b"fileChange";

/// The state of Codex and its host.
#[derive(Debug, Default)]
pub struct Codex {
    sessions: Sessions,
    /// The host's requests for a thread that the agent has not answered yet.
    threads: AwaitedRequests,
    changes: Changes,
}

impl HostProtocol for Codex {
    type Reply = CodexReply;

    const AGENT: &'static str = "Codex";

    #[inline]
    fn glance<'a>(&self, from: Peer, line: &'a [u8]) -> LineClass<'a> {
        match (peek(line), from) {
            (Envelope::Call(method), Peer::Agent) => of_agent(method, line),
            (Envelope::Call(method), Peer::Client) => of_host(method, line),
            (Envelope::Response(id), _) => LineClass::Response(id),
            (Envelope::Batch | Envelope::Opaque, _) => LineClass::Ordinary,
            (Envelope::Undecided, _) => LineClass::Undecided,
        }
    }

    fn said(line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        codex::said(line, tell);
    }

    fn awaits(&self, id: &str) -> bool {
        self.threads.awaits(id)
    }

    fn request_id<'a>(&self, line: &'a [u8]) -> Option<&'a str> {
        // Codex writes the id before the parameters, which are most of the line.
        let mut members = Members::enter(line).ok()?;
        while let Some(key) = members.key().ok()?.filter(|key| !key.is("params")) {
            let value = members.value().ok()?;
            if key.is("id") {
                return std::str::from_utf8(value).ok();
            }
        }
        None
    }

    fn agent_says(&mut self, _: &mut Base, line: &[u8], fallback_id: &str) -> AgentMessage<CodexReply> {
        // The core has checked that the line is JSON, so this code only reads its parts.
        let Some(message) = Message::read_prefix(line) else { return AgentMessage::Nothing };
        let params = message.params.unwrap_or_default();
        match (message.method.as_deref(), message.id) {
            (Some(RESOLVED), None) => {
                let id = member(params, "requestId").and_then(|id| std::str::from_utf8(id).ok());
                id.map_or(AgentMessage::Nothing, |id| AgentMessage::Over(id.to_owned()))
            }
            (Some(ITEM_STARTED), None) => {
                let item = member(params, "item").unwrap_or_default();
                self.changes.push(item);
                place(params, member(item, "id")).map_or(AgentMessage::Nothing, AgentMessage::Changed)
            }
            (Some(CHANGES_UPDATED), None) => {
                self.changes.updated(params);
                place(params, member(params, "itemId")).map_or(AgentMessage::Nothing, AgentMessage::Changed)
            }
            (Some(ITEM_COMPLETED), None) => {
                let item = member(params, "item").unwrap_or_default();
                place(params, member(item, "id")).map_or(AgentMessage::Nothing, AgentMessage::Ended)
            }
            (Some(TURN_COMPLETED), None) => {
                let session = member(params, "threadId").and_then(scan::text);
                session.map_or(AgentMessage::Nothing, |session| {
                    AgentMessage::Ended(Place { session: session.into_owned(), tool_call: None })
                })
            }
            (Some(method), Some(id)) => match codex::read(method, params, fallback_id) {
                Some((mut question, reply)) => {
                    let bare = (method == codex::request::FILE_CHANGE).then(|| question.clone());
                    self.complete(&mut question, None);
                    let id = id.to_owned();
                    AgentMessage::Asks(Box::new(AgentRequest { id, question, bare, reply }))
                }
                None => AgentMessage::Nothing,
            },
            (None, Some(id)) => {
                self.thread_opened(id, message.result.unwrap_or_default());
                AgentMessage::Nothing
            }
            _ => AgentMessage::Nothing,
        }
    }

    fn complete(&self, question: &mut Question, first: Option<&Question>) {
        self.changes.complete(question);
        if let Some(first) = first {
            codex::contradict(question, first);
        }
    }

    fn host_says(&mut self, base: &mut Base, line: &[u8]) {
        let Some(message) = Message::read_prefix(line) else { return };
        if message.method.as_deref() == Some(INITIALIZE) {
            let name = message.param("clientInfo").and_then(|info| scan::text(member(info, "name")?));
            let name = name.filter(|name| name.len() <= limits::AGENT).map(|name| name.into_owned());
            let agent = Some(Self::AGENT.to_owned());
            base.introduce(|introduced| {
                introduced.client = Some(Introduction { name, ..Introduction::default() });
                introduced.agent = Some(Introduction { name: agent, ..Introduction::default() });
            });
        } else if let Some(id) = message.id {
            self.threads.push(id);
        }
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn read_response(&self, reply: &CodexReply, question: &Question, line: &[u8]) -> Option<Outcome> {
        reply.read(question, Message::read_prefix(line)?.result?)
    }

    fn write_answer(&self, reply: &CodexReply, question: &Question, answer: &Answer) -> Box<RawValue> {
        reply.write_answer(question, answer)
    }

    fn write_rejection(
        &self,
        reply: &CodexReply,
        question: &Question,
        rejection: Rejection<'_>,
    ) -> Box<RawValue> {
        reply.write_rejection(question, rejection)
    }

    fn bytes(reply: &CodexReply) -> usize {
        reply.bytes()
    }

    fn response(&self, id: &str, result: &RawValue) -> Bytes {
        line::line(format!("{{\"id\":{id},\"result\":{result}}}"))
    }

    /// Codex tells all of its clients itself that a request is over.
    fn cancel(&self, _: &str) -> Option<Bytes> {
        None
    }
}

/// Returns the item of a thread.
fn place(params: &[u8], item: Option<&[u8]>) -> Option<Place> {
    let text = |json| Some(scan::text(json)?.into_owned());
    Some(Place { session: text(member(params, "threadId")?)?, tool_call: Some(text(item?)?) })
}

fn of_agent<'a>(method: Text<'_>, line: &[u8]) -> LineClass<'a> {
    // Searching the whole line is cheap enough: most lines have other methods, and carry what the model says, piece by
    // piece.
    if method.is(ITEM_STARTED) {
        // `LineClass::Call` would not do for other items: a file change begins with the same bytes.
        let is_change = memchr::memmem::find(line, FILE_CHANGE).is_some();
        return if is_change { LineClass::Look } else { LineClass::Ordinary };
    }
    if method.is(ITEM_COMPLETED) || method.is(TURN_COMPLETED) {
        return LineClass::LookWhileOpen;
    }
    let matters = [RESOLVED, CHANGES_UPDATED].iter().chain(codex::METHODS).any(|known| method.is(known));
    if matters { LineClass::Look } else { LineClass::Call(method.end_in(line)) }
}

fn of_host<'a>(method: Text<'_>, line: &[u8]) -> LineClass<'a> {
    let matters = method.is(INITIALIZE) || THREADS.iter().any(|known| method.is(known));
    if matters { LineClass::Look } else { LineClass::Call(method.end_in(line)) }
}

impl Codex {
    fn thread_opened(&mut self, id: &str, result: &[u8]) {
        self.threads.responded(id);
        let thread = member(result, "thread").unwrap_or_default();
        let text = |json: &'_ [u8], name: &str| Some(scan::text(member(json, name)?)?.into_owned());
        let folder = text(result, "cwd").or_else(|| text(thread, "cwd"));
        if let (Some(thread), Some(folder)) = (text(thread, "id"), folder) {
            self.sessions.open(&thread, &folder);
        }
    }
}
