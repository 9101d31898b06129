//! An attachment to one app server: its connection, the core, and the questions on the desk.
//! What is decided about them is left to the core.

use std::{
    collections::BTreeMap,
    future::{Future, pending, poll_fn},
    path::{Path, PathBuf},
    pin::pin,
    task::Poll,
    time::Duration,
};

use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, sleep_until},
};

use super::{
    connection::{Connection, ConnectionError},
    core::{Core, Effect},
    record,
    request::NAME,
};
use crate::{
    control::{Asked, LocalDesk},
    desk::Settlement,
    limits,
    origin::{
        Who,
        attach::{Retry, SharedHosts},
    },
};

/// Attaches to the app server at this socket, until it is gone. `home` is the folder that it is shown with.
pub(super) async fn attach(path: PathBuf, home: PathBuf, hosts: SharedHosts) {
    let mut connection = match Connection::open(&path).await {
        Ok(connection) => connection,
        Err(error) => return tracing::debug!(%error, socket = %path.display(), "Codex cannot be reached"),
    };
    let mut retry = Retry::default();
    loop {
        // Another process at the same socket gets an inbox of its own: what belongs to an agent is told by its process.
        let pid = connection.pid();
        let who = Who { agent: NAME.to_owned(), folder: home.clone(), pid };
        let hosted = match hosts.host(who) {
            Ok(hosted) => hosted,
            Err(error) => return tracing::warn!(%error, "questions of Codex are not shown"),
        };
        tracing::info!(?pid, socket = %path.display(), "attached to Codex");
        let mut client = Client {
            core: Core::default(),
            asked: BTreeMap::new(),
            desk: hosted.desk.clone(),
            looking: JoinSet::new(),
            started: Instant::now(),
        };
        match client.serve(connection, &path, pid, &mut retry).await {
            Some(other) => connection = other,
            None => return tracing::info!(socket = %path.display(), "Codex is gone"),
        }
    }
}

/// A client of one app server.
struct Client {
    core: Core,
    /// The questions that are on the desk, by their keys.
    asked: BTreeMap<u64, Asked>,
    desk: LocalDesk,
    /// What looks into the records of threads. Their number is bounded by that of the questions.
    looking: JoinSet<Option<(u64, String)>>,
    started: Instant,
}

impl Client {
    /// Serves one process through all its connections. Returns a connection to another process at the same socket.
    async fn serve(
        &mut self,
        mut connection: Connection,
        path: &Path,
        pid: Option<u32>,
        retry: &mut Retry,
    ) -> Option<Connection> {
        loop {
            self.core.connected();
            let error = self.converse(&mut connection).await;
            tracing::debug!(%error, "the connection to Codex broke");
            // The server may hold it open for as long as it is there.
            drop(connection);
            self.core.disconnected(self.now());
            connection = self.reconnect(path, retry).await?;
            if connection.pid() != pid {
                return Some(connection);
            }
        }
    }

    async fn converse(&mut self, connection: &mut Connection) -> ConnectionError {
        let mut checks = interval(limits::PING);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if let Err(error) = self.carry_out(Some(connection)).await {
                return error;
            }
            tokio::select! {
                // What the server says comes first: an answer that it has already must not look like one of ours.
                biased;
                message = connection.next() => match message {
                    Ok(text) => self.core.message(&text, self.started.elapsed()),
                    Err(error) => return error,
                },
                (key, settlement) = decided(&mut self.asked) => {
                    self.core.decided(key, &settlement, self.started.elapsed());
                }
                Some(found) = self.looking.join_next() => self.recorded(found.ok().flatten()),
                () = due(self.started, self.core.next_deadline()) => self.core.tick(self.started.elapsed()),
                _ = checks.tick() => {
                    if let Err(error) = connection.check().await {
                        return error;
                    }
                }
            }
        }
    }

    /// Connects again, for as long as questions stay open without a connection.
    async fn reconnect(&mut self, path: &Path, retry: &mut Retry) -> Option<Connection> {
        let give_up = Instant::now() + limits::ATTACH_REJOIN;
        let mut connecting = pin!(connect_again(path, retry));
        loop {
            // Without a connection, nothing can fail.
            self.carry_out(None).await.unwrap_or_default();
            tokio::select! {
                connection = &mut connecting => return Some(connection),
                () = sleep_until(give_up) => return None,
                (key, settlement) = decided(&mut self.asked) => {
                    self.core.decided(key, &settlement, self.started.elapsed());
                }
                Some(found) = self.looking.join_next() => self.recorded(found.ok().flatten()),
                () = due(self.started, self.core.next_deadline()) => self.core.tick(self.started.elapsed()),
            }
        }
    }

    fn recorded(&mut self, found: Option<(u64, String)>) {
        if let Some((key, output)) = found {
            self.core.recorded(key, &output);
        }
    }

    /// Does what the core wants.
    async fn carry_out(&mut self, mut connection: Option<&mut Connection>) -> Result<(), ConnectionError> {
        while let Some(effect) = self.core.poll() {
            match effect {
                Effect::Send(text) => {
                    if let Some(connection) = &mut connection {
                        connection.send(text).await?;
                    }
                }
                Effect::Open(key, question) => match self.desk.open(*question, false) {
                    Ok(asked) => drop(self.asked.insert(key, asked)),
                    Err(error) => {
                        tracing::debug!(%error, "a question is left to Codex' own dialog");
                        self.core.left(key);
                    }
                },
                Effect::Delivered(key) => self.asked.remove(&key).into_iter().for_each(Asked::delivered),
                Effect::Undeliverable(key) => {
                    self.asked.remove(&key).into_iter().for_each(Asked::undeliverable);
                }
                Effect::Look(key, path, call) => {
                    let looking = async move { Some((key, record::output(&path, &call).await?)) };
                    self.looking.spawn(looking);
                }
                Effect::End(key, outcome, by) => {
                    if let Some(asked) = self.asked.remove(&key) {
                        asked.end(outcome, by);
                    }
                }
            }
        }
        Ok(())
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Waits for the next question that a responder decides, or whose time is over. Dropping the future loses nothing.
fn decided(asked: &mut BTreeMap<u64, Asked>) -> impl Future<Output = (u64, Settlement)> {
    poll_fn(|cx| {
        for (key, asked) in &mut *asked {
            // Each is told of its own question only, so that there is nothing to keep between two polls.
            if let Poll::Ready(settlement) = pin!(asked.decided()).poll(cx) {
                return Poll::Ready((*key, settlement));
            }
        }
        Poll::Pending
    })
}

async fn due(started: Instant, due: Option<Duration>) {
    match due.and_then(|due| started.checked_add(due)) {
        Some(due) => sleep_until(due).await,
        None => pending().await,
    }
}

async fn connect_again(path: &Path, retry: &mut Retry) -> Connection {
    loop {
        retry.pause().await;
        match Connection::open(path).await {
            Ok(connection) => return connection,
            Err(error) => tracing::debug!(%error, "Codex cannot be reached"),
        }
    }
}
