//! The channel between a bridge and its inbox: submissions go to the bridge, changes and verdicts come back. Neither
//! side waits for the other. The bridge runs on a thread of its own and takes no lock that the inbox's thread takes
//! (I7).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError, TryLockError},
    task::{Context, Poll},
};

use askbridge_core::{
    desk::{Changes, QuestionId, Record, Refusal, Submission, Ticket, TicketedSubmission},
    question::Provenance,
};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::{Instant, sleep_until},
};
use tokio_util::sync::PollSender;

use super::{status::Peers, store::Store};
use crate::limits;

/// The result of a submission.
pub(crate) type Verdict = Result<(), Refusal>;

/// A byte budget for the submissions that wait for their verdict, with a permit for each byte. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Room(Arc::new(Semaphore::new(limits::WAITING_BYTES)))
    }
}

impl Room {
    /// Reserves room for a submission until the returned permit is dropped.
    pub(super) fn take(&self, submission: &Submission) -> Result<OwnedSemaphorePermit, Refusal> {
        // The semaphore counts in `u32`, and never has room for a submission whose size does not fit into that.
        let bytes = u32::try_from(submission.bytes().max(limits::SUBMISSION)).unwrap_or(u32::MAX);
        Arc::clone(&self.0).try_acquire_many_owned(bytes).map_err(|_| Refusal::TooManyRequests)
    }
}

/// Returns the bridge's end, the responders' end, and the task that applies the bridge's changes to a store.
pub(crate) fn pair(store: Store) -> (Port, Submitter, Intake) {
    // Changes for which the channel has no room wait in the desk, which keeps only the last state of each question.
    let (hand_over, handed_over) = mpsc::channel(1);
    let (commands, submitted) = mpsc::channel(limits::COMMANDS);
    let (noted, begun) = mpsc::channel(limits::COMMANDS);
    let introduced = Arc::<Mutex<Peers>>::default();
    let opened = Arc::new(Notify::new());
    let at_end = Arc::<Mutex<Option<HandOver>>>::default();
    let port = Port {
        commands: submitted,
        hand_over: PollSender::new(hand_over),
        last: 0,
        waiting: BTreeMap::new(),
        verdicts: Vec::new(),
        deliveries: Vec::new(),
        asked: BTreeSet::new(),
        begun,
        introduced: Arc::clone(&introduced),
        unsaid: None,
        opened: Arc::clone(&opened),
        at_end: Arc::clone(&at_end),
    };
    let intake = Intake { handed_over, store, noted, opened, at_end };
    (port, Submitter { commands, room: Room::default(), introduced }, intake)
}

/// The bridge's end. Dropping it ends the inbox.
#[derive(Debug)]
pub struct Port {
    commands: mpsc::Receiver<Command>,
    hand_over: PollSender<HandOver>,
    last: u64,
    waiting: BTreeMap<Ticket, Caller>,
    /// Verdicts that are still to be handed over. The bound on submissions bounds them too.
    verdicts: Vec<(Caller, Verdict)>,
    /// Delivery steps that the ledger is still to note. The bound on open questions bounds them too.
    deliveries: Vec<Delivery>,
    /// The questions whose delivery begins once the ledger has noted it.
    asked: BTreeSet<u64>,
    begun: mpsc::Receiver<u64>,
    /// The introductions of the peers in their last `initialize`. The bridge never waits for this lock (I7). The
    /// introductions are shared and not handed over, so that even the first responder that connects finds them.
    introduced: Arc<Mutex<Peers>>,
    /// The introductions that arrived while the inbox's thread held the lock of `introduced`.
    unsaid: Option<Peers>,
    opened: Arc<Notify>,
    /// See [`Intake::at_end`].
    at_end: Arc<Mutex<Option<HandOver>>>,
}

#[derive(Debug)]
struct Command {
    number: u64,
    submission: Submission,
    by: Provenance,
    caller: Caller,
}

/// The responder that waits for a verdict, and the room that its submission takes until then.
#[derive(Debug)]
struct Caller {
    verdict: oneshot::Sender<Verdict>,
    _room: OwnedSemaphorePermit,
}

/// How far the delivery of an outcome has come.
#[derive(Debug)]
enum Delivery {
    Waits(QuestionId),
    Begins(QuestionId),
}

/// One message from the bridge to the inbox. Delivery steps are processed first, since they concern questions that are
/// still open. Verdicts are sent after the changes, so that a responder that gets one finds the question settled.
#[derive(Debug)]
struct HandOver {
    deliveries: Vec<Delivery>,
    changes: Option<Changes>,
    verdicts: Vec<(Caller, Verdict)>,
}

impl Port {
    /// Takes the next submission. Pending forever once no responder can submit any more.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<TicketedSubmission> {
        let Poll::Ready(Some(command)) = self.commands.poll_recv(cx) else { return Poll::Pending };
        let Command { number, submission, by, caller } = command;
        self.last += 1;
        let ticket = Ticket(self.last);
        self.waiting.insert(ticket, caller);
        Poll::Ready(TicketedSubmission { ticket, number, submission, by })
    }

    /// Queues a verdict for the next hand-over.
    pub fn verdict(&mut self, ticket: Ticket, verdict: Verdict) {
        self.verdicts.extend(self.waiting.remove(&ticket).map(|caller| (caller, verdict)));
    }

    /// Reports that an outcome waits, and that nothing of it was written to the asker.
    pub fn waits(&mut self, id: QuestionId) {
        self.deliveries.push(Delivery::Waits(id));
    }

    /// Reports that the delivery of an outcome can begin. [`Port::poll_begun`] returns the number of the question once
    /// the ledger has noted that.
    pub fn begins(&mut self, id: QuestionId) {
        self.asked.insert(id.number);
        self.deliveries.push(Delivery::Begins(id));
    }

    /// Returns the next question whose outcome may be written to the asker now. Once the inbox is gone, every outcome
    /// may be.
    pub fn poll_begun(&mut self, cx: &mut Context<'_>) -> Poll<u64> {
        match self.begun.poll_recv(cx) {
            Poll::Ready(Some(number)) => {
                self.asked.remove(&number);
                Poll::Ready(number)
            }
            Poll::Ready(None) => self.asked.pop_first().map_or(Poll::Pending, Poll::Ready),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Wakes `Intake::opened`, since a question opened. The question itself is handed over by
    /// [`Port::poll_hand_over`].
    pub fn opened(&self) {
        self.opened.notify_one();
    }

    /// Publishes what the peers said of themselves, in place of what they said before. While the inbox's thread holds
    /// the lock, this only wakes the task, and the next call tries again.
    pub fn introduce(&mut self, cx: &Context<'_>, news: Option<Peers>) {
        if news.is_some() {
            self.unsaid = news;
        }
        let Some(peers) = self.unsaid.take() else { return };
        match self.introduced.try_lock() {
            Ok(mut introduced) => *introduced = peers,
            Err(TryLockError::Poisoned(error)) => *error.into_inner() = peers,
            Err(TryLockError::WouldBlock) => {
                self.unsaid = Some(peers);
                cx.waker().wake_by_ref();
            }
        }
    }

    /// Hands over the queued verdicts and delivery steps with the changes, if there are any and the inbox has taken the
    /// hand-over before. `has_changes` says whether `take_changes` would return something. `take_changes` is called
    /// only if the channel has room.
    pub fn poll_hand_over(
        &mut self,
        cx: &mut Context<'_>,
        has_changes: bool,
        take_changes: impl FnOnce() -> Option<Changes>,
    ) -> Poll<()> {
        if !has_changes && self.verdicts.is_empty() && self.deliveries.is_empty() {
            return Poll::Pending;
        }
        match self.hand_over.poll_reserve(cx) {
            Poll::Ready(Ok(())) => {
                let changes = take_changes();
                let hand_over = self.pack(changes);
                // The room is reserved, so this fails only if the inbox is gone, and every responder with it.
                self.hand_over.send_item(hand_over).unwrap_or_default();
                Poll::Ready(())
            }
            Poll::Ready(Err(_)) => {
                // The inbox is gone. Dropping everything keeps the queues and the desk from growing.
                self.verdicts.clear();
                self.deliveries.clear();
                drop(take_changes());
                Poll::Ready(())
            }
            Poll::Pending => Poll::Pending,
        }
    }

    /// Waits until the inbox has taken the last hand-over, for tests.
    pub async fn taken(&mut self) {
        if std::future::poll_fn(|cx| self.hand_over.poll_reserve(cx)).await.is_ok() {
            self.hand_over.abort_send();
        }
    }

    fn pack(&mut self, changes: Option<Changes>) -> HandOver {
        let (deliveries, verdicts) =
            (std::mem::take(&mut self.deliveries), std::mem::take(&mut self.verdicts));
        HandOver { deliveries, changes, verdicts }
    }

    /// Hands over what is left once the bridge has ended, even if the inbox has not taken the hand-over before.
    pub fn finish(&mut self, changes: Option<Changes>) {
        if changes.is_none() && self.verdicts.is_empty() && self.deliveries.is_empty() {
            return;
        }
        // The channel may be full, and the bridge no longer runs to wait for room.
        let left = self.pack(changes);
        *self.at_end.lock().unwrap_or_else(PoisonError::into_inner) = Some(left);
    }
}

/// The responders' end. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Submitter {
    commands: mpsc::Sender<Command>,
    room: Room,
    introduced: Arc<Mutex<Peers>>,
}

impl Submitter {
    /// Submits, and waits for the verdict: for an answer or a rejection, until the asker has it.
    pub(crate) async fn submit(&self, number: u64, submission: Submission, by: Provenance) -> Verdict {
        let room = self.room.take(&submission)?;
        let (verdict, judged) = oneshot::channel();
        let command = Command { number, submission, by, caller: Caller { verdict, _room: room } };
        self.commands.send(command).await.map_err(|_| Refusal::Unavailable)?;
        // The bridge ended without a verdict, so the asker may or may not have the submission.
        judged.await.unwrap_or(Err(Refusal::Unavailable))
    }

    /// Returns what the bridge's peers said of themselves last.
    pub(crate) fn peers(&self) -> Peers {
        self.introduced.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the bridge has ended.
    pub(crate) async fn ended(&self) {
        self.commands.closed().await;
    }
}

/// The inbox's end: applies the bridge's changes to the store, and sends the verdicts to responders.
#[derive(Debug)]
pub(crate) struct Intake {
    handed_over: mpsc::Receiver<HandOver>,
    store: Store,
    /// Tells the bridge which outcomes may be written to the asker.
    noted: mpsc::Sender<u64>,
    /// Questions that opened since [`Intake::opened`] returned.
    opened: Arc<Notify>,
    /// The bridge's last hand-over, for which it cannot wait for room in the channel. Until the bridge has ended, it
    /// never takes this lock.
    at_end: Arc<Mutex<Option<HandOver>>>,
}

impl Intake {
    /// Waits until a question opens, or returns at once if one opened since the last call. Cancel safe.
    pub(crate) async fn opened(&self) {
        self.opened.notified().await;
    }

    /// Runs until the bridge has ended, makes the last changes, and then ends the store.
    pub(crate) async fn run(mut self, last: impl FnOnce()) {
        // These futures are polled beside the hand-overs, so that a slow ledger holds up no change.
        let mut noting = FuturesUnordered::new();
        let mut earliest = Instant::now();
        loop {
            tokio::select! {
                handed_over = receive_after(earliest, &mut self.handed_over) => match handed_over {
                    Some(handed_over) => {
                        noting.extend(self.take_over(handed_over));
                        // The pause merges the opening and the immediate end of a question into one hand-over.
                        earliest = Instant::now() + limits::HAND_OVER;
                    }
                    None => break,
                },
                // This fails only once the bridge has ended, which then delivers nothing more.
                Some(number) = noting.next() => self.noted.send(number).await.unwrap_or_default(),
            }
        }
        let left = self.at_end.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The returned futures are dropped: the bridge has ended, so no delivery can begin.
        left.into_iter().for_each(|left| drop(self.take_over(left)));
        last();
        self.store.end();
    }

    /// Returns whether the bridge has handed over changes that were not taken yet.
    pub(super) fn has_news(&self) -> bool {
        !self.handed_over.is_empty() || self.at_end.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Adds what only the host knows to a question, when the question is new or has changed. It runs here and not on the thread that
    /// forwards, since the disk may be slow.
    fn look(&self, record: &mut Arc<Record>) {
        let known = self.store.read(|_, snapshot| snapshot.get(&record.id).cloned());
        let looked_at = match known.filter(|known| known.edition == record.edition) {
            Some(known) => Some(Arc::clone(&known.question)),
            None => self.store.look(&record.question).map(Arc::new),
        };
        // The bridge's records never have the addition, so each later change of the question gets it here again.
        if let Some(question) = looked_at.filter(|question| !Arc::ptr_eq(question, &record.question)) {
            Arc::make_mut(record).question = question;
        }
    }

    /// Processes a hand-over. The returned futures yield the number of a question once the ledger has noted that its
    /// delivery begins.
    fn take_over(
        &self,
        HandOver { deliveries, changes, verdicts }: HandOver,
    ) -> Vec<BoxFuture<'static, u64>> {
        let ledger = self.store.ledger();
        let mut noting = Vec::new();
        for delivery in deliveries {
            match (delivery, &ledger) {
                (Delivery::Waits(id), Some(ledger)) => ledger.waits(&id),
                (Delivery::Waits(_), None) => {}
                (Delivery::Begins(id), Some(ledger)) => {
                    noting.push(ledger.begins(&id).map(move |()| id.number).boxed());
                }
                (Delivery::Begins(id), None) => noting.push(std::future::ready(id.number).boxed()),
            }
        }
        // The store is updated before the verdicts are sent, so that a responder that gets a verdict finds the question
        // settled (I9).
        if let Some(mut changes) = changes {
            changes.questions.iter_mut().for_each(|record| self.look(record));
            self.store.apply(changes);
        }
        for (caller, verdict) in verdicts {
            // The responder no longer waits; ignore the send error.
            caller.verdict.send(verdict).unwrap_or_default();
        }
        noting
    }
}

/// Receives the next hand-over, but not before `earliest`. Cancel safe.
async fn receive_after(earliest: Instant, handed_over: &mut mpsc::Receiver<HandOver>) -> Option<HandOver> {
    // A tokio timer rounds up to the next millisecond, even if it is due, so the usual case takes none.
    if Instant::now() < earliest {
        sleep_until(earliest).await;
    }
    handed_over.recv().await
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        task::{Wake, Waker},
    };

    use askbridge_core::desk::Timestamp;

    use super::*;
    use crate::{
        inbox::status::PeerStatus,
        rpc::played::{question, soon},
    };

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn peers(client: &str, agent: Option<&str>) -> Peers {
        let named = |name: &str| PeerStatus { name: Some(name.to_owned()), ..PeerStatus::default() };
        Peers { client: Some(named(client)), agent: agent.map(named) }
    }

    #[test]
    fn last_initialize_replaces_the_one_before() {
        let (mut port, submitter, _intake) = pair(Store::default());
        let cx = Context::from_waker(Waker::noop());
        for said in [peers("one", None), peers("one", Some("agent")), peers("two", None)] {
            port.introduce(&cx, Some(said.clone()));
            assert_eq!(submitter.peers(), said);
        }
        port.introduce(&cx, None);
        assert_eq!(submitter.peers(), peers("two", None));
    }

    #[test]
    fn bridge_does_not_wait_while_the_inbox_reads_introductions() {
        let (mut port, submitter, _intake) = pair(Store::default());
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let cx = Context::from_waker(&waker);
        let reads = submitter.introduced.lock().expect("no reader panicked");
        port.introduce(&cx, Some(peers("one", None)));
        port.introduce(&cx, Some(peers("two", None)));
        assert_eq!(wakes.0.load(Ordering::SeqCst), 2);
        drop(reads);
        port.introduce(&cx, None);
        assert_eq!(submitter.peers(), peers("two", None));
        assert_eq!(wakes.0.load(Ordering::SeqCst), 2, "all is told: it need not be called again");
    }

    #[tokio::test(start_paused = true)]
    async fn changes_are_taken_at_once_and_those_right_after_them_with_a_pause() {
        let store = Store::default();
        let (mut port, _submitter, intake) = pair(store);
        let _intake = tokio::spawn(intake.run(|| {}));
        let mut cx = Context::from_waker(Waker::noop());
        let began = Instant::now();
        let mut taken = Vec::new();
        for _ in 0..3 {
            assert!(port.poll_hand_over(&mut cx, true, || Some(Changes::default())).is_ready());
            soon(port.taken()).await;
            taken.push(began.elapsed());
        }
        assert_eq!(taken, [0, 1, 2].map(|pauses| pauses * limits::HAND_OVER));
    }

    #[tokio::test]
    async fn what_changes_last_arrives_although_nothing_before_was_taken() {
        let store = Store::default();
        let (mut port, _submitter, intake) = pair(store.clone());
        let mut cx = Context::from_waker(Waker::noop());
        let opened = |number: u64| {
            let id = format!("b-{number}").parse().expect("an ID");
            let record = Record::new(id, Arc::new(question("Why?")), Timestamp::default());
            Changes { questions: vec![Arc::new(record)], ..Changes::default() }
        };
        assert!(!intake.has_news());
        assert!(port.poll_hand_over(&mut cx, true, || Some(opened(1))).is_ready());
        assert!(port.poll_hand_over(&mut cx, true, || panic!("there is no room")).is_pending());
        port.finish(Some(opened(2)));
        drop(port);
        assert!(intake.has_news());
        soon(intake.run(|| {})).await;
        let numbers =
            store.read(|_, now| now.open().iter().map(|record| record.id.number).collect::<Vec<_>>());
        assert_eq!(numbers, [1, 2]);
    }
}
