//! The two ends of a bridge's inbox: [`Inbox`], by which others answer, and [`Feed`], by which the bridge tells what
//! happens and hears what they want. Neither waits for the other: the bridge least of all.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use super::{
    asks::Local,
    source::{Source, Status},
};
use crate::{
    acp::{self, Opened, Refused, Settled, Submission, Unanswered},
    limits,
    question::{Outcome, Provenance, Question, Reason, check},
};
use crate::{
    control::old::{
        book::Book,
        refusal::{Refusal, over},
        view::{Record, Settlement, timestamp, timestamp_after},
    },
    machine::discovery,
};

/// Where others answer. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Inbox {
    owner: Arc<Owner>,
    book: Arc<watch::Sender<Book>>,
    started: SystemTime,
    commands: mpsc::Sender<Command>,
    /// A permit for each byte that may wait.
    room: Arc<Semaphore>,
    local: Arc<Local>,
}

/// Whose inbox it is.
#[derive(Clone, Debug)]
pub struct Owner {
    /// The name of the bridge, with which the names of its questions begin.
    pub bridge: String,
    /// The agent's command, or what else asks.
    pub agent: String,
    /// The folder that it was started in.
    pub folder: String,
}

impl Owner {
    /// Describes a new bridge in this process, and gives it a name.
    pub fn here(agent: String) -> Self {
        let folder = std::env::current_dir().map(|folder| folder.display().to_string());
        Owner { bridge: discovery::name(), agent, folder: folder.unwrap_or_default() }
    }
}

/// Where the bridge says what happens, and hears what others want.
#[derive(Debug)]
pub struct Feed {
    owner: Arc<Owner>,
    started: SystemTime,
    book: Arc<watch::Sender<Book>>,
    commands: mpsc::Receiver<Command>,
}

/// What somebody wants, and where the verdict goes.
#[derive(Debug)]
pub struct Command {
    /// The number of the question.
    pub number: u64,
    /// What is to be done.
    pub submission: Submission,
    /// Who wants it.
    pub by: Provenance,
    /// Where the verdict goes, once the agent has it.
    pub verdict: oneshot::Sender<Result<(), Refused>>,
    /// Its place among what may wait, whether or not anybody waits for the verdict.
    pub room: OwnedSemaphorePermit,
}

/// Returns the two ends of the inbox of this bridge.
pub fn new(owner: Owner) -> (Inbox, Feed) {
    let book = Arc::new(watch::Sender::new(Book::default()));
    let (commands, commands_feed) = mpsc::channel(limits::COMMANDS);
    let owner = Arc::new(owner);
    let feed = Feed {
        owner: Arc::clone(&owner),
        started: SystemTime::now(),
        book: Arc::clone(&book),
        commands: commands_feed,
    };
    let room = Arc::new(Semaphore::new(limits::WAITING_BYTES));
    (Inbox { owner, started: feed.started, book, commands, room, local: Arc::default() }, feed)
}

impl Source for Inbox {
    fn book(&self) -> watch::Receiver<Book> {
        self.book.subscribe()
    }

    async fn submit(&self, id: &str, submission: Submission, by: Provenance) -> Result<(), Refusal> {
        let view = self.book.borrow().find(id).cloned().ok_or(Refusal::NotFound)?;
        if view.settlement.is_some() {
            return over(&self.book.borrow(), id, &submission);
        }
        let Some(number) = number(id) else { return self.submit_local(&view, submission, by) };
        self.submit_to_bridge(id, number, submission, by).await
    }

    async fn ask(&self, question: Question) -> Result<Settlement, Refusal> {
        question.check_limits().map_err(Refusal::BadQuestion)?;
        let (now, timeout) = (SystemTime::now(), question.timeout);
        let json = serde_json::to_vec(&question).map_err(|error| Refusal::BadQuestion(error.to_string()))?;
        let mut wait = self.local.open(timeout, question.weight(json.len())).map_err(Refusal::BadQuestion)?;
        let id = format!("{}-{LOCAL}{}", self.owner.bridge, wait.number);
        let mut view = Record::new(&id, &self.owner.bridge, question.into(), timestamp(now));
        view.deadline = timeout.map(|timeout| timestamp_after(now, timeout));
        view.elsewhere = true;
        self.book.send_modify(|book| book.insert(view));
        let mut open = LocalOpen { inbox: self, id, number: wait.number, ends: Reason::Withdrawn };
        let settled = tokio::select! {
            settled = wait.settled() => settled,
            () = self.ended() => return Err(Refusal::Unavailable),
        };
        open.ends = Reason::Timeout;
        Ok(settled
            .unwrap_or_else(|| settlement(Outcome::Rejected(Reason::Timeout), Provenance::bridge(), None)))
    }

    async fn ended(&self) {
        self.commands.closed().await;
    }

    fn status(&self) -> Vec<Status> {
        let Owner { bridge, agent, folder } = (*self.owner).clone();
        let open = self.book.borrow().open().len();
        let (version, started_at) = (env!("CARGO_PKG_VERSION").to_owned(), timestamp(self.started));
        vec![Status { bridge, pid: std::process::id(), version, agent, folder, started_at, open }]
    }
}

impl Inbox {
    /// Returns the name of the bridge.
    pub fn bridge(&self) -> &str {
        &self.owner.bridge
    }

    async fn submit_to_bridge(
        &self,
        id: &str,
        number: u64,
        submission: Submission,
        by: Provenance,
    ) -> Result<(), Refusal> {
        let bytes = u32::try_from(bytes(&submission).max(limits::SUBMISSION)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).try_acquire_many_owned(bytes);
        let room = room.map_err(|_| Refusal::TooManyRequests)?;
        let (verdict, judged) = oneshot::channel();
        let command = Command { number, submission: submission.clone(), by, verdict, room };
        self.commands.send(command).await.map_err(|_| Refusal::Unavailable)?;
        match judged.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(Refused::NotOpen)) => {
                self.settled(id).await?;
                over(&self.book.borrow(), id, &submission)
            }
            Ok(Err(Refused::DoesNotFit(errors))) => Err(Refusal::DoesNotFit(errors)),
            Ok(Err(Refused::NoDeadline)) => Err(Refusal::NoDeadline),
            Err(_) => Err(Refusal::Unavailable),
        }
    }

    /// Waits until the book says what became of a question that the bridge does not know as open: what it was told
    /// before may still be on its way to the agent (I9).
    async fn settled(&self, id: &str) -> Result<(), Refusal> {
        let mut book = self.book.subscribe();
        let is_over = |book: &Book| book.find(id).is_none_or(|view| view.settlement.is_some());
        tokio::select! {
            over = book.wait_for(is_over) => over.map(drop).map_err(|_| Refusal::Unavailable),
            () = self.ended() => Err(Refusal::Unavailable),
        }
    }

    /// Does something about a question that a program on this machine asked.
    fn submit_local(&self, view: &Record, submission: Submission, by: Provenance) -> Result<(), Refusal> {
        let number = view.id.rsplit_once(LOCAL).and_then(|(_, number)| number.parse().ok());
        let number = number.ok_or(Refusal::NotFound)?;
        let (outcome, remark) = match &submission {
            Submission::Answer(answer) => {
                check(&view.question, answer).map_err(Refusal::DoesNotFit)?;
                (Outcome::Answered(answer.clone()), None)
            }
            Submission::Reject(remark) => (Outcome::Rejected(Reason::User), remark.clone()),
            Submission::Extend(time) => return self.extend_local(view, number, *time),
        };
        self.book.send_if_modified(|book| {
            // Under this lock, so that of two who come at once only one finds it open.
            let settlement = settlement(outcome, by, remark);
            let settles = self.local.settle(number, settlement.clone());
            if settles {
                book.settle(&view.id, settlement);
            }
            settles
        });
        over(&self.book.borrow(), &view.id, &submission)
    }

    fn extend_local(&self, view: &Record, number: u64, time: Duration) -> Result<(), Refusal> {
        self.local.extend(number, time).ok_or(Refusal::NoDeadline)?;
        self.book.send_modify(|book| {
            book.change(&view.id, |view| {
                let deadline = view.deadline.as_deref().and_then(|text| humantime::parse_rfc3339(text).ok());
                view.deadline = deadline.map(|deadline| timestamp_after(deadline, time));
            });
        });
        Ok(())
    }
}

/// Returns how many bytes a submission has.
fn bytes(submission: &Submission) -> usize {
    match submission {
        Submission::Answer(answer) => answer.bytes(),
        Submission::Reject(remark) => remark.as_ref().map_or(0, String::len),
        Submission::Extend(_) => 0,
    }
}

fn settlement(outcome: Outcome, by: Provenance, remark: Option<String>) -> Settlement {
    Settlement { outcome, by, at: timestamp(SystemTime::now()), remark }
}

/// What stands before the number in the name of a question that a program asked.
const LOCAL: char = 'p';

/// A question that a program asked. It ends when nobody waits for it any more.
struct LocalOpen<'a> {
    inbox: &'a Inbox,
    id: String,
    number: u64,
    /// Why it does, where it is not settled before.
    ends: Reason,
}

impl Drop for LocalOpen<'_> {
    fn drop(&mut self) {
        // One that is settled is not there any more.
        let ends = settlement(Outcome::Rejected(self.ends), Provenance::bridge(), None);
        self.inbox.local.settle(self.number, ends.clone());
        self.inbox.book.send_modify(|book| book.settle(&self.id, ends));
    }
}

/// Reads the number of a question off its name.
fn number(id: &str) -> Option<u64> {
    id.rsplit_once('-')?.1.parse().ok()
}

impl Feed {
    fn id(&self, number: u64) -> String {
        acp::name(&self.owner.bridge, number)
    }

    /// A question opened.
    pub fn opened(&self, opened: &Opened) {
        let mut view = Record::new(
            &self.id(opened.number),
            &self.owner.bridge,
            Arc::clone(&opened.question),
            self.at(opened.since),
        );
        view.deadline = opened.deadline.map(|deadline| self.at(deadline));
        view.elsewhere = opened.elsewhere;
        self.book.send_modify(|book| book.insert(view));
    }

    /// The client did not answer it. Whether that changes anything is up to what is known of it.
    pub fn unanswered(&self, opened: &Opened, why: &Unanswered) {
        let kept = match why {
            Unanswered::Elsewhere(answer) => Some(answer.clone()),
            Unanswered::NoWay => None,
            _ => return,
        };
        self.book.send_if_modified(|book| {
            let before = book.revision;
            book.change(&self.id(opened.number), |view| {
                view.elsewhere = true;
                view.kept = kept.filter(|answer| !answer.values.is_empty()).or(view.kept.take());
            });
            book.revision != before
        });
    }

    /// Its time will soon be over.
    pub fn warned(&self, opened: &Opened) {
        self.book.send_modify(|book| book.change(&self.id(opened.number), |view| view.expiring = true));
    }

    /// It has another deadline.
    pub fn extended(&self, opened: &Opened, deadline: Duration) {
        let deadline = self.at(deadline);
        self.book.send_modify(|book| {
            book.change(&self.id(opened.number), |view| {
                (view.deadline, view.expiring) = (Some(deadline), false);
            });
        });
    }

    /// It is settled, and the agent was told.
    pub fn settled(&self, settled: &Settled, now: Duration) {
        let Settled { outcome, by, remark, .. } = settled.clone();
        let settlement = Settlement { outcome, by, at: self.at(now), remark };
        self.book.send_modify(|book| book.settle(&self.id(settled.number), settlement));
    }

    /// Waits for what somebody wants. `None` once nobody is left who could.
    pub async fn next(&mut self) -> Option<Command> {
        self.commands.recv().await
    }

    fn at(&self, time: Duration) -> String {
        timestamp_after(self.started, time)
    }
}
