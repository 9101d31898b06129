//! What the other end of a link reports beside its questions: how the machines behind it are connected.

use askbridge_core::desk::Timestamp;

use crate::inbox::report::{MachineListing, MachineReport};

/// What the other end of a link reports of machines, beside its questions.
#[derive(Clone, Debug, Default)]
pub(super) enum LinkReport {
    /// Nothing: it is a bridge, or has reported nothing yet.
    #[default]
    Nothing,
    /// How the machine is connected that it is, or that it holds.
    Machine(Box<MachineReport>),
    /// The machines that it holds, and how each is connected.
    Machines(MachineListing),
}

impl From<MachineReport> for LinkReport {
    fn from(report: MachineReport) -> Self {
        LinkReport::Machine(Box::new(report))
    }
}

impl LinkReport {
    /// Returns the revision that the other end reports next, or a later one.
    pub(super) fn revision(&self) -> Option<u64> {
        match self {
            LinkReport::Nothing => None,
            LinkReport::Machine(report) => Some(report.revision),
            LinkReport::Machines(listing) => Some(listing.revision),
        }
    }

    /// Returns since when the one machine is connected that the other end is, or holds.
    pub(super) fn connected_at(&self) -> Option<Timestamp> {
        self.machine()?.connected_at
    }

    /// Returns the report of the one machine that the other end is, or holds.
    pub(super) fn machine(&self) -> Option<&MachineReport> {
        match self {
            LinkReport::Machine(report) => Some(report),
            LinkReport::Nothing | LinkReport::Machines(_) => None,
        }
    }
}
