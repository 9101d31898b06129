//! Attaches to the agents in terminals that the settings name.

use askbridge_adapters::attach::{Finder, SharedInboxes, attach};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::service::{HubContext, HubService};

/// The agents that run in terminals, as this process finds them.
pub struct Attached {
    /// What finds them.
    pub finders: Vec<Box<dyn Finder>>,
    /// What gives each of them an inbox.
    pub hosts: SharedInboxes,
}

/// Attaches to agents as they start.
pub(super) struct AttachService(pub(super) Attached);

impl HubService for AttachService {
    fn name(&self) -> &'static str {
        "attach"
    }

    fn run(self: Box<Self>, _: HubContext, stop: CancellationToken) -> BoxFuture<'static, ()> {
        let Attached { finders, hosts } = self.0;
        Box::pin(async move {
            stop.run_until_cancelled(attach(finders, hosts)).await;
        })
    }
}
