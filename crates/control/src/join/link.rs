//! What a joined inbox knows of each bridge: whether it replies, how its questions enter the store, and which of them are
//! hidden. What is left out of a listing for that is left to `gaps.rs`, and connecting to a bridge to `connections.rs`.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
    time::SystemTime,
};

use askbridge_core::{
    desk::{IdPrefix, MachineName, QuestionId, Record, Settlement},
    question::{Outcome, Provenance, Reason},
};

use super::{
    handshake::{BridgeConnection, Feed, TimedStatus},
    name::LinkName,
    peer::LinkEnd,
    reported::LinkReport,
};
use crate::{
    inbox::{
        BridgeStatus, Editor,
        report::{ConnectedMachine, MachineReport},
    },
    limits,
    rpc::protocol::UnreadableItem,
};

/// A bridge or a machine whose socket was found.
#[derive(Debug)]
pub(super) struct BridgeLink {
    pub end: LinkEnd,
    pub state: LinkState,
    /// What the other end reports of machines.
    pub report: LinkReport,
    /// Open questions that need a newer askbridge.
    pub unreadable: HiddenQuestions,
    /// Open questions beyond the limit.
    pub left_out: HiddenQuestions,
    /// Whether messages of the subscription were lost, since they came faster than they were read. Until the next
    /// snapshot, questions may be missing.
    pub has_lost: bool,
}

#[derive(Debug)]
pub(super) enum LinkState {
    /// No connection has succeeded or failed yet, or the last one ended.
    New,
    /// The feed, if there is one, is here until a task follows it. It must not be dropped before: that cancels the
    /// subscription, and the connection may be closed then before the reply to an answer is read.
    Connected(Box<BridgeConnection>, Option<Box<Feed>>),
    /// The bridge was read once, and is not connected.
    Read(Box<TimedStatus>),
    Unreachable,
    /// This process has no file descriptor left for a connection.
    NoDescriptors,
    Busy,
    Older,
}

impl BridgeLink {
    pub(super) fn new(end: &LinkEnd) -> Self {
        let (unreadable, left_out) = (HiddenQuestions::default(), HiddenQuestions::default());
        BridgeLink {
            end: end.clone(),
            state: LinkState::New,
            report: LinkReport::default(),
            unreadable,
            left_out,
            has_lost: false,
        }
    }

    pub(super) fn is_up(&self) -> bool {
        matches!(self.state, LinkState::Connected(..))
    }

    /// Returns what a list of gaps or of machines depends on, as far as it tells whether that may have changed.
    pub(super) fn told(&self) -> Told {
        Told {
            state: mem::discriminant(&self.state),
            revision: self.report.revision(),
            hidden: (self.unreadable.count(), self.left_out.count()),
            has_lost: self.has_lost,
        }
    }

    /// Returns the machines whose questions come over this link, and how each is connected. What is hidden here counts
    /// with what the machine itself hides.
    pub(super) fn machines(&self, name: &LinkName) -> Vec<ConnectedMachine> {
        match (name, &self.report) {
            (LinkName::Machine(name), report) => {
                let report = report.machine().cloned().unwrap_or_default();
                let hidden = (self.unreadable.count(), self.left_out.count());
                vec![with_hidden(name, &report, hidden)]
            }
            (LinkName::Elsewhere, LinkReport::Machines(listing)) => {
                let (unreadable, left_out) = (by_machine(&self.unreadable), by_machine(&self.left_out));
                let count = |of: &BTreeMap<&str, usize>, name: &MachineName| {
                    of.get(name.as_str()).copied().unwrap_or_default()
                };
                let machines = listing.machines.iter().map(|ConnectedMachine { name, report }| {
                    with_hidden(name, report, (count(&unreadable, name), count(&left_out, name)))
                });
                machines.collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns how many questions are hidden here that no machine counts: those that need a newer askbridge, and those
    /// without room.
    pub(super) fn hidden_here(&self, name: &LinkName) -> (usize, usize) {
        let counted = |of: &HiddenQuestions| match name {
            LinkName::Bridge(_) | LinkName::Dialed => of.count(),
            LinkName::Machine(_) => 0,
            LinkName::Elsewhere => of.count() - by_machine(of).values().sum::<usize>(),
        };
        (counted(&self.unreadable), counted(&self.left_out))
    }

    pub(super) fn statuses(&self) -> Vec<BridgeStatus> {
        let mut statuses = match &self.state {
            LinkState::Connected(connection, _) => connection.greeted.statuses(),
            LinkState::Read(greeted) => greeted.statuses(),
            LinkState::New
            | LinkState::Unreachable
            | LinkState::NoDescriptors
            | LinkState::Busy
            | LinkState::Older => return Vec::new(),
        };
        let is_only = statuses.len() == 1;
        for status in &mut statuses {
            let is_in = |id: &&QuestionId| id.bridge == status.bridge;
            // Questions without an ID cannot be attributed to one of a machine's bridges.
            let hidden =
                if is_only { self.unreadable.count() } else { self.unreadable.ids().filter(is_in).count() };
            // Added to the questions that the other end cannot read.
            status.unreadable = status.unreadable.saturating_add(hidden);
        }
        statuses
    }

    /// Counts the hidden questions of a message. `begins` says that a snapshot begins, which resets the counts.
    pub(super) fn count(&mut self, begins: bool, message: Stored) {
        let Stored { records, unreadable, left_out } = message;
        if begins {
            self.unreadable.clear();
            self.left_out.clear();
        }
        // A question may have been hidden before, and be readable or have room now.
        for record in &records {
            self.unreadable.remove(&record.id);
            self.left_out.remove(&record.id);
        }
        for item in unreadable {
            if let Some(id) = &item.id {
                self.left_out.remove(id);
                self.unreadable.remove(id);
            }
            // A settled question needs no count, since it can no longer be answered.
            if !item.is_over {
                self.unreadable.insert(item.id);
            }
        }
        for id in left_out {
            self.left_out.insert(Some(id));
        }
    }
}

/// What a message of a bridge has put into the store, and what it has not.
#[derive(Debug)]
pub(super) struct Stored {
    pub records: Vec<Arc<Record>>,
    pub unreadable: Vec<UnreadableItem>,
    /// The questions for which there is no room.
    pub left_out: Vec<QuestionId>,
}

/// What a list of gaps or of machines depends on, as far as one link tells: no change of it, no change of them.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    state: mem::Discriminant<LinkState>,
    revision: Option<u64>,
    hidden: (usize, usize),
    has_lost: bool,
}

fn with_hidden(
    name: &MachineName,
    report: &MachineReport,
    (unreadable, left_out): (usize, usize),
) -> ConnectedMachine {
    let report = MachineReport {
        unreadable: report.unreadable.saturating_add(unreadable),
        left_out: report.left_out.saturating_add(left_out),
        ..report.clone()
    };
    ConnectedMachine { name: name.clone(), report }
}

/// Returns how many of these questions are of which machine, as far as their IDs tell.
fn by_machine(questions: &HiddenQuestions) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for machine in questions.ids().filter_map(|id| id.bridge.machine()) {
        *counts.entry(machine).or_default() += 1;
    }
    counts
}

/// Questions that are counted instead of shown.
#[derive(Debug, Default)]
pub(super) struct HiddenQuestions {
    ids: BTreeSet<QuestionId>,
    /// The number of further questions: without an ID, or beyond the bound. Until the next snapshot, those that end
    /// still count: it is not known which they are, and a listing must not look complete when it is not.
    others: usize,
}

impl HiddenQuestions {
    /// Counts a question. A question with a known ID is counted only once.
    pub(super) fn insert(&mut self, id: Option<QuestionId>) {
        match id {
            Some(id) if self.ids.contains(&id) => {}
            Some(id) if self.ids.len() < limits::LISTED => drop(self.ids.insert(id)),
            _ => self.others = self.others.saturating_add(1),
        }
    }

    /// Removes a question from the count.
    pub(super) fn remove(&mut self, id: &QuestionId) {
        self.ids.remove(id);
    }

    /// Resets the count.
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.others = 0;
    }

    /// Returns how many questions are counted.
    pub(super) fn count(&self) -> usize {
        self.ids.len() + self.others
    }

    /// Returns the known IDs of the counted questions.
    pub(super) fn ids(&self) -> impl Iterator<Item = &QuestionId> {
        self.ids.iter()
    }

    /// Returns the known IDs of the counted questions that match this prefix.
    pub(super) fn matching<'a>(&'a self, typed: &'a IdPrefix) -> impl Iterator<Item = &'a QuestionId> {
        self.ids.iter().filter(|id| typed.matches(id))
    }
}

/// Puts questions into the store, and returns the IDs of those that do not fit into this room: a size, and a number of
/// open questions. Questions that are unreadable now are forgotten, since the store's records of them are out of date.
pub(super) fn put_all(
    editor: &mut Editor<'_>,
    (bytes, count): (usize, usize),
    items: &[(Arc<Record>, Option<usize>)],
    unreadable: &[UnreadableItem],
) -> Vec<QuestionId> {
    let mut left_out = Vec::new();
    for (record, size) in items {
        let size = size.unwrap_or_else(|| record.size());
        let is_new = editor.snapshot().get(&record.id).is_none();
        // Only a new open question is left out, so that no change of a known question is missed.
        let now = editor.snapshot();
        let is_full = now.open_count() >= count || now.bytes() + record.question.weight(size) > bytes;
        if is_new && record.is_open() && is_full {
            left_out.push(record.id.clone());
        } else {
            editor.put_sized(Arc::clone(record), size);
        }
    }
    unreadable.iter().filter_map(|item| item.id.as_ref()).for_each(|id| editor.forget(id));
    left_out
}

/// Returns the settlement that followers get for a question whose bridge disappeared. A responder that asks for the
/// question hears instead that its state is unknown: the agent may have an answer, and the bridge may be found again.
pub(super) fn lost() -> Settlement {
    Settlement::new(Outcome::Rejected(Reason::AgentGone), Provenance::bridge(), SystemTime::now().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

    #[test]
    fn a_question_with_an_id_counts_once() {
        let mut counted = HiddenQuestions::default();
        let id: QuestionId = "b-1".parse().unwrap();
        for _ in 0..3 {
            counted.insert(Some(id.clone()));
        }
        counted.insert(None);
        counted.insert(None);
        assert_eq!(counted.count(), 3);
        counted.remove(&id);
        assert_eq!(counted.count(), 2);
        counted.clear();
        assert_eq!(counted.count(), 0);
    }

    #[test]
    fn the_ids_that_are_kept_are_bounded() {
        let mut counted = HiddenQuestions::default();
        for number in 0..2 * limits::LISTED {
            counted.insert(Some(format!("b-{number}").parse().unwrap()));
        }
        assert_eq!((counted.ids.len(), counted.count()), (limits::LISTED, 2 * limits::LISTED));
    }
}
