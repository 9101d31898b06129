//! What one connection to an inbox holds: one long reply at a time, and one message of its subscriptions.
//! What all connections hold together is left to `budget.rs`, the methods to `methods.rs`.

use std::sync::{Arc, Mutex, PoisonError};

use jsonrpsee::{core::RpcResult, types::ErrorObjectOwned};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{agent_tree::Peer, budget::Budgets};
use crate::{desk::Refusal, limits};

/// What one connection holds.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) peer: Option<Peer>,
    /// One long reply at a time.
    turn: Arc<Semaphore>,
    pub(super) subscriptions: Arc<Semaphore>,
    /// One message at a time of all its subscriptions: the next is serialized once this one was written.
    changes: Arc<Semaphore>,
    /// The room of the reply that is written next.
    reply: Arc<Mutex<Vec<OwnedSemaphorePermit>>>,
}

impl Connection {
    /// Returns a connection of this process, where that may be one of the agent's.
    pub(super) fn of(peer: Option<Peer>) -> Self {
        Connection {
            peer,
            turn: Arc::new(Semaphore::new(1)),
            subscriptions: Arc::new(Semaphore::new(limits::SUBSCRIPTIONS_PER_CONNECTION)),
            changes: Arc::new(Semaphore::new(1)),
            reply: Arc::default(),
        }
    }

    /// Gives back the room of the reply that was written.
    pub(super) fn written(&self) {
        self.reply.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Lets the next message of a subscription be serialized: one was written, or is not sent.
    pub(super) fn change_is_over(&self) {
        self.changes.add_permits(1);
    }

    /// Waits until the connection may hold a message of a subscription. [`Connection::change_is_over`] must follow.
    pub(super) async fn reserve_change(&self) {
        // It fails for a closed semaphore only, and this one is never closed.
        if let Ok(permit) = self.changes.acquire().await {
            permit.forget();
        }
    }

    /// Waits until a reply of so many bytes may be made. The caller returns it without waiting again.
    pub(super) async fn reserve(&self, budgets: &Budgets, bytes: usize) -> RpcResult<()> {
        let too_many = || error(Refusal::TooManyRequests);
        let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(|_| too_many())?;
        let room = budgets.reply(bytes).await.ok_or_else(too_many)?;
        self.reply.lock().unwrap_or_else(PoisonError::into_inner).extend([turn, room]);
        Ok(())
    }
}

/// Returns a refusal as an error: its code, its text, and its details under `data`.
pub(super) fn error(refusal: Refusal) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(refusal.kind().code, refusal.to_string(), Some(refusal.detail()))
}
