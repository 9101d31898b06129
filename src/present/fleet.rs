//! The broker of the fleet, as a line for people and as JSON. Asking it is left to `fleet`.

use askbridge_os::terminal::printable_line;
use serde::Serialize;

/// The broker of the fleet, as this command has found it.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BrokerStatus {
    /// The addresses of its servers.
    pub broker: String,
    /// The user of the credentials. Absent if they cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The account that the user belongs to. Absent if the broker does not reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// How long the broker took to reply, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<u64>,
    /// The number of machines in its directory. Absent if this user may not read it, or if it cannot be read now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machines: Option<usize>,
    /// Whether this machine is one of them, which no list names.
    #[serde(skip)]
    pub has_this: bool,
    /// Why the broker cannot be used, or why questions of its machines may be missing. Absent if all are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl BrokerStatus {
    /// Adds why questions of the fleet may be missing, if the broker replies to this command alone: the inbox in the
    /// background pauses before it connects again.
    #[must_use]
    pub fn followed(mut self, missing: Option<&str>) -> Self {
        if let (None, Some(why)) = (&self.problem, missing) {
            self.problem = Some(format!("questions may be missing: {why}"));
        }
        self
    }

    /// Returns a line for people.
    pub fn line(&self) -> String {
        let mut line = printable_line(&self.broker).into_owned();
        if let Some(user) = &self.user {
            line += &format!(" as {user}");
        }
        if let Some(account) = &self.account {
            line += &format!(", account {}", printable_line(account));
        }
        if let Some(latency) = self.latency_us {
            // Tenths of a millisecond tell a broker here from one that is far away.
            line += &match latency {
                0..100 => ", replies in under 0.1 ms".to_owned(),
                latency => format!(", replies in {}.{} ms", latency / 1000, latency % 1000 / 100),
            };
        }
        match (self.machines, self.has_this) {
            (Some(1), true) => line += ", this machine alone in its directory",
            (Some(1), false) => line += ", 1 machine in its directory",
            (Some(count), true) => {
                line += &format!(", {count} machines in its directory, of which this is one")
            }
            (Some(count), false) => line += &format!(", {count} machines in its directory"),
            (None, _) => {}
        }
        if let Some(problem) = &self.problem {
            let replied = if self.latency_us.is_none() { ": not connected: " } else { "; " };
            line += &format!("{replied}{}", printable_line(problem));
        }
        line
    }
}
