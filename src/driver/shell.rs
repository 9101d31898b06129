//! Carries out what the bridge tells: process commands, the log, and the inbox. It decides nothing.

use std::{
    task::{Context, Poll},
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use super::{agent::Agent, report};
use crate::{
    control::{PeerStatus, Peers, Port},
    desk::Notice,
    engine::{Bridge, Introduction, Introductions, Output, Protocol},
};

/// How long a question may stay open from now on, and when that was set. One change may wait.
pub type Timeouts = mpsc::Receiver<(Option<Duration>, Instant)>;

/// How far the bridge is on its way to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    Running,
    /// It ends as soon as the client's outbox is idle.
    Finishing,
    /// It ends at once.
    Abandoned,
}

/// What the bridge acts on.
pub(super) struct Shell {
    pub port: Port,
    /// The agent's process, once it was started. Under a conductor there is none.
    pub agent: Option<Agent>,
    /// Where a change of the settings is told.
    pub timeouts: Option<Timeouts>,
    /// Whether responders other than the client find the questions.
    pub has_inbox: bool,
    pub course: Course,
    /// Whether the agent was asked to end.
    pub agent_is_ending: bool,
    /// Whether what should be a conductor turned out to be a client.
    pub lacks_conductor: bool,
}

impl Shell {
    /// Returns a shell without an agent.
    pub(super) fn new(port: Port, has_inbox: bool, timeouts: Option<Timeouts>) -> Self {
        Shell {
            port,
            agent: None,
            timeouts,
            has_inbox,
            course: Course::Running,
            agent_is_ending: false,
            lacks_conductor: false,
        }
    }

    /// Carries out all that the bridge tells, in its order.
    pub(super) fn carry_out<P: Protocol>(&mut self, bridge: &mut Bridge<P>) {
        while let Some(output) = bridge.poll() {
            self.perform(output);
        }
    }

    /// Hands over what changed, if the inbox has taken what was handed over before.
    pub(super) fn hand_over<P: Protocol>(&mut self, cx: &mut Context<'_>, bridge: &mut Bridge<P>) {
        self.port.introduce(cx, bridge.take_introductions().map(peers));
        let has_changes = bridge.has_changes();
        match self.port.poll_hand_over(cx, has_changes, || bridge.take_changes()) {
            // The inbox wakes the loop once it has room.
            Poll::Ready(()) | Poll::Pending => {}
        }
    }

    /// Hands over what changed last: the bridge has ended, so that the inbox need not have taken what came before.
    pub(super) fn finish<P: Protocol>(&mut self, bridge: &mut Bridge<P>) {
        self.port.finish(bridge.take_changes());
    }

    fn perform(&mut self, output: Output) {
        match output {
            // The outbox has it; the loop writes it.
            Output::Queued(..) | Output::EndClientOutput => {}
            Output::Intercepted(from, line) => report::log_intercepted(from, &line),
            Output::EndAgentInput => self.agent_is_ending = true,
            Output::Terminate => self.agent.iter_mut().for_each(Agent::terminate),
            Output::Kill => self.agent.iter_mut().for_each(Agent::kill),
            Output::Unanswered(record, why) => report::log_unanswered(&record, &why, self.has_inbox),
            Output::Notice(notice) => self.notice(notice),
            Output::Waits(id) => self.port.waits(id),
            Output::Begins(id) => self.port.begins(id),
            Output::Refused(why) => tracing::warn!(why, "a line of the conductor was not passed on"),
            Output::NoConductor => self.lacks_conductor = true,
            Output::Finish if self.course == Course::Running => self.course = Course::Finishing,
            Output::Finish => {}
            Output::Abandon => self.course = Course::Abandoned,
        }
    }

    fn notice(&mut self, notice: Notice) {
        report::log_notice(&notice, self.has_inbox);
        match notice {
            Notice::Opened(_) => self.port.opened(),
            Notice::Verdict(ticket, verdict) => self.port.verdict(ticket, verdict),
            _ => {}
        }
    }
}

/// Returns what the peers said of themselves, as responders are told of it.
fn peers(introduced: Introductions) -> Peers {
    let peer = |said: Introduction| PeerStatus {
        name: said.name,
        protocol: said.protocol,
        promises: said.promises.into_iter().map(str::to_owned).collect(),
    };
    Peers { client: introduced.client.map(peer), agent: introduced.agent.map(peer) }
}
