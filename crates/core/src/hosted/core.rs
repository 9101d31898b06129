//! The core of a bridge between an agent and its host: which lines are intercepted, and the actions that follow from
//! each; and the bridges that speak each protocol. The agent's lines reach the host unchanged, all of them; the host's
//! lines reach the agent, except for a response that comes too late. How a question ends is left to `settle.rs`, what
//! differs between the protocols to `protocol.rs`.

use std::{convert::Infallible, sync::Arc, time::Duration};

use super::{
    claude::Claude,
    codex::Codex,
    pending::{Amendable, OpenQuestion, OpenQuestions, ResponseTarget, asks_the_same},
    protocol::{AgentMessage, AgentRequest, HostProtocol, LineClass, Place},
};
use crate::{
    desk::{Opening, TicketedSubmission},
    engine::{Action, Base, Bridge, Config, HasBase, Line, Peer, Protocol},
    guard, limits,
    question::{Purpose, Question, Reason},
    wire::{envelope::is_json, frame::Verdict, id::RequestId},
};

/// The core of a protocol between an agent and its host. Decides: a line or an event and the time go in, actions come
/// out.
#[derive(Debug)]
pub struct Core<S: HostProtocol> {
    pub(super) base: Base,
    pub(super) config: Config,
    pub(super) protocol: S,
    pub(super) pending: OpenQuestions<S::Reply>,
    /// The number in the last question ID that the bridge made up.
    made_up: u64,
    /// Why no question can be asked any more.
    pub(super) closed: Option<Reason>,
}

impl<S: HostProtocol> Core<S> {
    pub(super) fn new(config: Config) -> Self {
        Core {
            base: Base::new(&config).hearing(S::said),
            config,
            protocol: S::default(),
            pending: OpenQuestions::default(),
            made_up: 0,
            closed: None,
        }
    }

    /// Returns the action for a line of this peer, or for the beginning of a long one.
    pub(super) fn judge(&self, from: Peer, line: &[u8]) -> Verdict {
        let intercepts = match (self.protocol.glance(from, line), from) {
            // The agent's requests are among them.
            (LineClass::Look, Peer::Agent) => return Verdict::InterceptQuestion,
            (LineClass::Look, Peer::Client) => true,
            (LineClass::LookWhileOpen, _) => self.pending.len() > 0,
            (LineClass::Ordinary, _) => false,
            (LineClass::Call(length), Peer::Client) => return Verdict::ForwardAlike(length),
            // `ForwardAlike` ignores the ID, but a request that reuses a settled ID must be noticed.
            (LineClass::Call(length), Peer::Agent) if !self.pending.has_settled() => {
                return Verdict::ForwardAlike(length);
            }
            (LineClass::Call(_), Peer::Agent) => self.takes_settled_id(line),
            (LineClass::Response(id), Peer::Client) => self.pending.awaited(id) != ResponseTarget::Unknown,
            (LineClass::Response(id), Peer::Agent) => self.protocol.awaits(id),
            // The rest of a prefix may decide. A whole line of this class is no message.
            (LineClass::Undecided, _) => !line.ends_with(b"\n"),
        };
        if intercepts { Verdict::Intercept } else { Verdict::Forward }
    }

    /// Returns whether a request of the agent has the id of a settled question: the next response with it is a new one.
    fn takes_settled_id(&self, line: &[u8]) -> bool {
        // The beginning of a long line contains the ID.
        self.protocol.request_id(line).is_some_and(|id| self.pending.is_settled(id))
    }

    pub(super) fn agent_line(&mut self, line: &Line, now: Duration) {
        self.base.actions.push(Action::Forward);
        // A line that is too long to hold is left to the host, and so is one that the host cannot parse.
        if !line.whole || !is_json(&line.bytes) {
            return self.forget_request(&line.bytes);
        }
        let fallback_id = format!("askbridge-{}", self.made_up + 1);
        let message = self.protocol.agent_says(&mut self.base, &line.bytes, &fallback_id);
        // A question says itself what it is about, and would take the room of what led to it.
        if !matches!(message, AgentMessage::Asks(_) | AgentMessage::Waits(_)) {
            self.base.heard.hear(&line.bytes, now);
        }
        match message {
            AgentMessage::Asks(ask) => {
                self.made_up += u64::from(ask.question.id == fallback_id);
                self.ask(*ask, now);
            }
            AgentMessage::Waits(asks) => asks.into_iter().for_each(|ask| self.ask(ask, now)),
            AgentMessage::Over(id) => self.over(&id, now),
            AgentMessage::Changed(place) => self.amend(&place, now),
            AgentMessage::Ended(place) => self.ended(&place, now),
            AgentMessage::Nothing => self.forget_request(&line.bytes),
        }
    }

    /// A request that is no question may take the id of a settled one.
    fn forget_request(&mut self, line: &[u8]) {
        if let Some(id) = self.protocol.request_id(line) {
            self.pending.forget(id);
        }
    }

    pub(super) fn host_line(&mut self, line: &Line, now: Duration) {
        let id = match self.protocol.glance(Peer::Client, &line.bytes) {
            // Invalid JSON is no response: the agent cannot parse it.
            LineClass::Response(id) if !line.whole || is_json(&line.bytes) => id.to_owned(),
            _ => {
                self.base.actions.push(Action::Forward);
                if line.whole && is_json(&line.bytes) {
                    self.protocol.host_says(&mut self.base, &line.bytes);
                }
                return;
            }
        };
        match self.pending.awaited(&id) {
            ResponseTarget::Question(number) => self.answered_by_host(number, line, now),
            // The line is dropped: the agent already has the answer of another responder.
            ResponseTarget::Nothing => self.pending.forget(&id),
            ResponseTarget::Unknown => self.base.actions.push(Action::Forward),
        }
    }

    fn ask(&mut self, ask: AgentRequest<S::Reply>, now: Duration) {
        let AgentRequest { id, question, bare, reply } = ask;
        let question = self.complete(question);
        let asked = bare.as_ref().unwrap_or(&question);
        if let Some(number) = self.pending.number(&id) {
            let is_known = self.pending.get(number).is_some_and(|open| asks_the_same(open.asked(), asked));
            // The host's responses to two requests of the same id cannot be told apart.
            if !is_known {
                self.abandon(number, now);
            }
            return;
        }
        // This is a retransmission: the agent had not read the bridge's response yet. The host must not show a question
        // that is settled.
        if self.pending.has_settled_as(&id, asked) {
            return self.take_back(&id);
        }
        self.pending.forget(&id);
        match self.closed {
            // No agent is left that could read a response.
            Some(Reason::AgentGone) => return,
            Some(reason) => return self.refuse(&id, &reply, &question, asked, reason),
            None => {}
        }
        let is_permission = question.purpose == Purpose::Permission;
        // The host has the request already, and is the only one to answer it.
        if id.len() > limits::ID || (is_permission && !self.config.permissions) {
            return;
        }
        let question = Arc::new(question);
        let amendable = bare.map(|bare| Box::new(Amendable { bare, first: Arc::clone(&question) }));
        let weight = self.weigh(&question, amendable.as_deref(), &reply);
        // A question for which there is no room is left to the host alone.
        if self.base.desk.check_room(question.session.as_deref(), weight).is_err() {
            return;
        }
        let timeout = self.base.timeout(&question);
        let context = self.base.heard.before(&question);
        let opening = Opening { question: Arc::clone(&question), weight, timeout, elsewhere: false, context };
        let number = self.base.desk.open(opening, now);
        // The desk has the data of its images from now on.
        let question = self.base.desk.get(number).map_or(question, |record| Arc::clone(&record.question));
        self.base.tell();
        self.pending.open(number, OpenQuestion { id: RequestId::new(&id), question, amendable, reply });
    }

    /// Shows what the open questions about a tool call are about now.
    fn amend(&mut self, place: &Place, now: Duration) {
        for number in self.pending.numbers(|open| place.has(&open.question)) {
            self.amend_one(number, now);
        }
        self.base.tell();
    }

    fn amend_one(&mut self, number: u64, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let Some(texts) = open.amendable.as_deref() else { return };
        let mut question = texts.bare.clone();
        self.protocol.complete(&mut question, Some(&texts.first));
        let question = self.complete(question);
        if question == *open.question {
            return;
        }
        let question = Arc::new(question);
        let weight = self.weigh(&question, Some(texts), &open.reply);
        match self.base.desk.amend(number, Arc::clone(&question), weight) {
            Ok(()) => {
                if let Some(open) = self.pending.get_mut(number) {
                    open.question = question;
                }
            }
            // As with a permission that exceeds a limit when it is asked: nothing that is out of date is shown.
            Err(_) => self.abandon(number, now),
        }
    }

    /// Returns what an open question takes of the desk's memory.
    fn weigh(&self, question: &Question, amendable: Option<&Amendable>, reply: &S::Reply) -> usize {
        // The reply format copies parts of the request, which are in memory beside the question. So are earlier texts.
        let texts = amendable.map_or(0, |texts| {
            [&texts.bare, &*texts.first].map(|text| self.base.desk.weigh(text, 0)).iter().sum()
        });
        self.base.desk.weigh(question, 0) + texts + S::bytes(reply)
    }

    /// Adds what earlier lines said of the agent and its folder, and decides the risk.
    fn complete(&self, mut question: Question) -> Question {
        let folder = question.session.as_deref().and_then(|session| self.protocol.sessions().folder(session));
        question.project = folder.cloned();
        let agent = self.base.introductions().agent.as_ref().and_then(|agent| agent.name.as_deref());
        question.agent = Some(agent.unwrap_or(S::AGENT).into());
        self.base.desk.fit_images(&mut question);
        guard::assess(&mut question);
        question.shrink_to_fit();
        question
    }
}

/// A bridge between Claude Code and its host.
pub type ClaudeBridge = Bridge<Core<Claude>>;

/// A bridge between Codex' app-server and its host.
pub type CodexBridge = Bridge<Core<Codex>>;

impl<S: HostProtocol> Bridge<Core<S>> {
    /// Returns a bridge between an agent and a host that have not said anything yet.
    pub fn new(config: Config) -> Self {
        Bridge::around(Core::new(config))
    }
}

impl<S: HostProtocol> HasBase for Core<S> {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }
}

impl<S: HostProtocol> Protocol for Core<S> {
    /// No connection is shared: each peer has its own.
    type Shared = Infallible;

    fn judge(&self, from: Peer, line: &[u8]) -> Verdict {
        Core::judge(self, from, line)
    }

    fn line(&mut self, from: Peer, line: &Line, now: Duration) {
        match from {
            Peer::Client => self.host_line(line, now),
            Peer::Agent => self.agent_line(line, now),
        }
    }

    fn submitted(&mut self, submitted: TicketedSubmission, now: Duration) {
        Core::submitted(self, submitted, now);
    }

    fn close(&mut self, reason: Reason, now: Duration) {
        Core::close(self, reason, now);
    }

    fn tick(&mut self, now: Duration) {
        self.expire(now);
    }

    // The engine itself looks at the deadlines of the questions.
    fn next_deadline(&self) -> Option<Duration> {
        None
    }

    fn open_questions(&self) -> usize {
        self.pending.len()
    }
}
