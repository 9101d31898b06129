//! The connections to other machines that a process holds while it runs: the inbox for all programs here, and a command
//! that runs without an inbox for itself.
//! Which machines a command asks is left to `command/reach.rs`, and those of the fleet to `fleet.rs`.

use std::{collections::BTreeMap, convert::Infallible, path::PathBuf, sync::Arc};

use askbridge_control::join::{
    Places, Reach, discovery, machines,
    remote::{self, Hub, Route},
};
use askbridge_core::desk::MachineName;
use askbridge_settings::{MachineRoute, NotifySettings, Settings, files::Live};
use tokio::{sync::watch, time::sleep};

use super::fleet::FleetMachines;
use crate::limits;

/// The name of the machine that `--via` reaches.
pub const VIA: &str = "via";

/// The most machines, of the settings and of the fleet.
const MOST: usize = limits::remote::MACHINES + limits::fleet::MACHINES;

/// The connections to the machines of the settings and of the fleet.
#[derive(Debug)]
pub struct HeldMachines {
    live: Arc<Live>,
    fleet: FleetMachines,
    hub: Hub,
    /// Whether other programs share the connections.
    is_shared: bool,
    /// The directories of the sockets over which an inbox shares its connections.
    shared: Vec<PathBuf>,
}

impl HeldMachines {
    /// Returns the connections of the inbox, which other programs share.
    pub fn shared(places: &Places) -> Self {
        let live = Arc::new(Live::of_user());
        let told = Arc::clone(&live);
        let is_told = move || cfg!(feature = "notify") && NotifySettings::is_set(&told.settings(), false);
        let folder = Some(remote::folder(places.own()));
        let hub = Hub::new(folder, places.clone(), MOST, Arc::new(is_told));
        let fleet = FleetMachines::shared(places.own().to_owned());
        HeldMachines { live, fleet, hub, is_shared: true, shared: remote::folders(places) }
    }

    /// Returns where the inbox looks for questions: at the bridges here, and at all machines whose connections are shared.
    pub fn reach(&self, places: &Places) -> Reach {
        let (machines, held) = (remote::folders(places), Some(self.hub.held()));
        Reach { machines, held, fleet: Some(self.fleet_problem()), ..Reach::from(places) }
    }

    /// Returns the connections of a command alone.
    pub fn own(places: &Places, fleet: FleetMachines) -> Self {
        let hub = Hub::new(None, places.clone(), MOST, Arc::new(|| false));
        let shared = remote::folders(places);
        HeldMachines { live: Arc::new(Live::of_user()), fleet, hub, is_shared: false, shared }
    }

    /// Connects to the machines of the settings and of the fleet, and to no others.
    pub async fn set(&mut self) {
        let settings = self.live.settings();
        let mut machines = self.fleet.routes(&settings);
        // A machine of the settings keeps its name.
        machines.extend(routes(&settings));
        self.set_to(machines).await;
    }

    /// Connects to these machines, and to no others. A command leaves out those that the inbox shares.
    pub async fn set_to(&mut self, mut machines: BTreeMap<MachineName, Route>) {
        if !self.is_shared {
            leave_out_shared(&mut machines, &self.shared).await;
        }
        self.hub.set(machines).await;
    }

    /// Follows the settings and the fleet.
    pub async fn keep(&mut self) -> Infallible {
        loop {
            tokio::select! {
                () = sleep(limits::MACHINE_SETTINGS) => {}
                () = self.fleet.changed() => {}
            }
            self.set().await;
        }
    }

    /// Returns the connections.
    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Returns a receiver of the reason why machines of the fleet may be missing.
    pub fn fleet_problem(&self) -> watch::Receiver<Option<String>> {
        self.fleet.problem()
    }
}

/// Returns the machines of the settings, and how each is reached from a command or the inbox.
pub fn routes(settings: &Settings) -> BTreeMap<MachineName, Route> {
    let machines = settings.machines().iter();
    machines.map(|machine| (machine.name.clone(), route_of(&machine.route, false))).collect()
}

/// Returns the command that reaches a machine. `has_terminal` lets it ask its person for what it needs.
pub fn route_of(route: &MachineRoute, has_terminal: bool) -> Route {
    match route {
        MachineRoute::Ssh(host) => Route::ssh(host, has_terminal),
        MachineRoute::Command(words) => Route::command(words.clone(), has_terminal),
    }
}

/// Leaves out the machines whose connections the inbox shares.
async fn leave_out_shared(of: &mut BTreeMap<MachineName, Route>, folders: &[PathBuf]) {
    for (name, path) in folders.iter().flat_map(|folder| machines(folder).unwrap_or_default()) {
        // `--via` is never what another process holds.
        // A process that was killed leaves its sockets behind, so a socket counts only if it accepts a connection.
        if of.contains_key(&name)
            && name.as_str() != VIA
            && discovery::connect(&path).await.is_ok_and(|stream| stream.is_some())
        {
            of.remove(&name);
        }
    }
}
