//! The places where inboxes are looked for: the sockets of the bridges of this machine, and that of the process that holds
//! the connections to other machines.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    path::{Path, PathBuf},
    sync::Arc,
};

use askbridge_core::desk::{IdPrefix, MachineName};
use tokio::sync::watch;

use super::{
    discovery::{self, is_socket},
    name::LinkName,
    peer::LinkEnd,
    places::{DiscoveryError, Places},
    remote,
    selected::Selected,
};
use crate::inbox::{AnyInbox, BridgeInbox, NO_STANDING, StandingInbox};

/// Where questions are looked for.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// The sockets of the bridges of this machine. `None` leaves this machine out.
    pub bridges: Option<Places>,
    /// The directories in which the process that holds the connections to other machines may have its socket.
    pub machines: Vec<PathBuf>,
    /// The only other machine to look at. `None` looks at all of them.
    pub only: Option<MachineName>,
    /// A connection to this machine that was made to find out whether another process holds it.
    pub selected: Option<Selected>,
    /// Why the machines of the fleet are not known. `None` inside if they are, and `None` if no fleet is asked.
    pub fleet: Option<watch::Receiver<Option<String>>>,
    /// The machines that this process holds the connections to itself. They are handed over within it. `None` if another
    /// process may hold them.
    pub held: Option<watch::Receiver<Option<Held>>>,
    /// What keeps these connections while the reach is in use.
    pub keeper: Option<Arc<dyn Debug + Send + Sync>>,
    /// The inboxes of this process, which are handed over as well.
    pub own: Vec<BridgeInbox>,
}

/// The inboxes of a process through which programs ask.
#[derive(Clone, Debug)]
pub struct OwnInboxes {
    /// The one whose questions a connection holds. `None` if nothing is asked here.
    pub asked: Option<BridgeInbox>,
    /// The one whose questions no connection holds, or why this process has none.
    pub standing: Result<StandingInbox, String>,
}

impl Default for OwnInboxes {
    /// Returns those of a process through which nothing is asked.
    fn default() -> Self {
        OwnInboxes { asked: None, standing: Err(NO_STANDING.to_owned()) }
    }
}

impl From<BridgeInbox> for OwnInboxes {
    fn from(asked: BridgeInbox) -> Self {
        OwnInboxes { asked: Some(asked), ..OwnInboxes::default() }
    }
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
        found.extend(self.elsewhere());
        found.extend(self.own_links());
        Ok(found)
    }

    /// Returns the links to other machines: those that this process holds are handed over within it, others are reached
    /// through the process that holds them.
    fn elsewhere(&self) -> Vec<(LinkName, LinkEnd)> {
        let is_meant = |machine: &MachineName| self.only.as_ref().is_none_or(|only| only == machine);
        if let Some(held) = self.held() {
            let meant = held.into_iter().filter(|(machine, _)| is_meant(machine));
            return meant
                .map(|(machine, inbox)| (LinkName::Machine(machine), LinkEnd::Within(inbox)))
                .collect();
        }
        let name = self.only.clone().map_or(LinkName::Elsewhere, LinkName::Machine);
        self.holder().map(|path| (name, LinkEnd::Socket(path))).into_iter().collect()
    }

    fn held(&self) -> Option<Held> {
        self.held.as_ref()?.borrow().clone()
    }

    /// Returns the socket of the process that holds the connections to other machines.
    fn holder(&self) -> Option<PathBuf> {
        let mut sockets = self.machines.iter().map(|folder| remote::socket(folder));
        sockets.find(|path| is_socket(path))
    }

    /// Returns the links to the inboxes of this process that have not ended.
    fn own_links(&self) -> impl Iterator<Item = (LinkName, LinkEnd)> {
        let own = self.own.iter().filter(|own| !own.store().has_ended());
        own.map(|own| {
            (LinkName::Bridge(own.identity().bridge.clone()), LinkEnd::Within(Arc::new(own.clone())))
        })
    }

    /// Returns the link to the bridge of this machine whose whole name this ID begins with, or to the other machine that
    /// the ID names, if there is one.
    pub(super) fn link_of(&self, typed: &IdPrefix) -> Option<(LinkName, LinkEnd)> {
        if let Some(machine) = typed.machine().filter(|machine| self.only.as_ref() == Some(machine)) {
            let own = LinkName::Machine(machine.clone());
            return self.elsewhere().into_iter().find(|(name, _)| *name == own);
        }
        let mut folders = self.bridges.as_ref()?.all().into_iter();
        let (bridge, path) = folders.find_map(|folder| discovery::socket_of(&folder, typed))?;
        Some((LinkName::Bridge(bridge), LinkEnd::Socket(path)))
    }
}
