//! Keeps the ledger of an inbox beside its socket: notes what happens to questions, and recalls how the same question ended
//! before. An answer that was accepted and never delivered is given; one that was delivered is shown, and a person decides.

use std::{collections::BTreeMap, pin::Pin, sync::Arc, time::SystemTime};

use futures::{StreamExt, stream::FuturesUnordered};

use super::{
    bridge_inbox::BridgeInbox, host::Service, inbox::Inbox, ledger::Ledger, stop::Stop, store::Batch,
};
use crate::{
    desk::{Earlier, Event, QuestionId, Record, Settlement, Submission},
    question::{Answer, Outcome, Provenance, Purpose},
};

/// The service that keeps a ledger.
#[derive(Debug)]
pub struct LedgerService {
    ledger: Arc<dyn Ledger>,
}

impl LedgerService {
    /// Returns a service for the inbox that has this ledger.
    pub fn new(ledger: Arc<dyn Ledger>) -> Self {
        LedgerService { ledger }
    }

    async fn follow(self, inbox: BridgeInbox) {
        let mut follower = inbox.store().follow();
        let mut open = Open::new();
        // Beside the rest: an agent that does not read holds up no other question.
        let mut given = FuturesUnordered::new();
        loop {
            tokio::select! {
                batch = follower.next() => {
                    let Some(batch) = batch else { return };
                    for record in self.note(&inbox, batch, &mut open) {
                        if let Some(answer) = self.recall(&inbox, &record).await {
                            given.push(give(inbox.clone(), record, answer));
                        }
                    }
                }
                Some(()) = given.next() => {}
            }
        }
    }

    /// Notes what happened, and returns the questions that opened.
    fn note(&self, inbox: &BridgeInbox, batch: Batch, open: &mut Open) -> Vec<Arc<Record>> {
        let mut opened = Vec::new();
        match batch {
            Batch::Snapshot { open: now, .. } => {
                // How those ended that are not open any more is known for the last of them.
                let is_over = |id: &QuestionId| now.iter().all(|record| record.id != *id);
                let over: Vec<_> = open.keys().filter(|id| is_over(id)).cloned().collect();
                for (id, record) in over.into_iter().filter_map(|id| open.remove_entry(&id)) {
                    let settled = inbox.store().read(|_, known| known.get(&id).cloned());
                    self.ledger.note(&settled.unwrap_or_else(|| Arc::new(ended(&record))));
                }
                opened.extend(now);
            }
            Batch::Events { events, .. } => {
                for (_, event) in events {
                    match event {
                        Event::Opened(record) => opened.push(record),
                        Event::Changed(record) => self.ledger.note(&record),
                        Event::Settled(record) => {
                            open.remove(&record.id);
                            self.ledger.note(&record);
                        }
                    }
                }
            }
        }
        opened.iter().for_each(|record| self.ledger.note(record));
        // One that opens and is settled within a batch has its settlement alone in it.
        open.extend(opened.iter().map(|record| (record.id.clone(), Arc::clone(record))));
        opened
    }

    /// Looks for the same question from before, and shows it. Returns an outcome that was never delivered, which is to be
    /// given now.
    async fn recall(&self, inbox: &BridgeInbox, record: &Arc<Record>) -> Option<Given> {
        if record.earlier.is_some() {
            return None;
        }
        let earlier = self.ledger.earlier(record).await?;
        inbox.store().recall(&record.id, earlier.clone());
        let Earlier { id, outcome: Outcome::Answered(answer), by, was_delivered: false, .. } = earlier else {
            return None;
        };
        // A permission is never given by itself (I12).
        let is_given =
            record.question.purpose != Purpose::Permission && self.ledger.claim(&id, &record.id).await;
        is_given.then_some(Given { earlier: id, answer, by })
    }
}

/// The questions that were noted as open.
type Open = BTreeMap<QuestionId, Arc<Record>>;

/// An answer from before.
struct Given {
    earlier: QuestionId,
    answer: Answer,
    by: Provenance,
}

async fn give(inbox: BridgeInbox, record: Arc<Record>, given: Given) {
    let Given { earlier, answer, by } = given;
    match inbox.submit(&record.id, Submission::Answer(answer), by).await {
        Ok(_) => tracing::info!(id = %record.id, %earlier, "an answer from before is given"),
        Err(error) => tracing::warn!(id = %record.id, %earlier, %error, "an answer from before is not given"),
    }
}

/// Returns a question that is over, of which it is not known how it ended.
fn ended(record: &Record) -> Record {
    let unknown = [("status".to_owned(), "unknown".into())].into_iter().collect();
    let at = SystemTime::now().into();
    record.clone().settled(Settlement::new(Outcome::Unknown(unknown), Provenance::bridge(), at))
}

impl Service for LedgerService {
    fn name(&self) -> &'static str {
        "ledger"
    }

    fn run(self: Box<Self>, inbox: BridgeInbox, mut stop: Stop) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let ledger = Arc::clone(&self.ledger);
            // The store ends when the bridge does, and what happened last is noted.
            let follow = self.follow(inbox);
            tokio::pin!(follow);
            tokio::select! {
                () = &mut follow => {}
                () = stop.stopped() => follow.await,
            }
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

    use futures::{FutureExt, future::BoxFuture};

    use super::*;
    use crate::{
        control::{
            Identity, LocalDesk, Work,
            played::{played, question, soon},
        },
        desk::{LostQuestion, Timestamp},
        limits,
        question::{Question, Reason, Responder, Value},
    };

    /// A ledger that says what it was told, in the order in which it was.
    #[derive(Clone, Debug, Default)]
    struct Played(Arc<Mutex<Told>>);

    #[derive(Debug, Default)]
    struct Told {
        told: Vec<String>,
        earlier: Option<Earlier>,
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

        fn accepting(&self, record: &Arc<Record>, _: &Submission, _: &Provenance) -> BoxFuture<'static, ()> {
            self.tell(format!("accepting {}", record.id));
            futures::future::ready(()).boxed()
        }

        fn refused(&self, id: &QuestionId) {
            self.tell(format!("refused {id}"));
        }

        fn settled(&self, record: &Arc<Record>) -> BoxFuture<'static, ()> {
            self.tell(format!("settled {}", record.id));
            futures::future::ready(()).boxed()
        }

        fn flush(&self) -> BoxFuture<'static, ()> {
            futures::future::ready(()).boxed()
        }

        fn earlier(&self, _: &Arc<Record>) -> BoxFuture<'static, Option<Earlier>> {
            futures::future::ready(self.lock().earlier.clone()).boxed()
        }

        fn lost(&self) -> BoxFuture<'static, Vec<LostQuestion>> {
            futures::future::ready(self.lock().lost.clone()).boxed()
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
        let mut asked = desk.open(question("Why?"), false).expect("room");
        let id = asked.id().clone();
        let mut submitted = Box::pin(inbox.submit(&id, Submission::Answer(answer("a")), page()));
        assert!(submitted.as_mut().now_or_never().is_none());
        assert_eq!(ledger.lock().told, [format!("accepting {id}")]);
        soon(asked.decided()).await;
        asked.delivered();
        assert_eq!(ledger.lock().told.len(), 1);
        soon(submitted).await.expect("it is accepted");
        assert_eq!(ledger.lock().told[1..], [format!("settled {id}")]);
    }

    #[tokio::test]
    async fn what_is_refused_or_settles_nothing_is_not_kept() {
        let ledger = Played::default();
        let (inbox, desk, _work) = asking(&ledger);
        let asked = desk.open(question("Why?"), false).expect("room");
        let id = asked.id().clone();
        let more = Submission::Extend(std::time::Duration::from_secs(1));
        soon(inbox.submit(&id, more, page())).await.expect_err("it has no deadline");
        assert_eq!(ledger.lock().told, [""; 0]);
        let mut late = Box::pin(inbox.submit(&id, Submission::Answer(answer("a")), page()));
        assert!(late.as_mut().now_or_never().is_none());
        asked.end(Outcome::Rejected(Reason::Cancelled), Provenance::bridge());
        soon(late).await.expect_err("it was taken back");
        assert_eq!(ledger.lock().told, [format!("accepting {id}"), format!("refused {id}")]);
    }

    /// Asks where the same was asked before, and returns the question once the ledger was asked about it.
    async fn recalled(ledger: &Played, was_delivered: bool, mut asks: Question) -> Arc<Record> {
        asks.session = Some("s".to_owned());
        let (inbox, desk, work) = asking(ledger);
        let _work = tokio::spawn(work.run());
        let (outcome, at) = (Outcome::Answered(answer("a")), Timestamp::default());
        let before = "a-1".parse().expect("an ID");
        ledger.lock().earlier = Some(Earlier { id: before, outcome, by: page(), at, was_delivered });
        let service = LedgerService::new(Arc::new(ledger.clone()));
        let mut followed = Box::pin(service.follow(inbox.clone()));
        let mut asked = desk.open(asks, false).expect("room");
        let id = asked.id().clone();
        let decided = tokio::select! {
            () = &mut followed => panic!("it follows until the end"),
            _ = asked.decided() => true,
            () = crate::control::store::wait_until(
                inbox.store(), crate::limits::SERVICE_STOP, |now| now.get(&id).is_some_and(|it| it.earlier.is_some()),
            ).map(drop) => followed.as_mut().now_or_never().is_none() && asked.decided().now_or_never().is_some(),
        };
        if decided {
            asked.delivered();
            let settled = |now: &crate::desk::Snapshot| now.get(&id).is_some_and(|record| !record.is_open());
            assert!(inbox.store().read(|_, now| settled(now)));
        }
        inbox.store().read(|_, now| now.get(&id).cloned()).expect("it is known")
    }

    #[tokio::test]
    async fn an_answer_that_was_never_delivered_is_given_once() {
        let ledger = Played::default();
        let given = recalled(&ledger, false, question("Why?")).await;
        let settlement = given.settlement.as_ref().expect("it is settled");
        assert_eq!((&settlement.outcome, &settlement.by), (&Outcome::Answered(answer("a")), &page()));
        assert_eq!(given.earlier.as_ref().map(|earlier| earlier.id.to_string()).as_deref(), Some("a-1"));
        // Another question took it: this one only shows it.
        let shown = recalled(&ledger, false, question("Why?")).await;
        assert!(shown.is_open() && shown.earlier.is_some());
    }

    #[tokio::test]
    async fn an_answer_that_was_delivered_and_a_permission_are_shown_and_not_given() {
        let ledger = Played::default();
        let shown = recalled(&ledger, true, question("Why?")).await;
        assert!(shown.is_open() && shown.earlier.is_some());
        let permission = Question { purpose: Purpose::Permission, ..question("May I?") };
        let shown = recalled(&ledger, false, permission).await;
        assert!(shown.is_open() && shown.earlier.is_some());
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
                LostQuestion { record: Arc::new(record), accepted: None, replaced_by: None }
            })
            .collect();
        let identity = Identity { folder: "/src/shop".to_owned(), ..played("b").0.identity().clone() };
        let (inbox, ..) = BridgeInbox::of_desk(identity, 1, None);
        assert_eq!(soon(inbox.lost()).await, []);
        let inbox = inbox.with_ledger(Some(Arc::new(ledger.clone())));
        let told = soon(inbox.lost()).await;
        assert_eq!((told.len(), told[0].record.id.to_string()), (limits::REMEMBERED, "a-4".to_owned()));
        ledger.lock().lost.truncate(4);
        let told: Vec<_> = soon(inbox.lost()).await.iter().map(|lost| lost.record.id.to_string()).collect();
        assert_eq!(told, ["a-4", "a-1"]);
    }

    #[test]
    fn what_ended_while_the_service_fell_behind_is_not_left_open() {
        let ledger = Played::default();
        let (inbox, desk, _work) = asking(&ledger);
        let asked = desk.open(question("Why?"), false).expect("room");
        let known = asked.id().clone();
        let service = LedgerService::new(Arc::new(ledger.clone()));
        let mut open = Open::new();
        let now = |inbox: &BridgeInbox| {
            inbox.store().read(|revision, now| Batch::Snapshot { revision, open: now.open() })
        };
        service.note(&inbox, now(&inbox), &mut open);
        // Nothing is remembered of this one.
        let forgotten: QuestionId = "b-77".parse().expect("an ID");
        let record = Record::new(forgotten.clone(), Arc::new(question("Why?")), Timestamp::default());
        open.insert(forgotten.clone(), Arc::new(record));
        drop(asked);
        service.note(&inbox, now(&inbox), &mut open);
        assert!(open.is_empty());
        let told = ledger.lock().told.clone();
        assert_eq!(told[1..], [format!("{known} is settled"), format!("{forgotten} is settled")]);
    }
}
