//! Claude Code under a program that hosts it, by its control protocol. Qwen Code speaks the same. The format of a line
//! and its parts is left to the dialect.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::{
    pending::AwaitedRequests,
    protocol::{AgentMessage, AgentRequest, HostProtocol, LineClass},
};
use crate::{
    dialect::{
        Rejection,
        claude::{
            self, ControlReply,
            control::{self, Init, Kind, PendingRequests, Request},
            request,
        },
    },
    engine::{Base, Introduction, Peer, Sessions},
    limits,
    question::{Answer, Outcome, Question, Said},
};

/// The subtype of the request with which the host starts, and with which it reconnects.
const INITIALIZE: &str = "initialize";

/// The state of Claude Code and its host.
#[derive(Debug, Default)]
pub struct Claude {
    sessions: Sessions,
    /// The session that the agent named last. A process has one session at a time.
    session: Option<String>,
    /// The host's `initialize` requests that the agent has not answered yet.
    initialize: AwaitedRequests,
}

impl HostProtocol for Claude {
    type Reply = ControlReply;

    const AGENT: &'static str = "Claude Code";

    #[inline]
    fn glance<'a>(&self, from: Peer, line: &'a [u8]) -> LineClass<'a> {
        match (control::peek(line), from) {
            (Kind::Request(subtype), Peer::Agent) if request::may_ask(|name| subtype.is(name)) => {
                LineClass::Look
            }
            (Kind::Request(subtype), Peer::Client) if subtype.is(INITIALIZE) => LineClass::Look,
            (Kind::Request(subtype), _) => LineClass::Call(subtype.end_in(line)),
            (Kind::Cancel | Kind::Init, Peer::Agent) => LineClass::Look,
            (Kind::Response(id), _) => LineClass::Response(id),
            (Kind::Undecided, _) => LineClass::Undecided,
            (Kind::Cancel | Kind::Init | Kind::Other, _) => LineClass::Ordinary,
        }
    }

    fn said(line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        claude::said(line, tell);
    }

    fn awaits(&self, id: &str) -> bool {
        self.initialize.awaits(id)
    }

    fn request_id<'a>(&self, line: &'a [u8]) -> Option<&'a str> {
        control::request_id(line)
    }

    fn agent_says(&mut self, base: &mut Base, line: &[u8], _: &str) -> AgentMessage<ControlReply> {
        match control::peek(line) {
            Kind::Request(_) => match Request::read(line).and_then(|request| self.ask(request)) {
                Some(ask) => AgentMessage::Asks(Box::new(ask)),
                None => AgentMessage::Nothing,
            },
            Kind::Cancel => control::request_id(line)
                .map_or(AgentMessage::Nothing, |id| AgentMessage::Over(id.to_owned())),
            Kind::Response(id) => {
                self.initialize.responded(id);
                introduce(base);
                // A host that reconnects did not see the open requests, so the agent lists them in this response.
                let waiting = PendingRequests::read(line);
                AgentMessage::Waits(
                    waiting.requests().filter_map(|line| self.ask(Request::read(line)?)).collect(),
                )
            }
            Kind::Init => {
                self.init(base, &Init::read(line));
                AgentMessage::Nothing
            }
            Kind::Other | Kind::Undecided => AgentMessage::Nothing,
        }
    }

    fn host_says(&mut self, _: &mut Base, line: &[u8]) {
        if let Some(id) = control::request_id(line) {
            self.initialize.push(id);
        }
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn read_response(&self, reply: &ControlReply, question: &Question, line: &[u8]) -> Option<Outcome> {
        reply.read(question, control::result(line)?)
    }

    fn write_answer(&self, reply: &ControlReply, question: &Question, answer: &Answer) -> Box<RawValue> {
        reply.write_answer(question, answer)
    }

    fn write_rejection(&self, reply: &ControlReply, _: &Question, rejection: Rejection<'_>) -> Box<RawValue> {
        reply.write_rejection(rejection)
    }

    fn bytes(reply: &ControlReply) -> usize {
        reply.bytes()
    }

    fn response(&self, id: &str, result: &RawValue) -> Bytes {
        control::response(id, result)
    }

    fn cancel(&self, id: &str) -> Option<Bytes> {
        Some(control::cancel(id))
    }
}

impl Claude {
    fn ask(&self, request: Request<'_>) -> Option<AgentRequest<ControlReply>> {
        let (mut question, reply) = request::read(request)?;
        question.session.clone_from(&self.session);
        Some(AgentRequest { id: request.id.to_owned(), question, bare: None, reply })
    }

    fn init(&mut self, base: &mut Base, init: &Init<'_>) {
        let name = if init.is_qwen() { "Qwen Code" } else { Self::AGENT };
        let agent = Some(introduction(name));
        if base.introductions().agent != agent {
            base.introduce(|introduced| introduced.agent = agent);
        }
        let Some(session) = init.session_id.as_deref().filter(|id| id.len() <= limits::SESSION) else {
            return;
        };
        if let Some(folder) = init.cwd.as_deref() {
            self.sessions.open(session, folder);
        }
        self.session = Some(session.to_owned());
    }
}

/// Records that both peers have introduced themselves. Neither gives a name.
fn introduce(base: &mut Base) {
    base.introduce(|introduced| {
        introduced.client.get_or_insert_default();
        introduced.agent.get_or_insert_with(|| introduction(Claude::AGENT));
    });
}

fn introduction(name: &str) -> Introduction {
    Introduction { name: Some(name.to_owned()), ..Introduction::default() }
}
