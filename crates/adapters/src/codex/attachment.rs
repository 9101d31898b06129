//! An attachment to one app server. It finds the control socket, keeps a connection, drives the core, and holds the
//! questions on the desk. The decisions about questions are left to `core.rs`.
//!
//! The app server does not report an answer that another client gave. The attachment reads it from the record of the
//! thread, Codex' own file with a line for everything that the model and its tools said.

use std::{
    collections::BTreeMap,
    env,
    future::{Future, pending, poll_fn},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf, absolute},
    pin::pin,
    task::Poll,
    time::Duration,
};

use askbridge_control::inbox::{LocalDesk, QuestionHandle};
use askbridge_core::{
    desk::Settlement,
    question::{Outcome, Provenance},
};
use askbridge_os::files::open_regular;
use futures::future::BoxFuture;
use serde::Deserialize;
use tokio::{
    task::{JoinSet, spawn_blocking},
    time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout},
};

use super::{
    connection::{CodexConnection, ConnectionError},
    core::{Core, Effect},
    message::NAME,
};
use crate::{
    AgentIdentity,
    attach::{Attachment, Finder, FoundAgent, Retry, SharedInboxes},
    limits,
};

/// Attaches to the app server at this socket, until it is gone. `home` is the folder under which responders see it.
pub(super) async fn attach(path: PathBuf, home: PathBuf, hosts: SharedInboxes) {
    let mut connection = match CodexConnection::open(&path).await {
        Ok(connection) => connection,
        Err(error) => return tracing::debug!(%error, socket = %path.display(), "Codex cannot be reached"),
    };
    let mut retry = Retry::default();
    loop {
        // Another process at the same socket gets a separate inbox, because an inbox recognizes its agent by the
        // process (I12).
        let pid = connection.pid();
        let who = AgentIdentity { agent: NAME.to_owned(), folder: home.clone(), pid };
        let hosted = match hosts.host(who) {
            Ok(hosted) => hosted,
            Err(error) => return tracing::warn!(%error, "cannot show questions of Codex"),
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
    /// The tasks that read the records of threads. Their number is bounded by that of the questions.
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
            // Close our end first: the server may keep the connection open for as long as our end exists.
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
        // After a pause of the machine, missed ticks must not become a burst of pings.
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
        // The future is created outside the loop, so that other events do not restart the attempt.
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

    /// Carries out the effects of the core.
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
                Effect::Open(key, question, kept, context) => {
                    match self.desk.open_after(context, *question, false, kept) {
                        Ok(asked) => drop(self.asked.insert(key, asked)),
                        Err(error) => {
                            tracing::debug!(%error, "a question is left to Codex' own dialog");
                            self.core.left(key);
                        }
                    }
                }
                Effect::Amend(key, question, kept) => {
                    let amended = self.asked.get(&key).map(|asked| asked.amend(*question, kept));
                    if amended.is_some_and(|amended| amended.is_err())
                        && let Some(asked) = self.asked.remove(&key)
                    {
                        tracing::debug!("a question that has changed is left to Codex' own dialog");
                        asked.end(Outcome::Failed, Provenance::bridge());
                        self.core.left(key);
                    }
                }
                Effect::Delivered(key) => {
                    self.asked.remove(&key).into_iter().for_each(QuestionHandle::delivered)
                }
                Effect::Undeliverable(key) => {
                    self.asked.remove(&key).into_iter().for_each(QuestionHandle::undeliverable);
                }
                Effect::Look(key, path, call) => {
                    // The lookup runs on a task, because it takes up to `ATTACH_RECORD`, and messages must be read
                    // meanwhile.
                    let looking = async move { Some((key, answer_in_record(&path, &call).await?)) };
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

/// Waits until a responder decides a question, or a question expires. Cancel safe.
fn decided(asked: &mut BTreeMap<u64, QuestionHandle>) -> impl Future<Output = (u64, Settlement)> {
    poll_fn(|cx| {
        for (key, asked) in &mut *asked {
            // Each handle waits for its own question only, so this future keeps no state between two polls.
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

/// The control socket, below Codex' own folder. It is a symlink.
const SOCKET: &str = "app-server-control/app-server-control.sock";

/// Finds the app server at one socket, whenever it runs.
#[derive(Debug)]
pub struct CodexFinder {
    path: PathBuf,
    home: PathBuf,
}

impl CodexFinder {
    /// Returns a finder for this socket.
    pub fn at(path: PathBuf) -> Self {
        // The folder is shown to responders, and the path is the key of the agent, so neither may be relative.
        let path = absolute(&path).unwrap_or(path);
        let home = path.parent().map(Path::to_owned).unwrap_or_default();
        CodexFinder { path, home }
    }

    /// Returns a finder for the socket of this user: in `CODEX_HOME`, or else in `~/.codex`. `None` if neither is
    /// known.
    pub fn of_user() -> Option<Self> {
        let set = env::var_os("CODEX_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let home = set.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".codex")))?;
        Some(CodexFinder { path: home.join(SOCKET), home })
    }
}

impl Finder for CodexFinder {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn look(&mut self) -> BoxFuture<'_, Vec<FoundAgent>> {
        Box::pin(async {
            // A socket that its server left behind also exists, but connecting to it fails.
            if !tokio::fs::try_exists(&self.path).await.unwrap_or_default() {
                return Vec::new();
            }
            let (path, home) = (self.path.clone(), self.home.clone());
            let key = format!("codex {}", path.display());
            let attach = move |hosts| Box::pin(attach(path, home, hosts)) as Attachment;
            vec![FoundAgent { key, attach: Box::new(attach) }]
        })
    }
}

#[derive(Deserialize)]
struct RecordLine {
    payload: RecordPayload,
}

#[derive(Deserialize)]
struct RecordPayload {
    #[serde(rename = "type")]
    kind: String,
    call_id: Option<String>,
    output: Option<String>,
}

/// The result of a tool call.
const OUTPUT: &str = "function_call_output";

/// Returns the result of this tool call as soon as the record has it. `None` if it does not appear in time.
pub(super) async fn answer_in_record(path: &Path, call: &str) -> Option<String> {
    let looking = async {
        let mut pause = Duration::ZERO;
        loop {
            sleep(pause).await;
            match look_in_record(path, call).await {
                Ok(Some(output)) => return Some(output),
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(%error, "the record of a thread cannot be read");
                    return None;
                }
            }
            pause = limits::ATTACH_RECORD_LOOK;
        }
    };
    timeout(limits::ATTACH_RECORD, looking).await.ok().flatten()
}

/// Looks once, on a thread that may block. `tokio::fs::File` would read a long record in many steps, each of which
/// waits for such a thread.
async fn look_in_record(path: &Path, call: &str) -> io::Result<Option<String>> {
    let (path, call) = (path.to_owned(), call.to_owned());
    spawn_blocking(move || read_end(&path).map(|lines| find_output(&lines, &call))).await?
}

/// Returns the last bytes of the record, which have the last calls.
fn read_end(path: &Path) -> io::Result<Vec<u8>> {
    // The server names the path, and opening a FIFO there would block.
    let mut file = open_regular(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(limits::ATTACH_RECORD_END)))?;
    let mut end = Vec::new();
    // The bound holds even if the file grows while it is read.
    file.take(limits::ATTACH_RECORD_END).read_to_end(&mut end)?;
    Ok(end)
}

fn find_output(lines: &[u8], call: &str) -> Option<String> {
    // The search starts at the end, where the last calls are. A search is cheaper than a parse, and few lines are
    // results of tools.
    let lines = lines.split(|byte| *byte == b'\n').rev();
    lines
        .filter(|line| memchr::memmem::find(line, OUTPUT.as_bytes()).is_some())
        .filter_map(|line| serde_json::from_slice::<RecordLine>(line).ok())
        .filter(|line| line.payload.kind == OUTPUT && line.payload.call_id.as_deref() == Some(call))
        .find_map(|line| line.payload.output)
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::SystemTime};

    use askbridge_control::{
        inbox::{BridgeInbox, Identity},
        join::discovery::{DiscoveryError, bridge_name},
    };
    use futures::StreamExt;
    use tokio::{io::AsyncWriteExt, net::UnixListener, time::timeout};
    use tokio_tungstenite::accept_async;

    use super::*;
    use crate::{AgentInbox, AgentInboxes, limits};

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

    /// Greets each client, and then sends bytes that are no WebSocket frame. Notes when each client came.
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

    const RECORD: &str = concat!(
        r#"cut","call_id":"q0","type":"function_call_output"}}"#,
        "\n",
        r#"{"timestamp":"t","ordinal":9,"type":"response_item","payload":{"type":"function_call","call_id":"q1"}}"#,
        "\n",
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"q1","output":"{\"answers\":{}}"}}"#,
        "\n",
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"q2","output":{"x":1}}}"#,
    );

    #[test]
    fn the_output_of_a_tool_call_is_found() {
        assert_eq!(find_output(RECORD.as_bytes(), "q1").as_deref(), Some(r#"{"answers":{}}"#));
        assert_eq!(find_output(RECORD.as_bytes(), "q2"), None, "an output of another shape is no answer");
        assert_eq!(find_output(RECORD.as_bytes(), "q0"), None);
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(answer_in_record(folder.path(), "q1").await, None);
        assert_eq!(answer_in_record(&folder.path().join("none"), "q1").await, None);
    }
}
