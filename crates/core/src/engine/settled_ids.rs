//! The IDs of requests that have a response already, while the peer that was asked may still respond: its response comes
//! too late, and is dropped.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use crate::{limits, wire::id::key};

/// The last IDs, each with a digest of what was asked.
#[derive(Debug, Default)]
pub struct SettledIds {
    digests: BTreeMap<Arc<str>, u64>,
    /// The same IDs, oldest first.
    order: VecDeque<Arc<str>>,
}

impl SettledIds {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }

    /// Returns whether the request with this ID is settled.
    pub fn knows(&self, id: &str) -> bool {
        self.digest(id).is_some()
    }

    /// Returns the digest of the settled request with this ID.
    pub fn digest(&self, id: &str) -> Option<u64> {
        // Most of the time nothing is settled, and the canonical form of the ID is not needed.
        if self.is_empty() { None } else { self.digests.get(&*key(id)).copied() }
    }

    /// Remembers a request that is settled. If there are too many, the oldest is forgotten.
    pub fn remember(&mut self, id: &str, digest: u64) {
        let id: Arc<str> = key(id).into();
        if self.digests.insert(Arc::clone(&id), digest).is_some() {
            return;
        }
        self.order.push_back(id);
        if self.order.len() > limits::SETTLED
            && let Some(oldest) = self.order.pop_front()
        {
            self.digests.remove(&oldest);
        }
    }

    /// Forgets a request: its response came, or its ID is in use again.
    pub fn forget(&mut self, id: &str) {
        if self.knows(id) {
            let key = key(id);
            self.digests.remove(&*key);
            self.order.retain(|other| **other != *key);
        }
    }
}
