//! Logs which bridges and machines are left out of the list of questions.

use std::future::pending;

use askbridge_control::join::JoinedInbox;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::service::{HubContext, HubService};
use crate::present::listing;

/// Logs the gaps, each time that they change.
pub(super) struct GapsService;

impl HubService for GapsService {
    fn name(&self) -> &'static str {
        "gaps"
    }

    fn run(self: Box<Self>, context: HubContext, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            stop.run_until_cancelled(report(&context.joined)).await;
        })
    }
}

async fn report(joined: &JoinedInbox) {
    let (mut left_out, mut said) = (joined.gaps(), Vec::new());
    loop {
        // The value is marked as seen before it is waited for, so that no change is missed.
        let lines = listing::gap_lines(&left_out.borrow_and_update().clone().without_new());
        lines.iter().filter(|line| !said.contains(*line)).for_each(|line| tracing::warn!("{line}"));
        said = lines;
        if left_out.changed().await.is_err() {
            // The joined inbox holds the sender, so this never happens.
            return pending().await;
        }
    }
}
