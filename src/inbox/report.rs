//! How another machine is connected: what the process that holds the connection says of it.

use askbridge_core::desk::Timestamp;
use serde::{Deserialize, Serialize};

use super::status::PROTOCOL;

/// How a machine is connected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "MachineReport"))]
#[non_exhaustive]
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
    /// Why it is not connected. Absent while it is, and while the first try goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// When the next try begins, by RFC 3339. Absent while one goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub retry_at: Option<Timestamp>,
}

impl MachineReport {
    /// Describes this machine.
    pub fn here() -> Self {
        let version = Some(env!("CARGO_PKG_VERSION").to_owned());
        MachineReport { protocol: PROTOCOL, version, ..MachineReport::default() }
    }

    /// Returns whether the first try to connect still goes on.
    pub fn is_new(&self) -> bool {
        self.connected_at.is_none() && self.problem.is_none()
    }
}
