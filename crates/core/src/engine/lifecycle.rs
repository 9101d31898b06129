//! How the agent's process is brought to its end: drain, terminate, kill, each for its time.

use std::time::Duration;

use super::event::{Action, Output};
use crate::limits;

/// The rungs of the ladder, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rung {
    Running,
    /// The agent's stdin is closed.
    Draining,
    /// Its group got SIGTERM.
    Terminating,
    /// Its group got SIGKILL.
    Killing,
    /// There is nothing more to wait for but the client.
    Over,
}

/// The progress of the agent's process towards its end.
#[derive(Debug)]
pub(super) struct Lifecycle {
    rung: Rung,
    deadline: Option<Duration>,
    grace: Duration,
    /// Whether a signal asked the bridge to end.
    told: bool,
    client_gone: bool,
    /// Whether a client that is gone has had its time to read the agent's last output.
    waited: bool,
    exited: bool,
    group_ended: bool,
    output_ended: bool,
}

impl Lifecycle {
    pub(super) fn new(grace: Duration) -> Self {
        Lifecycle {
            rung: Rung::Running,
            deadline: None,
            grace,
            told: false,
            client_gone: false,
            waited: false,
            exited: false,
            group_ended: false,
            output_ended: false,
        }
    }

    /// Returns when [`Lifecycle::tick`] is due.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// Returns whether the agent and its group have ended.
    pub(super) fn agent_is_over(&self) -> bool {
        self.exited && self.group_ended
    }

    pub(super) fn client_gone(&mut self, now: Duration, actions: &mut Vec<Action>) {
        self.client_gone = true;
        let patience = now.saturating_add(self.grace);
        match self.rung {
            Rung::Running => self.drain(patience, actions),
            // A client that left may never read the last lines that wait for it.
            Rung::Over => self.deadline = self.deadline.or(Some(patience)),
            _ => {}
        }
    }

    /// The first signal drains, each further one skips to the next rung.
    pub(super) fn signal(&mut self, now: Duration, actions: &mut Vec<Action>) {
        let first = !std::mem::replace(&mut self.told, true);
        let drained = now.saturating_add(limits::DRAIN);
        if self.agent_is_over() && self.rung < Rung::Killing {
            // No process is left to be signalled: only the client is waited for, and not for long.
            (self.rung, self.deadline) = (Rung::Killing, Some(now.saturating_add(limits::FLUSH)));
            return;
        }
        match self.rung {
            Rung::Running => self.drain(drained, actions),
            // A signal may shorten the grace period that began when the client left, but not extend it.
            Rung::Draining if first => self.deadline = self.deadline.map(|deadline| deadline.min(drained)),
            Rung::Over if first => self.deadline = Some(now.saturating_add(limits::FLUSH)),
            Rung::Over => actions.push(Action::Tell(Output::Abandon)),
            _ => self.next_rung(now, actions),
        }
    }

    pub(super) fn agent_exited(&mut self, group: bool, now: Duration, actions: &mut Vec<Action>) {
        self.exited = true;
        self.group_ended = !group;
        // The processes that it left behind do not outlive the bridge (I8).
        if group && self.rung < Rung::Terminating {
            self.terminate(now, actions);
        }
        self.check_over(now, actions);
    }

    pub(super) fn group_ended(&mut self, now: Duration, actions: &mut Vec<Action>) {
        self.group_ended = true;
        self.check_over(now, actions);
    }

    pub(super) fn output_ended(&mut self, now: Duration, actions: &mut Vec<Action>) {
        self.output_ended = true;
        self.check_over(now, actions);
    }

    pub(super) fn tick(&mut self, now: Duration, actions: &mut Vec<Action>) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.deadline = None;
            self.next_rung(now, actions);
        }
    }

    fn next_rung(&mut self, now: Duration, actions: &mut Vec<Action>) {
        match self.rung {
            Rung::Running => {}
            Rung::Draining => self.terminate(now, actions),
            Rung::Terminating => {
                self.rung = Rung::Killing;
                self.deadline = Some(now.saturating_add(limits::KILL));
                actions.push(Action::Tell(Output::Kill));
            }
            Rung::Killing => {
                // A process that survives SIGKILL is a zombie that is not reaped, or cannot be ended.
                self.group_ended = true;
                if !self.exited || self.told || self.waited {
                    // A process outside of the group may hold the output open without end.
                    (self.exited, self.output_ended) = (true, true);
                } else if self.client_gone {
                    // The agent's last output waits for a client that may never read it.
                    self.waited = true;
                    self.deadline = Some(now.saturating_add(self.grace));
                }
                self.check_over(now, actions);
            }
            Rung::Over => actions.push(Action::Tell(Output::Abandon)),
        }
    }

    fn drain(&mut self, until: Duration, actions: &mut Vec<Action>) {
        self.rung = Rung::Draining;
        self.deadline = Some(until);
        actions.push(Action::Tell(Output::EndAgentInput));
    }

    fn terminate(&mut self, now: Duration, actions: &mut Vec<Action>) {
        self.rung = Rung::Terminating;
        self.deadline = Some(now.saturating_add(limits::TERMINATE));
        actions.push(Action::Tell(Output::Terminate));
    }

    fn check_over(&mut self, now: Duration, actions: &mut Vec<Action>) {
        if !(self.exited && self.group_ended && self.output_ended) || self.rung == Rung::Over {
            return;
        }
        self.rung = Rung::Over;
        // A client that is there may take its time to read the last lines; one that left, or whose user has ended
        // the bridge, may not.
        self.deadline = match (self.told, self.client_gone) {
            (true, _) => Some(now.saturating_add(limits::FLUSH)),
            (false, true) => Some(now.saturating_add(self.grace)),
            (false, false) => None,
        };
        actions.push(Action::Tell(Output::Finish));
    }
}
