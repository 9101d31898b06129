//! Follows all bridges of this machine at once, so that a hung bridge delays no other: one task for each bridge that
//! follows its changes and reconnects.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::pending,
    mem,
    sync::Arc,
};

use tokio::{
    sync::watch,
    task::JoinSet,
    time::{interval, sleep},
};

use super::{
    connections::{Connections, SocketPeer},
    discovery::DiscoveryError,
    handshake::is_passing,
    name::LinkName,
    peer::LinkEnd,
    reach::{Held, Reach},
};
use crate::limits;

/// Follows the bridges whose sockets are in this directory, including later ones, until the future is dropped.
pub(super) async fn follow(
    connections: &Arc<Connections>,
    reach: &Reach,
    is_meant: impl Fn(&LinkName) -> bool,
) -> Result<(), DiscoveryError> {
    let (mut followed, mut tasks) = (BTreeSet::new(), JoinSet::new());
    let (mut again, mut is_failing) = (interval(limits::DISCOVERY_INTERVAL), false);
    let (mut fleet, mut held) = (reach.fleet.clone(), reach.held.clone());
    loop {
        tokio::select! {
            _ = again.tick() => {}
            () = others(&mut held) => {}
            problem = changed(&mut fleet) => {
                connections.know_fleet(problem);
                continue;
            }
        }
        while let Some(Ok(name)) = tasks.try_join_next() {
            followed.remove::<LinkName>(&name);
        }
        // Known bridges are followed too: a bridge may run on after its socket was removed.
        let mut found: BTreeMap<LinkName, LinkEnd> = connections.ends();
        match reach.links().await {
            Ok(ends) => {
                is_failing = false;
                found.extend(ends);
            }
            // Known bridges are still followed.
            Err(DiscoveryError::Path { path, source }) if is_passing(&source) => {
                if !mem::replace(&mut is_failing, true) {
                    tracing::warn!(folder = %path.display(), error = %source, "cannot look for bridges; trying again");
                }
            }
            Err(error) => return Err(error),
        }
        for (name, end) in found {
            if is_meant(&name) && followed.insert(name.clone()) {
                let connections = Arc::clone(connections);
                tasks.spawn(async move {
                    keep(&connections, &name, &end).await;
                    name
                });
            }
        }
    }
}

/// Waits until it changes why the machines of the fleet are not known, and returns that.
async fn changed(fleet: &mut Option<watch::Receiver<Option<String>>>) -> Option<String> {
    if let Some(problem) = fleet
        && problem.changed().await.is_ok()
    {
        return problem.borrow_and_update().clone();
    }
    // No fleet is asked, or it is not followed.
    pending().await
}

/// Waits until this process holds other machines than before.
async fn others(held: &mut Option<watch::Receiver<Held>>) {
    if let Some(held) = held
        && held.changed().await.is_ok()
    {
        return;
    }
    // It holds none, or no others from now on.
    pending().await
}

/// Follows the bridge at the other end of a link, for as long as there is one.
async fn keep(connections: &Connections, name: &LinkName, end: &LinkEnd) {
    let mut back_off = limits::DISCOVERY_INTERVAL;
    loop {
        let met = match connections.peer(name) {
            Some(_) => SocketPeer::Connected,
            None => connections.wait_for(name, end).await,
        };
        match met {
            SocketPeer::Connected => {
                connections.keep_up(name, end).await;
                connections.lose(name);
                back_off = limits::DISCOVERY_INTERVAL;
            }
            SocketPeer::Gone => return,
            SocketPeer::Unreachable => {}
        }
        // The pause also follows a connection that succeeded: a bridge that closes each one at once must not keep us
        // busy.
        sleep(back_off).await;
        back_off = limits::RECONNECT_BACK_OFF.min(2 * back_off);
    }
}
