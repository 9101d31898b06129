//! What a protocol decides, for the bridge that carries it out: which lines it looks at, what they lead to, and how
//! questions end. Has no logic.

use std::{convert::Infallible, fmt::Debug, time::Duration};

use super::{
    action::{Action, Line},
    base::HasBase,
    event::Peer,
    link::Link,
};
use crate::{
    desk::TicketedSubmission,
    question::Reason,
    wire::frame::{Piece, Verdict},
};

/// The core of a protocol: lines, events and the time go in, actions come out ([`super::Base::actions`]).
pub trait Protocol: HasBase + Debug + Sized {
    /// How one connection can have the lines of both peers; [`Infallible`] where it cannot.
    type Shared: SharedConnection<Self>;

    /// Returns what becomes of a line of this peer, or of the beginning of a long one.
    fn judge(&self, from: Peer, line: &[u8]) -> Verdict;

    /// Handles a line that was intercepted.
    fn line(&mut self, from: Peer, line: &Line, now: Duration);

    /// Handles what a responder other than the client submits.
    fn submitted(&mut self, submitted: TicketedSubmission, now: Duration);

    /// Rejects all open questions, and those that are still to come.
    fn close(&mut self, reason: Reason, now: Duration);

    /// Does what is due at this time.
    fn tick(&mut self, now: Duration);

    /// Returns when [`Protocol::tick`] has something to do.
    fn next_deadline(&self) -> Option<Duration>;

    /// Returns how many questions can still be answered.
    fn open_questions(&self) -> usize;
}

/// One connection that has the lines of both peers. It is that of [`Peer::Client`].
pub trait SharedConnection<P: Protocol>: Debug {
    /// Returns what becomes of a line, or of the beginning of a long one.
    fn judge(&self, core: &P, line: &[u8]) -> Verdict;

    /// Takes a piece of what comes in.
    fn take(&mut self, link: &mut Link<P>, piece: Piece, now: Duration);

    /// Carries out an action that is about no line.
    fn carry_out(&mut self, link: &mut Link<P>, action: Action, now: Duration);

    /// Returns when the bridge ends, whatever was not read by then; `None` before it is about to end.
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
