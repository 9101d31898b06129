//! Submits an answer to a question of another machine. If the connection ends before the verdict, the same answer is
//! sent again over the next connection, since a bridge accepts the same answer twice, and refuses another.

use std::sync::Arc;

use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Submission},
    question::Provenance,
};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::{
    Holder,
    holder::{FROZEN, SILENT, THIS_MACHINE},
};
use crate::{
    join::{
        back_off::{BackOff, random},
        peer::Peer,
    },
    limits::remote as limit,
    rpc::client::{CallError, Client},
};

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
        let Some(mut client) = self.client(limit::CONNECT).await else {
            return Err(Refusal::Unreached(self.problem()));
        };
        // No connection lasts for as long as this waits, so none makes the pauses short again.
        let mut pauses = BackOff::new(limit::RESEND, limit::RECONNECT, limit::RECONNECT);
        let mut is_known = true;
        loop {
            let sent = self.submit_once(&client, id, submission.clone(), by.clone());
            let sent = timeout_at(begun + limit::RECONNECT, sent).await;
            match sent.map_err(|_| Refusal::Unknown)? {
                // The lost submission may have been carried out, so only a settlement can prove that it was not.
                Err(CallError::Refused(refusal)) if !is_known && !tells(&refusal) => {
                    return Err(Refusal::Unknown);
                }
                // An extension is not idempotent: sent twice, it would extend twice.
                Err(CallError::Gone) if matches!(submission, Submission::Extend(_)) => {
                    return Err(Refusal::Unknown);
                }
                Err(CallError::Gone) => {}
                judged => return Ok(judged?),
            }
            // The bridge may have delivered the answer. Submitting it again shows whether it did.
            is_known = false;
            client = self.another(&client, begun, &mut pauses).await.ok_or(Refusal::Unknown)?;
        }
    }

    /// Submits over one connection. `Gone` if the connection ends before the verdict. One that does not reply is made to
    /// end.
    async fn submit_once(
        &self,
        client: &Arc<Client>,
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
        let peer = Peer::Connected(Arc::clone(client));
        tokio::select! {
            // A verdict that has arrived counts, even if the connection seems silent at the same moment.
            biased;
            done = self.shared.joined.submit_over(&peer, id, submission, by, limit::RECONNECT) => done,
            () = silent => Err(CallError::Gone),
        }
    }

    /// Waits for a connection after this one, for as long as an answer that was begun then may take. The tries follow the
    /// pauses of this answer: those of the holder may be longer than the answer may take, since connections that ended
    /// while nobody answered have made them grow.
    async fn another(&self, gone: &Arc<Client>, begun: Instant, pauses: &mut BackOff) -> Option<Arc<Client>> {
        let mut reports = self.shared.report.subscribe();
        let mut tries = self.shared.report.subscribe();
        let hurried = async {
            loop {
                // The pause begins with that of the holder, whose connection or try has just ended.
                let retry_at = tries.wait_for(|report| report.retry_at.is_some()).await.ok()?.retry_at;
                sleep(pauses.pause(random())).await;
                self.shared.is_wanted.notify_one();
                tries.wait_for(|report| report.retry_at != retry_at).await.ok()?;
            }
        };
        let connected = async {
            let mut most = limit::RECONNECT;
            loop {
                // Before the look, so that no change is missed. It counts for each answer that waited on the connection,
                // whichever of them has found that it is silent.
                if matches!(reports.borrow_and_update().problem.as_deref(), Some(FROZEN | SILENT)) {
                    most = limit::FROZEN;
                }
                // The connection that was lost may be here still, until the holder notices that.
                if let Some(client) = self.connected().filter(|client| !Arc::ptr_eq(client, gone)) {
                    return Some(client);
                }
                timeout_at(begun + most, reports.changed()).await.ok()?.ok()?;
            }
        };
        tokio::select! {
            connected = connected => connected,
            ended = hurried => ended,
        }
    }
}

/// Returns whether a refusal reports how the question ended, or has changed.
fn tells(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Conflict(_) | Refusal::Changed(_) | Refusal::Gone(_))
}
