//! An answer to a question of another machine, whose connection may end before the verdict: the same answer is sent again
//! over the next connection, since a bridge accepts the same answer twice, and refuses another.

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
    /// Submits, and sends the same again until the verdict is known or the machine stays away.
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
                // More time that is given twice is twice as long.
                Err(CallError::Gone) if matches!(submission, Submission::Extend(_)) => {
                    return Err(Refusal::Unavailable);
                }
                Err(CallError::Gone) => {}
                // It may have been carried out before, so that only a settlement says that it was not.
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
                    // For this connection only: several answers may wait, and none may end the next one.
                    return self.shared.is_silent.notify_waiters();
                }
            }
        };
        tokio::select! {
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
            // It is about to be noticed that this one ended.
            timeout_at(until, reports.changed()).await.ok()?.ok()?;
        }
    }
}

/// Returns whether a refusal says how the question ended.
fn tells(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Conflict(_) | Refusal::Gone(_))
}
