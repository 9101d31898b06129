//! How much all connections to an inbox may make a process hold together (I6).

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::limits;

/// The budgets of all connections to one inbox. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Budgets {
    /// Bytes of requests that are longer than most.
    requests: Arc<Semaphore>,
    /// Bytes of replies that are longer than most.
    replies: Arc<Semaphore>,
    /// Calls in flight.
    calls: Arc<Semaphore>,
    subscriptions: Arc<Semaphore>,
}

impl Default for Budgets {
    fn default() -> Self {
        Budgets {
            requests: Arc::new(Semaphore::new(limits::REQUESTS_BYTES)),
            replies: Arc::new(Semaphore::new(limits::REPLIES_BYTES)),
            calls: Arc::new(Semaphore::new(limits::CALLS)),
            subscriptions: Arc::new(Semaphore::new(limits::SUBSCRIPTIONS)),
        }
    }
}

impl Budgets {
    /// Waits for room for a request of as many bytes as one may have. `None` where there is none in time.
    pub async fn request(&self) -> Option<OwnedSemaphorePermit> {
        acquire(&self.requests, limits::REQUEST, limits::BODY).await
    }

    /// Waits for room for a reply of so many bytes. `None` where there is none in time: other connections do not read
    /// theirs.
    pub async fn reply(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        acquire(&self.replies, bytes.min(limits::REPLIES_BYTES), limits::REPLY_WAIT).await
    }

    /// Returns room for one more call, if there is any.
    pub fn call(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.calls).try_acquire_owned().ok()
    }

    /// Returns room for one more subscription, if there is any.
    pub fn subscription(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.subscriptions).try_acquire_owned().ok()
    }
}

async fn acquire(budget: &Arc<Semaphore>, bytes: usize, wait: Duration) -> Option<OwnedSemaphorePermit> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    timeout(wait, Arc::clone(budget).acquire_many_owned(bytes)).await.ok()?.ok()
}
