//! The state of ACP between an agent and a client, and what its parts share: made-up IDs, and the report that a
//! question was not answered. How bytes become lines, and where they go, is left to the engine and to `component.rs`.

use std::{sync::Arc, time::Duration};

use super::{
    capabilities,
    config::Config,
    heard,
    hint::Hints,
    pending::{OpenQuestions, Silence},
    sessions::Turns,
    tool_calls::ToolCalls,
    unread::Unread,
};
use crate::{
    dialect::permission::Protocol,
    engine::{Action, Base, Output, Sessions, UnansweredReason},
    question::Reason,
    wire::id::RequestId,
};

/// The core of ACP. Decides: a line or an event and the time go in, actions come out.
#[derive(Debug)]
pub struct Core {
    pub(super) base: Base,
    pub(super) config: Config,
    /// ACP's part of the open questions.
    pub(super) pending: OpenQuestions,
    pub(super) turns: Turns,
    pub(super) sessions: Sessions,
    pub(super) hints: Hints,
    pub(super) silence: Silence,
    /// The client's `initialize`, until the agent has answered it.
    pub(super) initialize: Option<RequestId>,
    /// The capabilities of the client.
    pub(super) client: capabilities::Client,
    /// The agent's own name.
    pub(super) agent: Option<Arc<str>>,
    /// The version of the protocol that the agent agreed to.
    pub(super) protocol: Protocol,
    /// The last tool calls, which supply the session or the subject of a question that lacks it.
    pub(super) tool_calls: ToolCalls,
    /// Requests that seem to ask a person, and that the bridge cannot read.
    pub(super) unread: Unread,
    /// Whether the agent takes a text of the person's own in place of each option of a form.
    pub(super) takes_own_text: bool,
    /// The number of the last id that the bridge made up, for any purpose.
    pub(super) made_up: u64,
    /// Why no question can be asked any more.
    pub(super) closed: Option<Reason>,
}

impl Core {
    pub(super) fn new(config: Config) -> Self {
        Core {
            base: Base::new(&config.common).hearing(heard::read),
            config,
            pending: OpenQuestions::default(),
            turns: Turns::default(),
            sessions: Sessions::default(),
            hints: Hints::default(),
            silence: Silence::default(),
            initialize: None,
            client: capabilities::Client::default(),
            agent: None,
            protocol: Protocol::default(),
            tool_calls: ToolCalls::default(),
            unread: Unread::default(),
            takes_own_text: false,
            made_up: 0,
            closed: None,
        }
    }

    /// Returns a number that no other made-up id has.
    pub(super) fn next_number(&mut self) -> u64 {
        self.made_up += 1;
        self.made_up
    }

    /// Reports that the client did not answer a question, or could not in this way.
    pub(super) fn unanswered(&mut self, number: u64, why: UnansweredReason, now: Duration) {
        match &why {
            UnansweredReason::Elsewhere(kept) => self.base.desk.leave(number, Some(kept.clone())),
            UnansweredReason::NoWay => self.base.desk.leave(number, None),
            _ => {}
        }
        let left = matches!(why, UnansweredReason::Elsewhere(_) | UnansweredReason::NoWay);
        // The record is read after `leave`, so that the report shows it as left to other responders.
        let record = self.base.desk.get(number).map(Arc::clone);
        self.base.actions.extend(record.map(|record| Action::Tell(Output::Unanswered(record, why))));
        if left {
            self.hint(number, now);
        }
    }
}
