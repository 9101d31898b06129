//! What a joined inbox knows of each bridge: whether it replies, how its questions enter the store, and which of
//! them are left out and why, so that a listing never looks complete when it is not. Connecting to a bridge is left to
//! `connections.rs`.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::SystemTime};

use askbridge_core::{
    desk::{IdPrefix, MachineName, QuestionId, Record, Settlement},
    question::{Outcome, Provenance, Reason},
};
use tokio::sync::watch;

use super::{
    handshake::{BridgeConnection, Feed, TimedStatus},
    name::LinkName,
    peer::LinkEnd,
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
    /// How the machine is connected, where it is one.
    pub report: Option<MachineReport>,
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
            report: None,
            unreadable,
            left_out,
            has_lost: false,
        }
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

/// Returns what is left out because of these bridges.
pub(super) fn gaps<'a>(links: impl Iterator<Item = (&'a LinkName, &'a BridgeLink)>) -> Gaps {
    let mut gaps = Gaps::default();
    for (name, link) in links {
        if let LinkName::Machine(machine) = name {
            let claimed =
                link.report.as_ref().map_or(0, |report| report.unreadable.saturating_add(report.left_out));
            if claimed > 0 || link.unreadable.count() + link.left_out.count() > 0 {
                gaps.hidden_on.push(machine.clone());
            }
        }
        if let Some(report) = &link.report {
            gaps.unreadable = gaps.unreadable.saturating_add(report.unreadable);
            gaps.left_out = gaps.left_out.saturating_add(report.left_out);
            match name {
                LinkName::Machine(name) if report.connected_at.is_none() || report.unasked > 0 => {
                    gaps.machines.push(ConnectedMachine { name: name.clone(), report: report.clone() });
                }
                LinkName::Dialed => gaps.unasked = report.unasked,
                LinkName::Machine(_) | LinkName::Bridge(_) => {}
            }
        }
        let socket = link.end.socket().cloned();
        match link.state {
            LinkState::Connected(..) if link.has_lost && matches!(name, LinkName::Dialed) => {
                gaps.unasked += 1
            }
            LinkState::Connected(..) if link.has_lost => gaps.busy.extend(socket),
            LinkState::Unreachable => gaps.unreachable.extend(socket),
            LinkState::NoDescriptors => gaps.no_descriptors.extend(socket),
            LinkState::Busy => gaps.busy.extend(socket),
            LinkState::Older => gaps.older.extend(socket),
            LinkState::New | LinkState::Connected(..) | LinkState::Read(_) => {}
        }
        gaps.unreadable = gaps.unreadable.saturating_add(link.unreadable.count());
        gaps.left_out = gaps.left_out.saturating_add(link.left_out.count());
    }
    gaps
}

/// Returns how the machines among these are connected.
pub(super) fn machines<'a>(
    links: impl Iterator<Item = (&'a LinkName, &'a BridgeLink)>,
) -> Vec<ConnectedMachine> {
    let machines = links.filter_map(|(name, link)| match name {
        LinkName::Machine(name) => {
            let report = link.report.clone().unwrap_or_default();
            Some(ConnectedMachine { name: name.clone(), report })
        }
        LinkName::Bridge(_) | LinkName::Dialed => None,
    });
    machines.collect()
}

/// The reasons why the questions of a [`super::JoinedInbox`] are incomplete: bridges that could not be asked, and questions
/// that are hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// The sockets of bridges that did not reply.
    pub unreachable: Vec<PathBuf>,
    /// The sockets of bridges that could not be connected to, since this process has no file descriptors left.
    pub no_descriptors: Vec<PathBuf>,
    /// The sockets of bridges that were too busy: they had too many connections or calls, or sent changes faster than
    /// these could be read.
    pub busy: Vec<PathBuf>,
    /// The sockets of bridges that speak a protocol from before protocols had versions.
    pub older: Vec<PathBuf>,
    /// The machines that are not connected, or that could not ask all of their bridges.
    pub machines: Vec<ConnectedMachine>,
    /// Why the machines of the fleet are not known.
    pub fleet: Option<String>,
    /// How many bridges the machine at the other end of a dial could not ask. One more if changes from there were lost.
    pub unasked: usize,
    /// How many open questions need a newer askbridge.
    pub unreadable: usize,
    /// How many open questions are left out because there is no room for them.
    pub left_out: usize,
    /// The other machines that have such questions, by their own word or by what they sent.
    pub hidden_on: Vec<MachineName>,
}

impl Gaps {
    /// Returns gaps with only this many questions that need a newer askbridge.
    pub fn of_unreadable(unreadable: usize) -> Self {
        Gaps { unreadable, ..Gaps::default() }
    }

    /// Returns the gaps without machines that are being connected to for the first time: nothing is wrong yet, for a log.
    #[must_use]
    pub fn without_new(mut self) -> Self {
        self.machines.retain(|machine| !machine.report.is_new());
        self
    }

    /// Returns whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        *self == Gaps::default()
    }

    /// Returns how many bridges could not be asked.
    pub fn unasked_bridges(&self) -> usize {
        self.unreachable.len() + self.no_descriptors.len() + self.busy.len() + self.older.len()
    }

    /// Reports to another machine how many questions are left out, if that has changed.
    pub(super) fn tell(&self, report: &watch::Sender<MachineReport>) {
        report.send_if_modified(|report| {
            let counts = (self.unreadable, self.left_out, self.unasked_bridges());
            let changed = counts != (report.unreadable, report.left_out, report.unasked);
            (report.unreadable, report.left_out, report.unasked) = counts;
            report.revision += u64::from(changed);
            changed
        });
    }

    /// Returns whether each bridge could be asked.
    pub fn has_asked_all(&self) -> bool {
        self.unreachable.is_empty()
            && self.no_descriptors.is_empty()
            && self.unasked == 0
            && self.busy.is_empty()
            && self.older.is_empty()
            && self.machines.is_empty()
            && self.fleet.is_none()
    }
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
