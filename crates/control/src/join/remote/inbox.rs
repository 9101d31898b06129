//! The questions of another machine as an inbox, over the connection that `holder.rs` keeps, and while there is none.

use std::{sync::Arc, time::Duration};

use askbridge_core::{
    desk::{IdPrefix, LostQuestion, QuestionId, Record, Refusal, Settlement, Submission},
    question::{Context, Provenance, Question},
};
use tokio::time::{Instant, timeout, timeout_at};

use super::Holder;
use crate::{
    inbox::{BridgeStatus, HistoryFilter, Inbox, PastQuestions, Store, report::MachineReport},
    join::{name::LinkName, peer::Peer},
    limits::{self, remote as limit},
    rpc::client::{CallError, Client},
};

impl Holder {
    /// Returns the connection.
    pub(super) fn connected(&self) -> Option<Arc<Client>> {
        match self.shared.joined.connections().peer(&LinkName::Dialed)? {
            Peer::Connected(client) => Some(client),
            Peer::Within(_) => None,
        }
    }

    /// Returns the connection, and waits for one for at most this long. The next try begins soon, and further ones after the
    /// first of the usual pauses each.
    pub(super) async fn client(&self, patience: Duration) -> Option<Arc<Client>> {
        let until = Instant::now() + patience;
        let mut reports = self.shared.report.subscribe();
        let mut hurries_from = Instant::now();
        loop {
            // Before the look, so that no change is missed.
            reports.mark_unchanged();
            if let Some(client) = self.connected() {
                return Some(client);
            }
            if Instant::now() >= hurries_from {
                hurries_from = Instant::now() + limit::BACK_OFF;
                self.shared.is_wanted.notify_one();
            }
            timeout_at(until, reports.changed()).await.ok()?.ok()?;
        }
    }

    pub(super) fn problem(&self) -> String {
        let report = self.shared.report.borrow();
        self.said(report.problem.as_deref().unwrap_or("it is being connected to"))
    }

    /// Returns that the history cannot be had, since the machine does not reply.
    fn is_silent(&self) -> Refusal {
        let within = limits::PATIENCE.as_secs();
        Refusal::HistoryUnavailable(self.said(&format!("it did not reply within {within} s")))
    }

    /// Returns an error message about the machine, which begins with its name.
    pub(super) fn said(&self, why: &str) -> String {
        format!("{}: {why}", self.shared.name)
    }
}

impl Inbox for Holder {
    fn store(&self) -> &Store {
        self.shared.joined.store()
    }

    async fn submit(
        &self,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> Result<Arc<Record>, Refusal> {
        self.submit_until_known(id, submission, by).await
    }

    async fn ask(&self, _: Question) -> Result<Settlement, Refusal> {
        Err(Refusal::Unavailable)
    }

    fn status(&self) -> Vec<BridgeStatus> {
        self.shared.joined.status()
    }

    async fn report(&self, known: Option<u64>) -> MachineReport {
        let mut reports = self.shared.report.subscribe();
        let changed = reports.wait_for(|report| known != Some(report.revision)).await;
        changed.map(|report| report.clone()).unwrap_or_default()
    }

    fn find(&self, typed: &IdPrefix) -> Result<Arc<Record>, Refusal> {
        let found = self.store().read(|_, snapshot| snapshot.find(typed).cloned());
        match found {
            Err(Refusal::NotFound) if self.shared.report.borrow().connected_at.is_none() => {
                Err(Refusal::Unreached(self.problem()))
            }
            found => found,
        }
    }

    async fn look_up(&self, typed: &IdPrefix) -> Result<Arc<Record>, Refusal> {
        let found = self.find(typed);
        match (&found, self.connected()) {
            (Err(Refusal::NotFound | Refusal::Unavailable), Some(client)) => {
                let _turn = self.shared.turn.acquire().await;
                let asked = timeout(limits::HANDSHAKE_TIMEOUT, client.get(typed)).await;
                let record = asked.unwrap_or(Err(CallError::Gone))?.value;
                let record =
                    record.filter(|record| typed.matches(&record.id) && LinkName::Dialed.owns(record));
                record.map(Arc::new).ok_or(Refusal::Unavailable)
            }
            _ => found,
        }
    }

    async fn context(&self, record: &Record) -> Result<Arc<Context>, Refusal> {
        let Some(client) = self.connected().filter(|_| record.has_context) else {
            return Ok(Arc::default());
        };
        let _turn = self.shared.turn.acquire().await;
        let asked = timeout(limits::PATIENCE, client.context(&record.id)).await;
        Ok(Arc::new(asked.unwrap_or(Err(CallError::Gone))?))
    }

    async fn image(&self, record: &Record, number: usize) -> Result<Arc<Vec<u8>>, Refusal> {
        let client = self.connected().ok_or(Refusal::Unavailable)?;
        let _turn = self.shared.turn.acquire().await;
        let asked = timeout(limits::IMAGE_TIMEOUT, client.image(&record.id, number)).await;
        Ok(Arc::new(asked.unwrap_or(Err(CallError::Gone))?))
    }

    async fn settled(&self, limit: usize) -> Vec<Arc<Record>> {
        let _turn = self.shared.turn.acquire().await;
        self.shared.joined.settled(limit).await
    }

    async fn lost(&self) -> Result<Vec<LostQuestion>, Refusal> {
        let Some(client) = self.client(limit::CONNECT).await else {
            return Err(Refusal::HistoryUnavailable(self.problem()));
        };
        let _turn = self.shared.turn.acquire().await;
        let lost = timeout(limits::PATIENCE, client.lost()).await;
        let mut lost = lost.map_err(|_| self.is_silent())??;
        lost.retain(|lost| LinkName::Dialed.owns(&lost.record));
        Ok(lost)
    }

    async fn past(&self, filter: HistoryFilter) -> Result<PastQuestions, Refusal> {
        let Some(client) = self.client(limit::CONNECT).await else {
            return Err(Refusal::HistoryUnavailable(self.problem()));
        };
        let params = filter.into();
        let _turn = self.shared.turn.acquire().await;
        let past = timeout(limits::PATIENCE, client.past(&params)).await;
        let PastQuestions { mut questions, .. } = past.map_err(|_| self.is_silent())??;
        questions.retain(|past| LinkName::Dialed.owns(&past.record));
        Ok(PastQuestions { questions, missing: Vec::new() })
    }

    async fn watch(&self) {
        self.shared.joined.watch().await;
    }
}
