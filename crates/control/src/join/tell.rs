//! Tells those who follow the gaps and the machines of a joined inbox what has changed.

use std::{collections::BTreeMap, sync::MutexGuard};

use super::{
    connections::Connections,
    gaps::{gaps, machines},
    link::BridgeLink,
    name::LinkName,
    peer::LinkEnd,
};

impl Connections {
    /// Changes a link, and tells those who follow the gaps and the machines, if there is something to tell.
    pub(super) fn change<T>(
        &self,
        name: &LinkName,
        end: &LinkEnd,
        change: impl FnOnce(&mut BridgeLink) -> T,
    ) -> T {
        let mut links = self.lock();
        let before = links.get(name).map(BridgeLink::told);
        let link = links.entry(name.clone()).or_insert_with(|| BridgeLink::new(end));
        let changed = change(link);
        // To tell takes as long as there are links.
        if Some(link.told()) != before {
            self.tell(links);
        }
        changed
    }

    /// Changes a link, and leaves it to the caller to tell those who follow.
    pub(super) fn set<T>(
        &self,
        name: &LinkName,
        end: &LinkEnd,
        change: impl FnOnce(&mut BridgeLink) -> T,
    ) -> T {
        change(self.lock().entry(name.clone()).or_insert_with(|| BridgeLink::new(end)))
    }

    /// Publishes the current gaps and machines, if they changed.
    pub(super) fn tell(&self, links: MutexGuard<'_, BTreeMap<LinkName, BridgeLink>>) {
        let mut now = gaps(links.iter(), |_| true);
        // The lock is held while sending: otherwise an older report could replace a newer one.
        now.tell(&self.report);
        // Those of this machine are the first by name, however many other machines there are.
        gaps(links.iter().take_while(|(name, _)| name.is_here()), |_| true).tell(&self.report_here);
        // The process that holds the machines says this for all.
        let fleet = links.contains_key(&LinkName::Elsewhere).then(|| now.fleet.take());
        self.gaps.send_if_modified(|gaps| {
            now.fleet = fleet.clone().unwrap_or_else(|| gaps.fleet.clone());
            let changed = *gaps != now;
            *gaps = now;
            changed
        });
        let now = machines(links.iter());
        self.machines.send_if_modified(|listing| {
            let fleet = fleet.unwrap_or_else(|| listing.fleet.clone());
            let changed = listing.machines != now || listing.fleet != fleet;
            (listing.machines, listing.fleet) = (now, fleet);
            listing.revision += u64::from(changed);
            changed
        });
        drop(links);
    }

    /// Records why the machines of the fleet are not known. `None` if they are, or if there is no fleet.
    pub(super) fn know_fleet(&self, problem: Option<String>) {
        // As in `tell`, so that neither publishes what the other has replaced.
        let _links = self.lock();
        self.machines.send_if_modified(|listing| {
            let changed = listing.fleet != problem;
            listing.fleet.clone_from(&problem);
            listing.revision += u64::from(changed);
            changed
        });
        self.gaps.send_if_modified(|gaps| {
            let changed = gaps.fleet != problem;
            gaps.fleet = problem;
            changed
        });
    }
}
