//! Tests of a process that is killed at any step of a question's life, over a ledger that survives: no accepted answer
//! is lost, and the agent gets none twice by itself. Whether the journal itself survives is tested in `tests/journal`.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::{pending, poll_fn},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use askbridge_control::{
    inbox::{BridgeInbox, Inbox, Ledger, LeftToClient, Port, wait_until},
    rpc::played::{played, question},
};
use askbridge_core::{
    desk::{
        Asker, Desk, EarlierDecision, LostQuestion, Notice, Opening, QuestionId, Record, Refusal, Setup,
        Snapshot, Submission, Timestamp,
    },
    question::{Answer, Outcome, Provenance, Question, Responder, Value},
};
use futures::{FutureExt, future::BoxFuture};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::recall::LedgerService;

/// Runs of the whole life of a question.
const RUNS: u64 = 10_000;
/// Processes that are killed before the last one, which lives.
const KILLED: usize = 4;

/// The state that survives a process, and the place at which the process is killed.
#[derive(Clone, Debug, Default)]
struct DurableLedger(Arc<Mutex<DurableState>>, Arc<Notify>);

#[derive(Debug, Default)]
struct DurableState {
    /// The answers, and whether they wait.
    accepted: BTreeMap<QuestionId, (Answer, bool)>,
    settled: BTreeSet<QuestionId>,
    claimed: BTreeMap<QuestionId, QuestionId>,
    /// Steps until the process is killed.
    left: Option<usize>,
}

impl DurableLedger {
    fn lock(&self) -> MutexGuard<'_, DurableState> {
        self.0.lock().expect("no test panicked")
    }

    /// A step of the process: it returns, or it never does.
    async fn step(&self) {
        let is_killed = match &mut self.lock().left {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        };
        if is_killed {
            self.1.notify_one();
            pending::<()>().await;
        }
    }

    /// Changes what survives, with a step before and behind.
    fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut DurableState) -> T + Send + 'static,
    ) -> BoxFuture<'static, T> {
        let durable = self.clone();
        let changed = async move {
            durable.step().await;
            let changed = change(&mut durable.lock());
            durable.step().await;
            changed
        };
        changed.boxed()
    }
}

impl Ledger for DurableLedger {
    fn note(&self, _: &Arc<Record>) {}

    fn missing(&self, _: u64) {}

    fn left_to_client(&self, _: LeftToClient) {}

    fn has_entries(&self) -> bool {
        false
    }

    fn accepting(
        &self,
        record: &Arc<Record>,
        submission: &Submission,
        _: &Provenance,
    ) -> BoxFuture<'static, ()> {
        let (id, submission) = (record.id.clone(), submission.clone());
        self.change(move |state| {
            if let Submission::Answer { answer, .. } = submission {
                state.accepted.insert(id, (answer, false));
            }
        })
    }

    fn refused(&self, id: &QuestionId) {
        self.lock().accepted.remove(id);
    }

    fn waits(&self, id: &QuestionId) {
        self.lock().accepted.entry(id.clone()).and_modify(|(_, waits)| *waits = true);
    }

    fn begins(&self, id: &QuestionId) -> BoxFuture<'static, ()> {
        let id = id.clone();
        self.change(move |state| {
            state.accepted.entry(id).and_modify(|(_, waits)| *waits = false);
        })
    }

    fn settled(&self, record: &Arc<Record>) -> BoxFuture<'static, bool> {
        let id = record.id.clone();
        let settled = self.change(move |state| {
            state.settled.insert(id);
        });
        settled.map(|()| true).boxed()
    }

    fn flush(&self) -> BoxFuture<'static, bool> {
        futures::future::ready(true).boxed()
    }

    fn earlier(&self, record: &Arc<Record>) -> BoxFuture<'static, Option<EarlierDecision>> {
        let own = record.id.clone();
        self.change(move |state| {
            let (id, (answer, waits)) = state.accepted.iter().rfind(|(id, _)| id.bridge < own.bridge)?;
            let (id, outcome) = (id.clone(), Outcome::Answered(answer.clone()));
            let was_delivered = state.settled.contains(&id);
            let (by, at, may_have_arrived) = (person(), Timestamp::default(), !was_delivered && !waits);
            Some(EarlierDecision { id, outcome, by, at, was_delivered, may_have_arrived })
        })
    }

    fn lost(&self) -> BoxFuture<'static, Result<Vec<LostQuestion>, Refusal>> {
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    fn claim(&self, earlier: &QuestionId, by: &QuestionId) -> BoxFuture<'static, bool> {
        let (earlier, by) = (earlier.clone(), by.clone());
        self.change(move |state| {
            // The claim of the new question outlives it as well.
            let Some(waits) = state.accepted.get(&earlier).filter(|(_, waits)| *waits).cloned() else {
                return false;
            };
            if state.claimed.contains_key(&earlier) {
                return false;
            }
            state.accepted.insert(by.clone(), waits);
            state.claimed.insert(earlier, by);
            true
        })
    }
}

fn person() -> Provenance {
    Provenance { responder: Responder::Page, name: None }
}

fn answer() -> Answer {
    Answer { values: [("q0".to_owned(), Value::Text("a".to_owned()))].into(), ..Answer::default() }
}

/// The agent, whose memory survives: it asks in each process, also what it has an answer to.
#[derive(Default)]
struct Agent {
    heard: usize,
}

/// The person, who answers once.
#[derive(Default)]
struct Person {
    is_told: bool,
    /// Whether the last process shows the answer from before.
    is_offered: bool,
}

/// The bridge's end: what the agent asks is on its desk.
struct Bridge {
    desk: Desk,
    port: Port,
}

impl Bridge {
    /// Hands over what changed, and lets the inbox take it over.
    async fn hand_over(&mut self) {
        let Bridge { desk, port } = self;
        while let Some(notice) = desk.poll() {
            if let Notice::Verdict(ticket, verdict) = notice {
                port.verdict(ticket, verdict);
            }
        }
        let has_changes = desk.has_changes();
        let handed_over = poll_fn(|cx| port.poll_hand_over(cx, has_changes, || desk.take_changes()));
        handed_over.await;
        tokio::task::yield_now().await;
    }

    /// Delivers decisions to the agent. If the agent does not read, a decision waits before that.
    async fn deliver(&mut self, durable: &DurableLedger, agent: &mut Agent, reads: bool) {
        let submitted = poll_fn(|cx| self.port.poll_next(cx)).await;
        let number = submitted.number;
        if self.desk.submit(submitted, Duration::ZERO).is_none() {
            return;
        }
        if !reads {
            self.port.waits(self.desk.id(number));
            self.hand_over().await;
            durable.step().await;
            self.port.begins(self.desk.id(number));
            self.hand_over().await;
            assert_eq!(poll_fn(|cx| self.port.poll_begun(cx)).await, number);
        }
        durable.step().await;
        agent.heard += 1;
        durable.step().await;
        self.desk.delivered(number);
        self.hand_over().await;
    }
}

/// One process: it lives until it is killed, or nothing more happens.
async fn live(
    durable: &DurableLedger,
    agent: &mut Agent,
    person_here: &mut Person,
    place: usize,
    reads: bool,
) {
    let name = format!("b{place}").parse().expect("a name");
    let identity = askbridge_control::inbox::Identity { bridge: name, ..played("b").0.identity().clone() };
    let (bridge, started) = (identity.bridge.clone(), identity.started_at);
    let (inbox, port, work) = BridgeInbox::new(identity, 1);
    let inbox = inbox.with_ledger(Some(Arc::new(durable.clone())));
    let service = Box::new(LedgerService { ledger: Arc::new(durable.clone()) });
    let stop = CancellationToken::new();
    let asks = Arc::new(Question { session: Some("s".to_owned()), ..question("Why?") });
    let mut bridge = Bridge { desk: Desk::new(Setup { bridge, asker: Asker::Agent, started, key: 1 }), port };
    let number = bridge.desk.open(
        Opening { question: asks, weight: 1, timeout: None, elsewhere: false, context: None },
        Duration::ZERO,
    );
    let id = bridge.desk.id(number);
    let is_asked = async {
        bridge.hand_over().await;
        loop {
            bridge.deliver(durable, agent, reads).await;
        }
    };
    let is_answered = async {
        let known = |now: &Snapshot| now.get(&id).is_some();
        wait_until(inbox.store(), Duration::from_secs(1), known).await;
        if place == 0 && inbox.submit(&id, Submission::answer(answer(), None), person()).await.is_ok() {
            person_here.is_told = true;
        }
        pending::<()>().await;
    };
    tokio::select! {
        () = is_asked => {}
        () = is_answered => {}
        () = work.run() => {}
        () = askbridge_control::rpc::host::Service::run(service, inbox.clone(), stop) => {}
        () = durable.1.notified() => {}
        () = tokio::time::sleep(Duration::from_secs(2)) => {}
    }
    person_here.is_offered =
        inbox.store().read(|_, now| now.get(&id).is_some_and(|it| it.is_open() && it.earlier.is_some()));
}

#[tokio::test(start_paused = true)]
async fn no_accepted_answer_is_lost_or_heard_twice_wherever_a_process_is_killed() {
    let (mut told, mut given, mut offered) = (0, 0, 0);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for run in 0..RUNS {
        let (durable, mut agent, mut person) =
            (DurableLedger::default(), Agent::default(), Person::default());
        for process in 0..=KILLED {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let steps = usize::try_from(random >> 33).expect("a number") % 14;
            durable.lock().left = (process < KILLED).then_some(steps);
            live(&durable, &mut agent, &mut person, process, random >> 32 & 1 == 0).await;
            assert!(!person.is_told || agent.heard == 1, "run {run}: the person was told too early");
        }
        let was_accepted = !durable.lock().accepted.is_empty();
        assert!(agent.heard <= 1, "run {run}: the agent heard {} answers", agent.heard);
        let is_known = agent.heard == 1 || person.is_offered;
        assert!(is_known || !was_accepted, "run {run}: {:?}", durable.lock());
        assert!(was_accepted || !is_known, "run {run}: nothing comes of nothing");
        told += usize::from(person.is_told);
        given += usize::from(agent.heard == 1 && !person.is_told);
        offered += usize::from(agent.heard == 0 && person.is_offered);
    }
    let all = [told, given, offered];
    assert!(all.iter().all(|count| *count > 100), "told, given later, and offered alone: {all:?}");
}
