//! How much all connections to an inbox may make a process hold together (I6).

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

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
    /// Calls in flight that do not wait for a person or an agent.
    calls: Arc<Semaphore>,
    /// Bytes of submissions that wait for their agents.
    submissions: Arc<Semaphore>,
    subscriptions: Arc<Semaphore>,
}

impl Default for Budgets {
    fn default() -> Self {
        Budgets {
            requests: Arc::new(Semaphore::new(limits::REQUESTS_BYTES)),
            replies: Arc::new(Semaphore::new(limits::REPLIES_BYTES)),
            calls: Arc::new(Semaphore::new(limits::CALLS)),
            submissions: Arc::new(Semaphore::new(limits::WAITING_BYTES)),
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

    /// Returns room for one more submission of so many bytes that waits for its agent, if there is any.
    pub fn submission(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes.max(limits::SUBMISSION)).unwrap_or(u32::MAX);
        Arc::clone(&self.submissions).try_acquire_many_owned(bytes).ok()
    }

    /// Returns room for one more subscription, if there is any.
    pub fn subscription(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.subscriptions).try_acquire_owned().ok()
    }
}

/// The room that one call takes of the budgets, until it is dropped or until the call waits for a person or an agent.
/// What waits has budgets of its own: the desks bound open questions, and [`Budgets::submission`] bounds submissions. So
/// callers that wait keep no others out. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub(super) struct CallRoom(Arc<Mutex<Vec<OwnedSemaphorePermit>>>);

impl CallRoom {
    /// Returns a room that consists of these.
    pub(super) fn new(permits: impl IntoIterator<Item = OwnedSemaphorePermit>) -> Self {
        CallRoom(Arc::new(Mutex::new(permits.into_iter().collect())))
    }

    /// Gives the room back. The caller must have dropped all of the request that no other budget counts.
    pub(super) fn give_back(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

async fn acquire(budget: &Arc<Semaphore>, bytes: usize, wait: Duration) -> Option<OwnedSemaphorePermit> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    timeout(wait, Arc::clone(budget).acquire_many_owned(bytes)).await.ok()?.ok()
}
