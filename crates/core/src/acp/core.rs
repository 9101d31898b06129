//! The state of ACP between an agent and a client, and what its parts share: made-up IDs, what a question counts for, and
//! the report that it was not answered. How bytes become lines, and where they go, is left to the engine and to `component.rs`.

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
    engine::{Action, Base, Line, Output, Sessions, UnansweredReason},
    limits,
    question::{Image, Purpose, Question, Reason},
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

    /// Returns how many bytes a question counts for, if there is room for it.
    pub(super) fn weigh(&self, id: &str, question: &Question, line: &Line) -> Result<usize, String> {
        if id.len() > limits::ID {
            return Err(format!("its request id is longer than {} bytes", limits::ID));
        }
        let bytes = match question.purpose {
            // Only the parts of its parameters that fit the limits of a subject are kept.
            Purpose::Permission => 0,
            // The desk counts images on their own.
            _ => {
                let params = line.message().and_then(|message| message.params).map_or(0, <[u8]>::len);
                params.saturating_sub(question.images.iter().map(Image::encoded).sum())
            }
        };
        let weight = self.base.desk.weigh(question, bytes);
        let room = self.base.desk.check_room(question.session.as_deref(), weight);
        room.map(|()| weight).map_err(|full| full.to_string())
    }
}
