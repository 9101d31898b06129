//! The inbox of one bridge: the questions of its agent, those that programs ask through it, and whether a user is
//! looking at them. How submissions reach the agent is left to `handover.rs`, the desk of programs to `local_desk.rs`.

use std::{
    future::pending,
    net::SocketAddr,
    path::Path,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use askbridge_core::{
    desk::{
        Asker, IdPrefix, LostQuestion, QuestionId, Record, Refusal, Settlement, Setup, Snapshot, Submission,
    },
    question::{Guarding, Provenance, Question, check},
};
use askbridge_os::processes::AgentTree;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::{
    access::Inbox,
    handover::{Port, Submitter, pair},
    kept::{CallbackSender, KeptBy, Standing},
    ledger::{self, Ledger, latest_lost, latest_past},
    local_desk::LocalDesk,
    past::{HistoryFilter, PastQuestions},
    status::{BridgeStatus, Identity, Peers, Presence},
    store::Store,
    work::{AskerWork, Work},
};
use crate::limits;

/// The inbox of one bridge. Cheap to clone.
#[derive(Clone, Debug)]
pub struct BridgeInbox {
    identity: Arc<Identity>,
    started: Instant,
    /// The address at which the inbox is served over HTTP, if it is.
    address: Arc<OnceLock<SocketAddr>>,
    store: Store,
    agent: AgentSide,
    programs: LocalDesk,
    agent_tree: Option<AgentTree>,
    presence: Presence,
    /// The durable record of the questions, if there is one.
    ledger: Option<Arc<dyn Ledger>>,
    /// Whether the questions outlive this process: nobody but the ledger has them then.
    is_kept: bool,
    /// What keeps questions that no connection holds.
    pub(super) kept_by: KeptBy,
    /// Tracks the submissions in progress, so that a shutdown can wait until the ledger has those that were accepted.
    keeping: TaskTracker,
}

/// The place of the agent's questions.
#[derive(Clone, Debug)]
enum AgentSide {
    /// In the bridge, on a thread of its own.
    Bridge(Submitter),
    /// On a desk in this process, for an agent that does not ask over ACP.
    Desk(LocalDesk),
}

impl BridgeInbox {
    /// Returns the inbox of a bridge, the bridge's port to it, and the work that the thread which serves the inbox has
    /// to run. `key` is a random number, as in [`Setup`]. Call this before the agent is started.
    pub fn new(identity: Identity, key: u64) -> (Self, Port, Work) {
        let store = Store::default();
        let (port, submitter, intake) = pair(store.clone());
        // This must precede the start of the agent: children that exist now count as processes of others.
        let agent_tree = AgentTree::of_this_process();
        let inbox = Self::with(identity, key, store, AgentSide::Bridge(submitter), agent_tree);
        let work = Work { asker: AskerWork::Bridge(intake), programs: inbox.programs.clone() };
        (inbox, port, work)
    }

    /// Returns the inbox of an agent whose questions are on a desk in this process, that desk, and the work that has to
    /// run for the inbox. `agent_tree` has the processes of the agent, as far as they are known.
    pub fn of_desk(identity: Identity, key: u64, agent_tree: Option<AgentTree>) -> (Self, LocalDesk, Work) {
        let store = Store::default();
        let desk = LocalDesk::new(setup(&identity, key, Asker::Agent), store.clone());
        let inbox = Self::with(identity, key, store, AgentSide::Desk(desk.clone()), agent_tree);
        let work = Work { asker: AskerWork::Desk(desk.clone()), programs: inbox.programs.clone() };
        (inbox, desk, work)
    }

    /// Returns the inbox of programs whose questions no connection holds, its desk, and the work that has to run for it. Its
    /// clock starts with the first of these questions, which an earlier process kept.
    pub(super) fn of_kept(
        identity: Identity,
        key: u64,
        kept: &[Record],
        (ledger, callbacks): (Arc<dyn Ledger>, Arc<dyn CallbackSender>),
    ) -> (Self, LocalDesk, Work) {
        let store = Store::default();
        let now = identity.started_at;
        let started = kept.iter().map(|record| record.opened_at).min().map_or(now, |first| first.min(now));
        let of_asker = |asker| Setup { started, ..setup(&identity, key, asker) };
        let agent = LocalDesk::new(of_asker(Asker::Agent), store.clone());
        let passed = now.since(started);
        let (programs, decisions) = LocalDesk::of_kept(of_asker(Asker::Program), passed, store.clone());
        let asker = AskerWork::Kept(decisions, Arc::clone(&ledger), callbacks);
        let work = Work { asker, programs: programs.clone() };
        let inbox = Self::over(identity, store, AgentSide::Desk(agent), programs.clone(), None);
        (BridgeInbox { is_kept: true, ..inbox.with_ledger(Some(ledger)) }, programs, work)
    }

    fn with(
        identity: Identity,
        key: u64,
        store: Store,
        agent: AgentSide,
        agent_tree: Option<AgentTree>,
    ) -> Self {
        let programs = LocalDesk::new(setup(&identity, key, Asker::Program), store.clone());
        Self::over(identity, store, agent, programs, agent_tree)
    }

    fn over(
        identity: Identity,
        store: Store,
        agent: AgentSide,
        programs: LocalDesk,
        agent_tree: Option<AgentTree>,
    ) -> Self {
        BridgeInbox {
            identity: Arc::new(identity),
            started: Instant::now(),
            address: Arc::default(),
            store,
            agent,
            programs,
            agent_tree,
            presence: Presence::default(),
            ledger: None,
            is_kept: false,
            kept_by: KeptBy::default(),
            keeping: TaskTracker::new(),
        }
    }

    /// Decides what it takes to allow a permission.
    #[must_use]
    pub fn guarding(self, wanted: Guarding) -> Self {
        self.store.guard_as(wanted);
        self
    }

    /// Keeps the questions in this ledger.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Option<Arc<dyn Ledger>>) -> Self {
        self.store.keep_in(ledger.clone());
        self.ledger = ledger;
        self
    }

    /// Returns the place for what keeps questions that no connection holds.
    pub fn kept_by(&self) -> &KeptBy {
        &self.kept_by
    }

    /// Returns how long the bridge has run.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns whether a program recently reported that a person is looking at the questions.
    pub fn is_watched(&self) -> bool {
        self.presence.is_here()
    }

    /// Records the address at which the inbox is served over HTTP. Later calls have no effect.
    pub fn serves_at(&self, address: SocketAddr) {
        self.address.get_or_init(|| address);
    }

    /// Hands a submission to the asker's desk, and waits for the verdict. The ledger gets the submission first.
    async fn hand_in(
        &self,
        id: &QuestionId,
        known: Option<&Arc<Record>>,
        submission: Submission,
        by: Provenance,
    ) -> Result<(), Refusal> {
        // The ledger keeps decisions. An extension is not a decision, and a question that is over takes no further
        // decision. What is decided about a question that is kept is written before anybody hears of it.
        let settles = submission.settles() && !self.is_kept;
        let ledger = self.ledger.as_deref().zip(known.filter(|record| settles && record.is_open()));
        if let Some((ledger, record)) = ledger {
            ledger.accepting(record, &submission, &by).await;
        }
        let verdict = match (id.asker, &self.agent) {
            (Asker::Agent, AgentSide::Bridge(submitter)) => submitter.submit(id.number, submission, by).await,
            (Asker::Agent, AgentSide::Desk(desk)) => desk.submit(id.number, submission, by).await,
            (Asker::Program, _) => self.programs.submit(id.number, submission, by).await,
        };
        // `Unavailable` means that the outcome is unknown: the asker may have the answer, so the entry stays.
        if let (Some((ledger, record)), Err(refusal)) = (ledger, &verdict)
            && !matches!(refusal, Refusal::Unavailable)
        {
            ledger.refused(&record.id);
        }
        verdict
    }

    /// Returns a question of an earlier process that is over.
    async fn recall(&self, id: &QuestionId) -> Result<Option<Arc<Record>>, Refusal> {
        match self.ledger.as_ref().filter(|_| self.is_kept) {
            Some(ledger) => Ok(ledger.recall(id.clone()).await?.map(Arc::new)),
            None => Ok(None),
        }
    }

    /// Returns the ledger that keeps the questions.
    pub(crate) fn ledger(&self) -> Option<&dyn Ledger> {
        self.ledger.as_deref()
    }

    /// Returns whether a question of the ledger is of this bridge, or of its folder.
    fn is_near(&self, record: &Record) -> bool {
        let project = record.question.project.as_deref();
        record.bridge == self.identity.bridge
            || project.is_some_and(|project| Path::new(project).starts_with(&self.identity.folder))
    }

    /// Ends the store when the host stops, so that its followers end. The store of a bridge ends with its port instead.
    pub(crate) fn stop(&self) {
        if let AgentSide::Desk(_) = self.agent {
            self.programs.close();
            self.store.end();
        }
    }

    /// Returns the fixed properties of this bridge: its name, agent, folder and start.
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
        mut submission: Submission,
        by: Provenance,
    ) -> Result<Arc<Record>, Refusal> {
        if id.bridge != self.identity.bridge {
            return Err(Refusal::NotFound);
        }
        let known = self.store.read(|_, snapshot| snapshot.get(id).cloned());
        if known.is_none()
            && let Some(over) = self.recall(id).await?
        {
            Snapshot::judge_late(&over, &submission)?;
            return Ok(over);
        }
        if let (Some(record), Submission::Answer { answer, .. }) = (&known, &mut submission)
            && record.is_open()
        {
            // Patterns are checked here and not on the thread that forwards, since matching them can take long (I7).
            check(&record.question, answer).map_err(Refusal::DoesNotFit)?;
            #[cfg(feature = "images")]
            super::picture::write_anew(&mut answer.images).await.map_err(Refusal::DoesNotFit)?;
        }
        let (then, after) = (submission.clone(), by.clone());
        // The bridge may end as soon as the agent has its answer. The token makes `kept` wait for the lines below, so
        // that the responder still gets its reply.
        let _keeping = self.keeping.token();
        let handing = self.hand_in(id, known.as_ref(), submission, by);
        match self.is_kept {
            // The journal may fail for long. The decision stays on its way, and is told once it is written.
            true => timeout(limits::LEDGER_WAIT, handing).await.unwrap_or(Err(Refusal::Unknown))?,
            false => handing.await?,
        }
        let now = self.store.read(|_, snapshot| snapshot.get(id).cloned());
        // The store remembers a bounded number of settled questions, and may have forgotten this one already.
        let now =
            now.or_else(|| Some(Arc::new(assumed(&*known?, then, after)))).ok_or(Refusal::Unavailable)?;
        match &self.ledger {
            // The responder gets "accepted" only once a crash can no longer lose the settlement (I9).
            Some(ledger) if !now.is_open() && !self.is_kept => drop(ledger.settled(&now).await),
            // So it is with the new deadline of a question that is kept.
            Some(ledger) if now.is_open() && self.is_kept && !ledger.settled(&now).await => {
                return Err(Refusal::Unknown);
            }
            _ => {}
        }
        Ok(now)
    }

    async fn ask(&self, question: Question) -> Result<Settlement, Refusal> {
        // A server that stops waits until the program can be told.
        let _keeping = self.keeping.token();
        let asked = self.programs.ask(question);
        tokio::pin!(asked);
        tokio::select! {
            settled = &mut asked => settled,
            () = self.ended() => {
                // Nobody can answer the question any more.
                self.programs.close();
                asked.await
            }
        }
    }

    fn standing(&self) -> Result<Arc<dyn Standing>, &str> {
        self.kept_by.get()
    }

    fn status(&self) -> Vec<BridgeStatus> {
        let open = self.store.read(|_, snapshot| snapshot.open_count());
        let mut status = self.identity.status(self.started.elapsed(), open);
        status.peers = match &self.agent {
            AgentSide::Bridge(submitter) => submitter.peers(),
            AgentSide::Desk(_) => Peers::of_desk(&self.identity.agent),
        };
        status.address = self.address.get().map(ToString::to_string);
        status.watched = self.is_watched();
        vec![status]
    }

    /// Returns only the questions of this bridge's folder, since the journal has those of every bridge.
    async fn lost(&self) -> Result<Vec<LostQuestion>, Refusal> {
        let Some(ledger) = &self.ledger else { return Ok(Vec::new()) };
        let mut lost = ledger.lost().await?;
        lost.retain(|lost| self.is_near(&lost.record));
        Ok(latest_lost(lost))
    }

    /// Recalls only questions of this bridge and of its folder, since the journal has those of every bridge.
    async fn look_up(&self, typed: &IdPrefix) -> Result<Arc<Record>, Refusal> {
        let refusal = match self.find(typed) {
            Ok(found) => return Ok(found),
            Err(refusal) => refusal,
        };
        let recalled = ledger::recall(self.ledger.as_ref(), typed, refusal).await?;
        if self.is_near(&recalled) { Ok(recalled) } else { Err(Refusal::NotFound) }
    }

    /// Returns only the questions of this bridge's folder, as [`Inbox::lost`] does.
    async fn past(&self, mut filter: HistoryFilter) -> Result<PastQuestions, Refusal> {
        let Some(ledger) = &self.ledger else { return Ok(PastQuestions::default()) };
        let folder = &self.identity.folder;
        let project = filter.project.get_or_insert_with(|| folder.clone());
        if !Path::new(project).starts_with(folder) {
            return Ok(PastQuestions::default());
        }
        let questions = latest_past(ledger.past(filter).await?);
        Ok(PastQuestions { questions, missing: Vec::new() })
    }

    fn agent_tree(&self) -> Option<AgentTree> {
        self.agent_tree.clone()
    }

    async fn watch(&self) {
        self.presence.is_here_now();
    }

    async fn kept(&self) {
        // `wait` returns only once the tracker is closed. Tokens can still be taken, and are waited for too.
        self.keeping.close();
        timeout(limits::LEDGER_WAIT, self.keeping.wait()).await.unwrap_or_default();
    }

    async fn ended(&self) {
        match &self.agent {
            AgentSide::Bridge(submitter) => submitter.ended().await,
            // A desk in this process ends with the process, or with its host.
            AgentSide::Desk(_) => pending().await,
        }
    }
}

/// Returns the question as an accepted submission must have left it, for a store that has no record of it any more.
pub(crate) fn assumed(record: &Record, submission: Submission, by: Provenance) -> Record {
    use askbridge_core::question::{Outcome, Reason};
    let (outcome, remark) = match submission {
        Submission::Answer { answer, .. } => (Outcome::Answered(answer), None),
        Submission::Reject(remark) => (Outcome::Rejected(Reason::User), remark),
        Submission::Extend(_) | Submission::Later(_) => return record.clone(),
    };
    let now = std::time::SystemTime::now().into();
    let mut settlement = Settlement::new(outcome, by, now);
    settlement.remark = remark;
    record.clone().settled(settlement)
}

fn setup(identity: &Identity, key: u64, asker: Asker) -> Setup {
    Setup { bridge: identity.bridge.clone(), asker, started: identity.started_at, key }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, time::Duration};

    use askbridge_core::question::{Answer, Outcome, Reason, Value};
    use futures::FutureExt;
    use tokio::time::advance;

    use super::*;
    use crate::{
        inbox::store::Batch,
        limits,
        rpc::played::{played, question, soon},
    };

    fn answer(text: &str) -> Submission {
        let values = [("q0".to_owned(), Value::Text(text.to_owned()))].into();
        Submission::answer(Answer { values, ..Answer::default() }, None)
    }

    fn id(text: &str) -> QuestionId {
        text.parse().expect("an ID")
    }

    #[tokio::test]
    async fn no_responder_waits_for_a_bridge_that_is_gone() {
        let (inbox, mut port, _work) = played("b");
        let first = id("b-1");
        let mut submitted = Box::pin(inbox.submit(&first, Submission::Reject(None), Provenance::bridge()));
        assert!(submitted.as_mut().now_or_never().is_none());
        soon(poll_fn(|cx| port.poll_next(cx))).await;
        let mut asked = Box::pin(inbox.ask(question("a")));
        assert!(asked.as_mut().now_or_never().is_none());
        drop(port);
        assert_eq!(soon(submitted).await.err(), Some(Refusal::Unavailable));
        let told = soon(asked).await.expect("a settlement");
        assert_eq!(told.outcome, Outcome::Rejected(Reason::Shutdown));
        assert_eq!(soon(inbox.ask(question("b"))).await.err(), Some(Refusal::Unavailable));
        let late = soon(inbox.submit(&first, Submission::Reject(None), Provenance::bridge())).await;
        assert_eq!(late.err(), Some(Refusal::Unavailable));
    }

    #[tokio::test]
    async fn followers_of_a_desk_hear_the_last_and_end_when_its_host_stops() {
        let identity = played("b").0.identity().clone();
        let (inbox, desk, _work) = BridgeInbox::of_desk(identity, 1, None);
        let mut follower = inbox.store().follow();
        soon(follower.next()).await.expect("a snapshot");
        let asked = desk.open(question("a"), false, 0).expect("room");
        drop(asked);
        inbox.stop();
        assert!(matches!(soon(follower.next()).await, Some(Batch::Events { .. })));
        assert_eq!(soon(follower.next()).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn another_store_of_this_process_waits_for_no_debounce() {
        let identity = played("b").0.identity().clone();
        let (inbox, desk, _work) = BridgeInbox::of_desk(identity, 1, None);
        let store = inbox.store();
        for (mut follower, pause) in
            [(store.follow(), limits::DEBOUNCE), (store.follow_within(), limits::HAND_OVER)]
        {
            soon(follower.next()).await.expect("a snapshot");
            let begun = tokio::time::Instant::now();
            let _asked = desk.open(question("a"), false, 0).expect("room");
            soon(follower.next()).await.expect("a change");
            assert_eq!(begun.elapsed(), pause);
        }
    }

    #[tokio::test]
    async fn submissions_that_would_take_too_many_bytes_are_refused() {
        let (inbox, mut port, work) = played("b");
        let _work = tokio::spawn(work.run());
        let first = id("b-1");
        let big = answer(&"x".repeat(limits::WAITING_BYTES / 2));
        let submit = || inbox.submit(&first, big.clone(), Provenance::bridge());
        let mut waiting = Box::pin(submit());
        assert!(waiting.as_mut().now_or_never().is_none());
        assert_eq!(submit().now_or_never(), Some(Err(Refusal::TooManyRequests)));
        let submitted = soon(poll_fn(|cx| port.poll_next(cx))).await;
        // It takes its room until its verdict, whether or not its responder still waits.
        drop(waiting);
        assert_eq!(submit().now_or_never(), Some(Err(Refusal::TooManyRequests)));
        port.verdict(submitted.ticket, Err(Refusal::NotFound));
        soon(poll_fn(|cx| port.poll_hand_over(cx, false, || None))).await;
        // There is room again once the verdict was taken over.
        let mut again = Box::pin(submit());
        while again.as_mut().now_or_never().is_some() {
            tokio::task::yield_now().await;
            again = Box::pin(submit());
        }
    }

    #[tokio::test]
    async fn a_program_is_told_and_its_question_is_settled_at_the_same_time() {
        let (inbox, _port, work) = played("b");
        let _work = tokio::spawn(work.run());
        let first = id("b-p1");
        let mut asked = Box::pin(inbox.ask(question("a")));
        assert!(asked.as_mut().now_or_never().is_none());
        let record =
            soon(inbox.submit(&first, answer("yes"), Provenance::bridge())).await.expect("it is open");
        assert!(!record.is_open());
        assert!(matches!(soon(asked).await.expect("it is told").outcome, Outcome::Answered(_)));
        let again = soon(inbox.submit(&first, answer("yes"), Provenance::bridge())).await;
        assert!(again.is_ok(), "the same once more is accepted");
        let other = soon(inbox.submit(&first, answer("no"), Provenance::bridge())).await;
        assert!(matches!(other, Err(Refusal::Conflict(_))), "{other:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn questions_of_programs_warn_expire_and_are_withdrawn() {
        let (inbox, _port, work) = played("b");
        let _work = tokio::spawn(work.run());
        let mut timed = question("a");
        timed.timeout = Some(std::time::Duration::from_secs(10));
        let expires = async {
            let settled = inbox.ask(timed).await.expect("it is settled");
            assert_eq!(settled.outcome, Outcome::Rejected(Reason::Timeout));
        };
        let warned = async {
            let mut follower = inbox.store().follow();
            while !inbox.store().read(|_, now| now.get(&id("b-p1")).is_some_and(|record| record.expiring)) {
                follower.next().await.expect("it goes on");
            }
        };
        tokio::join!(expires, warned);
        let mut asked = Box::pin(inbox.ask(question("a")));
        assert!(asked.as_mut().now_or_never().is_none());
        drop(asked);
        let withdrawn = inbox.store().read(|_, now| now.get(&id("b-p2")).cloned()).expect("it is known");
        let outcome = withdrawn.settlement.as_ref().map(|settlement| &settlement.outcome);
        assert_eq!(outcome, Some(&Outcome::Rejected(Reason::Withdrawn)));
    }

    #[tokio::test]
    async fn questions_of_programs_have_the_limits_of_agents() {
        let (inbox, _port, _work) = played("b");
        let mut waiting = Vec::new();
        for _ in 0..limits::OPEN_PER_SESSION {
            let mut asked = Box::pin(inbox.ask(question("a")));
            assert!(asked.as_mut().now_or_never().is_none());
            waiting.push(asked);
        }
        let refused = inbox.ask(question("a")).now_or_never();
        assert!(matches!(refused, Some(Err(Refusal::Full(_)))), "{refused:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn person_counts_as_present_for_half_a_minute() {
        let (presence, instant) = (Presence::default(), Duration::from_millis(1));
        let same = presence.clone();
        assert!(!same.is_here());
        for _ in 0..2 {
            presence.is_here_now();
            advance(limits::PRESENCE - instant).await;
            assert!(same.is_here());
        }
        advance(instant).await;
        assert!(!same.is_here());
    }
}
