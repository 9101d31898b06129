//! The open questions of an agent that takes answers by calls, and reports by events how each question ended. The form
//! of the calls and events is left to each agent.
//!
//! The agent decides between our answer and one at its own dialog: the reply to our call says whether it took ours
//! (I9). If no reply comes, the answer is sent again; an event may still report that the first attempt arrived.

use std::{
    collections::{BTreeMap, VecDeque},
    future::Future,
    sync::Arc,
};

use askbridge_control::inbox::{LocalDesk, QuestionHandle};
use askbridge_core::{
    desk::Settlement,
    question::{Context, Outcome, Provenance, Question, Reason},
};
use tokio::{
    sync::oneshot,
    task::{AbortHandle, Id, JoinSet},
    time::{Instant, sleep, timeout},
};

use super::attach::back_off;
use crate::limits;

/// The result of sending an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// The agent took the answer.
    Taken,
    /// The question was no longer open.
    TooLate,
    /// The agent refused the answer, for this reason. It would refuse the same answer again.
    Refused(String),
    /// It is unknown whether the agent has the answer, for this reason. The answer is sent again.
    Unknown(String),
    /// The answer was not sent, for this reason. It is sent later.
    NotSent(String),
}

/// An open question of the agent's, and how it is answered.
pub(super) trait Answerable: Send + Sync + 'static {
    /// The end of a question, as the agent reports it.
    type Ending: PartialEq + Send + Sync + 'static;

    /// Whether the agent's event about the end of a question overrides its reply to our answer. This is true for an
    /// agent that, in some versions, replies to a late answer that it was accepted.
    const EVENT_DECIDES: bool;

    /// Returns how many bytes of the agent's request it keeps in memory beside the question.
    fn bytes(&self) -> usize {
        0
    }

    /// Returns the end that the agent would report for this settlement.
    fn ending(&self, settlement: &Settlement) -> Self::Ending;

    /// Returns the outcome for an end that the agent reported.
    fn outcome(&self, ending: &Self::Ending) -> Outcome;

    /// Sends the decision to the agent. The future is dropped after [`limits::ATTACH_ANSWER`]; it is then unknown
    /// whether the agent has the decision. The last attempt begins within [`limits::ATTACH_REJOIN`], and an event may
    /// follow it for another [`limits::ATTACH_ANSWER`]: a responder waits for the sum of the three at most.
    fn deliver(&self, settlement: &Settlement) -> impl Future<Output = Delivery> + Send;
}

/// The end of a question on the agent's side.
struct ReportedEnd<E> {
    /// The end that the agent reported; `None` if it is only known that the question is over.
    ending: Option<E>,
    outcome: Outcome,
    by: Provenance,
}

impl<E> ReportedEnd<E> {
    fn end(self, asked: QuestionHandle) {
        asked.end(self.outcome, self.by);
    }
}

struct OpenQuestion<A: Answerable> {
    request: Arc<A>,
    tell: oneshot::Sender<ReportedEnd<A::Ending>>,
    task: AbortHandle,
}

/// The open questions of one agent, by the agent's IDs. Dropping the book withdraws them.
pub(super) struct Book<A: Answerable> {
    desk: LocalDesk,
    /// The name of the agent's own dialog, as responders see it.
    dialog: Provenance,
    open: BTreeMap<String, OpenQuestion<A>>,
    /// The IDs of the questions that ended last: a late event must not open one of them again.
    ended: VecDeque<String>,
    tasks: JoinSet<()>,
}

impl<A: Answerable> Book<A> {
    /// Returns a book without questions. `dialog` is recorded as the responder of questions that are answered at the
    /// agent.
    pub(super) fn new(desk: LocalDesk, dialog: Provenance) -> Self {
        let (open, ended) = (BTreeMap::new(), VecDeque::new());
        Book { desk, dialog, open, ended, tasks: JoinSet::new() }
    }

    /// Returns the IDs of the open questions for which `is_meant` holds.
    pub(super) fn ids(&self, is_meant: impl Fn(&A) -> bool) -> Vec<String> {
        self.open.iter().filter(|(_, open)| is_meant(&open.request)).map(|(id, _)| id.clone()).collect()
    }

    /// Opens a question that the agent asks, unless it is open already. `context` is what led to it.
    pub(super) fn open(&mut self, context: Option<Arc<Context>>, question: Question, request: A) {
        self.reap();
        let id = question.id.clone();
        if self.open.contains_key(&id) || self.ended.contains(&id) {
            return;
        }
        // `false`, because the agent's own dialog shows the question as well.
        let asked = match self.desk.open_after(context, question, false, request.bytes()) {
            Ok(asked) => asked,
            Err(error) => {
                tracing::warn!(question = id, %error, "a question is left to the agent's own dialog");
                return;
            }
        };
        // Each question has a task, so that an agent that does not reply to one answer does not hold up other
        // questions.
        let (tell, told) = oneshot::channel();
        let request = Arc::new(request);
        let task = self.tasks.spawn(attend(asked, told, Arc::clone(&request)));
        self.open.insert(id, OpenQuestion { request, tell, task });
    }

    /// Records that a question has ended in this way at the agent: by our answer, or at its own dialog.
    pub(super) fn ended(&mut self, id: &str, ending: A::Ending) {
        let Some(open) = self.take(id) else { return };
        let (outcome, by) = (open.request.outcome(&ending), self.dialog.clone());
        // Ignore the error: the task may have just told a responder, and ended.
        open.tell.send(ReportedEnd { ending: Some(ending), outcome, by }).unwrap_or_default();
    }

    /// Records that a question is no longer open, for an unknown reason.
    pub(super) fn withdrawn(&mut self, id: &str) {
        self.over(id, Reason::Withdrawn);
    }

    /// Records that the agent is gone.
    pub(super) fn gone(&mut self) {
        self.ids(|_| true).iter().for_each(|id| self.over(id, Reason::AgentGone));
    }

    /// Records that later events come over another connection, and perhaps from another process of the agent, which
    /// may use IDs again.
    pub(super) fn reconnected(&mut self) {
        // A question whose answer failed has ended here, but may still be open in the agent: let it open again.
        self.reap();
        self.ended.clear();
    }

    fn over(&mut self, id: &str, reason: Reason) {
        // The ID need not be remembered as ended: the agent no longer lists the question, so no later event
        // opens it.
        let Some(open) = self.open.remove(id) else { return };
        let told = ReportedEnd { ending: None, outcome: Outcome::Rejected(reason), by: Provenance::bridge() };
        open.tell.send(told).unwrap_or_default();
    }

    fn take(&mut self, id: &str) -> Option<OpenQuestion<A>> {
        let open = self.open.remove(id)?;
        if self.ended.len() >= limits::ATTACH_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back(id.to_owned());
        Some(open)
    }

    /// Waits until the task of a question has ended, and forgets the question. Stays pending while there is none.
    /// Cancel safe.
    pub(super) async fn finished(&mut self) {
        match self.tasks.join_next_with_id().await {
            Some(Ok((task, ()))) => self.forget(task),
            Some(Err(error)) => self.forget(error.id()),
            None => std::future::pending().await,
        }
    }

    /// Waits until the responders of all questions have been told the ends.
    pub(super) async fn finish(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    fn reap(&mut self) {
        while let Some(ended) = self.tasks.try_join_next_with_id() {
            self.forget(ended.map_or_else(|error| error.id(), |(task, ())| task));
        }
    }

    fn forget(&mut self, task: Id) {
        let id = self.open.iter().find(|(_, open)| open.task.id() == task).map(|(id, _)| id.clone());
        if let Some(id) = id {
            self.take(&id);
        }
    }
}

/// Follows a question until the agent reports its end, or a responder's decision is delivered.
async fn attend<A: Answerable>(
    mut asked: QuestionHandle,
    mut told: oneshot::Receiver<ReportedEnd<A::Ending>>,
    request: Arc<A>,
) {
    let settlement = tokio::select! {
        // The agent's own end comes first: an answer to a question that is over would be refused anyway.
        biased;
        told = &mut told => return match told {
            Ok(told) => told.end(asked),
            // The book was dropped together with the attachment. Dropping the handle withdraws the question.
            Err(_) => drop(asked),
        },
        settlement = asked.decided() => settlement,
    };
    let ours = request.ending(&settlement);
    let is_ours = |told: &ReportedEnd<A::Ending>| told.ending.as_ref() == Some(&ours);
    // The connection may be down for a moment: the agent keeps its dialog meanwhile, so an answer still counts then.
    let give_up = Instant::now() + limits::ATTACH_REJOIN;
    // Whether an attempt may have arrived although its reply did not.
    let mut may_have = false;
    for times in 0.. {
        let delivery = timeout(limits::ATTACH_ANSWER, request.deliver(&settlement)).await;
        match delivery.unwrap_or_else(|_| Delivery::Unknown("no reply in time".to_owned())) {
            // Some agents reply "taken" to each answer, and only their event says which one counted.
            Delivery::Taken => {
                return match told.try_recv() {
                    Ok(told) if A::EVENT_DECIDES && told.ending.is_some() && !is_ours(&told) => {
                        told.end(asked)
                    }
                    _ => asked.delivered(),
                };
            }
            // The event that says how the question ended may arrive after this reply.
            Delivery::TooLate => {
                return match timeout(limits::ATTACH_LATE, &mut told).await {
                    // The agent has this answer from an earlier attempt.
                    Ok(Ok(told)) if may_have && is_ours(&told) => asked.delivered(),
                    Ok(Ok(told)) => told.end(asked),
                    _ if may_have => asked.undeliverable(),
                    _ => asked.end(Outcome::Rejected(Reason::Withdrawn), Provenance::bridge()),
                };
            }
            // It would refuse the same answer again.
            Delivery::Refused(why) => {
                tracing::warn!(question = %asked.id(), why, "the agent did not take an answer");
                return asked.undeliverable();
            }
            Delivery::Unknown(why) => {
                may_have = true;
                tracing::debug!(question = %asked.id(), why, "sending an answer again");
            }
            Delivery::NotSent(why) => {
                tracing::debug!(question = %asked.id(), why, "an answer waits for the connection")
            }
        }
        let pause = back_off(limits::ATTACH_AGAIN, times, limits::ATTACH_ANSWER);
        tokio::select! {
            // An end that was reported must be seen before the next attempt.
            biased;
            told = &mut told => return match told {
                Ok(told) if may_have && is_ours(&told) => asked.delivered(),
                Ok(told) if !may_have || told.ending.is_some() => told.end(asked),
                // The question is gone, perhaps because our answer arrived.
                _ => asked.undeliverable(),
            },
            () = sleep(pause) => {}
        }
        if Instant::now() >= give_up {
            return asked.undeliverable();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        sync::{Mutex, MutexGuard},
        time::{Duration, SystemTime},
    };

    use askbridge_control::{
        inbox::{BridgeInbox, Identity, Inbox},
        join::discovery::bridge_name,
    };
    use askbridge_core::{
        desk::{Record, Refusal, Submission},
        dialect::opencode::{Ending, OpencodeEvent, OpencodeRequest, Verdict, read_event, verdict},
        question::{Answer, Responder, Value},
    };
    use askbridge_mock::opencode::core::{Core, Sample};
    use fastrand::Rng;
    use futures::future::join_all;
    use serde_json::Value as Json;
    use tokio::{
        sync::mpsc,
        time::{interval_at, timeout},
    };

    use super::*;
    use crate::limits;

    /// Rounds, each with an order of events of its own.
    const ROUNDS: u64 = 10_000;
    /// How long a round may take, by tokio's paused clock.
    const DEADLINE: Duration = Duration::from_secs(3600);
    /// The longest time that a responder waits for the result of its answer.
    const DECISION: Duration =
        limits::ATTACH_REJOIN.saturating_add(limits::ATTACH_ANSWER).saturating_add(limits::ATTACH_ANSWER);
    /// The project.
    const DIRECTORY: &str = "/p";

    fn delay(random: &mut Rng) -> Duration {
        Duration::from_millis(random.u64(..60))
    }

    /// opencode, and a network that takes its time and may lose what it carries.
    struct World {
        random: Rng,
        core: Core,
        /// Whether a call, a reply or an event may be lost.
        loses: bool,
        /// How the question ended in opencode, when, and whether by a call.
        end: Option<(Json, Instant, bool)>,
        events: mpsc::Sender<Vec<u8>>,
    }

    type Shared = Arc<Mutex<World>>;

    fn lock(world: &Shared) -> MutexGuard<'_, World> {
        world.lock().expect("no test has failed")
    }

    impl World {
        fn is_lost(&mut self) -> bool {
            self.loses && self.random.u8(..4) == 0
        }

        fn end(&mut self, id: &str, by: &Json, is_call: bool) -> bool {
            let Some(happened) = self.core.end(id, Some(DIRECTORY), by) else { return false };
            assert!(self.end.is_none(), "a question ends once");
            self.end = Some((by.clone(), Instant::now(), is_call));
            if !self.is_lost() {
                self.events.try_send(happened.event.to_string().into_bytes()).expect("room");
            }
            true
        }
    }

    async fn pass(time: Duration) {
        interval_at(Instant::now() + time, Duration::from_secs(1)).tick().await;
    }

    struct Called {
        world: Shared,
        request: OpencodeRequest,
    }

    impl Answerable for Called {
        type Ending = Ending;

        const EVENT_DECIDES: bool = true;

        fn ending(&self, settlement: &Settlement) -> Ending {
            self.request.call(&settlement.outcome, settlement.remark.as_deref()).ending
        }

        fn outcome(&self, ending: &Ending) -> Outcome {
            ending.outcome(&self.request.question)
        }

        fn deliver(&self, settlement: &Settlement) -> impl Future<Output = Delivery> + Send {
            let call = self.request.call(&settlement.outcome, settlement.remark.as_deref());
            let body = call.body.map(|body| serde_json::from_str(&body).expect("JSON")).unwrap_or_default();
            let world = Arc::clone(&self.world);
            let lost = || Delivery::Unknown("lost".to_owned());
            async move {
                let time = delay(&mut lock(&world).random);
                pass(time).await;
                let (replied, time) = {
                    let mut world = lock(&world);
                    if world.is_lost() {
                        return lost();
                    }
                    let id = call.path.split('/').nth(2).expect("an ID").to_owned();
                    let taken = world.end(&id, &body, true);
                    let reply =
                        if taken { (200, "true") } else { (404, r#"{"_tag":"QuestionNotFoundError"}"#) };
                    ((!world.is_lost()).then_some(reply), delay(&mut world.random))
                };
                pass(time).await;
                match replied.map(|(status, body)| verdict(status, body.as_bytes())) {
                    None => lost(),
                    Some(Verdict::Taken) => Delivery::Taken,
                    Some(Verdict::TooLate) => Delivery::TooLate,
                    Some(Verdict::Failed(why) | Verdict::Unclear(why)) => panic!("{why}"),
                }
            }
        }
    }

    /// A submission and its verdict, with the times of both.
    struct Submitted {
        label: &'static str,
        verdict: Result<Arc<Record>, Refusal>,
        times: (Instant, Instant),
    }

    async fn submit(inbox: &BridgeInbox, after: Duration, label: &'static str) -> Submitted {
        pass(after).await;
        let (open, start) =
            (inbox.store().read(|_, snapshot| snapshot.open().into_iter().next()), Instant::now());
        let verdict = match open {
            Some(record) => {
                let values = [("q0".to_owned(), Value::Text(label.to_owned()))].into();
                let answer = Submission::answer(Answer { values, ..Answer::default() }, None);
                let by = Provenance { responder: Responder::Rpc, name: None };
                inbox.submit(&record.id, answer, by).await
            }
            None => Err(Refusal::NotFound),
        };
        Submitted { label, verdict, times: (start, Instant::now()) }
    }

    fn identity() -> Identity {
        Identity {
            bridge: bridge_name(),
            agent: "opencode".to_owned(),
            folder: DIRECTORY.to_owned(),
            started_at: SystemTime::UNIX_EPOCH.into(),
        }
    }

    /// Plays one question to its end. Returns what the submissions led to.
    async fn play(round: u64, loses: bool) -> (Shared, Vec<Submitted>, Option<Settlement>) {
        let (inbox, desk, _work) = BridgeInbox::of_desk(identity(), 7, None);
        let dialog = Provenance { responder: Responder::Dialog, name: Some("opencode".to_owned()) };
        let mut book = Book::new(desk, dialog);
        let (events, mut told) = mpsc::channel(16);
        let random = Rng::with_seed(round);
        let mut world = World { random, core: Core::default(), loses, end: None, events };
        let (_, happened) = world.core.ask(Sample::Question, DIRECTORY);
        let times = [(); 4].map(|()| delay(&mut world.random));
        let keyboard =
            (world.random.u8(..3) > 0).then(|| ["Postgres", "SQLite"][usize::from(round.is_multiple_of(2))]);
        let world = Arc::new(Mutex::new(world));
        let asked = read_event(happened.event.to_string().as_bytes()).expect("an event");
        let OpencodeEvent::Asked(request) = asked.event else { panic!("{asked:?}") };
        let request = *request;
        let id = request.question.id.clone();
        book.open(None, request.question.clone(), Called { world: Arc::clone(&world), request });
        let press = async {
            pass(times[0]).await;
            if let Some(label) = keyboard {
                lock(&world).end(&id, &serde_json::json!({ "answers": [[label]] }), false);
            }
        };
        let hear = async {
            loop {
                tokio::select! {
                    event = told.recv() => {
                        let Some(event) = event else { break };
                        let time = delay(&mut lock(&world).random);
                        pass(time).await;
                        let event = read_event(&event).expect("an event").event;
                        let OpencodeEvent::Ended { id, ending } = event else { panic!("{event:?}") };
                        book.ended(&id, ending);
                    }
                    () = book.finished() => {}
                }
            }
        };
        let responders = async {
            let submissions: [Pin<Box<dyn Future<Output = Submitted>>>; 2] = [
                Box::pin(submit(&inbox, times[1], "Postgres")),
                Box::pin(submit(&inbox, times[2], "SQLite")),
            ];
            let (submitted, ()) = tokio::join!(join_all(submissions), press);
            // An answer that is still under way arrives.
            pass(Duration::from_secs(1)).await;
            submitted
        };
        let submitted = tokio::select! {
            () = hear => panic!("events end last"),
            submitted = responders => submitted,
        };
        let settled = inbox.store().read(|_, snapshot| {
            snapshot.settled().next().and_then(|record| record.settlement.as_deref().cloned())
        });
        (world, submitted, settled)
    }

    fn check(round: u64, loses: bool, world: &World, submitted: &[Submitted], settled: Option<&Settlement>) {
        let end =
            world.end.as_ref().map(|(by, ..)| by["answers"][0][0].as_str().unwrap_or_default().to_owned());
        for Submitted { label, verdict, times } in submitted {
            let what = format!("round {round}: {label} when opencode has {end:?}: {verdict:?}");
            match verdict {
                // I9: an accepted answer is the one that opencode has.
                Ok(_) => assert_eq!(end.as_deref(), Some(*label), "{what}"),
                Err(Refusal::Conflict(record)) => {
                    let (.., is_call) = world.end.as_ref().expect("what came first");
                    // The person may have typed the same answer, but no other call has it.
                    assert!(
                        !is_call || end.as_deref() != Some(*label),
                        "the agent has an answer that was refused as late: {what}"
                    );
                    let outcome = record.settlement.as_ref().map(|settlement| &settlement.outcome);
                    assert!(!matches!(outcome, Some(Outcome::Failed) | None), "{what}");
                }
                Err(Refusal::NotFound | Refusal::Gone(_)) => {}
                Err(Refusal::Unavailable) => assert!(loses, "{what}"),
                Err(_) => panic!("{what}"),
            }
            let most = if loses { DECISION } else { limits::ATTACH_ANSWER };
            assert!(times.1 - times.0 <= most, "{what}: told after {:?}", times.1 - times.0);
        }
        if !loses {
            let by_call = world.end.as_ref().is_some_and(|(.., is_call)| *is_call);
            let winners =
                submitted.iter().filter(|one| one.verdict.is_ok() && end.as_deref() == Some(one.label));
            assert!(!by_call || winners.count() >= 1, "round {round}: an answer was lost");
            assert_eq!(settled.is_some(), end.is_some(), "round {round}: {settled:?}");
        }
        if let Some(Settlement { outcome: Outcome::Answered(answer), .. }) = settled {
            let label = answer.values.values().next();
            assert_eq!(label, end.map(Value::Text).as_ref(), "round {round}: what is shown");
        }
    }

    /// A question that its agent gives these replies to, one after the other. After the last one, it is silent.
    struct Replies<const EVENT_DECIDES: bool>(Mutex<VecDeque<Delivery>>);

    impl<const EVENT_DECIDES: bool> Answerable for Replies<EVENT_DECIDES> {
        type Ending = bool;

        const EVENT_DECIDES: bool = EVENT_DECIDES;

        fn ending(&self, settlement: &Settlement) -> bool {
            matches!(settlement.outcome, Outcome::Answered(_))
        }

        fn outcome(&self, _: &bool) -> Outcome {
            Outcome::Rejected(Reason::User)
        }

        fn deliver(&self, _: &Settlement) -> impl Future<Output = Delivery> + Send {
            let delivery = self.0.lock().expect("no test has failed").pop_front();
            async {
                pass(Duration::from_millis(10)).await;
                match delivery {
                    Some(delivery) => delivery,
                    None => std::future::pending().await,
                }
            }
        }
    }

    fn replies<const EVENT_DECIDES: bool>(replies: &[Delivery]) -> Replies<EVENT_DECIDES> {
        Replies(Mutex::new(replies.to_vec().into()))
    }

    fn not_sent() -> Delivery {
        Delivery::NotSent("no connection".to_owned())
    }

    fn unknown() -> Delivery {
        Delivery::Unknown("it broke".to_owned())
    }

    fn refused() -> Delivery {
        Delivery::Refused("not now".to_owned())
    }

    /// The agent's report of the end of a question.
    #[derive(Clone, Copy, Debug)]
    enum Tells {
        Nothing,
        /// So much later, that it ended as it does by our answer.
        Ours(u64),
        /// In another way.
        Other(u64),
        /// That it is not open any more.
        Gone(u64),
    }

    /// Opens a question of this kind, answers it, and reports an end. Returns the verdict for the responder, and how long
    /// after that end it came.
    async fn answered(request: impl Answerable<Ending = bool>, tells: Tells) -> (&'static str, Duration) {
        let (inbox, desk, _work) = BridgeInbox::of_desk(identity(), 7, None);
        let mut book = Book::new(desk, Provenance::bridge());
        book.open(None, played_question(), request);
        let mut since = Instant::now();
        let tell = async {
            let (Tells::Ours(after) | Tells::Other(after) | Tells::Gone(after)) = tells else {
                return std::future::pending().await;
            };
            pass(Duration::from_millis(after)).await;
            since = Instant::now();
            match tells {
                Tells::Gone(_) => book.withdrawn("q"),
                _ => book.ended("q", matches!(tells, Tells::Ours(_))),
            }
            loop {
                book.finished().await;
            }
        };
        let verdict = tokio::select! {
            () = tell => panic!("it tells on"),
            submitted = submit(&inbox, Duration::ZERO, "Postgres") => submitted.verdict,
        };
        let told = match verdict {
            Ok(_) => "delivered",
            Err(Refusal::Conflict(_)) => "late",
            Err(Refusal::Gone(_)) => "gone",
            Err(Refusal::Unavailable | Refusal::Unknown) => "not known",
            Err(error) => panic!("{error:?}"),
        };
        (told, since.elapsed())
    }

    fn played_question() -> Question {
        let (_, happened) = Core::default().ask(Sample::Question, DIRECTORY);
        let asked = read_event(happened.event.to_string().as_bytes()).expect("an event");
        let OpencodeEvent::Asked(request) = asked.event else { panic!("{asked:?}") };
        Question { id: "q".to_owned(), ..request.question }
    }

    #[tokio::test(start_paused = true)]
    async fn responder_of_a_silent_agent_is_told_in_time_that_it_is_not_known() {
        let (told, time) = answered(replies::<false>(&[]), Tells::Nothing).await;
        assert_eq!(told, "not known");
        assert!(time > limits::ATTACH_REJOIN && time <= DECISION, "{time:?}");
    }

    // A reply comes after 10 ms, and the next attempt begins 100 ms later.
    #[tokio::test(start_paused = true)]
    async fn reply_and_event_decide_together_what_a_responder_is_told() {
        use Delivery::{Taken, TooLate};
        for (delivered, tells, expected) in [
            (vec![Taken], Tells::Other(5), "delivered"),
            (vec![not_sent(), Taken], Tells::Nothing, "delivered"),
            (vec![unknown(), Taken], Tells::Nothing, "delivered"),
            (vec![refused(), Taken], Tells::Nothing, "not known"),
            // The same was said at the dialog.
            (vec![TooLate], Tells::Ours(50), "late"),
            (vec![TooLate], Tells::Other(50), "late"),
            (vec![TooLate], Tells::Nothing, "gone"),
            (vec![not_sent(), TooLate], Tells::Ours(200), "late"),
            (vec![not_sent(), TooLate], Tells::Nothing, "gone"),
            // The first attempt had arrived.
            (vec![unknown(), TooLate], Tells::Ours(200), "delivered"),
            (vec![unknown(), TooLate], Tells::Other(200), "late"),
            (vec![unknown(), TooLate], Tells::Nothing, "not known"),
            (vec![unknown()], Tells::Ours(50), "delivered"),
            (vec![unknown()], Tells::Other(50), "late"),
            (vec![unknown()], Tells::Gone(50), "not known"),
            (vec![not_sent()], Tells::Ours(50), "late"),
            (vec![not_sent()], Tells::Other(50), "late"),
            (vec![not_sent()], Tells::Gone(50), "gone"),
        ] {
            let (told, _) = answered(replies::<false>(&delivered), tells).await;
            assert_eq!(told, expected, "{delivered:?}, {tells:?}");
        }
        // An agent that may say of a late answer that it took it.
        for (tells, expected) in
            [(Tells::Ours(5), "delivered"), (Tells::Other(5), "late"), (Tells::Gone(5), "delivered")]
        {
            assert_eq!(answered(replies::<true>(&[Taken]), tells).await.0, expected, "{tells:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn question_whose_answer_failed_opens_again_after_a_reconnect() {
        let (inbox, desk, _work) = BridgeInbox::of_desk(identity(), 7, None);
        let mut book = Book::new(desk, Provenance::bridge());
        let refused = || replies::<false>(&[refused()]);
        book.open(None, played_question(), refused());
        let submitted = submit(&inbox, Duration::ZERO, "Postgres").await;
        assert!(matches!(submitted.verdict, Err(Refusal::Unavailable)), "{:?}", submitted.verdict);
        book.open(None, played_question(), refused());
        let open = || inbox.store().read(|_, snapshot| snapshot.open_count());
        assert_eq!(open(), 0, "an event from before opens nothing");
        book.reconnected();
        book.open(None, played_question(), refused());
        assert_eq!(open(), 1);
        // An open question stays unchanged.
        let ids = || {
            inbox
                .store()
                .read(|_, snapshot| snapshot.open().iter().map(|open| open.id.clone()).collect::<Vec<_>>())
        };
        let before = ids();
        book.open(None, played_question(), refused());
        pass(Duration::from_millis(1)).await;
        assert_eq!(ids(), before);
        // One whose end nothing has looked at before opens again.
        submit(&inbox, Duration::ZERO, "Postgres").await;
        assert_eq!(open(), 0);
        book.reconnected();
        book.open(None, played_question(), refused());
        assert_eq!(open(), 1);
    }

    #[test]
    fn races_between_the_dialog_and_responders_have_one_end() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let mut ends = [0; 2];
            for round in 0..ROUNDS {
                let loses = round.is_multiple_of(3);
                let played = timeout(DEADLINE, play(round, loses)).await;
                let (world, submitted, settled) = played.unwrap_or_else(|_| panic!("round {round} hangs"));
                let world = lock(&world);
                check(round, loses, &world, &submitted, settled.as_ref());
                if let Some((.., is_call)) = world.end {
                    ends[usize::from(is_call)] += 1;
                }
            }
            assert!(ends.iter().all(|count| *count > 1000), "both sides win: {ends:?}");
        });
    }
}
