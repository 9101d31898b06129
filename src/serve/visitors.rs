//! The connections that there are: many that have shown the token, and a few that have not, for a short time. So
//! another user of this machine cannot take all connections (I10).

use std::{
    collections::VecDeque,
    future::pending,
    mem,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc},
    time::timeout,
};

use super::ends::Endpoints;
use crate::limits;

/// All connections.
#[derive(Debug)]
pub(super) struct Visitors {
    /// Connections that have not shown the token, oldest first.
    unknown: Mutex<VecDeque<Arc<Notify>>>,
    /// The places of those that have.
    places: Arc<Semaphore>,
    /// Closed when this and all connections are dropped.
    _alive: mpsc::Sender<()>,
}

/// One connection. It counts until the last clone of it is dropped: a WebSocket keeps one.
#[derive(Debug)]
pub(super) struct Visitor {
    visitors: Arc<Visitors>,
    place: OnceLock<OwnedSemaphorePermit>,
    expelled: Arc<Notify>,
    ends: OnceLock<Endpoints>,
}

/// Waits until all connections have ended.
#[derive(Debug)]
pub(super) struct DrainWaiter(mpsc::Receiver<()>);

impl DrainWaiter {
    /// Waits until no connection is left. The [`Visitors`] must have been dropped.
    pub(super) async fn wait(mut self) {
        while self.0.recv().await.is_some() {}
    }
}

impl Visitors {
    /// Returns the list of connections, and what waits until it and all of them are gone.
    pub(super) fn new() -> (Arc<Self>, DrainWaiter) {
        let (alive, ended) = mpsc::channel(1);
        let places = Arc::new(Semaphore::new(limits::CONNECTIONS));
        (Arc::new(Visitors { unknown: Mutex::default(), places, _alive: alive }), DrainWaiter(ended))
    }

    /// Takes a connection that has not shown the token yet. Where there are too many, the oldest such is closed.
    pub(super) fn admit(self: &Arc<Self>) -> Arc<Visitor> {
        let expelled = Arc::new(Notify::new());
        let mut unknown = self.lock();
        unknown.push_back(Arc::clone(&expelled));
        if unknown.len() > limits::UNKNOWN_CONNECTIONS
            && let Some(oldest) = unknown.pop_front()
        {
            oldest.notify_one();
        }
        drop(unknown);
        Arc::new(Visitor {
            visitors: Arc::clone(self),
            place: OnceLock::new(),
            expelled,
            ends: OnceLock::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Notify>>> {
        // Nothing that holds it can leave it half changed.
        self.unknown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visitor {
    /// Records that the connection has shown the token. Returns whether there is a place for it.
    pub(super) fn has_shown_token(&self) -> bool {
        if self.place.get().is_some() {
            return true;
        }
        let Ok(place) = Arc::clone(&self.visitors.places).try_acquire_owned() else { return false };
        // Requests of one connection come one after the other, so that it is not set yet.
        drop(self.place.set(place));
        self.leave();
        true
    }

    /// Records which connection it is.
    pub(super) fn comes_over(&self, ends: Endpoints) {
        self.ends.get_or_init(|| ends);
    }

    /// Returns whether the connection is that of another user of this machine, as far as that is known.
    pub(super) fn is_other_user(&self) -> bool {
        self.ends.get().is_some_and(Endpoints::are_of_two_users)
    }

    /// Waits until the connection must be closed, because it has not shown the token in time, or there are too many of
    /// its kind. Pending forever once it has shown the token.
    pub(super) async fn expelled(&self) {
        // Whether it was told or the time is over makes no difference.
        mem::drop(timeout(limits::TOKEN, self.expelled.notified()).await);
        if self.place.get().is_some() {
            pending::<()>().await;
        }
    }

    fn leave(&self) {
        self.visitors.lock().retain(|other| !Arc::ptr_eq(other, &self.expelled));
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_oldest_connection_without_the_token_is_closed() {
        let (visitors, _) = Visitors::new();
        let known = visitors.admit();
        assert!(known.has_shown_token() && known.has_shown_token());
        let unknown: Vec<_> = (0..limits::UNKNOWN_CONNECTIONS).map(|_| visitors.admit()).collect();
        assert!(unknown.iter().all(|visitor| visitor.expelled().now_or_never().is_none()));
        let another = visitors.admit();
        let is_expelled = |visitor: &Arc<Visitor>| visitor.expelled().now_or_never().is_some();
        assert!(is_expelled(&unknown[0]));
        assert!(!is_expelled(&known) && !is_expelled(&another) && !unknown[1..].iter().any(is_expelled));
        drop(unknown);
        assert_eq!(visitors.lock().len(), 1, "only the last is left");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_has_so_long_to_show_the_token() {
        let (visitors, _) = Visitors::new();
        let start = Instant::now();
        visitors.admit().expelled().await;
        assert_eq!(start.elapsed(), limits::TOKEN);
        let known = visitors.admit();
        assert!(known.has_shown_token());
        assert!(timeout(limits::WAIT, known.expelled()).await.is_err());
    }

    #[tokio::test]
    async fn there_are_so_many_connections_with_the_token_and_no_more() {
        let (visitors, ended) = Visitors::new();
        let mut known: Vec<_> = (0..limits::CONNECTIONS).map(|_| visitors.admit()).collect();
        assert!(known.iter().all(|visitor| visitor.has_shown_token()));
        let another = visitors.admit();
        assert!(!another.has_shown_token());
        known.pop();
        assert!(another.has_shown_token());
        drop((visitors, known));
        let mut wait = Box::pin(ended.wait());
        assert!(wait.as_mut().now_or_never().is_none());
        drop(another);
        wait.await;
    }
}
