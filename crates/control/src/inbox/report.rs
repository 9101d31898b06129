//! How another machine is connected, as the process that keeps the connection reports it.

use askbridge_core::desk::{MachineName, Timestamp};
use serde::{Deserialize, Serialize};

use super::status::{PROTOCOL, is_zero};

/// The other machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "MachineListing"))]
#[non_exhaustive]
pub struct MachineListing {
    /// The version of the control protocol.
    pub protocol: u32,
    /// The revision of the listing. It grows with each change.
    pub revision: u64,
    /// The machines, in the order of their names.
    pub machines: Vec<ConnectedMachine>,
    /// Why the machines of the fleet are not known. Absent if they are, and if the settings name no fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
}

impl Default for MachineListing {
    /// Returns the listing of an inbox that has no other machines.
    fn default() -> Self {
        MachineListing { protocol: PROTOCOL, revision: 0, machines: Vec::new(), fleet: None }
    }
}

/// Another machine, and how it is connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConnectedMachine {
    /// The name that the settings give to it, with which the IDs of its questions begin.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub name: MachineName,
    /// How it is connected.
    #[serde(flatten)]
    pub report: MachineReport,
}

/// The problem of a machine whose first attempt takes longer than a list waits for it.
pub const UNREPLIED: &str = "it has not replied yet";

/// How a machine is connected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "MachineReport"))]
pub struct MachineReport {
    /// The version of the control protocol.
    #[serde(default)]
    pub protocol: u32,
    /// The revision of the report. It grows with each change.
    #[serde(default)]
    pub revision: u64,
    /// The version of the askbridge there. Absent until it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Since when it has been connected, by RFC 3339. Absent while it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub connected_at: Option<Timestamp>,
    /// Why it is not connected. Absent while it is connected, and while the first attempt has taken less than 2 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// When the next attempt begins, by RFC 3339. Absent during an attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub retry_at: Option<Timestamp>,
    /// How many of its open questions are not listed because they need a newer askbridge.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable: usize,
    /// How many of its open questions are not listed because there is no room for them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// How many of its bridges could not be asked: their questions are missing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unasked: usize,
}

impl MachineReport {
    /// Describes this machine.
    pub fn here() -> Self {
        let version = Some(env!("CARGO_PKG_VERSION").to_owned());
        MachineReport { protocol: PROTOCOL, version, ..MachineReport::default() }
    }

    /// Returns whether the first attempt to connect is still running, and has not taken long.
    pub fn is_new(&self) -> bool {
        self.connected_at.is_none() && self.problem.is_none()
    }

    /// Returns whether the first attempt to connect is still running, and takes longer than a list waits for it.
    pub fn is_slow(&self) -> bool {
        self.connected_at.is_none() && self.problem.as_deref() == Some(UNREPLIED)
    }
}
