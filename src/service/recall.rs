//! The recall service: looks up in the ledger how the same question ended before. An accepted answer of which nothing
//! was delivered is submitted for the new question; any other answer is offered, and the user decides. Recording
//! questions in the ledger is left to the store in `inbox`.

use std::sync::Arc;

use askbridge_control::{
    inbox::{BridgeInbox, Inbox, Ledger, openings::Openings},
    rpc::host::{Service, Starts},
};
use askbridge_core::{
    desk::{EarlierDecision, QuestionId, Record, Submission},
    question::{Answer, Outcome, Provenance, Purpose},
};
use futures::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio_util::sync::CancellationToken;

use super::context::Context;

/// The service that recalls earlier answers from a ledger.
#[derive(Debug)]
pub struct LedgerService {
    pub(super) ledger: Arc<dyn Ledger>,
}

impl LedgerService {
    /// Returns the service of an inbox that has a ledger.
    pub(super) fn of(context: &Context) -> Option<Box<dyn Service>> {
        let ledger = Arc::clone(context.ledger.as_ref()?);
        Some(Box::new(LedgerService { ledger }))
    }

    async fn follow(self, inbox: BridgeInbox) {
        let mut openings = Openings::of(inbox.store());
        // Submissions run concurrently, so that an agent that does not read delays no other question.
        let mut given = FuturesUnordered::new();
        loop {
            tokio::select! {
                opened = openings.next() => {
                    let Some(opened) = opened else { return };
                    for record in opened {
                        // The look-ups for the questions before this one took time, in which another responder may have
                        // answered it.
                        if !is_open(&inbox, &record.id) {
                            continue;
                        }
                        if let Some(answer) = self.recall(&inbox, &record).await {
                            given.push(give(inbox.clone(), record, answer));
                        }
                    }
                }
                Some(()) = given.next() => {}
            }
        }
    }

    /// Looks up how the same question ended before, and shows that. Returns an answer that was never delivered and must
    /// be submitted now.
    async fn recall(&self, inbox: &BridgeInbox, record: &Arc<Record>) -> Option<EarlierAnswer> {
        if record.earlier.is_some() {
            return None;
        }
        let earlier = self.ledger.earlier(record).await?;
        inbox.store().recall(&record.id, earlier.clone());
        let EarlierDecision {
            id,
            outcome: Outcome::Answered(answer),
            by,
            was_delivered: false,
            may_have_arrived: false,
            ..
        } = earlier
        else {
            return None;
        };
        // Neither a permission nor a dangerous question is answered automatically (I12).
        let asks = &record.question;
        let may_be = asks.purpose != Purpose::Permission && !asks.dangerous;
        // The claim is exclusive: when two questions are the same, only one of them gets the answer.
        let is_given = may_be && self.ledger.claim(&id, &record.id).await;
        is_given.then_some(EarlierAnswer { earlier: id, answer, by })
    }
}

fn is_open(inbox: &BridgeInbox, id: &QuestionId) -> bool {
    inbox.store().read(|_, now| now.get(id).is_some_and(|record| record.is_open()))
}

/// An answer to an earlier question.
struct EarlierAnswer {
    earlier: QuestionId,
    answer: Answer,
    by: Provenance,
}

async fn give(inbox: BridgeInbox, record: Arc<Record>, given: EarlierAnswer) {
    let EarlierAnswer { earlier, answer, by } = given;
    match inbox.submit(&record.id, Submission::answer(answer, record.edition), by).await {
        Ok(_) => {
            tracing::info!(id = %record.id, %earlier, "submitted the earlier answer to the same question")
        }
        Err(error) => {
            tracing::warn!(id = %record.id, %earlier, %error, "the earlier answer to the same question was not \
            accepted")
        }
    }
}

impl Service for LedgerService {
    fn name(&self) -> &'static str {
        "ledger"
    }

    fn starts(&self) -> Starts {
        Starts::WithQuestion(Arc::new(|| true))
    }

    fn run(self: Box<Self>, inbox: BridgeInbox, _: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let ledger = Arc::clone(&self.ledger);
            // `stop` is ignored: this service ends with the store, since only then does the ledger have the last
            // changes.
            self.follow(inbox).await;
            ledger.flush().await;
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        sync::{Mutex, MutexGuard},
    };

    use askbridge_control::{
        inbox::{Identity, LeftToClient, LocalDesk, Work},
        rpc::played::{played, question, soon},
    };
    use askbridge_core::{
        desk::{Changes, LostQuestion, Refusal, Timestamp},
        question::{Question, Reason, Responder, Value},
    };
    use futures::FutureExt;

    use super::*;
    use crate::limits;

    /// A ledger that says what it was told, in the order in which it was.
    #[derive(Clone, Debug, Default)]
    struct Played(Arc<Mutex<Told>>);

    #[derive(Debug, Default)]
    struct Told {
        told: Vec<String>,
        earlier: Option<EarlierDecision>,
        claimed: BTreeSet<QuestionId>,
        lost: Vec<LostQuestion>,
    }

    impl Played {
        fn lock(&self) -> MutexGuard<'_, Told> {
            self.0.lock().expect("no test panicked")
        }

        fn tell(&self, what: String) {
            self.lock().told.push(what);
        }
    }

    impl Ledger for Played {
        fn note(&self, record: &Arc<Record>) {
            self.tell(format!("{} is {}", record.id, record.state.name()));
        }

        fn missing(&self, count: u64) {
            self.tell(format!("{count} missing"));
        }

        fn left_to_client(&self, left: LeftToClient) {
            self.tell(format!("{} leaves permissions to the client", left.bridge));
        }

        fn has_entries(&self) -> bool {
            !self.lock().told.is_empty()
        }

        fn accepting(&self, record: &Arc<Record>, _: &Submission, _: &Provenance) -> BoxFuture<'static, ()> {
            self.tell(format!("accepting {}", record.id));
            futures::future::ready(()).boxed()
        }

        fn refused(&self, id: &QuestionId) {
            self.tell(format!("refused {id}"));
        }

        fn waits(&self, id: &QuestionId) {
            self.tell(format!("{id} waits"));
        }

        fn begins(&self, id: &QuestionId) -> BoxFuture<'static, ()> {
            self.tell(format!("{id} begins"));
            futures::future::ready(()).boxed()
        }

        fn settled(&self, record: &Arc<Record>) -> BoxFuture<'static, bool> {
            self.tell(format!("settled {}", record.id));
            futures::future::ready(true).boxed()
        }

        fn flush(&self) -> BoxFuture<'static, bool> {
            futures::future::ready(true).boxed()
        }

        fn earlier(&self, _: &Arc<Record>) -> BoxFuture<'static, Option<EarlierDecision>> {
            futures::future::ready(self.lock().earlier.clone()).boxed()
        }

        fn lost(&self) -> BoxFuture<'static, Result<Vec<LostQuestion>, Refusal>> {
            futures::future::ready(Ok(self.lock().lost.clone())).boxed()
        }

        fn claim(&self, earlier: &QuestionId, _: &QuestionId) -> BoxFuture<'static, bool> {
            futures::future::ready(self.lock().claimed.insert(earlier.clone())).boxed()
        }
    }

    fn answer(text: &str) -> Answer {
        Answer { values: [("q0".to_owned(), Value::Text(text.to_owned()))].into(), ..Answer::default() }
    }

    fn page() -> Provenance {
        Provenance { responder: Responder::Page, name: Some("Ada".to_owned()) }
    }

    fn asking(ledger: &Played) -> (BridgeInbox, LocalDesk, Work) {
        let identity = played("b").0.identity().clone();
        let (inbox, desk, work) = BridgeInbox::of_desk(identity, 1, None);
        (inbox.with_ledger(Some(Arc::new(ledger.clone()))), desk, work)
    }

    #[tokio::test]
    async fn an_answer_is_in_the_ledger_before_it_is_given_and_again_before_its_responder_hears() {
        let ledger = Played::default();
        let (inbox, desk, _work) = asking(&ledger);
        let mut asked = desk.open(question("Why?"), false, 0).expect("room");
        let id = asked.id().clone();
        let mut submitted = Box::pin(inbox.submit(&id, Submission::answer(answer("a"), None), page()));
        assert!(submitted.as_mut().now_or_never().is_none());
        let mut told = vec![format!("{id} is open"), format!("accepting {id}")];
        assert_eq!(ledger.lock().told, told);
        soon(asked.decided()).await;
        asked.delivered();
        soon(submitted).await.expect("it is accepted");
        told.extend([format!("{id} is settled"), format!("settled {id}")]);
        assert_eq!(ledger.lock().told, told);
    }

    #[tokio::test]
    async fn what_is_refused_or_settles_nothing_is_not_kept() {
        let ledger = Played::default();
        let (inbox, desk, _work) = asking(&ledger);
        let asked = desk.open(question("Why?"), false, 0).expect("room");
        let id = asked.id().clone();
        let more = Submission::Extend(std::time::Duration::from_secs(1));
        soon(inbox.submit(&id, more, page())).await.expect_err("it has no deadline");
        assert_eq!(ledger.lock().told, [format!("{id} is open")]);
        let mut late = Box::pin(inbox.submit(&id, Submission::answer(answer("a"), None), page()));
        assert!(late.as_mut().now_or_never().is_none());
        asked.end(Outcome::Rejected(Reason::Cancelled), Provenance::bridge());
        soon(late).await.expect_err("it was taken back");
        let [opened, settled] = ["open", "settled"].map(|state| format!("{id} is {state}"));
        assert_eq!(ledger.lock().told, [opened, format!("accepting {id}"), settled, format!("refused {id}")]);
    }

    /// How far the answer from before came.
    #[derive(Clone, Copy, PartialEq)]
    enum Reach {
        Waited,
        Doubtful,
        Delivered,
    }

    /// Asks where the same was asked before, and returns the question once the ledger was asked about it.
    async fn recalled(ledger: &Played, reach: Reach, mut asks: Question) -> Arc<Record> {
        asks.session = Some("s".to_owned());
        let (inbox, desk, work) = asking(ledger);
        let _work = tokio::spawn(work.run());
        let (outcome, at) = (Outcome::Answered(answer("a")), Timestamp::default());
        let before = "a-1".parse().expect("an ID");
        let (by, may_have_arrived) = (page(), reach == Reach::Doubtful);
        let was_delivered = reach == Reach::Delivered;
        ledger.lock().earlier =
            Some(EarlierDecision { id: before, outcome, by, at, was_delivered, may_have_arrived });
        let service = LedgerService { ledger: Arc::new(ledger.clone()) };
        let mut followed = Box::pin(service.follow(inbox.clone()));
        let mut asked = desk.open(asks, false, 0).expect("room");
        let id = asked.id().clone();
        let decided = tokio::select! {
            () = &mut followed => panic!("it follows until the end"),
            _ = asked.decided() => true,
            () = askbridge_control::inbox::wait_until(
                inbox.store(), crate::limits::SERVICE_STOP, |now| now.get(&id).is_some_and(|it| it.earlier.is_some()),
            ).map(drop) => followed.as_mut().now_or_never().is_none() && asked.decided().now_or_never().is_some(),
        };
        if decided {
            asked.delivered();
            let settled =
                |now: &askbridge_core::desk::Snapshot| now.get(&id).is_some_and(|record| !record.is_open());
            assert!(inbox.store().read(|_, now| settled(now)));
        }
        inbox.store().read(|_, now| now.get(&id).cloned()).expect("it is known")
    }

    #[tokio::test]
    async fn an_answer_of_which_nothing_was_delivered_is_given_once() {
        let ledger = Played::default();
        let given = recalled(&ledger, Reach::Waited, question("Why?")).await;
        let settlement = given.settlement.as_ref().expect("it is settled");
        assert_eq!((&settlement.outcome, &settlement.by), (&Outcome::Answered(answer("a")), &page()));
        assert_eq!(given.earlier.as_ref().map(|earlier| earlier.id.to_string()).as_deref(), Some("a-1"));
        // Another question took it: this one only shows it.
        let shown = recalled(&ledger, Reach::Waited, question("Why?")).await;
        assert!(shown.is_open() && shown.earlier.is_some());
    }

    #[tokio::test]
    async fn what_may_have_been_delivered_a_permission_and_what_is_dangerous_are_shown_and_not_given() {
        let ledger = Played::default();
        for reach in [Reach::Delivered, Reach::Doubtful] {
            let shown = recalled(&ledger, reach, question("Why?")).await;
            assert!(shown.is_open() && shown.earlier.is_some());
        }
        let permission = Question { purpose: Purpose::Permission, ..question("May I?") };
        let dangerous = Question { dangerous: true, ..question("Drop it?") };
        for never_given in [permission, dangerous] {
            let shown = recalled(&ledger, Reach::Waited, never_given).await;
            assert!(shown.is_open() && shown.earlier.is_some());
        }
        assert!(ledger.lock().claimed.is_empty());
    }

    #[tokio::test]
    async fn a_bridge_tells_what_was_lost_in_its_own_folder_the_latest_first() {
        let ledger = Played::default();
        let lost = [("a-1", Some("/src/shop")), ("a-2", Some("/src/shopping")), ("a-3", None)]
            .into_iter()
            .chain((4..300).map(|_| ("a-4", Some("/src/shop/web"))));
        ledger.lock().lost = lost
            .map(|(id, project)| {
                let asks = Question { project: project.map(Into::into), ..question("Why?") };
                let id = id.parse().expect("an ID");
                let record = Record::new(id, Arc::new(asks), Timestamp::default());
                let (record, may_have_arrived) = (Arc::new(record), false);
                LostQuestion { record, accepted: None, may_have_arrived, replaced_by: None }
            })
            .collect();
        let identity = Identity { folder: "/src/shop".to_owned(), ..played("b").0.identity().clone() };
        let (inbox, ..) = BridgeInbox::of_desk(identity, 1, None);
        assert_eq!(soon(inbox.lost()).await, Ok(Vec::new()));
        let inbox = inbox.with_ledger(Some(Arc::new(ledger.clone())));
        let told = soon(inbox.lost()).await.unwrap();
        assert_eq!((told.len(), told[0].record.id.to_string()), (limits::REMEMBERED, "a-4".to_owned()));
        ledger.lock().lost.truncate(4);
        let told: Vec<_> =
            soon(inbox.lost()).await.unwrap().iter().map(|lost| lost.record.id.to_string()).collect();
        assert_eq!(told, ["a-4", "a-1"]);
    }

    #[test]
    fn the_ledger_hears_of_each_question_however_soon_it_ends() {
        let ledger = Played::default();
        let (_inbox, desk, _work) = asking(&ledger);
        // More than an inbox remembers, and no follower runs.
        let mut told = Vec::new();
        for _ in 0..2 * limits::REMEMBERED {
            let asked = desk.open(question("Why?"), false, 0).expect("room");
            let id = asked.id().clone();
            asked.end(Outcome::Answered(answer("a")), page());
            told.extend([format!("{id} is open"), format!("{id} is settled")]);
        }
        assert_eq!(ledger.lock().told, told);
    }

    #[test]
    fn a_question_of_which_its_bridge_remembers_nothing_ends_in_the_ledger_too() {
        let ledger = Played::default();
        let (inbox, desk, _work) = asking(&ledger);
        let asked = desk.open(question("Why?"), false, 0).expect("room");
        let id = asked.id().clone();
        inbox.store().apply(Changes { gone: vec![id.clone()], missed: 3, ..Changes::default() });
        let told = ledger.lock().told.clone();
        assert_eq!(told, [format!("{id} is open"), format!("{id} is settled"), "3 missing".to_owned()]);
    }
}
