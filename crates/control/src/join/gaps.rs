//! What a joined inbox leaves out, and why, so that a listing never looks complete when it is not.

use std::path::PathBuf;

use askbridge_core::desk::MachineName;
use tokio::sync::watch;

use super::{
    link::{BridgeLink, LinkState},
    name::LinkName,
    reported::LinkReport,
};
use crate::inbox::report::{ConnectedMachine, MachineReport};

/// The reasons why the questions of a [`super::JoinedInbox`] are incomplete: bridges that could not be asked, and questions
/// that are hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// The sockets of bridges that did not reply, here and below with that of the process that holds the machines.
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
    fn add_socket(&mut self, link: &BridgeLink) {
        let socket = link.end.socket().cloned();
        match link.state {
            LinkState::Connected(..) if link.has_lost => self.busy.extend(socket),
            LinkState::Unreachable => self.unreachable.extend(socket),
            LinkState::NoDescriptors => self.no_descriptors.extend(socket),
            LinkState::Busy => self.busy.extend(socket),
            LinkState::Older => self.older.extend(socket),
            LinkState::New | LinkState::Connected(..) | LinkState::Read(_) => {}
        }
    }

    fn add_machine(&mut self, machine: ConnectedMachine) {
        let report = &machine.report;
        self.unreadable = self.unreadable.saturating_add(report.unreadable);
        self.left_out = self.left_out.saturating_add(report.left_out);
        if report.unreadable > 0 || report.left_out > 0 {
            self.hidden_on.push(machine.name.clone());
        }
        if report.connected_at.is_none() || report.unasked > 0 {
            self.machines.push(machine);
        }
    }

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

/// Returns what is left out because of these links, among the machines that are meant.
pub(super) fn gaps<'a>(
    links: impl Iterator<Item = (&'a LinkName, &'a BridgeLink)>,
    is_meant: impl Fn(&LinkName) -> bool,
) -> Gaps {
    let mut gaps = Gaps::default();
    for (name, link) in links.filter(|(name, _)| is_meant(name)) {
        // A machine of which nothing is known yet is no gap.
        let has_reported = !matches!(link.report, LinkReport::Nothing);
        for machine in link.machines(name).into_iter().filter(|_| has_reported) {
            if is_meant(&LinkName::Machine(machine.name.clone())) {
                gaps.add_machine(machine);
            }
        }
        if let (LinkName::Dialed, LinkReport::Machine(report)) = (name, &link.report) {
            gaps.unreadable = gaps.unreadable.saturating_add(report.unreadable);
            gaps.left_out = gaps.left_out.saturating_add(report.left_out);
            gaps.unasked = report.unasked;
        }
        if let (LinkName::Elsewhere, LinkReport::Machines(listing)) = (name, &link.report) {
            gaps.fleet.clone_from(&listing.fleet);
        }
        match name {
            LinkName::Dialed => gaps.unasked += usize::from(link.has_lost && link.is_up()),
            LinkName::Bridge(_) | LinkName::Machine(_) | LinkName::Elsewhere => gaps.add_socket(link),
        }
        // Those of a machine are counted with it.
        let (unreadable, left_out) = link.hidden_here(name);
        gaps.unreadable = gaps.unreadable.saturating_add(unreadable);
        gaps.left_out = gaps.left_out.saturating_add(left_out);
    }
    gaps
}

/// Returns how the machines among these are connected, in the order of their names.
pub(super) fn machines<'a>(
    links: impl Iterator<Item = (&'a LinkName, &'a BridgeLink)>,
) -> Vec<ConnectedMachine> {
    links.flat_map(|(name, link)| link.machines(name)).collect()
}
