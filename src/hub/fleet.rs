//! The machines of the fleet, for those who hold connections to machines: the inbox in the background, and a command
//! that runs without one. A program without the feature has none.

use std::{
    collections::BTreeMap,
    future::pending,
    path::{Path, PathBuf},
    time::Duration,
};

use askbridge_control::join::remote::Route;
use askbridge_core::desk::MachineName;
use askbridge_settings::Settings;
#[cfg(feature = "fleet")]
use askbridge_settings::keys;
#[cfg(feature = "fleet")]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::watch;
#[cfg(feature = "fleet")]
use tokio::time::sleep;

use crate::present::fleet::BrokerStatus;
#[cfg(feature = "fleet")]
use crate::{
    fleet::Access,
    fleet::Fleet,
    fleet::Lock,
    fleet::Role,
    fleet::{self},
    limits,
};

/// The machines of the fleet.
#[derive(Debug)]
pub struct FleetMachines {
    #[cfg(feature = "fleet")]
    folder: PathBuf,
    #[cfg(feature = "fleet")]
    fleet: Option<Fleet>,
    /// The lock by which others know that this process shares the machines. `None` if it does not share them.
    #[cfg(feature = "fleet")]
    sharing: Option<Sharing>,
    /// Whether another process shares its connections, so that this one needs none.
    #[cfg(feature = "fleet")]
    is_held: bool,
    /// Why machines of the fleet may be missing. `None` inside if all are known, or if this process follows no fleet.
    problem: watch::Sender<Option<String>>,
}

/// The name of the lock of the process that shares its connections.
#[cfg(feature = "fleet")]
const SHARING: &str = "fleet-machines.lock";

/// The lock of the process that shares its connections to the machines of the fleet.
#[cfg(feature = "fleet")]
#[derive(Debug, Default)]
struct Sharing {
    lock: Option<Lock>,
    /// Why machines may be missing, as it stands in the file of the lock.
    shared: Option<String>,
}

#[cfg(feature = "fleet")]
impl Sharing {
    /// Returns whether this process has the lock now. `None` if it cannot be said.
    fn claim(&mut self, folder: &Path) -> Option<bool> {
        if self.lock.is_none() {
            self.lock = Lock::take(folder, SHARING).ok()?;
            // An earlier process may have left its own in the file.
            self.shared = Some(String::new());
        }
        Some(self.lock.is_some())
    }
}

#[cfg(feature = "fleet")]
impl FleetMachines {
    /// Returns no machines yet. `folder` is that of the sockets here.
    pub fn new(folder: PathBuf) -> Self {
        FleetMachines {
            folder,
            fleet: None,
            sharing: None,
            is_held: false,
            problem: watch::Sender::default(),
        }
    }

    /// The same in the process that holds the connections for others, unless another one does.
    pub fn shared(folder: PathBuf) -> Self {
        FleetMachines { sharing: Some(Sharing::default()), ..FleetMachines::new(folder) }
    }

    /// Returns a receiver of the reason why machines of the fleet may be missing.
    pub fn problem(&self) -> watch::Receiver<Option<String>> {
        self.problem.subscribe()
    }

    /// Returns whether there is a fleet, even if nothing is known of its machines.
    pub fn is_set(&self) -> bool {
        self.is_held || self.fleet.is_some() || self.problem.borrow().is_some()
    }

    /// Returns the machines of the fleet that these settings name, unless another process shares its connections.
    pub fn routes(&mut self, settings: &Settings) -> BTreeMap<MachineName, Route> {
        if self.fleet.is_some() && std::fs::File::open("/dev/null").is_err() {
            // This process has no room for more open files now, so that it cannot read what the settings say.
            return self.fleet.as_ref().map(Fleet::routes).unwrap_or_default();
        }
        // The server would refuse a bridge's user.
        let access =
            Access::of(settings).transpose().map(|access| access.filter(|of| of.role() == Role::Person));
        let (access, unusable) = match access {
            Ok(access) => (access, None),
            Err(why) => (None, Some(format!("the fleet is left out: {why}"))),
        };
        self.is_held = match &mut self.sharing {
            None => Lock::is_taken(&self.folder, SHARING),
            Some(sharing) => access.is_some() && sharing.claim(&self.folder) != Some(true),
        };
        let access = access.filter(|_| !self.is_held);
        if access.as_ref() != self.fleet.as_ref().map(Fleet::access) {
            if access.is_some() {
                raise_file_limit();
            }
            self.fleet = access.map(|access| Fleet::start(access, self.folder.clone()));
        }
        self.know(match (&self.fleet, self.is_held) {
            (_, true) => written_problem(&self.folder),
            (Some(fleet), false) => fleet.problem(),
            (None, false) => unusable,
        });
        self.fleet.as_ref().map(Fleet::routes).unwrap_or_default()
    }

    /// Tells those who list questions here, and the commands that share the connections, why machines may be missing.
    fn know(&mut self, problem: Option<String>) {
        if let Some(Sharing { lock: Some(lock), shared }) = &mut self.sharing
            && *shared != problem
        {
            match lock.write(problem.as_deref().unwrap_or_default()) {
                Ok(()) => shared.clone_from(&problem),
                Err(error) => tracing::warn!(%error, "commands cannot say that the fleet is not connected"),
            }
        }
        self.problem.send_if_modified(|known| {
            let is_other = *known != problem;
            *known = problem;
            is_other
        });
    }

    /// Waits until a machine comes or goes, or until it may have changed why machines are missing.
    pub async fn changed(&mut self) {
        match &mut self.fleet {
            Some(fleet) => fleet.changed().await,
            None if self.is_held => loop {
                sleep(limits::DISCOVERY_INTERVAL).await;
                if *self.problem.borrow() != written_problem(&self.folder)
                    || !Lock::is_taken(&self.folder, SHARING)
                {
                    return;
                }
            },
            None => pending().await,
        }
    }

    /// Waits until the machines that are there now are known, or the broker cannot be reached, but no longer than
    /// `patience`.
    pub async fn known(&mut self, patience: Duration) {
        if let Some(fleet) = &mut self.fleet {
            fleet.known(patience).await;
        }
    }
}

/// Returns why the process that shares its connections may miss machines of the fleet, as it has written last.
#[cfg(feature = "fleet")]
fn written_problem(folder: &Path) -> Option<String> {
    Lock::read(folder, SHARING).ok().filter(|why| !why.is_empty())
}

/// The same, if that process still runs.
#[cfg(feature = "fleet")]
pub fn shared_problem(folder: &Path) -> Option<String> {
    written_problem(folder).filter(|_| Lock::is_taken(folder, SHARING))
}

/// Lets this process open as many files as it may: each machine takes a few, and the usual limit is a thousand.
#[cfg(feature = "fleet")]
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    if let Err(error) = raised {
        tracing::debug!(%error, "the number of open files stays limited");
    }
}

/// Asks the broker of the settings how it is, over a connection of its own.
#[cfg(feature = "fleet")]
pub async fn fleet_status(settings: &Settings) -> Option<BrokerStatus> {
    let broker = settings.get(&keys::FLEET_URL).0.join(", ");
    let access = match Access::of(settings)? {
        Ok(access) => access,
        Err(problem) => {
            return Some(BrokerStatus { broker, problem: Some(problem), ..BrokerStatus::default() });
        }
    };
    let status = BrokerStatus { broker, user: Some(access.user().to_string()), ..BrokerStatus::default() };
    Some(match fleet::status(&access).await {
        Ok(found) => BrokerStatus {
            account: Some(found.account),
            latency_us: u64::try_from(found.latency.as_micros()).ok(),
            machines: found.machines,
            problem: found.problem,
            ..status
        },
        Err(problem) => BrokerStatus { problem: Some(problem), ..status },
    })
}

/// Returns no problem: this program knows no fleet.
#[cfg(not(feature = "fleet"))]
pub fn shared_problem(_: &Path) -> Option<String> {
    None
}

/// Returns no broker: this program knows no fleet.
#[cfg(not(feature = "fleet"))]
pub async fn fleet_status(_: &Settings) -> Option<BrokerStatus> {
    None
}

#[cfg(not(feature = "fleet"))]
#[expect(clippy::unused_self, clippy::unused_async, reason = "with the feature, they do something")]
impl FleetMachines {
    /// Returns no machines.
    pub fn new(_: PathBuf) -> Self {
        FleetMachines { problem: watch::Sender::default() }
    }

    /// Returns no machines.
    pub fn shared(folder: PathBuf) -> Self {
        FleetMachines::new(folder)
    }

    /// Returns a receiver that never hears of a problem.
    pub fn problem(&self) -> watch::Receiver<Option<String>> {
        self.problem.subscribe()
    }

    /// Returns that there is no fleet.
    pub fn is_set(&self) -> bool {
        false
    }

    /// Returns no machines.
    pub fn routes(&mut self, _: &Settings) -> BTreeMap<MachineName, Route> {
        BTreeMap::new()
    }

    /// Waits without end.
    pub async fn changed(&mut self) {
        pending().await
    }

    /// Waits for nothing.
    pub async fn known(&mut self, _: Duration) {}
}
