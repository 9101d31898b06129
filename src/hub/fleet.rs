//! The machines of the fleet, for those who hold connections to machines: the inbox in the background, and a command that
//! runs without one.

use std::{collections::BTreeMap, future::pending, path::PathBuf, time::Duration};

use askbridge_control::join::remote::Route;
use askbridge_core::desk::MachineName;
use askbridge_fleet::{Access, Fleet, Role};
use askbridge_settings::Settings;
use futures::future::{BoxFuture, FutureExt};
use tokio::sync::watch;

use super::more::MoreMachines;

/// The machines of the fleet that the settings name.
#[derive(Debug)]
pub(super) struct FleetMachines {
    folder: PathBuf,
    fleet: Option<Fleet>,
    /// Why machines of the fleet may be missing. `None` inside if all are known, or if this process follows no fleet.
    problem: watch::Sender<Option<String>>,
}

impl FleetMachines {
    /// Returns no machines yet. `folder` is that of the sockets here.
    pub(super) fn new(folder: PathBuf) -> Self {
        FleetMachines { folder, fleet: None, problem: watch::Sender::default() }
    }

    /// Tells those who list questions why machines may be missing.
    fn know(&self, problem: Option<String>) {
        self.problem.send_if_modified(|known| {
            let is_other = *known != problem;
            *known = problem;
            is_other
        });
    }
}

impl MoreMachines for FleetMachines {
    fn problem(&self) -> watch::Receiver<Option<String>> {
        self.problem.subscribe()
    }

    fn is_set(&self) -> bool {
        self.fleet.is_some() || self.problem.borrow().is_some()
    }

    fn routes(&mut self, settings: &Settings) -> BTreeMap<MachineName, Route> {
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

    fn leave(&mut self) {
        self.fleet = None;
        self.know(None);
    }

    fn changed(&mut self) -> BoxFuture<'_, ()> {
        match &mut self.fleet {
            Some(fleet) => fleet.changed().boxed(),
            None => pending().boxed(),
        }
    }

    fn known(&mut self, patience: Duration) -> BoxFuture<'_, ()> {
        match &mut self.fleet {
            Some(fleet) => fleet.known(patience).boxed(),
            None => async {}.boxed(),
        }
    }
}
