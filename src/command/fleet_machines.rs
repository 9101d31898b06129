//! The machines of the fleet, for those who hold connections to machines: the inbox in the background, and a command
//! that runs without one. A program without the feature has none.

#[cfg(feature = "fleet")]
use std::path::Path;
use std::{collections::BTreeMap, path::PathBuf};

use askbridge_core::desk::MachineName;
#[cfg(feature = "fleet")]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[cfg(feature = "fleet")]
use crate::fleet::{self, Access, Fleet, Lock, Role};
use crate::present::status::BrokerStatus;
#[cfg(feature = "fleet")]
use crate::settings::keys;
use crate::{machine::remote::Route, settings::Settings};

/// The machines of the fleet.
#[derive(Debug)]
pub(super) struct FleetMachines {
    #[cfg(feature = "fleet")]
    folder: PathBuf,
    #[cfg(feature = "fleet")]
    fleet: Option<Fleet>,
    /// The lock by which others know that this process shares the machines. `None` if it does not share them.
    #[cfg(feature = "fleet")]
    sharing: Option<Sharing>,
    /// What is wrong with its settings.
    #[cfg(feature = "fleet")]
    problem: Option<String>,
}

/// The name of the lock of the process that shares its connections.
#[cfg(feature = "fleet")]
const SHARING: &str = "fleet-machines.lock";

/// The lock of the process that shares its connections to the machines of the fleet.
#[cfg(feature = "fleet")]
#[derive(Debug, Default)]
struct Sharing {
    lock: Option<Lock>,
    /// Why there is no connection, as it stands in the file of the lock.
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
    pub(super) fn new(folder: PathBuf) -> Self {
        FleetMachines { folder, fleet: None, sharing: None, problem: None }
    }

    /// The same in the process that holds the connections for others, unless another one does.
    pub(super) fn shared(folder: PathBuf) -> Self {
        FleetMachines { sharing: Some(Sharing::default()), ..FleetMachines::new(folder) }
    }

    /// Returns whether another process shares its connections to the machines of the fleet.
    pub(super) fn is_held(&self) -> bool {
        Lock::is_taken(&self.folder, SHARING)
    }

    /// Returns why the process that shares its connections has none to the broker.
    pub(super) fn problem_of_holder(&self) -> Option<String> {
        Lock::read(&self.folder, SHARING).ok().filter(|why| !why.is_empty())
    }

    /// Returns why the machines of the fleet are not known. `None` if they are, or if this process follows no fleet.
    pub(super) fn problem(&self) -> Option<String> {
        self.fleet.as_ref().map_or_else(|| self.problem.clone(), Fleet::problem)
    }

    /// Returns the machines of the fleet that these settings name.
    pub(super) fn routes(&mut self, settings: &Settings) -> BTreeMap<MachineName, Route> {
        let access = match Access::of(settings).transpose() {
            // The server would refuse a bridge's user.
            Ok(access) => {
                self.problem = None;
                access.filter(|access| access.role() == Role::Person && self.may_hold())
            }
            Err(why) => {
                if self.problem.as_ref() != Some(&why) {
                    tracing::warn!("the fleet is left out: {why}");
                    self.problem = Some(why);
                }
                None
            }
        };
        if access.as_ref() != self.fleet.as_ref().map(Fleet::access) {
            if access.is_some() {
                raise_file_limit();
            }
            self.fleet = access.map(|access| Fleet::start(access, self.folder.clone()));
        }
        self.share_problem();
        self.fleet.as_ref().map(Fleet::routes).unwrap_or_default()
    }

    /// Tells the commands here why the fleet is not connected, if that has changed.
    fn share_problem(&mut self) {
        let problem = self.problem();
        if let Some(Sharing { lock: Some(lock), shared }) = &mut self.sharing
            && *shared != problem
        {
            match lock.write(problem.as_deref().unwrap_or_default()) {
                Ok(()) => *shared = problem,
                Err(error) => tracing::warn!(%error, "commands cannot say that the fleet is not connected"),
            }
        }
    }

    /// Returns whether no other process shares its connections.
    fn may_hold(&mut self) -> bool {
        self.sharing.as_mut().is_none_or(|sharing| sharing.claim(&self.folder) == Some(true))
    }

    /// Waits until a machine comes or goes.
    pub(super) async fn changed(&mut self) {
        match &mut self.fleet {
            Some(fleet) => fleet.changed().await,
            None => std::future::pending().await,
        }
    }

    /// Waits until the machines that are there now are known, or the broker cannot be reached.
    pub(super) async fn known(&mut self) {
        if let Some(fleet) = &mut self.fleet {
            fleet.known().await;
        }
    }
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
pub(super) async fn fleet_status(settings: &Settings) -> Option<BrokerStatus> {
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
            ..status
        },
        Err(problem) => BrokerStatus { problem: Some(problem), ..status },
    })
}

#[cfg(not(feature = "fleet"))]
pub(super) async fn fleet_status(_: &Settings) -> Option<BrokerStatus> {
    None
}

#[cfg(not(feature = "fleet"))]
#[expect(clippy::unused_self, clippy::unused_async, reason = "with the feature, they do something")]
impl FleetMachines {
    pub(super) fn new(_: PathBuf) -> Self {
        FleetMachines {}
    }

    pub(super) fn shared(_: PathBuf) -> Self {
        FleetMachines {}
    }

    pub(super) fn is_held(&self) -> bool {
        false
    }

    pub(super) fn problem_of_holder(&self) -> Option<String> {
        None
    }

    pub(super) fn problem(&self) -> Option<String> {
        None
    }

    pub(super) fn routes(&mut self, _: &Settings) -> BTreeMap<MachineName, Route> {
        BTreeMap::new()
    }

    pub(super) async fn changed(&mut self) {
        std::future::pending().await
    }

    pub(super) async fn known(&mut self) {}
}
