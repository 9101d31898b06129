//! The machines of the fleet for a person: the directory is followed, and each machine in it is a route.
//! Holding the connections and showing the questions is left to `machine::remote`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use askbridge_control::join::{
    back_off::{BackOff, random},
    discovery,
    remote::{Dial, Route},
};
use askbridge_core::desk::MachineName;
use futures::StreamExt;
use tokio::{
    io::DuplexStream,
    sync::watch,
    time::{Instant, sleep, timeout},
};
use tokio_util::task::AbortOnDropHandle;

use super::{
    access::{Access, Role},
    broker::{Broker, Who},
    directory::{self, Directory},
    following, gateway,
    place::Place,
    session::{Session, queue},
};
use crate::limits as limit;

/// The machines of the fleet. Dropping it ends the connection to the broker.
#[derive(Debug)]
pub struct Fleet {
    access: Access,
    shared: Arc<Shared>,
    changes: watch::Receiver<Directory>,
    connected: watch::Receiver<Result<Broker, String>>,
    /// The directory of the sockets here.
    folder: PathBuf,
    known: Mutex<BTreeMap<Place, Known>>,
    _following: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct Shared {
    /// The connection, or why there is none.
    broker: watch::Sender<Result<Broker, String>>,
    directory: watch::Sender<Directory>,
}

/// A machine, its name and its route.
#[derive(Debug)]
struct Known {
    name: MachineName,
    dial: Arc<FleetDial>,
}

impl Fleet {
    /// Begins to follow the directory. `folder` is that of the sockets here.
    pub fn start(access: Access, folder: PathBuf) -> Self {
        let (broker, directory) = (
            watch::Sender::new(Err("the broker has not replied yet".to_owned())),
            watch::Sender::new(Directory::default()),
        );
        let (changes, connected) = (directory.subscribe(), broker.subscribe());
        let shared = Arc::new(Shared { broker, directory });
        let following = tokio::spawn(follow(access.clone(), Arc::clone(&shared)));
        let following = AbortOnDropHandle::new(following);
        Fleet { access, shared, changes, connected, folder, known: Mutex::default(), _following: following }
    }

    /// Returns how the broker is reached.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Waits until a machine comes or goes, or the connection to the broker does.
    pub async fn changed(&mut self) {
        let changed = tokio::select! {
            changed = self.changes.changed() => changed,
            changed = self.connected.changed() => changed,
        };
        if changed.is_err() {
            // The task has ended, which only a panic explains.
            std::future::pending().await
        }
    }

    /// Waits until the machines that are there now are known, or the broker cannot be reached. It takes no longer than
    /// `patience`.
    pub async fn known(&mut self, patience: Duration) {
        let mut broker = self.shared.broker.subscribe();
        let known = async {
            // The sender lives as long as `self`, so this wait cannot fail.
            drop(broker.changed().await);
            if self.shared.broker.borrow().is_ok() {
                drop(self.changes.wait_for(Directory::is_settled).await);
            }
        };
        timeout(patience, known).await.unwrap_or_default();
    }

    /// Returns why machines of the fleet may be missing. `None` if all are known.
    pub fn problem(&self) -> Option<String> {
        if let Err(why) = &*self.shared.broker.borrow() {
            return Some(format!("the fleet is not connected: {why}"));
        }
        self.shared.directory.borrow().missing()
    }

    /// Returns the machines that are there now but this one, and those that are not in the directory any more and still
    /// reply.
    pub fn routes(&self) -> BTreeMap<MachineName, Route> {
        let own = gateway::own_name(&self.folder);
        let now = self.shared.directory.borrow();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // A user that changes the names of its machines must not keep more of them than the directory may have.
        let mut room = limit::MACHINES.saturating_sub(now.shown().len());
        known.retain(|place, known| {
            let is_there = now.shown().binary_search(place).is_ok();
            let is_kept = is_there || (room > 0 && known.dial.sessions.load(Ordering::Relaxed) > 0);
            room -= usize::from(is_kept && !is_there);
            is_kept
        });
        for place in now.shown().iter().take(limit::MACHINES) {
            let name = place.name().filter(|name| own.as_deref() != Some(name.as_str()));
            if let Some(name) = name.filter(|_| !known.contains_key(place)) {
                let dial = FleetDial {
                    access: self.access.clone(),
                    place: place.clone(),
                    shared: Arc::clone(&self.shared),
                    sessions: Arc::default(),
                    tried: AtomicU64::default(),
                };
                known.insert(place.clone(), Known { name, dial: Arc::new(dial) });
            }
        }
        let route =
            |known: &Known| (known.name.clone(), Route::dial(Arc::clone(&known.dial) as Arc<dyn Dial>));
        known.values().map(route).collect()
    }
}

/// Follows the directory over one connection after the other.
async fn follow(access: Access, shared: Arc<Shared>) {
    let mut back_off = BackOff::new(limit::BACK_OFF, limit::BACK_OFF_MOST, limit::STEADY);
    loop {
        let why = match Broker::connect(&access, limit::UNSORTED).await {
            Ok(broker) => {
                let since = Instant::now();
                // They are renewed within this time, if they are still there.
                shared.directory.send_modify(|directory| directory.reconnected(since));
                let is_ready = || drop(shared.broker.send_replace(Ok(broker.clone())));
                let Err(why) = following::follow(&broker, &access, &shared.directory, is_ready).await;
                // Sessions must not go on over a broker that is not followed.
                broker.end();
                back_off.lasted(since.elapsed());
                why
            }
            Err(why) => why,
        };
        tracing::info!(broker = access.broker(), why, "the fleet is not connected");
        drop(shared.broker.send_replace(Err(why)));
        sleep(back_off.pause(random())).await;
    }
}

/// The way to one machine.
#[derive(Debug)]
struct FleetDial {
    access: Access,
    place: Place,
    shared: Arc<Shared>,
    /// Number of open sessions.
    sessions: Arc<AtomicUsize>,
    /// The number of the machine's latest entry when the last session was tried.
    tried: AtomicU64,
}

impl Dial for FleetDial {
    fn carry(&self, stream: DuplexStream) -> Pin<Box<dyn Future<Output = String> + Send>> {
        let broker = self.shared.broker.borrow().clone();
        let begun = {
            let directory = self.shared.directory.borrow();
            self.tried.store(directory.latest(&self.place), Ordering::Relaxed);
            directory.process(&self.place).to_owned()
        };
        let (shared, place) = (Arc::clone(&self.shared), self.place.clone());
        let (call, name) = (
            self.place.call(&self.access.user),
            self.place.session(&self.access.user, &[discovery::name(), discovery::name()].concat()),
        );
        let sessions = Arc::clone(&self.sessions);
        Box::pin(async move {
            match broker {
                Ok(broker) if !broker.has_ended() => {
                    sessions.fetch_add(1, Ordering::Relaxed);
                    let counted = Counted(sessions);
                    let carrying = carry(&broker, call, name, stream);
                    let why = tokio::select! {
                        why = carrying => why.unwrap_or_else(|why| why),
                        () = restarted(shared.directory.subscribe(), &place, &begun) => RESTARTED.to_owned(),
                    };
                    drop(counted);
                    shared.directory.send_if_modified(|directory| {
                        directory.doubt(&place);
                        false
                    });
                    why
                }
                Ok(_) => "the connection to the broker ended".to_owned(),
                Err(why) => why,
            }
        })
    }

    fn revived(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (directory, place) = (self.shared.directory.subscribe(), self.place.clone());
        let tried = self.tried.load(Ordering::Relaxed);
        // A machine writes its entry at the begin of each of its connections to the broker.
        Box::pin(async move { directory::renewed(directory, &place, tried).await })
    }
}

/// Why a session with an earlier process ends.
const RESTARTED: &str = "askbridge was started again there";

/// Waits until the entry of a machine is of another process than at the begin.
async fn restarted(mut directory: watch::Receiver<Directory>, place: &Place, begun: &str) {
    let is_other = |now: &Directory| {
        let process = now.process(place);
        !begun.is_empty() && !process.is_empty() && process != begun
    };
    if directory.wait_for(is_other).await.is_err() {
        std::future::pending().await
    }
}

/// Counts a session until it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn carry(broker: &Broker, call: String, name: String, stream: DuplexStream) -> Result<String, String> {
    let client = broker.client();
    let mut replies = client.subscribe(format!("{name}.*")).await.map_err(|error| error.to_string())?;
    let session = Session::new(client.clone(), call.into(), Some(name));
    session.open().await?;
    let (mut sender, incoming) = queue();
    let sorting = async move {
        while let Some(message) = replies.next().await {
            // A long one is not kept until the session reads it.
            if message.payload.len() > limit::CHUNK || sender.try_send(message).is_err() {
                break;
            }
        }
        // Without a sender, the session ends.
        drop(sender);
        std::future::pending().await
    };
    Ok(tokio::select! {
        why = session.carry(stream, incoming) => why,
        () = broker.ended() => "the connection to the broker ended".to_owned(),
        why = sorting => why,
    })
}

/// The broker, as one connection has found it.
#[derive(Clone, Debug)]
pub struct FleetStatus {
    /// The account of the user.
    pub account: String,
    /// How long the broker took to reply.
    pub latency: Duration,
    /// The number of machines in the directory, if the user may read it and the broker has it.
    pub machines: Option<usize>,
    /// Whether this machine is one of them.
    pub has_this: bool,
    /// Why the directory cannot be read.
    pub problem: Option<String>,
}

/// Asks the broker, over a connection of its own. `folder` is that of the sockets here.
///
/// # Errors
/// It cannot be reached, or does not reply.
pub async fn status(access: &Access, folder: &Path) -> Result<FleetStatus, String> {
    let broker = Broker::connect(access, limit::UNSORTED).await?;
    // The first reply, which `connect` has waited for, has the cost of a subscription in it.
    let Who { account, latency } = broker.who(access).await?;
    let problem = following::look(&broker).await?;
    let directory = watch::Sender::new(Directory::default());
    let machines = match access.role {
        Role::Person if problem.is_none() => following::read(&broker, &directory).await.ok(),
        _ => None,
    };
    let machines = machines.map(|()| directory.borrow().entries());
    let has_this = gateway::own_name(folder).is_some_and(|name| directory.borrow().has(&name));
    Ok(FleetStatus { account, latency, machines, has_this, problem })
}
