//! What others are told, of their submissions and of what became of a question, and when: not before the agent has it
//! on its stdin (I9).

use std::{collections::BTreeMap, time::Duration};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::lines::Sink;
use crate::{
    acp::{Refused, Settled, Submission, Submitted, Ticket},
    control::old::{Feed, port::Command},
    question::{Outcome, Provenance, Reason},
};

type Verdict = Result<(), Refused>;

/// A submission that the engine has not judged yet.
struct Waiting {
    verdict: oneshot::Sender<Verdict>,
    _room: OwnedSemaphorePermit,
    /// Whether the agent hears of it.
    heard: bool,
}

/// The submissions that wait for their verdict, and the verdicts that wait for the agent.
#[derive(Default)]
pub(super) struct Verdicts {
    last: u64,
    waiting: BTreeMap<Ticket, Waiting>,
    /// Those that were accepted, until the agent has them.
    accepted: Vec<Waiting>,
    /// What was settled, and when, until the agent has it.
    settled: Vec<(Settled, Duration)>,
}

impl Verdicts {
    /// Takes a submission, which the engine judges next.
    pub(super) fn submitted(&mut self, command: Command) -> Submitted {
        self.last += 1;
        let ticket = Ticket(self.last);
        let Command { number, submission, by, verdict, room } = command;
        let heard = !matches!(submission, Submission::Extend(_));
        self.waiting.insert(ticket, Waiting { verdict, _room: room, heard });
        Submitted { ticket, number, submission, by }
    }

    /// Takes the engine's verdict.
    pub(super) fn judged(&mut self, ticket: Ticket, verdict: Verdict) {
        match self.waiting.remove(&ticket) {
            Some(waiting) if waiting.heard && verdict.is_ok() => self.accepted.push(waiting),
            // Whoever does not wait any more need not be told.
            Some(waiting) => drop(waiting.verdict.send(verdict)),
            None => {}
        }
    }

    /// Takes what became of a question.
    pub(super) fn settled(&mut self, settled: Settled, now: Duration) {
        self.settled.push((settled, now));
    }

    /// Tells everybody what the agent has by now.
    pub(super) fn deliver(&mut self, agent: &Sink, feed: &Feed) {
        if agent.is_abandoned() {
            // Nobody is told that an answer arrived which may be lost.
            self.accepted.clear();
            self.settled.iter_mut().for_each(|(settled, _)| lose(settled));
        } else if !agent.has_arrived() {
            return;
        }
        // First the book, so that whoever is told finds it there.
        for (settled, now) in self.settled.drain(..) {
            feed.settled(&settled, now);
        }
        for accepted in self.accepted.drain(..) {
            drop(accepted.verdict.send(Ok(())));
        }
    }
}

fn lose(settled: &mut Settled) {
    if matches!(settled.outcome, Outcome::Answered(_) | Outcome::Failed | Outcome::Rejected(Reason::User)) {
        settled.outcome = Outcome::Rejected(Reason::AgentGone);
        settled.by = Provenance::bridge();
    }
}
