//! The holders of all machines, and the sockets over which the programs of this machine share their connections.

use std::{
    collections::BTreeMap,
    fmt, fs,
    future::pending,
    os::unix::{fs::DirBuilderExt, net::UnixListener},
    path::{Path, PathBuf},
    sync::Arc,
};

use askbridge_core::desk::MachineName;
use futures::future::join_all;
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Holder, Route};
use crate::{
    inbox::{AnyInbox, report::MachineReport},
    join::{
        Places,
        discovery::{self, Socket},
        reach::Held,
    },
    limits::remote as limit,
    rpc::{client::Client, socket},
};

/// Returns the directory of the sockets of machines, in the directory of those of bridges.
pub fn folder(bridges: &Path) -> PathBuf {
    bridges.join("machines")
}

/// Returns the directories of the sockets of machines that any process of this user holds.
pub fn folders(places: &Places) -> Vec<PathBuf> {
    places.all().iter().map(|place| folder(place)).collect()
}

/// Lets the process that holds the connection to a machine try it now if it is not connected, and waits until it has. It
/// takes no longer than an answer waits for a connection.
pub async fn try_now(socket: &Path, machine: &MachineName) {
    let trying = async {
        let stream = discovery::connect(socket).await.ok()??;
        let client = Client::connect_machine(stream, machine.clone()).await.ok()?;
        let MachineReport { connected_at: None, retry_at, mut revision, .. } =
            client.report(None).await.ok()?
        else {
            return None;
        };
        let has_tried = async {
            while let Ok(report) = client.report(Some(revision)).await {
                if report.connected_at.is_some() || (report.retry_at.is_some() && report.retry_at != retry_at)
                {
                    return;
                }
                revision = report.revision;
            }
        };
        tokio::select! {
            // What was lost is asked for over a connection, which this call makes the process try.
            _ = client.lost() => {}
            () = has_tried => {}
        }
        Some(())
    };
    // What it has led to is shown by what is listed next.
    timeout(limit::CONNECT, trying).await.map(drop).unwrap_or_default();
}

/// A function that returns whether this process notifies its user of questions now.
type IsTold = Arc<dyn Fn() -> bool + Send + Sync>;

/// The machines that this process holds the connections to. Dropping it ends them.
pub struct Hub {
    /// The directory of the sockets over which other programs share the connections. `None` if none do.
    folder: Option<PathBuf>,
    bridges: Places,
    most: usize,
    is_told: IsTold,
    machines: BTreeMap<MachineName, HeldMachine>,
    /// Their questions, for those who look at them in this process.
    held: watch::Sender<Held>,
    began: Instant,
}

/// One machine.
struct HeldMachine {
    route: Route,
    holder: Holder,
    /// The task that serves the machine. It ends before the socket is removed.
    holding: JoinHandle<()>,
    _stop: DropGuard,
    _socket: Option<Socket>,
}

impl fmt::Debug for Hub {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Hub").field("machines", &self.machines.keys()).finish_non_exhaustive()
    }
}

impl Drop for HeldMachine {
    fn drop(&mut self) {
        self.holding.abort();
        self.holder.end();
    }
}

impl Hub {
    /// Returns a hub without machines, which will have `most` of them. With a `folder`, other programs share its connections
    /// over sockets there. Those of this machine's bridges are in `bridges`.
    pub fn new(
        folder: Option<PathBuf>,
        bridges: Places,
        most: usize,
        is_told: Arc<dyn Fn() -> bool + Send + Sync>,
    ) -> Self {
        let (machines, held) = (BTreeMap::new(), watch::Sender::default());
        Hub { folder, bridges, most, is_told, machines, held, began: Instant::now() }
    }

    /// Holds the connections to these machines from now on, and to no others. A machine that another process holds is
    /// left to that process.
    pub async fn set(&mut self, machines: BTreeMap<MachineName, Route>) {
        // A machine with a new route is dropped first, because the old holder's socket has the same path as the new
        // one.
        let before = self.machines.len();
        self.machines.retain(|name, held| machines.get(name) == Some(&held.route));
        let mut has_changed = self.machines.len() != before;
        for (name, route) in machines.into_iter().take(self.most) {
            if self.machines.contains_key(&name) {
                continue;
            }
            match self.hold(&name, &route).await {
                Ok(held) => {
                    self.machines.insert(name, held);
                    has_changed = true;
                }
                Err(why) => {
                    tracing::debug!(machine = %name, why, "another process keeps the connection to the machine")
                }
            }
        }
        if has_changed {
            let inbox = |held: &HeldMachine| Arc::new(held.holder.clone()) as Arc<dyn AnyInbox>;
            let held = self.machines.iter().map(|(name, held)| (name.clone(), inbox(held)));
            self.held.send_replace(held.collect());
        }
    }

    /// Returns a receiver of the machines that are held, and of their questions.
    pub fn held(&self) -> watch::Receiver<Held> {
        self.held.subscribe()
    }

    async fn hold(&self, name: &MachineName, route: &Route) -> Result<HeldMachine, String> {
        let (socket, listener) = match &self.folder {
            Some(folder) => {
                share(folder, name).await.map(|(socket, listener)| (Some(socket), Some(listener)))?
            }
            None => (None, None),
        };
        let holder = Holder::new(name.clone(), self.bridges.clone(), self.began);
        let stop = CancellationToken::new();
        let (held, served, stopped) = (holder.clone(), holder.clone(), stop.clone());
        let (route_of, is_told) = (route.clone(), Arc::clone(&self.is_told));
        let serving = async move {
            match listener {
                Some(listener) => socket::serve(listener, None, served, stopped).await,
                None => pending().await,
            }
        };
        let holding = tokio::spawn(async move {
            tokio::select! {
                () = held.hold(&route_of, || is_told()) => {}
                served = serving => {
                    if let Err(error) = served {
                        tracing::warn!(%error, "the socket of a machine cannot be served");
                    }
                }
            }
        });
        Ok(HeldMachine { route: route.clone(), holder, holding, _stop: stop.drop_guard(), _socket: socket })
    }

    /// Waits until each machine is connected or has failed once.
    pub async fn tried(&self) {
        join_all(self.machines.values().map(|held| held.holder.tried())).await;
    }

    /// The same, for no longer than a list waits for a machine.
    pub async fn tried_soon(&self) {
        join_all(self.machines.values().map(|held| held.holder.tried_soon())).await;
    }
}

/// Makes the socket over which other programs share the connection to a machine. The error says that another process has
/// it, or why it cannot be made.
async fn share(folder: &Path, name: &MachineName) -> Result<(Socket, UnixListener), String> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| error.to_string())?;
    // `connect` removes the socket that a killed process left behind, so that the bind below succeeds.
    let path = folder.join(format!("{name}.sock"));
    if discovery::connect(&path).await.is_ok_and(|stream| stream.is_some()) {
        return Err("another process keeps the connection".to_owned());
    }
    Socket::bind(folder, name.as_str()).map_err(|error| error.to_string())
}
