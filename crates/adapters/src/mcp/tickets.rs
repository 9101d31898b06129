//! The questions of this process by their tickets: open questions, and those that ended last, so that the agent can
//! fetch an answer later, and more than once. How long a call waits is left to `server.rs`.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use askbridge_control::inbox::QuestionHandle;
use askbridge_core::{
    desk::Settlement,
    question::{Outcome, Provenance, Question, Reason},
};
use tokio::{sync::watch, task::JoinSet, time::timeout};

use crate::limits;

/// The questions, oldest first. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Tickets {
    entries: Arc<Mutex<VecDeque<Arc<TicketEntry>>>>,
    /// One task for each question that has not ended.
    tasks: Arc<Mutex<JoinSet<()>>>,
}

/// One question.
#[derive(Debug)]
pub(super) struct TicketEntry {
    ticket: String,
    question: Arc<Question>,
    /// Bytes of the question as JSON.
    size: usize,
    calls: watch::Sender<Calls>,
    settled: watch::Receiver<Option<Arc<Settlement>>>,
}

/// The calls that are about one question.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    /// Calls that wait for the answer, or whose reply with the answer or the ticket is being written.
    waiting: usize,
    /// Whether the agent has the ticket, with which it can fetch the answer later.
    has_ticket: bool,
    /// Whether the agent has the answer.
    has_answer: bool,
    /// Whether the agent does not want the answer any more.
    is_withdrawn: bool,
}

impl Tickets {
    /// Adds an open question, and returns a waiter for the call that asked it.
    pub(super) fn add(&self, asked: QuestionHandle, question: Arc<Question>) -> Waiter {
        let (calls, heard) = watch::channel(Calls::default());
        let (tell, settled) = watch::channel(None);
        let ticket = asked.id().to_string();
        let size = serde_json::to_vec(&*question).map_or(0, |json| json.len());
        let entry = Arc::new(TicketEntry { ticket, question, size, calls, settled });
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // The set keeps ended tasks until they are joined.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(attend(asked, heard, tell));
        drop(tasks);
        let mut entries = self.lock();
        entries.push_back(Arc::clone(&entry));
        forget(&mut entries);
        drop(entries);
        Waiter::new(entry)
    }

    /// Returns a waiter for the question of a ticket.
    pub(super) fn wait(&self, ticket: &str) -> Option<Waiter> {
        let entries = self.lock();
        entries.iter().find(|entry| entry.ticket == ticket).map(|entry| Waiter::new(Arc::clone(entry)))
    }

    /// Returns the tickets of the questions that wait for an answer.
    pub(super) fn open(&self) -> Vec<String> {
        self.lock().iter().filter(|entry| !entry.is_settled()).map(|entry| entry.ticket.clone()).collect()
    }

    /// Withdraws every question that is open.
    pub(super) fn withdraw(&self) {
        for entry in self.lock().iter() {
            entry.calls.send_modify(|calls| calls.is_withdrawn = true);
        }
    }

    /// Waits until every question is settled. Dropping the future withdraws the open ones.
    pub(super) async fn ended(&self) {
        // The tasks are taken out of the state, so that the lock is not held during the wait, and dropping the future
        // ends the tasks.
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.join_all().await;
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<TicketEntry>>> {
        // No code panics while it holds the lock, so its data is consistent.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets the oldest questions that are over, beyond the limits. The desk bounds those that are open.
fn forget(entries: &mut VecDeque<Arc<TicketEntry>>) {
    let size = |entry: &Arc<TicketEntry>| {
        entry.settled.borrow().as_ref().map(|settlement| entry.size + bytes(settlement))
    };
    let (mut count, mut total) = (0, 0);
    // Count from the newest on, so that the newest are kept.
    let mut keep: Vec<_> = entries
        .iter()
        .rev()
        .map(|entry| {
            let Some(bytes) = size(entry) else { return true };
            (count, total) = (count + 1, total + bytes);
            count <= limits::mcp::TICKETS && total <= limits::mcp::TICKETS_BYTES
        })
        .collect();
    entries.retain(|_| keep.pop().unwrap_or(true));
}

fn bytes(settlement: &Settlement) -> usize {
    match &settlement.outcome {
        Outcome::Answered(answer) => answer.bytes(),
        _ => settlement.remark.as_ref().map_or(0, String::len),
    }
}

impl TicketEntry {
    fn is_settled(&self) -> bool {
        self.settled.borrow().is_some()
    }
}

/// Follows a question until it is withdrawn, or decided and its responder has been told whether the agent has the
/// answer.
async fn attend(
    mut asked: QuestionHandle,
    mut calls: watch::Receiver<Calls>,
    tell: watch::Sender<Option<Arc<Settlement>>>,
) {
    let cancelled = Outcome::Rejected(Reason::Cancelled);
    let withdrawn = || {
        let now = std::time::SystemTime::now().into();
        Some(Arc::new(Settlement::new(cancelled.clone(), Provenance::bridge(), now)))
    };
    let settlement = tokio::select! {
        // The responder of a decision must be told its fate, so a decision precedes a withdrawal.
        biased;
        settlement = asked.decided() => settlement,
        () = until(&mut calls, |calls| calls.is_withdrawn) => {
            asked.end(cancelled.clone(), Provenance::bridge());
            tell.send_replace(withdrawn());
            return;
        }
    };
    tell.send_replace(Some(Arc::new(settlement)));
    if has_reached_the_agent(&mut calls).await {
        asked.delivered();
    } else {
        // The responder is told that its answer was lost, so no call may fetch it later. No other task runs between
        // these two lines.
        tell.send_replace(withdrawn());
        asked.undeliverable();
    }
}

/// Waits until `holds` is true for the calls. Stays pending if no call can arrive any more.
async fn until(calls: &mut watch::Receiver<Calls>, holds: impl FnMut(&Calls) -> bool) {
    if calls.wait_for(holds).await.is_err() {
        std::future::pending().await
    }
}

/// Waits until a decided answer has reached the agent, or never can. An agent that has the ticket, but does not fetch
/// the answer in time, counts as reached.
async fn has_reached_the_agent(calls: &mut watch::Receiver<Calls>) -> bool {
    loop {
        // Without a sender, the entry is gone, and no call can fetch the answer.
        let Ok(now) =
            calls.wait_for(|calls| calls.has_answer || calls.waiting == 0).await.map(|calls| *calls)
        else {
            return false;
        };
        if now.has_answer || !now.has_ticket || now.is_withdrawn {
            return now.has_answer;
        }
        let comes = calls.wait_for(|calls| calls.has_answer || calls.waiting > 0 || calls.is_withdrawn);
        match timeout(limits::mcp::FETCH, comes).await {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => return false,
            // The agent does something else. The answer is kept under the agent's ticket.
            Err(_) => return true,
        }
    }
}

/// A call that waits for a question.
#[derive(Debug)]
pub(super) struct Waiter {
    entry: Arc<TicketEntry>,
}

impl Waiter {
    fn new(entry: Arc<TicketEntry>) -> Self {
        entry.calls.send_modify(|calls| calls.waiting += 1);
        Waiter { entry }
    }

    /// Returns the ticket of the question.
    pub(super) fn ticket(&self) -> &str {
        &self.entry.ticket
    }

    /// Returns the question.
    pub(super) fn question(&self) -> &Question {
        &self.entry.question
    }

    /// Waits until the question is settled. Cancel safe.
    pub(super) async fn settled(&self) -> Arc<Settlement> {
        let mut settled = self.entry.settled.clone();
        let found = settled.wait_for(Option::is_some).await.ok().and_then(|settlement| settlement.clone());
        match found {
            Some(settlement) => settlement,
            // The process is ending, so the caller needs no result.
            None => std::future::pending().await,
        }
    }

    /// Records that the agent has the ticket, and ends the wait.
    pub(super) fn leave_with_ticket(self) {
        self.entry.calls.send_modify(|calls| calls.has_ticket = true);
    }

    /// Records that the agent has the answer.
    pub(super) fn delivered(self) {
        self.entry.calls.send_modify(|calls| calls.has_answer = true);
    }

    /// Records that the client cancelled the call. When the last waiting call is cancelled, the question is withdrawn.
    pub(super) fn cancelled(self) {
        self.entry.calls.send_modify(|calls| calls.is_withdrawn |= calls.waiting == 1);
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.entry.calls.send_modify(|calls| calls.waiting -= 1);
    }
}
