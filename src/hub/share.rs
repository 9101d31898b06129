//! Shares the connections to other machines with the other programs here, over one socket.

use std::{mem, os::unix::net::UnixListener, sync::Arc};

use askbridge_control::{
    inbox::AnyInbox,
    join::{Held, Places, remote::Shared},
    rpc::{select::SelectMachine, socket},
};
use askbridge_core::desk::MachineName;
use futures::future::{BoxFuture, FutureExt, pending};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::service::{HubContext, HubService, Stops};

/// A call that waits until the settings are read again.
type Asked = oneshot::Sender<()>;

/// Number of calls that wait for the settings. Further ones wait to be among them.
const WAITING: usize = 8;

/// The part of sharing that belongs to the connections: whether it is this process that shares them.
#[derive(Debug)]
pub(super) struct Sharing {
    shared: Option<Shared>,
    /// Takes the socket to the service, once this process shares its connections.
    listener: Option<oneshot::Sender<UnixListener>>,
    asked: mpsc::Receiver<Asked>,
    /// Whether the log says that no socket can be made.
    is_failing: bool,
}

impl Sharing {
    /// Returns whether this process shares its connections from now on. If not, another one does.
    pub(super) async fn claim(&mut self, places: &Places) -> bool {
        if self.shared.is_none() {
            match Shared::claim(places).await {
                Ok(None) => {}
                Ok(Some((shared, listener))) => {
                    self.shared = Some(shared);
                    // Without the service, this process ends.
                    self.listener.take().map(|service| service.send(listener).ok());
                }
                Err(error) => {
                    if !mem::replace(&mut self.is_failing, true) {
                        tracing::warn!(%error, "other programs cannot share the connections to other machines");
                    }
                    return true;
                }
            }
        }
        self.shared.is_some()
    }

    /// Waits for a call that wants the settings to be read again.
    pub(super) async fn asked(sharing: &mut Option<Self>) -> Asked {
        match sharing.as_mut().map(|sharing| sharing.asked.recv()) {
            Some(asked) => match asked.await {
                Some(asked) => asked,
                None => pending().await,
            },
            None => pending().await,
        }
    }
}

/// Serves the questions of the machines that this process holds to other programs.
pub struct ShareService {
    listener: oneshot::Receiver<UnixListener>,
    machines: SharedMachines,
}

/// The machines that this process holds, one of which a connection selects.
struct SharedMachines {
    held: watch::Receiver<Option<Held>>,
    asks: mpsc::Sender<Asked>,
}

/// Returns both parts of sharing the connections of a process.
pub(super) fn share(held: watch::Receiver<Option<Held>>) -> (Sharing, ShareService) {
    let (asks, asked) = mpsc::channel(WAITING);
    let (sender, listener) = oneshot::channel();
    let sharing = Sharing { shared: None, listener: Some(sender), asked, is_failing: false };
    (sharing, ShareService { listener, machines: SharedMachines { held, asks } })
}

impl SharedMachines {
    fn find(&self, name: &MachineName) -> Option<Arc<dyn AnyInbox>> {
        self.held.borrow().as_ref()?.get(name).cloned()
    }
}

impl SelectMachine for SharedMachines {
    fn select<'a>(&'a self, name: &'a MachineName) -> BoxFuture<'a, Option<Arc<dyn AnyInbox>>> {
        async move {
            if let Some(found) = self.find(name) {
                return Some(found);
            }
            // The settings may have got it just now.
            let (asked, is_read) = oneshot::channel();
            self.asks.send(asked).await.ok()?;
            is_read.await.ok()?;
            self.find(name)
        }
        .boxed()
    }
}

impl HubService for ShareService {
    fn name(&self) -> &'static str {
        "connections to other machines"
    }

    /// Its connections are those of commands, which hear of the last questions as well.
    fn stops(&self) -> Stops {
        Stops::AfterTheLast
    }

    fn run(self: Box<Self>, context: HubContext, stop: CancellationToken) -> BoxFuture<'static, ()> {
        let ShareService { listener, machines } = *self;
        Box::pin(async move {
            let Some(listener) = stop.run_until_cancelled(listener).await else { return };
            let Ok(listener) = listener else { return stop.cancelled().await };
            let (inbox, machines) = (context.joined.elsewhere(), Arc::new(machines));
            if let Err(error) = socket::serve_machines(listener, inbox, machines, stop.clone()).await {
                tracing::warn!(%error, "other programs cannot share the connections to other machines any more");
                stop.cancelled().await;
            }
        })
    }
}
