//! The state of MCP between a server and its host, what its parts share, and MCP as a protocol of the engine. How bytes
//! become lines, and where they go, is left to the engine.

use std::{convert::Infallible, sync::Arc, time::Duration};

use super::{
    calls::Calls,
    capabilities::Shown,
    config::{Config, Elicitation, Session},
    pending::OpenQuestions,
    progress::Progress,
};
use crate::{
    desk::TicketedSubmission,
    engine::{self, Action, Base, HasBase, Line, Output, Peer, Protocol, UnansweredReason},
    question::{Provenance, Question, Reason, Responder},
    wire::{frame::Verdict, id::RequestId},
};

/// The core of MCP. Decides: a line or an event and the time go in, actions come out.
#[derive(Debug)]
pub struct Core {
    pub(super) base: Base,
    pub(super) config: Config,
    /// The open questions.
    pub(super) pending: OpenQuestions,
    /// The calls of the host that run.
    pub(super) calls: Calls,
    pub(super) progress: Progress,
    /// The host's `initialize`, until the server has answered it.
    pub(super) initialize: Option<RequestId>,
    /// The elicitations that the host declared in `initialize`.
    pub(super) host: Shown,
    /// The name of the server, for people.
    pub(super) server: Option<Arc<str>>,
    /// Whether the server has refused `initialize`: it speaks only versions without it.
    pub(super) is_stateless: bool,
    /// The number in the last ID that the bridge made up.
    made_up: u64,
    /// Why no question can be asked any more.
    pub(super) closed: Option<Reason>,
}

impl Core {
    pub(super) fn new(config: Config) -> Self {
        Core {
            base: Base::new(&config.common),
            pending: OpenQuestions::default(),
            calls: Calls::default(),
            progress: Progress::default(),
            initialize: None,
            host: Shown::default(),
            server: config.server.as_deref().map(Arc::from),
            is_stateless: false,
            made_up: 0,
            closed: None,
            config,
        }
    }

    /// Returns whether other responders than the host may answer what the server asks.
    pub(super) fn asks_inbox(&self) -> bool {
        self.config.elicitation != Elicitation::Host && self.has_inbox()
    }

    /// Returns whether there are other responders than the host.
    pub(super) fn has_inbox(&self) -> bool {
        self.config.common.name.is_some()
    }

    /// Returns whether the host may not find out that there are versions without `initialize`.
    pub(super) fn refuses_discovery(&self) -> bool {
        self.config.session == Session::Handshake && self.asks_inbox() && !self.is_stateless
    }

    /// Returns an ID that the bridge makes up, for a question or for a call that it sends again, as its text. A host that is
    /// a bridge itself makes up IDs with another name.
    pub(super) fn made_up_id(&mut self) -> String {
        self.made_up += 1;
        let name = self.config.common.name.as_ref().map(|name| format!("{name}-")).unwrap_or_default();
        format!("askbridge-{name}{}", self.made_up)
    }

    /// Adds to a question who asks.
    pub(super) fn named(&self, mut question: Question) -> Question {
        question.agent.clone_from(&self.server);
        let server = self.server.as_deref().unwrap_or("an MCP server");
        question.title.get_or_insert_with(|| format!("The MCP server {server} asks"));
        question
    }

    /// Returns the host as a responder.
    pub(super) fn by_host(&self) -> Provenance {
        let name = self.base.introductions().client.as_ref().and_then(|client| client.name.clone());
        Provenance { responder: Responder::Client, name }
    }

    /// Leaves a question that the host did not answer to other responders.
    pub(super) fn left_by_host(&mut self, number: u64, why: UnansweredReason) {
        self.base.desk.leave(number, None);
        let record = self.base.desk.get(number).map(Arc::clone);
        self.base.actions.extend(record.map(|record| Action::Tell(Output::Unanswered(record, why))));
        self.base.tell();
    }
}

impl Core {
    /// Reports to the peers that wait for an open question, if that is due.
    pub(super) fn tell_progress(&mut self, now: Duration) {
        if self.progress.due.is_none_or(|due| due > now) {
            return;
        }
        self.progress.due = None;
        if self.pending.len() == 0 {
            return self.progress.last.clear();
        }
        let (mut of_host, mut of_server) = (Vec::new(), Vec::new());
        for (_, open) in self.pending.iter() {
            let calls = open.calls.iter().copied().chain(open.call());
            // A host that was told that input is needed does not wait for the call.
            let waiting =
                calls.filter_map(|number| self.calls.get(number)).filter(|call| call.host.is_some());
            of_host.extend(waiting.filter_map(|call| call.token.clone()));
            of_server.extend(open.request().and_then(|request| request.token.clone()));
        }
        for (peer, mut tokens) in [(Peer::Client, of_host), (Peer::Agent, of_server)] {
            tokens.sort_unstable();
            tokens.dedup();
            let reports = tokens.iter().filter_map(|token| self.progress.report(token));
            self.base.actions.extend(reports.map(|report| Action::Send(peer, report)));
        }
        self.progress.begin(now);
    }
}

/// A bridge between an MCP server and its host.
pub type Bridge = engine::Bridge<Core>;

impl Bridge {
    /// Returns a bridge between a server and a host that have not said anything yet.
    pub fn new(config: Config) -> Self {
        Bridge::around(Core::new(config))
    }
}

impl HasBase for Core {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }
}

impl Protocol for Core {
    /// No connection is shared: each peer has its own.
    type Shared = Infallible;

    fn judge(&self, from: Peer, line: &[u8]) -> Verdict {
        Core::judge(self, from, line)
    }

    fn line(&mut self, from: Peer, line: &Line, now: Duration) {
        match from {
            Peer::Client => self.host_line(line, now),
            Peer::Agent => self.server_line(line, now),
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
        self.tell_progress(now);
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.progress.next_deadline()
    }

    fn open_questions(&self) -> usize {
        self.pending.len()
    }
}
