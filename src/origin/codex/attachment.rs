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
    connection::{CodexConnection, ConnectionError},
    core::{Core, Effect},
    record,
    request::NAME,
};
use crate::{
    control::{LocalDesk, QuestionHandle},
    desk::Settlement,
    limits,
    origin::{
        AgentIdentity,
        attach::{Retry, SharedInboxes},
    },
};

/// Attaches to the app server at this socket, until it is gone. `home` is the folder that it is shown with.
pub(super) async fn attach(path: PathBuf, home: PathBuf, hosts: SharedInboxes) {
    let mut connection = match CodexConnection::open(&path).await {
        Ok(connection) => connection,
        Err(error) => return tracing::debug!(%error, socket = %path.display(), "Codex cannot be reached"),
    };
    let mut retry = Retry::default();
    loop {
        // Another process at the same socket gets an inbox of its own: what belongs to an agent is told by its process.
        let pid = connection.pid();
        let who = AgentIdentity { agent: NAME.to_owned(), folder: home.clone(), pid };
        let hosted = match hosts.host(who) {
            Ok(hosted) => hosted,
            Err(error) => return tracing::warn!(%error, "questions of Codex are not shown"),
        };
        tracing::info!(?pid, socket = %path.display(), "attached to Codex");
        let mut client = AppServerClient {
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
struct AppServerClient {
    core: Core,
    /// The questions that are on the desk, by their keys.
    asked: BTreeMap<u64, QuestionHandle>,
    desk: LocalDesk,
    /// What looks into the records of threads. Their number is bounded by that of the questions.
    looking: JoinSet<Option<(u64, String)>>,
    started: Instant,
}

impl AppServerClient {
    /// Serves one process through all its connections. Returns a connection to another process at the same socket.
    async fn serve(
        &mut self,
        mut connection: CodexConnection,
        path: &Path,
        pid: Option<u32>,
        retry: &mut Retry,
    ) -> Option<CodexConnection> {
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

    async fn converse(&mut self, connection: &mut CodexConnection) -> ConnectionError {
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
    async fn reconnect(&mut self, path: &Path, retry: &mut Retry) -> Option<CodexConnection> {
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
    async fn carry_out(
        &mut self,
        mut connection: Option<&mut CodexConnection>,
    ) -> Result<(), ConnectionError> {
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
                Effect::Delivered(key) => {
                    self.asked.remove(&key).into_iter().for_each(QuestionHandle::delivered)
                }
                Effect::Undeliverable(key) => {
                    self.asked.remove(&key).into_iter().for_each(QuestionHandle::undeliverable);
                }
                Effect::Look(key, path, call) => {
                    let looking = async move { Some((key, record::answer_in_record(&path, &call).await?)) };
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
fn decided(asked: &mut BTreeMap<u64, QuestionHandle>) -> impl Future<Output = (u64, Settlement)> {
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

async fn connect_again(path: &Path, retry: &mut Retry) -> CodexConnection {
    loop {
        retry.pause().await;
        match CodexConnection::open(path).await {
            Ok(connection) => return connection,
            Err(error) => tracing::debug!(%error, "Codex cannot be reached"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::SystemTime};

    use futures::StreamExt;
    use tokio::{io::AsyncWriteExt, net::UnixListener, time::timeout};
    use tokio_tungstenite::accept_async;

    use super::*;
    use crate::{
        control::{BridgeInbox, Identity},
        machine::discovery::{DiscoveryError, bridge_name},
        origin::{AgentInbox, AgentInboxes},
    };

    /// Gives each agent an inbox without a socket.
    struct Socketless;

    impl AgentInboxes for Socketless {
        fn host(&self, who: AgentIdentity) -> Result<AgentInbox, DiscoveryError> {
            let identity = Identity {
                bridge: bridge_name(),
                agent: who.agent,
                folder: who.folder.display().to_string(),
                started_at: SystemTime::UNIX_EPOCH.into(),
            };
            let (inbox, desk, work) = BridgeInbox::of_desk(identity, 7, None);
            Ok(AgentInbox { desk, host: Box::new((inbox, work)) })
        }
    }

    /// Greets each client, and then sends what is no WebSocket frame. Notes when each client came.
    async fn break_each_frame(listener: UnixListener, came: &mut Vec<Instant>) {
        loop {
            let (stream, _) = listener.accept().await.expect("a client");
            came.push(Instant::now());
            let mut socket = accept_async(stream).await.expect("a handshake");
            socket.get_mut().write_all(&[0xff; 16]).await.expect("a client that reads");
            // The client must see the broken frame, and not the end of the stream.
            let end = timeout(limits::ATTACH_CONNECT, socket.next()).await;
            end.expect("the client closes the connection");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn server_that_greets_and_breaks_each_frame_is_connected_to_at_growing_intervals() {
        const MINUTE: Duration = Duration::from_secs(60);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("c.sock");
        let listener = UnixListener::bind(&path).expect("a socket");
        let mut came = Vec::new();
        let running = async {
            tokio::select! {
                () = break_each_frame(listener, &mut came) => {}
                () = attach(path, folder.path().to_owned(), Arc::new(Socketless)) => {}
            }
        };
        timeout(MINUTE, running).await.expect_err("the server is there, and is attached to");
        let pauses: Vec<_> = came.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
        // Timers have a resolution of a millisecond.
        let is_near = |(pause, expected): (&u128, u128)| (expected..=expected + 2).contains(pause);
        assert!(pauses.iter().zip([0, 100, 200, 400, 800, 1000]).all(is_near), "{pauses:?}");
        assert!(pauses[6..].iter().all(|pause| is_near((pause, 1000))), "{pauses:?}");
        assert!((60..=64).contains(&came.len()), "{}", came.len());
    }
}
