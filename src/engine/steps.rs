//! What each thing that happens leads to: the protocol decides about questions, and the lifecycle about the agent's process.
//! Carrying it out is left to the bridge.

use std::time::Duration;

use super::{
    action::{Action, Line},
    event::{Event, Output, Peer},
    protocol::Protocol,
};
use crate::question::Reason;

/// Returns what a line that was intercepted leads to.
pub fn handle_line<P: Protocol>(core: &mut P, from: Peer, line: &Line, now: Duration) -> Vec<Action> {
    core.line(from, line, now);
    core.base_mut().take_actions()
}

/// Returns what anything but bytes leads to.
pub(super) fn handle_event<P: Protocol>(core: &mut P, event: Event, now: Duration) -> Vec<Action> {
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
        // It is the bridge's alone.
        Event::Begins(_) => {}
        Event::Timeout { timeout, since } => base.change_timeout(timeout, since),
    }
    core.base_mut().take_actions()
}

/// Returns what it leads to that the client is gone: its output ended, or it reads no more.
pub(super) fn client_gone<P: Protocol>(core: &mut P, now: Duration) -> Vec<Action> {
    core.close(Reason::ClientGone, now);
    let base = core.base_mut();
    base.lifecycle.client_gone(now, &mut base.actions);
    base.take_actions()
}

/// Returns what it leads to that the agent's output ended, or that no process is left that could write to it.
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
