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

/// What became of a submission over one connection.
enum Sent {
    /// The machine has said so.
    Judged(Result<Arc<Record>, Refusal>),
    /// The connection has ended before.
    Lost,
    /// The machine did not reply while its person waited.
    Silent,
}

impl Holder {
    /// Submits, and resubmits after each lost connection, until the verdict is known or the time is up: one deadline for
    /// all tries, since a machine that ends each time could otherwise take the same answer without end.
    pub(super) async fn submit_until_known(
        &self,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> Result<Arc<Record>, Refusal> {
        if self.is_here(&id.bridge) {
            return Err(Refusal::Unreached(self.said(THIS_MACHINE)));
        }
        let begun = Instant::now();
        let mut deadline = begun + limit::RECONNECT;
        let Some(mut client) = self.client(limit::CONNECT).await else {
            return Err(Refusal::Unreached(self.problem()));
        };
        let mut is_known = true;
        loop {
            let sent = self.submit_once(&client, id, submission.clone(), by.clone());
            match timeout_at(deadline, sent).await.map_err(|_| Refusal::Unknown)? {
                // The lost submission may have been carried out, so only a settlement can prove that it was not.
                Sent::Judged(Err(refusal)) if !is_known && !tells(&refusal) => return Err(Refusal::Unknown),
                Sent::Judged(judged) => return judged,
                // An extension is not idempotent: sent twice, it would extend twice.
                _ if matches!(submission, Submission::Extend(_)) => return Err(Refusal::Unknown),
                Sent::Lost => {}
                Sent::Silent => deadline = deadline.min(begun + limit::FROZEN),
            }
            // The bridge may have delivered the answer. Submitting it again shows whether it did.
            is_known = false;
            client = self.another(&client, deadline).await.ok_or(Refusal::Unknown)?;
        }
    }

    /// Submits over one connection.
    async fn submit_once(
        &self,
        client: &Client,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> Sent {
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
            done = self.shared.machine.submit_over(client, id, submission, by, limit::RECONNECT) => match done {
                Ok(record) => Sent::Judged(Ok(record)),
                Err(CallError::Refused(refusal)) => Sent::Judged(Err(refusal)),
                Err(CallError::Gone) => Sent::Lost,
            },
            () = silent => Sent::Silent,
        }
    }

    /// Waits for a connection after this one. It does not hurry the next try: the pauses between tries hold, even if many
    /// answers wait.
    async fn another(&self, gone: &Arc<Client>, deadline: Instant) -> Option<Arc<Client>> {
        let mut reports = self.shared.report.subscribe();
        loop {
            // Before the look, so that no change is missed.
            reports.mark_unchanged();
            // The connection that was lost may be here still, until the holder notices that.
            if let Some(client) = self.connected().filter(|client| !Arc::ptr_eq(client, gone)) {
                return Some(client);
            }
            timeout_at(deadline, reports.changed()).await.ok()?.ok()?;
        }
    }
}

/// Returns whether a refusal reports how the question ended, or has changed.
fn tells(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Conflict(_) | Refusal::Changed(_) | Refusal::Gone(_))
}
