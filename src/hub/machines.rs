//! The connections to other machines that a process holds while it runs: the inbox for all programs here, and a command
//! that runs without an inbox for itself.
//! Which machines a command asks is left to `command/reach.rs`, those of the fleet to `more.rs`, and serving other programs
//! to `share.rs`.

use std::{collections::BTreeMap, convert::Infallible, future::pending, path::Path, sync::Arc};

use askbridge_control::join::{
    Places, Reach,
    remote::{self, Hub, Route},
};
use askbridge_core::desk::MachineName;
use askbridge_settings::{MachineRoute, NotifySettings, Settings, files::Live};
use tokio::time::sleep;

#[cfg(feature = "fleet")]
use super::fleet::FleetMachines;
use super::{
    more::MoreMachines,
    share::{ShareService, Sharing, share},
};
use crate::limits;

/// The name of the machine that `--via` reaches.
pub const VIA: &str = "via";

/// The connections to the machines of the settings and of the fleet.
#[derive(Debug)]
pub struct HeldMachines {
    live: Arc<Live>,
    /// The machines that no settings name one by one.
    more: Option<Box<dyn MoreMachines>>,
    hub: Hub,
    places: Places,
    /// How other programs share the connections. `None` for those of a command, which nobody shares.
    sharing: Option<Sharing>,
}

impl HeldMachines {
    /// Returns the connections of the inbox, which other programs share by the service.
    pub fn shared(places: &Places) -> (Self, ShareService) {
        let live = Arc::new(Live::of_user());
        let told = Arc::clone(&live);
        let is_told = move || cfg!(feature = "notify") && NotifySettings::is_set(&told.settings(), false);
        let hub = Hub::new(places.clone(), limits::MACHINES, Arc::new(is_told));
        let (sharing, service) = share(hub.held());
        let more = more_machines(places.own());
        (HeldMachines { live, more, hub, places: places.clone(), sharing: Some(sharing) }, service)
    }

    /// Returns where the inbox looks for questions: at the bridges here, and at all machines whose connections are shared.
    pub fn reach(&self) -> Reach {
        let fleet = self.more.as_ref().map(|more| more.problem());
        Reach { fleet, ..self.own_reach(Reach::from(&self.places)) }
    }

    /// Returns the reach with these machines, or with those of the process that holds them instead of this one.
    pub fn own_reach(&self, reach: Reach) -> Reach {
        Reach { machines: self.places.all(), held: Some(self.hub.held()), ..reach }
    }

    /// Returns the connections of a command alone.
    pub fn own(places: &Places, more: Option<Box<dyn MoreMachines>>) -> Self {
        let hub = Hub::new(places.clone(), limits::MACHINES, Arc::new(|| false));
        HeldMachines { live: Arc::new(Live::of_user()), more, hub, places: places.clone(), sharing: None }
    }

    /// Connects to the machines of the settings and of the fleet, and to no others. If another process shares its
    /// connections, it connects to none.
    pub async fn set(&mut self) {
        let is_left = match &mut self.sharing {
            None => is_shared(&self.places).await,
            Some(sharing) => !sharing.claim(&self.places).await,
        };
        if is_left {
            if let Some(more) = &mut self.more {
                more.leave();
            }
            return self.hub.set(None);
        }
        let settings = self.live.settings();
        let mut machines = self.more.as_mut().map(|more| more.routes(&settings)).unwrap_or_default();
        // A machine of the settings keeps its name.
        machines.extend(routes(&settings));
        self.set_to(machines);
    }

    /// Connects to these machines, and to no others.
    pub fn set_to(&mut self, machines: BTreeMap<MachineName, Route>) {
        self.hub.set(Some(machines));
    }

    /// Follows the settings and the fleet.
    pub async fn keep(&mut self) -> Infallible {
        loop {
            let asked = tokio::select! {
                () = sleep(limits::MACHINE_SETTINGS) => None,
                () = changed(&mut self.more) => None,
                asked = Sharing::asked(&mut self.sharing) => Some(asked),
            };
            self.set().await;
            if let Some(asked) = asked {
                // Who asked may have gone meanwhile.
                asked.send(()).unwrap_or_default();
            }
        }
    }

    /// Returns the connections.
    pub fn hub(&self) -> &Hub {
        &self.hub
    }
}

async fn changed(more: &mut Option<Box<dyn MoreMachines>>) {
    match more {
        Some(more) => more.changed().await,
        None => pending().await,
    }
}

/// Returns the source, if this program has one. The directory is that of the sockets here.
pub fn more_machines(folder: &Path) -> Option<Box<dyn MoreMachines>> {
    #[cfg(feature = "fleet")]
    return Some(Box::new(FleetMachines::new(folder.to_owned())));
    #[cfg(not(feature = "fleet"))]
    {
        let _ = folder;
        None
    }
}

/// Returns whether a process shares its connections to other machines.
pub async fn is_shared(places: &Places) -> bool {
    // An error says that a process is there, and cannot accept now.
    !matches!(remote::connect(places).await, Ok(None))
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
