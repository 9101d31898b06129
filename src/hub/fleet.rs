//! The machines of the fleet, for those who hold connections to machines: the inbox in the background, and a command
//! that runs without one. A program without the feature has none.

use std::{collections::BTreeMap, future::pending, path::PathBuf, time::Duration};

use askbridge_control::join::remote::Route;
use askbridge_core::desk::MachineName;
use askbridge_settings::Settings;
#[cfg(feature = "fleet")]
use askbridge_settings::keys;
use tokio::sync::watch;

use crate::present::fleet::BrokerStatus;
#[cfg(feature = "fleet")]
use crate::{
    fleet::Access,
    fleet::Fleet,
    fleet::Role,
    fleet::{self},
};

/// The machines of the fleet.
#[derive(Debug)]
pub struct FleetMachines {
    #[cfg(feature = "fleet")]
    folder: PathBuf,
    #[cfg(feature = "fleet")]
    fleet: Option<Fleet>,
    /// Why machines of the fleet may be missing. `None` inside if all are known, or if this process follows no fleet.
    problem: watch::Sender<Option<String>>,
}

#[cfg(feature = "fleet")]
impl FleetMachines {
    /// Returns no machines yet. `folder` is that of the sockets here.
    pub fn new(folder: PathBuf) -> Self {
        FleetMachines { folder, fleet: None, problem: watch::Sender::default() }
    }

    /// Returns a receiver of the reason why machines of the fleet may be missing.
    pub fn problem(&self) -> watch::Receiver<Option<String>> {
        self.problem.subscribe()
    }

    /// Returns whether there is a fleet, even if nothing is known of its machines.
    pub fn is_set(&self) -> bool {
        self.fleet.is_some() || self.problem.borrow().is_some()
    }

    /// Returns the machines of the fleet that these settings name.
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
        if access.as_ref() != self.fleet.as_ref().map(Fleet::access) {
            self.fleet = access.map(|access| Fleet::start(access, self.folder.clone()));
        }
        self.know(match &self.fleet {
            Some(fleet) => fleet.problem(),
            None => unusable,
        });
        self.fleet.as_ref().map(Fleet::routes).unwrap_or_default()
    }

    /// Leaves the machines to another process.
    pub fn leave(&mut self) {
        self.fleet = None;
        self.know(None);
    }

    /// Tells those who list questions why machines may be missing.
    fn know(&self, problem: Option<String>) {
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

    /// Leaves no machine.
    pub fn leave(&mut self) {}

    /// Waits without end.
    pub async fn changed(&mut self) {
        pending().await
    }

    /// Waits for nothing.
    pub async fn known(&mut self, _: Duration) {}
}
