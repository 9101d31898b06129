//! Submissions over the connection to a bridge, or to another machine: the store has the result before the caller.

use std::{sync::Arc, time::Duration};

use askbridge_core::{
    desk::{IdPrefix, QuestionId, Record, Refusal, Snapshot, State, Submission},
    question::Provenance,
};
use tokio::time::sleep;

use super::{
    JoinedInbox,
    handshake::{get, silence},
    peer::Peer,
};
use crate::{
    inbox::{Inbox, assumed},
    rpc::client::CallError,
};

impl JoinedInbox {
    /// Submits to a question over this connection, whose other end may take this long. `Gone` means that it is not known
    /// whether the asker got it.
    pub(super) async fn submit_over(
        &self,
        peer: &Peer,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
        patience: Duration,
    ) -> Result<Arc<Record>, CallError> {
        let known = match self.store().read(|_, snapshot| snapshot.get(id).cloned()) {
            Some(known) => known,
            None => self.fetch(peer, id).await?,
        };
        // The agent may read its answer late, and gets it then; the responder does not wait for that without end. A reply
        // that comes at the same moment counts (`biased`).
        let done = tokio::select! {
            biased;
            done = peer.submit(id, submission.clone(), by.clone()) => done,
            () = silence(peer) => Err(CallError::Gone),
            () = sleep(patience) => Err(CallError::Gone),
        };
        match done {
            // It says nothing of what became of this submission.
            Ok(reply) if reply.as_ref().is_some_and(|record| !tells(&known, &submission, record)) => {
                Err(Refusal::Unknown.into())
            }
            Ok(reply) => Ok(self.accept(&known, reply, || assumed(&known, submission, by))),
            Err(CallError::Refused(refusal)) => {
                if let Refusal::Conflict(record) | Refusal::Changed(record) | Refusal::Gone(record) = &refusal
                {
                    let is_unsettled = record.is_open() && !matches!(refusal, Refusal::Changed(_));
                    if !is_of(id, record) || is_unsettled {
                        // The refusal lacks how this question ended.
                        return Err(Refusal::Unknown.into());
                    }
                    self.edit(id, |editor| {
                        // A later change may have arrived before the refusal.
                        let known = editor.snapshot().get(id).map(|known| known.edition);
                        if known.is_none_or(|known| known <= record.edition) {
                            editor.put(Arc::clone(record));
                        }
                    });
                }
                Err(refusal.into())
            }
            Err(gone) => Err(gone),
        }
    }

    /// Reads the current state of a question from its bridge.
    async fn fetch(&self, peer: &Peer, id: &QuestionId) -> Result<Arc<Record>, Refusal> {
        match get(peer, &IdPrefix::from(id)).await {
            Ok(reply) => {
                let record = reply.filter(|record| is_of(id, record));
                // A question can be settled only by a version that can read it.
                record.ok_or(Refusal::Unavailable)
            }
            Err(CallError::Refused(refusal)) => Err(refusal),
            Err(_) => Err(Refusal::Unavailable),
        }
    }

    /// Judges a submission to a question whose bridge is not connected, by what the store or the ledger knows.
    pub(super) async fn judge(
        &self,
        id: &QuestionId,
        submission: &Submission,
    ) -> Result<Arc<Record>, Refusal> {
        let record = match self.store().read(|_, snapshot| snapshot.get(id).cloned()) {
            Some(record) => record,
            None => match self.look_up(&IdPrefix::from(id)).await? {
                record if is_of(id, &record) => record,
                _ => return Err(Refusal::NotFound),
            },
        };
        match Snapshot::judge_late(&record, submission) {
            Ok(()) => Ok(record),
            // The question has a secret, so its answer cannot be compared; it is still known that it was settled.
            Err(Refusal::Unavailable) if record.state == State::Settled => Err(Refusal::Conflict(record)),
            Err(refusal) => Err(refusal),
        }
    }

    /// Stores the reply to a submission before the caller gets it, so that the store is never behind the caller.
    fn accept(
        &self,
        known: &Arc<Record>,
        reply: Option<Arc<Record>>,
        assume: impl FnOnce() -> Record,
    ) -> Arc<Record> {
        // A reply that this version cannot read still proves that the asker has the answer.
        let record = reply.unwrap_or_else(|| Arc::new(assume()));
        self.edit(&known.id, |editor| {
            let now = editor.snapshot().get(&known.id).cloned();
            let has_changed = now.as_ref().is_some_and(|now| *now != *known);
            // A change that came by the feed meanwhile may be newer than the reply, unless the reply is a settlement.
            if !record.is_open() || !has_changed {
                editor.put(Arc::clone(&record));
            }
            editor.snapshot().get(&known.id).cloned().unwrap_or_else(|| Arc::clone(&record))
        })
    }
}

/// Returns whether a reply tells that a submission to this question was accepted.
fn tells(known: &Record, submission: &Submission, reply: &Record) -> bool {
    is_of(&known.id, reply) && !(submission.settles() && reply.state == State::Open)
}

/// Returns whether a record is of this question, and of its bridge.
fn is_of(id: &QuestionId, record: &Record) -> bool {
    record.id == *id && record.bridge == id.bridge
}
