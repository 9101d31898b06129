//! Notifies the user of the questions of other machines, whose own notifiers are told that this is done here.

use askbridge_control::inbox::Inbox as _;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::service::{HubContext, HubService};
use crate::service::notify::NotifierPool;

/// Starts notifiers for the questions of other machines.
pub(super) struct NotifyElsewhere;

impl HubService for NotifyElsewhere {
    fn name(&self) -> &'static str {
        "notifiers elsewhere"
    }

    fn run(self: Box<Self>, context: HubContext, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let pool = NotifierPool::elsewhere(context.joined.store().clone(), context.own);
            stop.run_until_cancelled(pool.run()).await;
        })
    }
}
