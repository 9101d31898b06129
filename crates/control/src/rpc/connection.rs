//! Memory limits of connections to an inbox (I6). One connection holds at most one long reply and one message of its
//! subscriptions, and all connections of the process share further budgets. The methods are left to `methods.rs`.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use askbridge_core::{desk::Refusal, question::Provenance};
use askbridge_os::processes::Peer;
use jsonrpsee::{Extensions, core::RpcResult, types::ErrorObjectOwned};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::deferrals::Sender;
use crate::limits;

/// The budgets of one connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) peer: Option<Peer>,
    /// The responder behind the connection, if that is known for certain.
    pub(super) by: Option<Provenance>,
    /// What it has sent and can take back, if it can.
    pub(super) sender: Option<Arc<Sender>>,
    /// Permits one long reply at a time.
    turn: Arc<Semaphore>,
    pub(super) subscriptions: Arc<Semaphore>,
    /// Permits one message of all its subscriptions at a time. The next is serialized once this one was written.
    changes: Arc<Semaphore>,
    /// The permits of the reply that is written next.
    reply: Arc<Mutex<Vec<OwnedSemaphorePermit>>>,
}

impl Connection {
    /// Returns the budgets of a connection from `peer`, which is `None` if the process cannot be one of the agent's.
    pub(super) fn of(peer: Option<Peer>, by: Option<Provenance>, sender: Option<Arc<Sender>>) -> Self {
        Connection {
            peer,
            by,
            sender,
            turn: Arc::new(Semaphore::new(1)),
            subscriptions: Arc::new(Semaphore::new(limits::SUBSCRIPTIONS_PER_CONNECTION)),
            changes: Arc::new(Semaphore::new(1)),
            reply: Arc::default(),
        }
    }

    /// Ends the connection for its submissions: it can take none back any more.
    pub(super) fn leave(&self) {
        self.sender.as_ref().inspect(|sender| sender.leave());
    }

    /// Gives back the room of the reply that was written.
    pub(super) fn written(&self) {
        self.reply.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Permits the next message of a subscription, after one was written or could not be sent.
    pub(super) fn change_is_over(&self) {
        self.changes.add_permits(1);
    }

    /// Waits until the connection may hold a message of a subscription. [`Connection::change_is_over`] must follow.
    pub(super) async fn reserve_change(&self) {
        // The semaphore is never closed, so `acquire` cannot fail. The permit is forgotten, since the session, which
        // writes the message, gives it back.
        if let Ok(permit) = self.changes.acquire().await {
            permit.forget();
        }
    }

    /// Waits until a reply of so many bytes may be made. The caller must return the reply without waiting again.
    pub(super) async fn reserve(&self, budgets: &Budgets, bytes: usize) -> RpcResult<()> {
        let too_many = || error(Refusal::TooManyRequests);
        let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(|_| too_many())?;
        let room = budgets.reply(bytes).await.ok_or_else(too_many)?;
        self.reply.lock().unwrap_or_else(PoisonError::into_inner).extend([turn, room]);
        Ok(())
    }
}

/// Waits until a reply of so many bytes may be made over the connection of a call: see [`Connection::reserve`].
pub(super) async fn reserve(budgets: &Budgets, extensions: &Extensions, bytes: usize) -> RpcResult<()> {
    match extensions.get::<Connection>() {
        Some(connection) => connection.reserve(budgets, bytes).await,
        None => Ok(()),
    }
}

/// Returns a refusal as a JSON-RPC error: its code, its text, and its details under `data`.
pub(super) fn error(refusal: Refusal) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(refusal.kind().code, refusal.to_string(), Some(refusal.detail()))
}

/// Gives back the room of a call that waits for a person or an agent from now on. Another budget bounds such calls.
pub(super) fn wait(extensions: &Extensions) {
    extensions.get::<CallRoom>().inspect(|room| room.give_back());
}

/// Returns whether the caller is a process of the agent's own tree.
pub(super) fn is_of_agent(extensions: &Extensions) -> bool {
    extensions
        .get::<Connection>()
        .and_then(|connection| connection.peer.as_ref())
        .is_some_and(Peer::is_of_agent)
}

/// The budgets of all connections to one inbox. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Budgets {
    /// Bytes of requests longer than [`limits::SHORT_REQUEST`].
    requests: Arc<Semaphore>,
    /// Bytes of listings and records in replies.
    replies: Arc<Semaphore>,
    /// Calls in flight that do not wait for a person or an agent.
    calls: Arc<Semaphore>,
    /// Bytes of submissions that wait for their agents.
    submissions: Arc<Semaphore>,
    subscriptions: Arc<Semaphore>,
    /// Calls that wait for an outcome.
    outcomes: Arc<Semaphore>,
}

impl Default for Budgets {
    fn default() -> Self {
        Budgets {
            requests: Arc::new(Semaphore::new(limits::REQUESTS_BYTES)),
            replies: Arc::new(Semaphore::new(limits::REPLIES_BYTES)),
            calls: Arc::new(Semaphore::new(limits::CALLS)),
            submissions: Arc::new(Semaphore::new(limits::WAITING_BYTES)),
            subscriptions: Arc::new(Semaphore::new(limits::SUBSCRIPTIONS)),
            outcomes: Arc::new(Semaphore::new(limits::OUTCOMES)),
        }
    }
}

impl Budgets {
    /// Waits for room for a request of the greatest length. Returns `None` if there is none in time.
    pub async fn request(&self) -> Option<OwnedSemaphorePermit> {
        acquire(&self.requests, limits::REQUEST, limits::BODY).await
    }

    /// Waits for room for a reply of so many bytes. Returns `None` if there is none in time, since other connections do
    /// not read their replies.
    pub async fn reply(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        // A reply longer than the whole budget takes all of it; it could never get more.
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

    /// Returns room for one more call that waits for an outcome, if there is any.
    pub fn outcome(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.outcomes).try_acquire_owned().ok()
    }

    /// Returns room for one more subscription, if there is any.
    pub fn subscription(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.subscriptions).try_acquire_owned().ok()
    }
}

/// The permits that one call takes from the budgets, until this is dropped or until the call waits for a person or an
/// agent. Calls that wait are bounded elsewhere: the desks bound open questions, and [`Budgets::submission`] bounds
/// submissions. So callers that wait keep no others out. Cheap to clone; all clones share the permits.
#[derive(Clone, Debug, Default)]
pub(super) struct CallRoom(Arc<Mutex<Vec<OwnedSemaphorePermit>>>);

impl CallRoom {
    /// Returns a room that holds these permits.
    pub(super) fn new(permits: impl IntoIterator<Item = OwnedSemaphorePermit>) -> Self {
        CallRoom(Arc::new(Mutex::new(permits.into_iter().collect())))
    }

    /// Gives the permits back. Before, the caller must drop every part of the request that no other budget counts.
    pub(super) fn give_back(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

async fn acquire(budget: &Arc<Semaphore>, bytes: usize, wait: Duration) -> Option<OwnedSemaphorePermit> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    timeout(wait, Arc::clone(budget).acquire_many_owned(bytes)).await.ok()?.ok()
}
