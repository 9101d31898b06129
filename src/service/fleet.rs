//! The fleet service: while questions are open, it starts the gateway of this machine as a process of its own, unless
//! one runs. So a bridge never has a connection to the broker, and its memory does not grow by one.

use std::{io, sync::Arc};

use askbridge_control::{
    inbox::{BridgeInbox, Inbox, openings::Openings},
    join::Places,
    rpc::host::{Service, Starts},
};
use askbridge_fleet::Gateway;
use askbridge_os::program;
use askbridge_settings::{files::Live, keys};
use futures::future::BoxFuture;
use tokio::{process::Command, time::sleep};
use tokio_util::sync::CancellationToken;

use super::context::Context;
use crate::limits::fleet as limit;

/// Starts the gateway.
#[derive(Debug)]
pub struct FleetService {
    /// The user's own file: no other file can name a broker.
    live: Arc<Live>,
}

impl FleetService {
    /// Returns the service, which every inbox has: the broker may be set while it runs.
    #[expect(clippy::unnecessary_wraps, reason = "the list of services asks each whether this inbox has it")]
    pub(super) fn of(context: &Context) -> Option<Box<dyn Service>> {
        Some(Box::new(FleetService { live: Arc::clone(&context.live) }))
    }

    /// Starts the gateway while questions are open and none runs: it or the inbox that was the gateway may end at any time.
    async fn follow(self, inbox: BridgeInbox) {
        let (mut openings, mut gateway) = (Openings::of(inbox.store()), None);
        while next_look(&mut openings, &inbox).await {
            let is_set = !self.live.settings().get(&keys::FLEET_URL).0.is_empty();
            if is_set
                && Places::here().is_ok_and(|places| !places.all().iter().any(|folder| Gateway::runs(folder)))
            {
                match start(&inbox) {
                    // An earlier one has ended, and is reaped.
                    Ok(child) => gateway = Some(child),
                    Err(error) => tracing::warn!(%error, "the gateway to the fleet cannot be started"),
                }
                sleep(limit::RENEW_LEAST).await;
            }
        }
        drop(gateway);
    }
}

/// Waits until a question opens, or for a while if one is open. Returns false once the inbox has ended.
async fn next_look(openings: &mut Openings, inbox: &BridgeInbox) -> bool {
    loop {
        let is_open = inbox.store().read(|_, snapshot| snapshot.open_count() > 0);
        let opened = tokio::select! {
            opened = openings.next() => opened,
            () = sleep(limit::RENEW), if is_open => return true,
        };
        match opened {
            Some(opened) if opened.is_empty() => {}
            opened => return opened.is_some(),
        }
    }
}

fn start(inbox: &BridgeInbox) -> io::Result<tokio::process::Child> {
    let child = Command::from(program::command(["fleet", "gateway"])?).spawn()?;
    if let (Some(tree), Some(pid)) = (inbox.agent_tree(), child.id()) {
        // It passes on answers of persons, unlike the agent's own processes.
        tree.leave_out(pid);
    }
    Ok(child)
}

impl Service for FleetService {
    fn name(&self) -> &'static str {
        "fleet"
    }

    fn starts(&self) -> Starts {
        let live = Arc::clone(&self.live);
        Starts::WithQuestion(Arc::new(move || !live.settings().get(&keys::FLEET_URL).0.is_empty()))
    }

    fn run(self: Box<Self>, inbox: BridgeInbox, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            stop.run_until_cancelled(self.follow(inbox)).await;
        })
    }
}
