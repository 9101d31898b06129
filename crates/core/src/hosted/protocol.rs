//! The differences between the protocols of hosted agents: which lines matter, what they contain, and how a response is
//! written. When a question opens and ends is left to the core. Has no logic.

use std::fmt::Debug;

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::{
    dialect::Rejection,
    engine::{Base, Peer, Sessions},
    question::{Answer, Outcome, Question, Said},
};

/// The class of a line, by its first members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineClass<'a> {
    /// It means nothing to the bridge.
    Ordinary,
    /// It must be read.
    Look,
    /// It must be read while a question is open.
    LookWhileOpen,
    /// A call that is no question, as this many of its first bytes show. It may be a request; a number as its ID is
    /// ignored.
    Call(usize),
    /// A response to the request with this id, as JSON text.
    Response(&'a str),
    /// The bytes end before the class is clear.
    Undecided,
}

/// A request of the agent that is a question.
#[derive(Debug)]
pub struct AgentRequest<R> {
    /// The id of the request, as JSON text.
    pub id: String,
    /// The question.
    pub question: Question,
    /// The question without what earlier lines said, if later lines may say something else.
    pub bare: Option<Question>,
    /// The format of the response that the agent expects.
    pub reply: R,
}

/// A line of the agent that concerns questions.
#[derive(Debug)]
pub enum AgentMessage<R> {
    /// The line does not concern questions.
    Nothing,
    /// The agent asks a question.
    Asks(Box<AgentRequest<R>>),
    /// The agent waits for the responses to these requests, which it has sent before.
    Waits(Vec<AgentRequest<R>>),
    /// The request with this id is over: the agent took it back, or has a response.
    Over(String),
    /// What a tool call would do is something else now.
    Changed(Place),
    /// A tool call is over, or the turn of its session.
    Ended(Place),
}

/// A tool call, or all of them in a session.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// The session.
    pub session: String,
    /// The tool call. `None` for all of the session's.
    pub tool_call: Option<String>,
}

impl Place {
    /// Returns whether a question is about it.
    pub fn has(&self, question: &Question) -> bool {
        question.session.as_ref() == Some(&self.session)
            && (self.tool_call.is_none() || question.tool_call == self.tool_call)
    }
}

/// A protocol between an agent and the program that hosts it.
pub trait HostProtocol: Debug + Default {
    /// The format of the response that an agent expects to one of its requests.
    type Reply: Debug;

    /// The usual name of the agent, unless it introduces itself.
    const AGENT: &'static str;

    /// Returns the class of a line of this peer, or of the beginning of one. It reads no more than necessary.
    fn glance<'a>(&self, from: Peer, line: &'a [u8]) -> LineClass<'a>;

    /// Tells what the agent says to its person in a line, if anything.
    fn said(line: &[u8], tell: &mut dyn FnMut(Said<'_>));

    /// Returns whether the agent's response to this request of the host must be read.
    fn awaits(&self, id: &str) -> bool;

    /// Returns the id of a request, as JSON text.
    fn request_id<'a>(&self, line: &'a [u8]) -> Option<&'a str>;

    /// Reads a whole line of the agent, and records in `base` how the peers introduce themselves. `fallback_id` is the
    /// question's id if the agent did not name it.
    fn agent_says(&mut self, base: &mut Base, line: &[u8], fallback_id: &str) -> AgentMessage<Self::Reply>;

    /// Adds to a question what earlier lines said of it. `first` is the question as it was asked at first.
    fn complete(&self, _question: &mut Question, _first: Option<&Question>) {}

    /// Reads a whole line of the host that is no response to the agent, under the same rule.
    fn host_says(&mut self, base: &mut Base, line: &[u8]);

    /// Returns the folders of the sessions.
    fn sessions(&self) -> &Sessions;

    /// Reads the host's response to this question, from the whole line. `None` if it has no known meaning.
    fn read_response(&self, reply: &Self::Reply, question: &Question, line: &[u8]) -> Option<Outcome>;

    /// Returns how many bytes of its request a reply format keeps in memory.
    fn bytes(reply: &Self::Reply) -> usize;

    /// Writes an answer that fits the question, as a `result`.
    fn write_answer(&self, reply: &Self::Reply, question: &Question, answer: &Answer) -> Box<RawValue>;

    /// Writes a rejection, as a `result`.
    fn write_rejection(
        &self,
        reply: &Self::Reply,
        question: &Question,
        rejection: Rejection<'_>,
    ) -> Box<RawValue>;

    /// Returns the line that gives the agent this `result`.
    fn response(&self, id: &str, result: &RawValue) -> Bytes;

    /// Returns the line that takes a request back from the host. `None` if the agent sends such a line itself.
    fn cancel(&self, id: &str) -> Option<Bytes>;
}
