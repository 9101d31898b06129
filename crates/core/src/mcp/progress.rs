//! While a person is asked, the peers that wait are told so: the host, which ends a call that is silent for too long, and a
//! server that ends its own question.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{json, value::RawValue};

use crate::{
    limits,
    wire::{line, method::MCP_PROGRESS, scan},
};

/// What a person reads in the host.
const MESSAGE: &str = "A person is asked, in the inbox of askbridge";
/// How many of the bridge's own reports are one step of a server's. Progress must grow, and that of a server, which counts
/// in whole steps, must still be more.
const REPORTS_OF_STEP: f64 = 1000.0;

/// The reports while questions are open.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) due: Option<Duration>,
    /// How far each call has come, by its token as JSON.
    pub(super) last: BTreeMap<String, f64>,
}

impl Progress {
    /// Returns when the next report is due.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.due
    }

    /// Begins to report, unless that is done already.
    pub(super) fn begin(&mut self, now: Duration) {
        self.due.get_or_insert(now.saturating_add(limits::PROGRESS));
    }

    /// Takes note of a report of the server.
    pub(super) fn heard(&mut self, params: &[u8]) {
        let text = |name| scan::member(params, name).and_then(|json| std::str::from_utf8(json).ok());
        if let (Some(token), Some(progress)) =
            (text("progressToken"), text("progress").and_then(|it| it.parse().ok()).filter(is_countable))
            && (self.last.contains_key(token) || self.last.len() < limits::CALLS)
            && token.len() <= limits::ID
        {
            self.last.insert(token.to_owned(), progress);
        }
    }

    /// Returns the next report about a call.
    pub(super) fn report(&mut self, token: &str) -> Option<bytes::Bytes> {
        let last = self.last.entry(token.to_owned()).or_default();
        *last = ((*last * REPORTS_OF_STEP).floor() + 1.0) / REPORTS_OF_STEP;
        let token: &RawValue = serde_json::from_str(token).ok()?;
        let params = json!({ "progressToken": token, "progress": *last, "message": MESSAGE });
        Some(line::notification(MCP_PROGRESS, &params))
    }
}

/// Returns whether a step of the bridge's own is more than this.
fn is_countable(progress: &f64) -> bool {
    const MOST: f64 = 1e12;
    progress.abs() < MOST
}
