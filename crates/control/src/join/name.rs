//! The name of a link: which bridges are reached over it.

use std::fmt;

use askbridge_core::desk::{BridgeName, IdPrefix, MachineName, Record};

use crate::limits;

/// The inbox at the other end of a link. The bridges of this machine come first in the order of names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LinkName {
    /// The inbox of a bridge of this machine.
    Bridge(BridgeName),
    /// The inboxes of all bridges of another machine, through the process here that holds the connection to it.
    Machine(MachineName),
    /// The inboxes of all bridges of the machine at the other end of `askbridge dial`, under the names that they have
    /// there.
    Dialed,
    /// The inboxes of all bridges of all other machines, through the process here that holds the connections to them.
    Elsewhere,
}

impl LinkName {
    /// Returns the link over which a bridge is reached.
    pub(super) fn of(bridge: &BridgeName) -> Self {
        match bridge.machine().map(str::parse) {
            Some(Ok(machine)) => LinkName::Machine(machine),
            _ => LinkName::Bridge(bridge.clone()),
        }
    }

    /// Returns whether the other end is a bridge of this machine.
    pub(super) fn is_here(&self) -> bool {
        matches!(self, LinkName::Bridge(_))
    }

    /// Returns whether the other end speaks for this bridge.
    pub(super) fn has(&self, bridge: &BridgeName) -> bool {
        match self {
            LinkName::Bridge(own) => own == bridge,
            LinkName::Machine(machine) => bridge.machine() == Some(machine.as_str()),
            LinkName::Dialed => bridge.machine().is_none(),
            LinkName::Elsewhere => bridge.machine().is_some(),
        }
    }

    /// Returns whether a record is of a question that the other end speaks for.
    pub(super) fn owns(&self, record: &Record) -> bool {
        self.has(&record.id.bridge) && record.bridge == record.id.bridge
    }

    /// Returns the room for open questions of the other end: the size that the whole store may have by then, and how
    /// many questions there may be in it.
    pub(super) fn room(&self) -> (usize, usize) {
        match self {
            // A bridge bounds how many there are of it.
            LinkName::Bridge(_) => (limits::MACHINE_BYTES, usize::MAX),
            // So does the process that holds the connection to a machine.
            LinkName::Machine(_) | LinkName::Elsewhere => (limits::remote::QUESTIONS_OF_ALL, usize::MAX),
            LinkName::Dialed => (limits::remote::QUESTIONS, limits::LISTED),
        }
    }

    /// Returns whether the other end may have a question.
    pub(super) fn may_have(&self, typed: &IdPrefix) -> bool {
        match self {
            LinkName::Bridge(bridge) => typed.may_be_in(bridge),
            LinkName::Machine(machine) => typed.may_be_on(machine),
            LinkName::Dialed => typed.machine().is_none(),
            LinkName::Elsewhere => true,
        }
    }

    /// Returns how many open questions the other end may list at once. One that lists more is not followed.
    pub(super) fn most_listed(&self) -> usize {
        match self {
            LinkName::Bridge(_) | LinkName::Machine(_) | LinkName::Dialed => limits::LISTED,
            LinkName::Elsewhere => limits::remote::LISTED_OF_ALL,
        }
    }
}

impl fmt::Display for LinkName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkName::Bridge(bridge) => bridge.fmt(formatter),
            LinkName::Machine(machine) => machine.fmt(formatter),
            LinkName::Dialed => formatter.write_str("the dialed machine"),
            LinkName::Elsewhere => formatter.write_str("the other machines"),
        }
    }
}
