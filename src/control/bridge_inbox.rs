//! The inbox of one bridge: the questions of its agent, and those that programs ask through it.

use std::{future::pending, sync::Arc};

use super::{
    handover::{Intake, Port, Submitter, pair},
    inbox::Inbox,
    programs::Programs,
    protocol::{BridgeStatus, Identity},
    store::Store,
};
use crate::{
    desk::{Asker, QuestionId, Record, Refusal, Settlement, Setup, Submission},
    question::{Provenance, Question, check},
};

/// The inbox of one bridge. Cheap to clone.
#[derive(Clone, Debug)]
pub struct BridgeInbox {
    identity: Arc<Identity>,
    store: Store,
    submitter: Submitter,
    programs: Programs,
}

impl BridgeInbox {
    /// Returns the inbox of a bridge, the bridge's port to it, and what has to run for it, on whichever thread serves
    /// the inbox. `key` is a random number, as in [`Setup`].
    pub fn new(identity: Identity, key: u64) -> (Self, Port, Work) {
        let store = Store::default();
        let (port, submitter, intake) = pair(store.clone());
        let Identity { bridge, started_at, .. } = identity.clone();
        let setup = Setup { bridge, asker: Asker::Program, started: started_at, key };
        let programs = Programs::new(setup, store.clone());
        let work = Work { intake, programs: programs.clone() };
        (BridgeInbox { identity: Arc::new(identity), store, submitter, programs }, port, work)
    }

    /// Returns who this bridge is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }
}

impl Inbox for BridgeInbox {
    fn store(&self) -> &Store {
        &self.store
    }

    async fn submit(
        &self,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> Result<Arc<Record>, Refusal> {
        if id.bridge != self.identity.bridge {
            return Err(Refusal::NotFound);
        }
        let known = self.store.read(|_, snapshot| snapshot.get(id).cloned());
        if let (Some(record), Submission::Answer(answer)) = (&known, &submission)
            && record.is_open()
        {
            // Here, where no ordinary traffic waits: trying patterns can take long (I7).
            check(&record.question, answer).map_err(Refusal::DoesNotFit)?;
        }
        let (then, after) = (submission.clone(), by.clone());
        match id.asker {
            Asker::Agent => self.submitter.submit(id.number, submission, by).await?,
            Asker::Program => self.programs.submit(id.number, submission, by)?,
        }
        let now = self.store.read(|_, snapshot| snapshot.get(id).cloned());
        // Where much is settled at once, it may be forgotten already.
        now.or_else(|| Some(Arc::new(assumed(&*known?, then, after)))).ok_or(Refusal::Unavailable)
    }

    async fn ask(&self, question: Question) -> Result<Settlement, Refusal> {
        tokio::select! {
            settled = self.programs.ask(question) => settled,
            () = self.ended() => Err(Refusal::Unavailable),
        }
    }

    fn status(&self) -> Vec<BridgeStatus> {
        vec![self.identity.status(self.store.read(|_, snapshot| snapshot.open_count()))]
    }

    async fn ended(&self) {
        self.submitter.ended().await;
    }
}

/// Returns a question as it is once a submission to it was accepted.
pub fn assumed(record: &Record, submission: Submission, by: Provenance) -> Record {
    use crate::question::{Outcome, Reason};
    let (outcome, remark) = match submission {
        Submission::Answer(answer) => (Outcome::Answered(answer), None),
        Submission::Reject(remark) => (Outcome::Rejected(Reason::User), remark),
        Submission::Extend(_) => return record.clone(),
    };
    let now = std::time::SystemTime::now().into();
    let mut settlement = Settlement::new(outcome, by, now);
    settlement.remark = remark;
    record.clone().settled(settlement)
}

/// What has to run for an inbox.
#[derive(Debug)]
pub struct Work {
    intake: Intake,
    programs: Programs,
}

impl Work {
    /// Takes over what the bridge hands over, and times the questions of programs, until the bridge has ended.
    pub async fn run(self) {
        let programs = self.programs;
        tokio::select! {
            () = self.intake.run() => {}
            () = async { programs.run().await; pending().await } => {}
        }
    }
}
