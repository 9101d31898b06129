//! What the bridges behind a list of questions say of themselves: their agents, and what the time is by their clocks.
//! Joining the bridges is left to `machine`.

use std::{collections::BTreeMap, time::SystemTime};

use super::text;
use crate::{
    control::BridgeStatus,
    desk::{BridgeName, Record, Timestamp},
};

/// The bridges that replied.
#[derive(Debug, Default)]
pub struct Bridges(BTreeMap<BridgeName, BridgeStatus>);

impl Bridges {
    /// Takes the bridges as they describe themselves now.
    pub fn new(statuses: Vec<BridgeStatus>) -> Self {
        Bridges(statuses.into_iter().map(|status| (status.bridge.clone(), status)).collect())
    }

    /// Returns the bridge of a question.
    pub fn status(&self, record: &Record) -> Option<&BridgeStatus> {
        self.0.get(&record.bridge)
    }

    /// Returns the short name of the agent that asks: as it names itself, or else that of its command.
    pub fn agent(&self, record: &Record) -> Option<String> {
        let named = record.question.agent.as_deref().filter(|name| !name.trim().is_empty());
        named.map(text::agent).or_else(|| {
            let bridge = self.status(record)?;
            (!bridge.agent.trim().is_empty()).then(|| text::agent_of(bridge))
        })
    }

    /// Returns what the time is by the clock that the question is timed by, or by ours where its bridge does not say.
    pub fn now(&self, record: &Record) -> Timestamp {
        self.status(record).and_then(BridgeStatus::now).unwrap_or_else(|| SystemTime::now().into())
    }
}
