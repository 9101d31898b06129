//! Limits that keep clients from starving others: the number of open connections, and rates per second.
//! Most places are for connections that have shown the token, so that another user of this machine cannot take all of
//! them (I10). On Linux, the kernel says which user is at the other end of a local connection.
//! The choice of the requests that count against a rate is left to the caller.

use std::{
    collections::VecDeque,
    future::pending,
    mem,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use askbridge_os::listeners::{self, TcpRow};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc},
    time::timeout,
};

use crate::limits;

/// All connections.
#[derive(Debug)]
pub(super) struct Visitors {
    /// Connections that have not shown the token, oldest first.
    unknown: Mutex<VecDeque<Arc<Notify>>>,
    /// The places for connections that have shown the token.
    places: Arc<Semaphore>,
    /// The sender of a channel that closes when this value and all connections are dropped.
    _alive: mpsc::Sender<()>,
}

/// One connection. It counts until its last `Arc` is dropped; a WebSocket keeps one.
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
    /// Creates the list of connections, and the waiter for its end and the end of all connections.
    pub(super) fn new() -> (Arc<Self>, DrainWaiter) {
        let (alive, ended) = mpsc::channel(1);
        let places = Arc::new(Semaphore::new(limits::HTTP_CONNECTIONS));
        (Arc::new(Visitors { unknown: Mutex::default(), places, _alive: alive }), DrainWaiter(ended))
    }

    /// Registers a connection that has not shown the token yet. If there are too many of these, the oldest is closed.
    pub(super) fn admit(self: &Arc<Self>) -> Arc<Visitor> {
        let expelled = Arc::new(Notify::new());
        let mut unknown = self.lock();
        unknown.push_back(Arc::clone(&expelled));
        if unknown.len() > limits::UNKNOWN_CONNECTIONS
            && let Some(oldest) = unknown.pop_front()
        {
            // `notify_one` stores a permit if the connection does not wait yet.
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
        // Nothing panics while the lock is held, so the data is consistent.
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
        // Requests of one connection come one after the other, so the place cannot have been set meanwhile.
        drop(self.place.set(place));
        self.leave();
        true
    }

    /// Records the endpoints of the connection.
    pub(super) fn comes_over(&self, ends: Endpoints) {
        self.ends.get_or_init(|| ends);
    }

    /// Returns whether the client is a process of another user of this machine, as far as that is known.
    pub(super) fn is_other_user(&self) -> bool {
        self.ends.get().is_some_and(Endpoints::are_of_two_users)
    }

    /// Waits until the connection must be closed, because it has not shown the token in time, or there are too many of
    /// its kind. Pending forever once it has shown the token.
    pub(super) async fn expelled(&self) {
        // An expulsion and the timeout have the same effect.
        mem::drop(timeout(limits::TOKEN, self.expelled.notified()).await);
        if self.place.get().is_some() {
            // The token may have been shown at the last moment. The caller selects on this future, so it must not
            // complete.
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

/// The user that can act as any other user.
const ROOT: u32 = 0;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Endpoints {
    /// The address of the client.
    pub(super) client: SocketAddr,
    /// The address of the server that it has connected to.
    pub(super) server: SocketAddr,
}

impl Endpoints {
    /// Returns whether the client is a process of another user of this machine, as far as that is known.
    pub(super) fn are_of_two_users(&self) -> bool {
        let ours = rustix::process::geteuid().as_raw();
        self.users_in(listeners::rows()).iter().any(|user| *user != ours && *user != ROOT)
    }

    /// Returns the users of the client's socket, which is in one of these rows if it is on this machine.
    fn users_in(&self, rows: impl IntoIterator<Item = TcpRow>) -> Vec<u32> {
        rows.into_iter().filter(|row| row.is_end(self.client, self.server)).map(|row| row.user).collect()
    }
}

/// Counts requests in the current second.
#[derive(Debug)]
pub(super) struct Rate {
    second: Mutex<(Instant, u32)>,
    limit: u32,
}

impl Rate {
    /// Creates a counter with this limit.
    pub(super) fn new(limit: u32) -> Self {
        Rate { second: Mutex::new((Instant::now(), 0)), limit }
    }

    /// Counts one more request, and returns whether it is within the limit.
    pub(super) fn allows(&self) -> bool {
        self.allows_at(1, Instant::now())
    }

    /// Counts several requests that arrived as one, and returns whether all of them are within the limit.
    pub(super) fn allows_all(&self, count: u32) -> bool {
        self.allows_at(count, Instant::now())
    }

    fn allows_at(&self, count: u32, now: Instant) -> bool {
        // Nothing panics while the lock is held, so the data is consistent.
        let mut second = self.second.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(second.0) >= Duration::from_secs(1) {
            *second = (now, 0);
        }
        second.1 = second.1.saturating_add(count);
        second.1 <= self.limit
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use askbridge_os::listeners;
    use futures::FutureExt;

    use super::*;
    use crate::limits;

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
        let start = tokio::time::Instant::now();
        visitors.admit().expelled().await;
        assert_eq!(start.elapsed(), limits::TOKEN);
        let known = visitors.admit();
        assert!(known.has_shown_token());
        assert!(timeout(limits::WAIT, known.expelled()).await.is_err());
    }

    #[tokio::test]
    async fn there_are_so_many_connections_with_the_token_and_no_more() {
        let (visitors, ended) = Visitors::new();
        let mut known: Vec<_> = (0..limits::HTTP_CONNECTIONS).map(|_| visitors.admit()).collect();
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

    #[cfg(target_endian = "little")]
    #[test]
    fn user_of_the_client_is_read() {
        let table =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:20E5 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 0100007F:20E5 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 20 4 30 10 -1
   2: 0100007F:C350 0100007F:20E5 01 00000000:00000000 00:00000000 00000000  1001        0 3 1 0 20 4 30 10 -1
   3: 0000000000000000FFFF00000100007F:C351 0000000000000000FFFF00000100007F:20E5 01 0:0 0:0 0 1002 0 4 1";
        let user = |client: &str, server: &str| {
            let ends = Endpoints { client: client.parse().unwrap(), server: server.parse().unwrap() };
            ends.users_in(listeners::parse_table(table)).first().copied()
        };
        assert_eq!(user("127.0.0.1:50000", "127.0.0.1:8421"), Some(1001));
        assert_eq!(user("[::ffff:127.0.0.1]:50000", "[::ffff:127.0.0.1]:8421"), Some(1001));
        assert_eq!(user("127.0.0.1:50001", "127.0.0.1:8421"), Some(1002));
        assert_eq!(user("127.0.0.1:50002", "127.0.0.1:8421"), None);
        assert_eq!(user("192.0.2.1:50000", "127.0.0.1:8421"), None);
    }

    #[test]
    fn own_connection_is_of_one_user() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A machine may have no IPv6.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let ends =
                Endpoints { client: client.local_addr().unwrap(), server: client.peer_addr().unwrap() };
            assert!(!ends.are_of_two_users());
            if cfg!(target_os = "linux") {
                assert_eq!(ends.users_in(listeners::rows()), [rustix::process::geteuid().as_raw()]);
            }
        }
    }

    #[test]
    fn requests_beyond_the_limit_of_a_second_are_refused() {
        let rate = Rate::new(limits::REQUESTS_PER_SECOND);
        let start = Instant::now();
        for second in 0..3 {
            let now = start + Duration::from_secs(second);
            let allowed = (0..2 * limits::REQUESTS_PER_SECOND).filter(|_| rate.allows_at(1, now)).count();
            assert_eq!(allowed, limits::REQUESTS_PER_SECOND as usize, "in second {second}");
        }
        // A clock that goes back starts no new second.
        assert!(!rate.allows_at(1, start));
        let next = start + Duration::from_secs(4);
        assert!(rate.allows_at(limits::REQUESTS_PER_SECOND, next) && !rate.allows_at(1, next));
        assert!(!rate.allows_at(limits::REQUESTS_PER_SECOND + 1, next + Duration::from_secs(1)));
    }
}
