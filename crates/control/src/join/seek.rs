//! Finds a question by what was typed of its ID, and says why there is none: in the store first, and then at the bridges
//! that may have it.

use std::sync::Arc;

use askbridge_core::desk::{IdPrefix, QuestionId, Record, Refusal};
use futures::future::join_all;

use super::{JoinedInbox, handshake::get, missing::Missing};
use crate::{inbox::Inbox, rpc::client::CallError};

impl JoinedInbox {
    /// Finds the open question by the ID that its agent gave it.
    ///
    /// # Errors
    /// See [`Missing`].
    pub fn seek_own(&self, id: &str) -> Result<Arc<Record>, Missing> {
        let mut open = self.store().read(|_, snapshot| snapshot.open());
        open.retain(|record| record.question.id == id && !id.is_empty());
        let gaps = self.gaps().borrow().clone();
        match &open[..] {
            // A bridge that was not asked may have the question, so "not found" would be a guess.
            [] if !gaps.has_asked_all() => Err(Missing::Unasked(Box::new(gaps))),
            [] => Err(Missing::Refused(Refusal::NotFound)),
            [only] => Ok(Arc::clone(only)),
            several => {
                let ids = several.iter().map(|record| record.id.clone()).collect();
                Err(Missing::Refused(Refusal::Ambiguous(ids)))
            }
        }
    }

    /// Finds a question as [`Inbox::look_up`] does. The error says why none was found.
    ///
    /// # Errors
    /// See [`Missing`].
    pub async fn seek(&self, typed: &IdPrefix) -> Result<Arc<Record>, Missing> {
        let is_lost = match self.known(typed) {
            Err(Refusal::NotFound) => false,
            Err(Refusal::Unavailable) => true,
            found => return found.map_err(Missing::Refused),
        };
        let found = self.ask_all(typed).await;
        match (found.records.as_slice(), found.ids.len()) {
            (_, 0) => Err(self.why_missing(typed, &found, is_lost)),
            ([record], 1) => Ok(Arc::clone(record)),
            _ => Err(Missing::Refused(Refusal::Ambiguous(found.ids))),
        }
    }

    fn why_missing(&self, typed: &IdPrefix, found: &LookupReplies, is_lost: bool) -> Missing {
        let gaps = self.gaps_for(typed);
        // The order matters: "not found" is returned only if no other reason can explain why the question is missing.
        match () {
            () if found.is_unreadable || self.connections().is_unreadable(typed, self.may_have(typed)) => {
                Missing::Unreadable
            }
            () if found.is_busy => Missing::Refused(Refusal::TooManyRequests),
            () if !gaps.has_asked_all() => Missing::Unasked(Box::new(gaps)),
            () if is_lost || found.is_unknown || self.is_new(typed) => Missing::Refused(Refusal::Unavailable),
            () => Missing::Refused(Refusal::NotFound),
        }
    }

    /// Returns whether a bridge that this ID names has a socket, and was not asked yet: a process that follows the
    /// bridges finds each within [`crate::limits::DISCOVERY_INTERVAL`].
    pub(super) fn is_new(&self, typed: &IdPrefix) -> bool {
        self.reach().link_of(typed).is_some_and(|(name, _)| !self.connections().has_asked(&name))
    }

    /// Finds a question in the store. A question that is only counted also makes an ID ambiguous.
    pub(super) fn known(&self, typed: &IdPrefix) -> Result<Arc<Record>, Refusal> {
        let record = self.store().read(|_, snapshot| snapshot.find(typed).cloned())?;
        let mut ids = self.connections().hidden(typed, self.may_have(typed));
        ids.retain(|id| *id != record.id);
        ids.insert(0, record.id.clone());
        IdPrefix::prefer_own(&mut ids, |id| id);
        match ids[..] {
            [_] => Ok(record),
            _ if !record.is_open() => Ok(record),
            _ => Err(Refusal::Ambiguous(ids)),
        }
    }

    /// Asks all bridges that may have a question.
    async fn ask_all(&self, typed: &IdPrefix) -> LookupReplies {
        let peers = self.connections().peers(self.may_have(typed));
        let asked = peers.iter().map(async |(bridge, peer)| (bridge, get(peer, typed).await));
        let mut found = LookupReplies::default();
        for (bridge, answer) in join_all(asked).await {
            match answer {
                Ok(Some(record)) if bridge.owns(&record) => {
                    found.ids.push(record.id.clone());
                    found.records.push(record);
                }
                // A bridge speaks only for its own questions.
                Ok(Some(_)) | Err(CallError::Refused(Refusal::NotFound)) => {}
                Ok(None) => found.is_unreadable = true,
                Err(CallError::Refused(Refusal::Ambiguous(several))) => {
                    found.ids.extend(several.into_iter().filter(|id| bridge.has(&id.bridge)));
                }
                Err(CallError::Refused(Refusal::TooManyRequests)) => found.is_busy = true,
                Err(_) => found.is_unknown = true,
            }
        }
        IdPrefix::prefer_own(&mut found.records, |record| &record.id);
        IdPrefix::prefer_own(&mut found.ids, |id| id);
        found
    }
}

/// The replies of the bridges to a lookup of an ID.
#[derive(Default)]
struct LookupReplies {
    records: Vec<Arc<Record>>,
    ids: Vec<QuestionId>,
    /// Whether a bridge has a question that needs a newer askbridge.
    is_unreadable: bool,
    /// Whether a bridge was too busy to say whether it has the question.
    is_busy: bool,
    /// Whether a bridge gave no usable reply.
    is_unknown: bool,
}
