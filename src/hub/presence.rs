//! The socket by which commands find the inbox in the background, and learn when it ends. Each user has at most one.
//!
//! A command that connects to it reads the address of the server there, and asks the kernel for the ID of the process. A
//! file with a process ID would name another process once the inbox has died.

use std::{
    collections::VecDeque,
    convert::Infallible,
    fs::DirBuilder,
    io::{self, Write},
    mem,
    net::SocketAddr,
    os::unix::fs::DirBuilderExt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use askbridge_control::join::{
    Places,
    discovery::{self, DiscoveryError, Socket},
};
use askbridge_os::{log, xdg};
use futures::future::BoxFuture;
use rustix::{process::setsid, stdio};
use tokio::{
    io::AsyncWriteExt,
    net::{UnixListener, UnixStream},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use super::{
    HubError,
    service::{HubContext, HubService, Stops},
};
use crate::limits;

/// The name of the socket. No bridge can have this name, so the search for bridges ignores the socket.
const SOCKET: &str = "inbox-detached";
/// The file that the inbox in the background writes to.
const LOG: &str = "inbox.log";
/// The maximum number of open connections at the socket. The oldest is closed first: a command that waits for the end
/// of the process has connected only recently.
const VISITORS: usize = 16;

/// A connection to the inbox in the background.
pub struct Visit {
    /// Its first line is the address of the server. It ends with the process.
    pub stream: UnixStream,
    /// The process, whose ID is not used again before the connection ends.
    pub pid: i32,
    /// The directory of the socket.
    pub folder: PathBuf,
}

/// Connects to the inbox in the background. `None` if there is none.
///
/// # Errors
/// A socket cannot be connected to.
pub async fn visit(places: &Places) -> io::Result<Option<Visit>> {
    for folder in places.all() {
        let path = folder.join(SOCKET).with_extension("sock");
        if let Some(stream) = discovery::connect(&path).await? {
            let pid = stream.peer_cred()?.pid().ok_or(io::Error::from(io::ErrorKind::Unsupported))?;
            return Ok(Some(Visit { stream, pid, folder }));
        }
    }
    Ok(None)
}

/// Returns the log file of the inbox in the background. Creates its directory if that does not exist.
///
/// # Errors
/// The directory cannot be made.
pub fn log_file() -> Result<PathBuf, DiscoveryError> {
    let folder = match xdg::state() {
        Some(state) => state.join("askbridge"),
        None => discovery::folder()?,
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|source| DiscoveryError::Path { path: folder.clone(), source })?;
    Ok(folder.join(LOG))
}

/// The background process's end of the socket by which commands find it.
pub struct Presence {
    /// The file of the socket. It is dropped first: a command that waits for the end sees its connection close, and the
    /// socket file must be gone by then.
    _socket: Socket,
    visitors: Visitors,
}

/// The commands that look for the inbox in the background. Their connections stay open for as long as [`Presence`] lives.
#[derive(Clone)]
pub(super) struct Visitors {
    listener: Arc<UnixListener>,
    open: Arc<Mutex<VecDeque<UnixStream>>>,
}

impl Presence {
    /// Leaves the session of the terminal, bounds the log, and listens.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn begin() -> Result<Self, HubError> {
        log::bound_stderr(&log_file()?);
        // `setsid` fails for the leader of a process group, and `spawn` never starts this process as one.
        setsid().ok();
        let (socket, listener) = Socket::bind(&discovery::folder()?, SOCKET)?;
        let listener = Arc::new(UnixListener::from_std(listener)?);
        Ok(Presence { _socket: socket, visitors: Visitors { listener, open: Arc::default() } })
    }

    pub(super) fn visitors(&self) -> Visitors {
        self.visitors.clone()
    }

    /// Sends the address to the command that started this process, on stdout. Afterwards, stdout writes to the log.
    pub(super) fn serves_at(&self, address: SocketAddr) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        // The command may have been interrupted: then nobody reads the pipe.
        drop(writeln!(stdout, "{address}").and_then(|()| stdout.flush()));
        Ok(stdio::dup2_stdout(stdio::stderr())?)
    }
}

impl Visitors {
    /// Sends the address to each command that connects, and keeps the connection open: the command sees it close when
    /// this process ends.
    async fn tell(&self, address: SocketAddr) -> Infallible {
        let mut is_failing = false;
        loop {
            let (mut visitor, _) = match self.listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    // The usual cause is that file descriptors have run out for a while: that is logged once.
                    if !mem::replace(&mut is_failing, true) {
                        tracing::warn!(%error, "commands cannot find this inbox; trying again");
                    }
                    sleep(limits::ACCEPT_BACK_OFF).await;
                    continue;
                }
            };
            is_failing = false;
            // A short line fits into the buffer of a new connection, so a command that does not read cannot block this
            // loop.
            drop(visitor.write_all(format!("{address}\n").as_bytes()).await);
            // No code panics while it holds the lock, so its data is consistent.
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if open.len() == VISITORS {
                open.pop_front();
            }
            open.push_back(visitor);
        }
    }
}

/// Tells commands where the inbox in the background serves.
pub(super) struct PresenceService {
    pub(super) visitors: Visitors,
    pub(super) address: SocketAddr,
}

impl HubService for PresenceService {
    fn name(&self) -> &'static str {
        "presence"
    }

    fn stops(&self) -> Stops {
        Stops::AfterTheLast
    }

    fn run(self: Box<Self>, _: HubContext, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            stop.run_until_cancelled(self.visitors.tell(self.address)).await;
        })
    }
}
