//! The decisions of a protocol, for the bridge that carries them out: which lines are intercepted, the actions that
//! follow from a line or an event, and how questions end. The functions combine the decision of the protocol about
//! questions with that of the lifecycle about the agent's process.

use std::{convert::Infallible, fmt::Debug, time::Duration};

use super::{
    base::HasBase,
    event::{Action, Event, Line, Output, Peer},
    link::Link,
};
use crate::{
    desk::TicketedSubmission,
    question::Reason,
    wire::frame::{Piece, Verdict},
};

/// The core of a protocol: lines, events and the time go in, actions come out ([`super::Base::actions`]).
pub trait Protocol: HasBase + Debug + Sized {
    /// The connection that carries the lines of both peers; [`Infallible`] if the protocol has none.
    type Shared: SharedConnection<Self>;

    /// Returns the action for a line of this peer, or for the beginning of a long one.
    fn judge(&self, from: Peer, line: &[u8]) -> Verdict;

    /// Handles a line that was intercepted.
    fn line(&mut self, from: Peer, line: &Line, now: Duration);

    /// Handles what a responder other than the client submits.
    fn submitted(&mut self, submitted: TicketedSubmission, now: Duration);

    /// Rejects all open questions, and those that are still to come.
    fn close(&mut self, reason: Reason, now: Duration);

    /// Performs the actions that are due at this time.
    fn tick(&mut self, now: Duration);

    /// Returns when [`Protocol::tick`] has something to do.
    fn next_deadline(&self) -> Option<Duration>;

    /// Returns how many questions can still be answered.
    fn open_questions(&self) -> usize;
}

/// One connection that carries the lines of both peers. It takes the place of the connection to [`Peer::Client`].
pub trait SharedConnection<P: Protocol>: Debug {
    /// Returns the action for a line, or for the beginning of a long one.
    fn judge(&self, core: &P, line: &[u8]) -> Verdict;

    /// Handles a piece of the input.
    fn take(&mut self, link: &mut Link<P>, piece: Piece, now: Duration);

    /// Carries out an action that needs no intercepted line.
    fn carry_out(&mut self, link: &mut Link<P>, action: Action, now: Duration);

    /// Returns when the bridge ends, even with unread bytes; `None` before it is about to end.
    fn ends(&self) -> Option<Duration>;
}

/// For protocols whose peers have a connection each.
impl<P: Protocol> SharedConnection<P> for Infallible {
    fn judge(&self, _: &P, _: &[u8]) -> Verdict {
        match *self {}
    }

    fn take(&mut self, _: &mut Link<P>, _: Piece, _: Duration) {
        match *self {}
    }

    fn carry_out(&mut self, _: &mut Link<P>, _: Action, _: Duration) {
        match *self {}
    }

    fn ends(&self) -> Option<Duration> {
        match *self {}
    }
}

/// Returns the actions for an intercepted line.
pub fn handle_line<P: Protocol>(core: &mut P, from: Peer, line: &Line, now: Duration) -> Vec<Action> {
    core.line(from, line, now);
    core.base_mut().take_actions()
}

/// Returns the actions for an event.
pub(super) fn handle_event<P: Protocol>(core: &mut P, event: Event, now: Duration) -> Vec<Action> {
    // The questions end before the process does, so that an agent reads the rejections before the end of its stdin.
    match event {
        Event::AgentExited { .. } => core.close(Reason::AgentGone, now),
        Event::Signal => core.close(Reason::Shutdown, now),
        Event::Tick => core.tick(now),
        Event::Submitted(_) | Event::GroupEnded | Event::Timeout { .. } | Event::Begins(_) => {}
    }
    let base = core.base_mut();
    match event {
        Event::AgentExited { group } => base.lifecycle.agent_exited(group, now, &mut base.actions),
        Event::Signal => base.lifecycle.signal(now, &mut base.actions),
        Event::Tick => base.lifecycle.tick(now, &mut base.actions),
        Event::GroupEnded => base.lifecycle.group_ended(now, &mut base.actions),
        Event::Submitted(submitted) => core.submitted(submitted, now),
        // The bridge handles this event before the protocol.
        Event::Begins(_) => {}
        Event::Timeout { timeout, since } => base.change_timeout(timeout, since),
    }
    core.base_mut().take_actions()
}

/// Returns the actions once the client is gone: its output ended, or it reads no more.
pub(super) fn client_gone<P: Protocol>(core: &mut P, now: Duration) -> Vec<Action> {
    core.close(Reason::ClientGone, now);
    let base = core.base_mut();
    base.lifecycle.client_gone(now, &mut base.actions);
    base.take_actions()
}

/// Returns the actions once the agent's output ended, or that no process is left that could write to it.
pub(super) fn agent_output_ended<P: Protocol>(core: &mut P, now: Duration) -> Vec<Action> {
    let base = core.base_mut();
    base.actions.push(Action::Tell(Output::EndClientOutput));
    base.lifecycle.output_ended(now, &mut base.actions);
    base.take_actions()
}

/// Returns when the next [`Event::Tick`] is due, if one is.
pub(super) fn next_deadline<P: Protocol>(core: &P) -> Option<Duration> {
    let base = core.base();
    let deadlines = [base.desk.next_deadline(), base.lifecycle.deadline(), core.next_deadline()];
    deadlines.into_iter().flatten().min()
}
