//! The inbox of questions that no connection holds: their askers leave, and come back for the outcome, also after a crash
//! of either side. Such a question is in the ledger before anybody sees it, and its outcome before its asker is told.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use askbridge_core::{
    desk::{Asker, Grant, QuestionId, Record, Refusal, Report, Timestamp, Use},
    question::Question,
};
use futures::{
    FutureExt,
    future::{BoxFuture, ready},
};
use tokio::time::Duration;
use tokio_util::sync::CancellationToken;

use super::{
    access::Inbox,
    bridge::BridgeInbox,
    kept::{CallbackSender, Consuming, Kept, KeptBy, NotKept, NotUsed, Standing},
    ledger::{AskedUnder, Keeping, KeptBefore, KeptQuestions, Ledger, Used, Using},
    local_desk::LocalDesk,
    status::Identity,
    store::wait_until,
    work::Work,
};
use crate::limits;

/// The inbox of questions that no connection holds. One process of a user has it at a time. Cheap to clone.
#[derive(Clone, Debug)]
pub struct StandingInbox {
    inbox: BridgeInbox,
    desk: LocalDesk,
    ledger: Arc<dyn Ledger>,
    callbacks: Arc<dyn CallbackSender>,
    /// The last number that was given to a question.
    last: Arc<AtomicU64>,
    /// Whether the process ends, so that nobody waits any more.
    ends: CancellationToken,
}

impl StandingInbox {
    /// Returns the inbox with the questions that an earlier process kept, which are open again, and the work that has to
    /// run for it. `key` is a random number, as in [`askbridge_core::desk::Setup`]. The caller hands the callbacks that were
    /// kept to `callbacks`.
    pub fn resume(
        kept: KeptQuestions,
        identity: Identity,
        key: u64,
        with: impl FnOnce(BridgeInbox) -> BridgeInbox,
        ledger: Arc<dyn Ledger>,
        callbacks: Arc<dyn CallbackSender>,
    ) -> (Self, Work) {
        let KeptQuestions { bridge, last, questions, .. } = kept;
        let identity = Identity { bridge, ..identity };
        let keepers = (Arc::clone(&ledger), Arc::clone(&callbacks));
        let (inbox, desk, work) = BridgeInbox::of_kept(identity, key, &questions, keepers);
        let inbox = with(inbox);
        let last = questions.iter().map(|record| record.id.number).fold(last, u64::max);
        desk.keep(questions);
        let (last, ends) = (Arc::new(AtomicU64::new(last)), CancellationToken::new());
        (StandingInbox { inbox, desk, ledger, callbacks, last, ends }, work)
    }

    /// Tells those who wait that the process ends.
    pub fn end(&self) {
        self.ends.cancel();
    }

    /// Returns the inbox by which responders find these questions.
    pub fn inbox(&self) -> &BridgeInbox {
        &self.inbox
    }

    /// Returns the inbox as it is served: it keeps questions as well.
    pub(crate) fn served(&self) -> BridgeInbox {
        // This value has the inbox without that, so that neither keeps the other in memory.
        let kept_by = KeptBy::default();
        kept_by.set(Ok(Arc::new(self.clone())));
        let mut served = self.inbox.clone();
        served.kept_by = kept_by;
        served
    }

    async fn keep(
        &self,
        question: Question,
        asked_under: Option<AskedUnder>,
        callback: Option<String>,
    ) -> Result<Kept, NotKept> {
        if let Some(Err(why)) = callback.as_deref().map(|url| self.callbacks.check(url)) {
            return self.again(asked_under, NotKept::Callback(why)).await;
        }
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let record = match self.desk.draft(number, question) {
            Ok(record) => Arc::new(record),
            // Who asks again needs no room.
            Err(refusal) => return self.again(asked_under, refusal.into()).await,
        };
        let keeping = Keeping { record: Arc::clone(&record), asked_under, callback: callback.clone() };
        match self.ledger.keep(keeping).await.map_err(Refusal::NotKept)? {
            Some(before) => self.asked_before(before).await,
            None => {
                callback.into_iter().for_each(|url| self.callbacks.opens(&record, url));
                self.desk.keep([(*record).clone()]);
                Ok(Kept { record: self.known(&record.id).unwrap_or(record), is_new: true })
            }
        }
    }

    /// Finds the question that was asked under this key, where no other one can open.
    async fn again(&self, asked_under: Option<AskedUnder>, why: NotKept) -> Result<Kept, NotKept> {
        let Some(under) = asked_under else { return Err(why) };
        match self.ledger.asked_before(under).await? {
            Some(before) => self.asked_before(before).await,
            None => Err(why),
        }
    }

    async fn asked_before(&self, before: KeptBefore) -> Result<Kept, NotKept> {
        if !before.is_same {
            return Err(Refusal::KeyUsed(before.id).into());
        }
        let record = self.with_use(self.over(&before.id, Duration::ZERO).await?).await?;
        Ok(Kept { record, is_new: false })
    }

    async fn over(&self, id: &QuestionId, within: Duration) -> Result<Arc<Record>, NotKept> {
        let is_over = |record: &Arc<Record>| !record.is_open();
        let waiting = wait_until(self.inbox.store(), within, |now| now.get(id).is_none_or(is_over));
        self.ends.run_until_cancelled(waiting).await;
        // What the ledger alone remembers is over for long.
        let Some(record) = self.known(id) else { return self.find(id).await };
        if record.is_open() && self.ends.is_cancelled() {
            return Err(NotKept::Ends(record));
        }
        Ok(record)
    }

    async fn take_back(&self, id: &QuestionId) -> Result<(), NotKept> {
        // A question that is not open was decided before, which is told below.
        self.desk.withdraw(id.number).unwrap_or_default();
        let record = self.over(id, limits::LEDGER_WAIT).await?;
        if record.is_open() {
            let why = "the journal cannot be written now: try again later";
            return Err(Refusal::NotKept(why.to_owned()).into());
        }
        if is_withdrawn(&record) { Ok(()) } else { Err(Refusal::Conflict(record).into()) }
    }

    async fn take_approval(&self, consuming: Consuming) -> Result<Arc<Record>, NotUsed> {
        let Consuming { id, digest, key } = consuming;
        let record = self.over(&id, Duration::ZERO).await?;
        let grant = granted(&record)?;
        if grant.digest != digest {
            return Err(NotUsed::Stale(grant.digest.clone()));
        }
        let at = Timestamp::from(SystemTime::now());
        let is_again = |used: &Used| key.is_some() && used.key == key;
        let before = match grant.expires.filter(|end| *end <= at) {
            Some(end) => match self.ledger.used(&record).await? {
                // Whoever took it in time may be told so again.
                Used { used: Use { consumed_at: None, .. }, .. } => return Err(NotUsed::Expired(end)),
                before => before,
            },
            None => {
                let using = Using::Consume { at, key: key.clone() };
                self.ledger.make_use(&record, using).await.map_err(Refusal::NotKept)?
            }
        };
        match before.used.consumed_at {
            Some(then) if !is_again(&before) => Err(NotUsed::Spent(then)),
            then => {
                let used = Use { consumed_at: then.or(Some(at)), ..before.used };
                Ok(Arc::new(Record { used: Some(Box::new(used)), ..(*record).clone() }))
            }
        }
    }

    async fn take_report(&self, id: &QuestionId, report: Report) -> Result<(), NotUsed> {
        let record = self.over(id, Duration::ZERO).await?;
        granted(&record)?;
        let using = Using::Report(report.clone(), SystemTime::now().into());
        let before = self.ledger.make_use(&record, using).await.map_err(Refusal::NotKept)?;
        match before.used.report {
            Some(before) if before != report => Err(NotUsed::Reported(before)),
            _ => Ok(()),
        }
    }

    /// Adds what became of what the question allowed.
    async fn with_use(&self, record: Arc<Record>) -> Result<Arc<Record>, NotKept> {
        if record.used.is_some() || granted(&record).is_err() {
            return Ok(record);
        }
        let Used { used, .. } = self.ledger.used(&record).await?;
        let used = (used != Use::default()).then(|| Box::new(used));
        Ok(if used.is_some() { Arc::new(Record { used, ..(*record).clone() }) } else { record })
    }

    fn known(&self, id: &QuestionId) -> Option<Arc<Record>> {
        self.inbox.store().read(|_, snapshot| snapshot.get(id).cloned())
    }

    /// Finds a question: in the store, or in the ledger if it is over for long.
    async fn find(&self, id: &QuestionId) -> Result<Arc<Record>, NotKept> {
        if let Some(record) = self.known(id) {
            return Ok(record);
        }
        match self.ledger.recall(id.clone()).await? {
            Some(record) => Ok(Arc::new(record)),
            None => {
                // Another call has just written it, and is about to open it.
                wait_until(self.inbox.store(), limits::LEDGER_WAIT, |now| now.get(id).is_some()).await;
                self.known(id).ok_or(NotKept::Refused(Refusal::NotFound))
            }
        }
    }
}

impl Standing for StandingInbox {
    fn id(&self, number: u64) -> QuestionId {
        QuestionId { bridge: self.inbox.identity().bridge.clone(), asker: Asker::Program, number }
    }

    fn has(&self, id: &QuestionId) -> bool {
        id.bridge == self.inbox.identity().bridge
    }

    fn ask(
        &self,
        question: Question,
        under: Option<AskedUnder>,
        callback: Option<String>,
    ) -> BoxFuture<'static, Result<Kept, NotKept>> {
        if let Some(field) = question.fields.iter().find(|field| field.secret) {
            let why = format!("the field `{}` is secret, and the journal keeps no secret", field.name);
            return ready(Err(Refusal::BadQuestion(why).into())).boxed();
        }
        let this = self.clone();
        // A task, so that what is in the journal is also opened where the asker is gone by then.
        let asking = tokio::spawn(async move { this.keep(question, under, callback).await });
        asking
            .map(|kept| kept.unwrap_or_else(|failed| Err(Refusal::NotKept(failed.to_string()).into())))
            .boxed()
    }

    fn outcome(&self, id: &QuestionId, within: Duration) -> BoxFuture<'static, Result<Arc<Record>, NotKept>> {
        let (this, id) = (self.clone(), id.clone());
        async move { this.with_use(this.over(&id, within).await?).await }.boxed()
    }

    fn withdraw(&self, id: &QuestionId) -> BoxFuture<'static, Result<(), NotKept>> {
        let (this, id) = (self.clone(), id.clone());
        async move { this.take_back(&id).await }.boxed()
    }

    fn consume(&self, consuming: Consuming) -> BoxFuture<'static, Result<Arc<Record>, NotUsed>> {
        let this = self.clone();
        async move { this.take_approval(consuming).await }.boxed()
    }

    fn report(&self, id: &QuestionId, report: Report) -> BoxFuture<'static, Result<(), NotUsed>> {
        let (this, id) = (self.clone(), id.clone());
        async move { this.take_report(&id, report).await }.boxed()
    }
}

/// Returns what a question allowed.
fn granted(record: &Record) -> Result<&Grant, NotUsed> {
    let settlement = record.settlement.as_deref();
    match (&record.question.action, settlement, settlement.and_then(|it| it.grant.as_deref())) {
        (_, _, Some(grant)) => Ok(grant),
        (None, _, _) => Err(NotUsed::NotAllowed("it is a question, and no permission")),
        (Some(_), None, _) => Err(NotUsed::NotAllowed("it waits for a decision")),
        (Some(_), Some(_), None) => Err(NotUsed::NotAllowed("it was refused, or is over without a decision")),
    }
}

fn is_withdrawn(record: &Record) -> bool {
    use askbridge_core::question::{Outcome, Reason};
    let settlement = record.settlement.as_deref();
    settlement.is_some_and(|settlement| settlement.outcome == Outcome::Rejected(Reason::Withdrawn))
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        sync::Mutex,
        time::{Duration, SystemTime},
    };

    use askbridge_core::{
        desk::{EarlierDecision, LostQuestion, Submission},
        question::{Answer, Field, Outcome, Provenance, Reason, Value},
    };
    use tokio::task::JoinHandle;

    use super::*;
    use crate::{
        inbox::{LeftToClient, NoCallbacks},
        rpc::played::{question, soon},
    };

    /// A journal in memory. What is in it outlives the inbox.
    #[derive(Debug, Default)]
    struct Memory {
        keys: Mutex<BTreeMap<String, (QuestionId, Vec<u8>)>>,
        records: Mutex<BTreeMap<QuestionId, Record>>,
        fails: Mutex<bool>,
    }

    impl Memory {
        fn fails(&self) -> bool {
            *self.fails.lock().unwrap()
        }

        fn kept(&self) -> KeptQuestions {
            let records = self.records.lock().unwrap();
            let questions = records.values().filter(|record| record.is_open()).cloned().collect();
            let last = records.keys().map(|id| id.number).max().unwrap_or_default();
            KeptQuestions { bridge: "kept".parse().unwrap(), last, questions, callbacks: Vec::new() }
        }

        /// Returns an inbox of a new process with what is kept.
        fn inbox(self: &Arc<Self>) -> (StandingInbox, JoinHandle<()>) {
            let identity = Identity {
                bridge: "other".parse().unwrap(),
                agent: "inbox".to_owned(),
                folder: String::new(),
                started_at: SystemTime::now().into(),
            };
            let ledger = Arc::clone(self) as Arc<dyn Ledger>;
            let (standing, work) =
                StandingInbox::resume(self.kept(), identity, 7, |inbox| inbox, ledger, Arc::new(NoCallbacks));
            (standing, tokio::spawn(work.run()))
        }
    }

    impl Ledger for Memory {
        fn note(&self, record: &Arc<Record>) {
            if !self.fails() {
                self.records.lock().unwrap().insert(record.id.clone(), (**record).clone());
            }
        }

        fn missing(&self, _: u64) {}

        fn left_to_client(&self, _: LeftToClient) {}

        fn has_entries(&self) -> bool {
            true
        }

        fn accepting(&self, _: &Arc<Record>, _: &Submission, _: &Provenance) -> BoxFuture<'static, ()> {
            ready(()).boxed()
        }

        fn refused(&self, _: &QuestionId) {}

        fn waits(&self, _: &QuestionId) {}

        fn begins(&self, _: &QuestionId) -> BoxFuture<'static, ()> {
            ready(()).boxed()
        }

        fn settled(&self, record: &Arc<Record>) -> BoxFuture<'static, bool> {
            self.note(record);
            ready(!self.fails()).boxed()
        }

        fn flush(&self) -> BoxFuture<'static, bool> {
            ready(!self.fails()).boxed()
        }

        fn earlier(&self, _: &Arc<Record>) -> BoxFuture<'static, Option<EarlierDecision>> {
            ready(None).boxed()
        }

        fn lost(&self) -> BoxFuture<'static, Result<Vec<LostQuestion>, Refusal>> {
            ready(Ok(Vec::new())).boxed()
        }

        fn recall(&self, id: QuestionId) -> BoxFuture<'static, Result<Option<Record>, Refusal>> {
            let record = self.records.lock().unwrap().get(&id).cloned();
            ready(Ok(record.filter(|record| !record.is_open()))).boxed()
        }

        fn claim(&self, _: &QuestionId, _: &QuestionId) -> BoxFuture<'static, bool> {
            ready(false).boxed()
        }

        fn asked_before(&self, under: AskedUnder) -> BoxFuture<'static, Result<Option<KeptBefore>, Refusal>> {
            let keys = self.keys.lock().unwrap();
            let before = keys.get(&under.key);
            let before =
                before.map(|(id, digest)| KeptBefore { id: id.clone(), is_same: *digest == under.digest });
            ready(Ok(before)).boxed()
        }

        fn keep(&self, keeping: Keeping) -> BoxFuture<'static, Result<Option<KeptBefore>, String>> {
            if self.fails() {
                return ready(Err("the disk is full".to_owned())).boxed();
            }
            if let Some(under) = keeping.asked_under {
                if let Some(Ok(Some(before))) = self.asked_before(under.clone()).now_or_never() {
                    return ready(Ok(Some(before))).boxed();
                }
                let kept = (keeping.record.id.clone(), under.digest);
                self.keys.lock().unwrap().insert(under.key, kept);
            }
            self.note(&keeping.record);
            ready(Ok(None)).boxed()
        }
    }

    fn under(key: &str, digest: u8) -> Option<AskedUnder> {
        Some(AskedUnder { key: key.to_owned(), digest: vec![digest] })
    }

    fn answer(text: &str) -> Submission {
        let values = [("q0".to_owned(), Value::Text(text.to_owned()))].into();
        Submission::answer(Answer { values, ..Answer::default() }, None)
    }

    async fn answered(standing: &StandingInbox, id: &QuestionId, text: &str) {
        soon(standing.inbox().submit(id, answer(text), Provenance::bridge())).await.expect("a decision");
    }

    const NOT_AT_ALL: Duration = Duration::ZERO;

    #[tokio::test]
    async fn a_key_names_one_question_for_ever() {
        let memory = Arc::new(Memory::default());
        let (standing, _work) = memory.inbox();
        let first = standing.ask(question("Why?"), under("k", 1), None).await.unwrap();
        assert!(first.is_new && first.record.is_open());
        let again = standing.ask(question("Why?"), under("k", 1), None).await.unwrap();
        assert_eq!((again.is_new, &again.record.id), (false, &first.record.id));
        let other = standing.ask(question("What?"), under("k", 2), None).await;
        assert_eq!(other, Err(Refusal::KeyUsed(first.record.id.clone()).into()));
        answered(&standing, &first.record.id, "x").await;
        // The next process knows it as well, and how it ended.
        let (standing, _work) = memory.inbox();
        let again = standing.ask(question("Why?"), under("k", 1), None).await.unwrap();
        assert_eq!((again.is_new, again.record.is_open()), (false, false));
        let without = standing.ask(question("Why?"), None, None).await.unwrap();
        assert!(without.is_new && without.record.id.number > first.record.id.number);
    }

    #[tokio::test]
    async fn who_asks_again_needs_no_room() {
        let memory = Arc::new(Memory::default());
        let (standing, _work) = memory.inbox();
        let long = |text: &str| {
            let mut long = question(text);
            let field = Field { help: Some("x".repeat(4000)), ..long.fields[0].clone() };
            let named = |number| Field { name: format!("f{number}"), ..field.clone() };
            long.fields.extend((0..30).map(named));
            long
        };
        let first = standing.ask(long("Why?"), under("k", 1), None).await.unwrap().record;
        let mut refused = Ok(());
        for number in 0..2 * limits::KEPT_BYTES / limits::QUESTION {
            refused = standing.ask(long(&number.to_string()), None, None).await.map(drop);
        }
        assert!(matches!(refused, Err(NotKept::Refused(Refusal::Full(_)))), "{refused:?}");
        let again = standing.ask(long("Why?"), under("k", 1), None).await.unwrap();
        assert_eq!((again.is_new, &again.record.id), (false, &first.id));
        assert!(matches!(
            standing.ask(long("Why?"), under("k", 2), None).await,
            Err(NotKept::Refused(Refusal::KeyUsed(_)))
        ));
        assert!(standing.ask(long("Why?"), under("other", 1), None).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_is_open_again_in_the_next_process_until_its_own_deadline() {
        let memory = Arc::new(Memory::default());
        let (standing, work) = memory.inbox();
        let timed = Question { timeout: Some(Duration::from_secs(60)), ..question("Soon?") };
        let timed = standing.ask(timed, None, None).await.unwrap().record;
        let open = standing.ask(question("Ever?"), None, None).await.unwrap().record;
        work.abort();
        // The wall clock does not move in this test, so the question opened that long ago.
        let opened_at = |record: &mut Record| {
            record.opened_at = (SystemTime::now() - Duration::from_secs(50)).into();
            record.deadline = Some(record.opened_at.after(Duration::from_secs(60)));
        };
        memory.records.lock().unwrap().entry(timed.id.clone()).and_modify(opened_at);
        let (standing, _work) = memory.inbox();
        let now = |id: &QuestionId| standing.known(id).unwrap();
        assert_eq!(now(&timed.id).deadline, memory.records.lock().unwrap()[&timed.id].deadline);
        let over = standing.outcome(&timed.id, Duration::from_secs(11)).await.unwrap();
        let settlement = over.settlement.as_ref().expect("it is over");
        assert_eq!(settlement.outcome, Outcome::Rejected(Reason::Timeout));
        assert_eq!((now(&open.id).state, now(&open.id).opened_at), (open.state, open.opened_at));
    }

    #[tokio::test]
    async fn who_waits_is_told_what_the_journal_has() {
        let memory = Arc::new(Memory::default());
        let (standing, _work) = memory.inbox();
        let id = standing.ask(question("Why?"), None, None).await.unwrap().record.id.clone();
        assert!(standing.outcome(&id, NOT_AT_ALL).await.unwrap().is_open());
        let waiting = tokio::spawn(standing.outcome(&id, limits::WAIT));
        *memory.fails.lock().unwrap() = true;
        let submitted = soon(standing.inbox().submit(&id, answer("x"), Provenance::bridge())).await;
        assert_eq!(submitted, Err(Refusal::Unknown));
        assert!(standing.outcome(&id, NOT_AT_ALL).await.unwrap().is_open(), "it is on its way");
        assert!(matches!(standing.withdraw(&id).await, Err(NotKept::Refused(Refusal::NotKept(_)))));
        assert!(!waiting.is_finished());
        *memory.fails.lock().unwrap() = false;
        let told = soon(waiting).await.unwrap().unwrap();
        assert!(!told.is_open());
        assert_eq!(memory.records.lock().unwrap()[&id].settlement, told.settlement);
        // The same again is what was decided.
        answered(&standing, &id, "x").await;
    }

    #[tokio::test]
    async fn who_waits_hears_that_the_process_ends() {
        let memory = Arc::new(Memory::default());
        let (standing, _work) = memory.inbox();
        let record = standing.ask(question("Why?"), None, None).await.unwrap().record;
        let waiting = tokio::spawn(standing.outcome(&record.id, limits::WAIT));
        standing.end();
        assert_eq!(soon(waiting).await.unwrap(), Err(NotKept::Ends(record)));
        assert_eq!(memory.kept().questions.len(), 1, "it stays open for the next process");
    }

    #[tokio::test]
    async fn a_journal_that_fails_lets_no_question_open() {
        let memory = Arc::new(Memory { fails: Mutex::new(true), ..Memory::default() });
        let (standing, _work) = memory.inbox();
        let refused = standing.ask(question("Why?"), under("k", 1), None).await;
        assert_eq!(refused, Err(Refusal::NotKept("the disk is full".to_owned()).into()));
        assert_eq!(standing.inbox().store().read(|_, now| now.open_count()), 0);
        let mut secret = question("Why?");
        secret.fields[0].secret = true;
        assert!(matches!(
            standing.ask(secret, None, None).await,
            Err(NotKept::Refused(Refusal::BadQuestion(_)))
        ));
    }

    #[tokio::test]
    async fn a_question_is_withdrawn_once_and_not_after_its_decision() {
        let memory = Arc::new(Memory::default());
        let (standing, _work) = memory.inbox();
        let [first, second] = ["One?", "Two?"].map(question);
        let first = standing.ask(first, None, None).await.unwrap().record.id.clone();
        let second = standing.ask(second, None, None).await.unwrap().record.id.clone();
        standing.withdraw(&first).await.unwrap();
        standing.withdraw(&first).await.unwrap();
        answered(&standing, &second, "x").await;
        assert!(matches!(standing.withdraw(&second).await, Err(NotKept::Refused(Refusal::Conflict(_)))));
        let none: QuestionId = "kept-p9".parse().unwrap();
        assert_eq!(soon(standing.withdraw(&none)).await, Err(NotKept::Refused(Refusal::NotFound)));
        assert_eq!(memory.kept().questions, []);
    }
}
