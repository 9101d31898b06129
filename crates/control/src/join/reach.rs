//! The places where inboxes are looked for: the sockets of the bridges of this machine, and those of the process that
//! holds the connections to other machines.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
};

use askbridge_core::desk::{IdPrefix, MachineName};
use tokio::sync::watch;

use super::{
    discovery::{self, NAMED, is_socket},
    name::LinkName,
    peer::LinkEnd,
    places::{DiscoveryError, Places, at},
};
use crate::inbox::{AnyInbox, BridgeInbox};

/// The directories of the sockets.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// The sockets of the bridges of this machine. `None` leaves this machine out.
    pub bridges: Option<Places>,
    /// The sockets of other machines.
    pub machines: Vec<PathBuf>,
    /// The only other machine to look at. `None` looks at all of them.
    pub only: Option<MachineName>,
    /// Why the machines of the fleet are not known. `None` inside if they are, and `None` if no fleet is asked.
    pub fleet: Option<watch::Receiver<Option<String>>>,
    /// The machines that this process holds the connections to itself. They are handed over within it.
    pub held: Option<watch::Receiver<Held>>,
    /// What keeps these connections while the reach is in use.
    pub keeper: Option<Arc<dyn Debug + Send + Sync>>,
    /// The inbox of this process, which is handed over as well.
    pub own: Option<BridgeInbox>,
}

/// The questions of the machines that a process holds the connections to.
pub type Held = BTreeMap<MachineName, Arc<dyn AnyInbox>>;

impl From<&Places> for Reach {
    /// Returns a reach that covers this machine alone.
    fn from(bridges: &Places) -> Self {
        Reach { bridges: Some(bridges.clone()), ..Reach::default() }
    }
}

impl From<&Path> for Reach {
    /// Returns a reach that covers this machine alone, and this directory.
    fn from(bridges: &Path) -> Self {
        Reach::from(&Places::from(bridges))
    }
}

impl From<&PathBuf> for Reach {
    fn from(bridges: &PathBuf) -> Self {
        Reach::from(bridges.as_path())
    }
}

impl Reach {
    /// Returns the other ends that are found now.
    pub(super) async fn links(&self) -> Result<BTreeMap<LinkName, LinkEnd>, DiscoveryError> {
        let mut found = BTreeMap::new();
        if let Some(places) = &self.bridges {
            let bridges = discovery::sockets_in(places).await?;
            let link = |(bridge, path)| (LinkName::Bridge(bridge), LinkEnd::Socket(path));
            found.extend(bridges.into_iter().map(link));
        }
        let is_meant = |machine: &MachineName| self.only.as_ref().is_none_or(|only| only == machine);
        for folder in &self.machines {
            let machines = machines(folder)?.into_iter().filter(|(machine, _)| is_meant(machine));
            found.extend(machines.map(|(machine, path)| (LinkName::Machine(machine), LinkEnd::Socket(path))));
        }
        // Within this process, nothing is connected to.
        for (machine, inbox) in self.held.iter().flat_map(|held| held.borrow().clone()) {
            if is_meant(&machine) {
                found.insert(LinkName::Machine(machine), LinkEnd::Within(inbox));
            }
        }
        found.extend(self.own_link());
        Ok(found)
    }

    /// Returns the link to the inbox of this process, unless it has ended.
    fn own_link(&self) -> Option<(LinkName, LinkEnd)> {
        let own = self.own.clone().filter(|own| !own.store().has_ended())?;
        Some((LinkName::Bridge(own.identity().bridge.clone()), LinkEnd::Within(Arc::new(own))))
    }

    /// Returns the link to the bridge of this machine whose whole name this ID begins with, or to the other machine that
    /// the ID names, if there is one.
    pub(super) fn link_of(&self, typed: &IdPrefix) -> Option<(LinkName, LinkEnd)> {
        if let Some(machine) = typed.machine().filter(|machine| self.only.as_ref() == Some(machine)) {
            let held = self.held.as_ref().and_then(|held| held.borrow().get(machine).cloned());
            let mut sockets = self.machines.iter().map(|folder| folder.join(format!("{machine}.{NAMED}")));
            let end = match held {
                Some(inbox) => LinkEnd::Within(inbox),
                None => LinkEnd::Socket(sockets.rfind(|path| is_socket(path))?),
            };
            return Some((LinkName::Machine(machine.clone()), end));
        }
        let mut folders = self.bridges.as_ref()?.all().into_iter();
        let (bridge, path) = folders.find_map(|folder| discovery::socket_of(&folder, typed))?;
        Some((LinkName::Bridge(bridge), LinkEnd::Socket(path)))
    }
}

/// Returns the sockets in this directory, by the names of the machines. It need not exist.
pub fn machines(folder: &Path) -> Result<BTreeMap<MachineName, PathBuf>, DiscoveryError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        entries => entries.map_err(at(folder))?,
    };
    let mut found = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(at(folder))?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
        if let Some(name) =
            name.filter(|_| path.extension().is_some_and(|ending| ending == NAMED) && is_socket(&path))
        {
            found.insert(name, path);
        }
    }
    Ok(found)
}
