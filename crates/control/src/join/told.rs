//! What only the bridge of a question can tell, and is asked for when somebody wants to know it: what led to the question,
//! its images, and whether a person is looking.

use std::sync::Arc;

use askbridge_core::{
    desk::{BridgeName, Record, Refusal},
    question::{Context, Image},
};
use tokio::time::timeout;

use super::JoinedInbox;
use crate::{limits, rpc::client::CallError};

impl JoinedInbox {
    /// Returns what led to a question. A bridge that has forgotten the question knows nothing of it, and one that does not
    /// reply in time counts as gone.
    pub(super) async fn led_to(&self, record: &Record) -> Result<Arc<Context>, Refusal> {
        if let Some(known) = &record.context {
            return Ok(Arc::clone(known));
        }
        let (link, peer) = self.connections().peer_of(&record.bridge);
        // A bridge of an earlier version says that there is none, and does not know the call.
        let Some(peer) = peer.filter(|_| record.has_context && self.shows(&link)) else {
            return Ok(Arc::default());
        };
        match timeout(limits::HANDSHAKE_TIMEOUT, peer.context(record)).await {
            Ok(Err(CallError::Refused(Refusal::NotFound))) => Ok(Arc::default()),
            told => Ok(told.unwrap_or(Err(CallError::Gone))?),
        }
    }

    /// Returns an image of a question. It may come from another machine, so that it is looked at again.
    pub(super) async fn image_of(&self, record: &Record, number: usize) -> Result<Arc<Vec<u8>>, Refusal> {
        let image = record.image(number).filter(|_| record.is_open()).ok_or(Refusal::NotFound)?;
        if let Some(data) = image.data.get() {
            return Ok(data);
        }
        let (link, peer) = self.connections().peer_of(&record.bridge);
        let peer = peer.filter(|_| self.shows(&link)).ok_or(Refusal::Unavailable)?;
        let data = timeout(limits::IMAGE_TIMEOUT, peer.image(record, number)).await;
        let data = data.unwrap_or(Err(CallError::Gone))?;
        match Image::of(data.to_vec(), image.description.clone()) {
            Ok(read) if read == *image => Ok(data),
            _ => Err(Refusal::Unavailable),
        }
    }

    /// Returns whether a person is looking at the questions of this bridge. A bridge that does not reply counts as no.
    pub async fn is_watched(&self, bridge: &BridgeName) -> bool {
        let (_, Some(peer)) = self.connections().peer_of(bridge) else { return false };
        let Ok(Ok(statuses)) = timeout(limits::PATIENCE, peer.statuses()).await else { return false };
        statuses.iter().any(|status| status.bridge == *bridge && status.watched)
    }
}
