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
    places::{DiscoveryError, Places, at, make},
};

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
    /// The connections that this process holds itself while the reach is in use.
    pub held: Option<Arc<dyn Debug + Send + Sync>>,
}

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
    /// Returns the sockets that exist now.
    pub(super) async fn links(&self) -> Result<BTreeMap<LinkName, PathBuf>, DiscoveryError> {
        let mut found = BTreeMap::new();
        if let Some(places) = &self.bridges {
            let bridges = discovery::sockets_in(places).await?;
            found.extend(bridges.into_iter().map(|(bridge, path)| (LinkName::Bridge(bridge), path)));
        }
        for folder in &self.machines {
            let mut machines = machines(folder)?;
            machines.retain(|machine, _| self.only.as_ref().is_none_or(|only| only == machine));
            found.extend(machines.into_iter().map(|(machine, path)| (LinkName::Machine(machine), path)));
        }
        Ok(found)
    }

    /// Returns the socket of the bridge of this machine whose whole name this ID begins with, or of the other machine that
    /// the ID names, if there is one.
    pub(super) fn link_of(&self, typed: &IdPrefix) -> Option<(LinkName, PathBuf)> {
        if let Some(machine) = typed.machine().filter(|machine| self.only.as_ref() == Some(machine)) {
            let mut sockets = self.machines.iter().map(|folder| folder.join(format!("{machine}.{NAMED}")));
            return Some((LinkName::Machine(machine.clone()), sockets.rfind(|path| is_socket(path))?));
        }
        let mut folders = self.bridges.as_ref()?.all().into_iter();
        let (bridge, path) = folders.find_map(|folder| discovery::socket_of(&folder, typed))?;
        Some((LinkName::Bridge(bridge), path))
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

/// A directory for the sockets of this process alone, which is removed when this is dropped.
#[derive(Debug)]
pub struct PrivateFolder(PathBuf);

impl PrivateFolder {
    /// Creates a private directory in the directory of the sockets.
    pub fn new(folder: &Path) -> Result<Self, DiscoveryError> {
        let path = folder.join(discovery::name());
        make(&path).map(|()| PrivateFolder(path))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // The folder contains only sockets of this process.
        drop(fs::remove_dir_all(&self.0));
    }
}
