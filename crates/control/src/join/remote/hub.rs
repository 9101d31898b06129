//! The holders of all machines. How other programs share their connections is left to `share.rs`.

use std::{collections::BTreeMap, fmt, sync::Arc};

use askbridge_core::desk::MachineName;
use futures::future::join_all;
use tokio::{sync::watch, task::JoinHandle, time::Instant};

use super::{Holder, Route};
use crate::{
    inbox::AnyInbox,
    join::{Places, reach::Held},
};

/// A function that returns whether this process notifies its user of questions now.
type IsTold = Arc<dyn Fn() -> bool + Send + Sync>;

/// The machines that this process holds the connections to. Dropping it ends them.
pub struct Hub {
    bridges: Places,
    most: usize,
    is_told: IsTold,
    machines: BTreeMap<MachineName, HeldMachine>,
    /// Their questions, for those who look at them in this process.
    held: watch::Sender<Option<Held>>,
    began: Instant,
}

/// One machine.
struct HeldMachine {
    route: Route,
    holder: Holder,
    /// The task that keeps the machine connected.
    holding: JoinHandle<()>,
}

impl fmt::Debug for Hub {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Hub").field("machines", &self.machines.keys()).finish_non_exhaustive()
    }
}

impl Drop for HeldMachine {
    fn drop(&mut self) {
        self.holding.abort();
        self.holder.end();
    }
}

impl Hub {
    /// Returns a hub without machines, which will have `most` of them. The sockets of this machine's bridges are in
    /// `bridges`.
    pub fn new(bridges: Places, most: usize, is_told: Arc<dyn Fn() -> bool + Send + Sync>) -> Self {
        let (machines, held) = (BTreeMap::new(), watch::Sender::default());
        Hub { bridges, most, is_told, machines, held, began: Instant::now() }
    }

    /// Holds the connections to these machines from now on, and to no others. `None` leaves them to another process.
    pub fn set(&mut self, machines: Option<BTreeMap<MachineName, Route>>) {
        let Some(machines) = machines else {
            self.machines.clear();
            return drop(self.held.send_replace(None));
        };
        let before = self.machines.len();
        self.machines.retain(|name, held| machines.get(name) == Some(&held.route));
        let mut has_changed = self.machines.len() != before || self.held.borrow().is_none();
        for (name, route) in machines.into_iter().take(self.most) {
            if !self.machines.contains_key(&name) {
                self.machines.insert(name.clone(), self.hold(&name, &route));
                has_changed = true;
            }
        }
        if has_changed {
            let inbox = |held: &HeldMachine| Arc::new(held.holder.clone()) as Arc<dyn AnyInbox>;
            let held = self.machines.iter().map(|(name, held)| (name.clone(), inbox(held)));
            self.held.send_replace(Some(held.collect()));
        }
    }

    /// Returns a receiver of the machines that are held, and of their questions. `None` while another process may hold them.
    pub fn held(&self) -> watch::Receiver<Option<Held>> {
        self.held.subscribe()
    }

    fn hold(&self, name: &MachineName, route: &Route) -> HeldMachine {
        let holder = Holder::new(name.clone(), self.bridges.clone(), self.began);
        let (held, of, is_told) = (holder.clone(), route.clone(), Arc::clone(&self.is_told));
        let holding = tokio::spawn(async move { held.hold(&of, || is_told()).await });
        HeldMachine { route: route.clone(), holder, holding }
    }

    /// Waits until each machine is connected or has failed once.
    pub async fn tried(&self) {
        join_all(self.machines.values().map(|held| held.holder.tried())).await;
    }

    /// The same, for no longer than a list waits for a machine.
    pub async fn tried_soon(&self) {
        join_all(self.machines.values().map(|held| held.holder.tried_soon())).await;
    }
}
