//! A process that is killed at any step of a question's life, over a ledger that survives: no accepted answer is lost, and the
//! agent gets none twice. That the journal itself survives is tried in `tests/journal`.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::pending,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use tokio::sync::Notify;

use super::{
    bridge_inbox::BridgeInbox,
    inbox::Inbox,
    ledger::Ledger,
    local_desk::LocalDesk,
    played::{played, question},
    recall::LedgerService,
};
use crate::{
    desk::{Earlier, LostQuestion, QuestionId, Record, Submission, Timestamp},
    question::{Answer, Outcome, Provenance, Responder, Value},
};

/// Runs of the whole life of a question.
const RUNS: u64 = 10_000;
/// Processes that are killed before the last one, which lives.
const KILLED: usize = 4;

/// What survives a process, and where the process is killed.
#[derive(Clone, Debug, Default)]
struct Durable(Arc<Mutex<State>>, Arc<Notify>);

#[derive(Debug, Default)]
struct State {
    accepted: BTreeMap<QuestionId, Answer>,
    settled: BTreeSet<QuestionId>,
    claimed: BTreeMap<QuestionId, QuestionId>,
    /// Steps until the process is killed.
    left: Option<usize>,
}

impl Durable {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panicked")
    }

    /// A step of the process: it goes on, or it never does.
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
        change: impl FnOnce(&mut State) -> T + Send + 'static,
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

impl Ledger for Durable {
    fn note(&self, _: &Arc<Record>) {}

    fn accepting(
        &self,
        record: &Arc<Record>,
        submission: &Submission,
        _: &Provenance,
    ) -> BoxFuture<'static, ()> {
        let (id, submission) = (record.id.clone(), submission.clone());
        self.change(move |state| {
            if let Submission::Answer(answer) = submission {
                state.accepted.insert(id, answer);
            }
        })
    }

    fn refused(&self, id: &QuestionId) {
        self.lock().accepted.remove(id);
    }

    fn settled(&self, record: &Arc<Record>) -> BoxFuture<'static, ()> {
        let id = record.id.clone();
        self.change(move |state| {
            state.settled.insert(id);
        })
    }

    fn flush(&self) -> BoxFuture<'static, ()> {
        futures::future::ready(()).boxed()
    }

    fn earlier(&self, record: &Arc<Record>) -> BoxFuture<'static, Option<Earlier>> {
        let own = record.id.clone();
        self.change(move |state| {
            let (id, answer) = state.accepted.iter().rfind(|(id, _)| id.bridge < own.bridge)?;
            let (id, outcome) = (id.clone(), Outcome::Answered(answer.clone()));
            let was_delivered = state.settled.contains(&id);
            Some(Earlier { id, outcome, by: person(), at: Timestamp::default(), was_delivered })
        })
    }

    fn lost(&self) -> BoxFuture<'static, Vec<LostQuestion>> {
        futures::future::ready(Vec::new()).boxed()
    }

    fn claim(&self, earlier: &QuestionId, by: &QuestionId) -> BoxFuture<'static, bool> {
        let (earlier, by) = (earlier.clone(), by.clone());
        self.change(move |state| {
            if state.claimed.contains_key(&earlier) {
                return false;
            }
            // What the claiming question has outlives it as well.
            if let Some(answer) = state.accepted.get(&earlier).cloned() {
                state.accepted.insert(by.clone(), answer);
            }
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

/// The agent, whose memory survives: it asks for as long as it has no answer.
#[derive(Default)]
struct Agent {
    answers: usize,
}

/// Whether the person was told that the answer was accepted.
#[derive(Default)]
struct Person {
    is_told: bool,
}

async fn live(durable: &Durable, agent: &mut Agent, person_here: &mut Person, answers: bool, name: &str) {
    let identity = super::protocol::Identity {
        bridge: name.parse().expect("a name"),
        ..played("b").0.identity().clone()
    };
    let (inbox, desk, work): (BridgeInbox, LocalDesk, _) = BridgeInbox::of_desk(identity, 1, None);
    let inbox = inbox.with_ledger(Some(Arc::new(durable.clone())));
    let service = Box::new(LedgerService::new(Arc::new(durable.clone())));
    let (_stopper, stop) = super::stop::Stopper::new();
    let mut asks = question("Why?");
    asks.session = Some("s".to_owned());
    let mut asked = desk.open(asks, false).expect("room");
    let id = asked.id().clone();
    let is_asked = async {
        asked.decided().await;
        durable.step().await;
        agent.answers += 1;
        durable.step().await;
        asked.delivered();
        pending::<()>().await;
    };
    let is_answered = async {
        if answers && inbox.submit(&id, Submission::Answer(answer()), person()).await.is_ok() {
            person_here.is_told = true;
        }
        pending::<()>().await;
    };
    tokio::select! {
        () = is_asked => {}
        () = is_answered => {}
        () = work.run() => {}
        () = super::host::Service::run(service, inbox.clone(), stop) => {}
        () = durable.1.notified() => {}
        () = tokio::time::sleep(Duration::from_secs(2)) => {}
    }
}

#[tokio::test(start_paused = true)]
async fn no_accepted_answer_is_lost_or_given_twice_wherever_a_process_is_killed() {
    let (mut told, mut given_later) = (0, 0);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for run in 0..RUNS {
        let (durable, mut agent, mut person) = (Durable::default(), Agent::default(), Person::default());
        for process in 0..=KILLED {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let steps = usize::try_from(random >> 33).expect("a number") % 14;
            durable.lock().left = (process < KILLED).then_some(steps);
            if agent.answers == 0 {
                live(&durable, &mut agent, &mut person, process == 0, &format!("b{process}")).await;
            }
            assert!(!person.is_told || agent.answers == 1, "run {run}: the person was told too early");
        }
        let was_accepted = !durable.lock().accepted.is_empty();
        assert!(agent.answers <= 1, "run {run}: the agent got {} answers", agent.answers);
        assert_eq!(agent.answers == 1, was_accepted, "run {run}: {:?}", durable.lock());
        told += usize::from(person.is_told);
        given_later += usize::from(was_accepted && !person.is_told);
    }
    assert!(told > 100 && given_later > 100, "{told} were told, and {given_later} given later");
}
