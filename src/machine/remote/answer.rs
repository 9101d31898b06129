//! Submits an answer to a question of another machine. If the connection ends before the verdict, the same answer is
//! sent again over the next connection, since a bridge accepts the same answer twice, and refuses another.

use std::sync::Arc;

use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Submission},
    question::Provenance,
};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::{Holder, holder::THIS_MACHINE};
use crate::{
    limits::machine as limit,
    rpc::client::{CallError, Client},
};

impl Holder {
    /// Submits, and resubmits after each lost connection, until the verdict is known or no connection returns in time.
    pub(super) async fn submit_until_known(
        &self,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> Result<Arc<Record>, Refusal> {
        if self.is_here(&id.bridge) {
            return Err(Refusal::Unreached(self.said(THIS_MACHINE)));
        }
        let Some(mut client) = self.client(limit::CONNECT).await else {
            return Err(Refusal::Unreached(self.problem()));
        };
        let mut is_known = true;
        loop {
            match self.submit_once(&client, id, submission.clone(), by.clone()).await {
                // An extension is not idempotent: sent twice, it would extend twice.
                Err(CallError::Gone) if matches!(submission, Submission::Extend(_)) => {
                    return Err(Refusal::Unavailable);
                }
                Err(CallError::Gone) => {}
                // The lost submission may have been carried out, so only a settlement can prove that it was not.
                Err(CallError::Refused(refusal)) if !is_known && !tells(&refusal) => {
                    return Err(Refusal::Unavailable);
                }
                done => return Ok(done?),
            }
            // The bridge may have delivered the answer. Submitting it again shows whether it did.
            is_known = false;
            client = self.another(&client).await.ok_or(Refusal::Unavailable)?;
        }
    }

    /// Submits over one connection. `Gone` where its verdict was lost with it.
    async fn submit_once(
        &self,
        client: &Client,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> Result<Arc<Record>, CallError> {
        let silent = async {
            loop {
                sleep(limit::URGENT).await;
                if timeout(limit::URGENT, client.statuses()).await.is_err() {
                    // Only this connection is ended: several answers may wait on it, and none of them may end its
                    // successor.
                    return self.shared.is_silent.notify_waiters();
                }
            }
        };
        tokio::select! {
            // A verdict that has arrived counts, even if the connection seems silent at the same moment.
            biased;
            done = self.shared.machine.submit_over(client, id, submission, by) => done,
            () = silent => Err(CallError::Gone),
        }
    }

    /// Waits for a connection after this one.
    async fn another(&self, gone: &Arc<Client>) -> Option<Arc<Client>> {
        let until = Instant::now() + limit::RECONNECT;
        let mut reports = self.shared.report.subscribe();
        loop {
            let client = self.client(until.saturating_duration_since(Instant::now())).await?;
            if !Arc::ptr_eq(&client, gone) {
                return Some(client);
            }
            // This connection has ended, and the holder is about to notice that.
            timeout_at(until, reports.changed()).await.ok()?.ok()?;
        }
    }
}

/// Returns whether a refusal reports how the question ended, or has changed.
fn tells(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Conflict(_) | Refusal::Changed(_) | Refusal::Gone(_))
}
