//! One notifier: it follows one question from when the user is to be notified until the question is settled. File locks
//! limit how many notifiers run at once for one user, over all bridges; the kernel releases them however a process
//! ends.
//! What each way does is left to `dispatch.rs`.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use askbridge_control::{
    inbox::{Follower, Inbox},
    join::{JoinedInbox, Places},
    rpc::client::Depth,
};
use askbridge_core::{
    desk::Record,
    limits::REACTION,
    question::{Outcome, Provenance, Reason, Responder},
};
use askbridge_os::{
    lock::{Lock, LockFile},
    terminal::printable_line,
};
use askbridge_settings::NotifySettings;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{sleep, sleep_until, timeout},
};

use super::{
    dispatch, programs,
    telling::{NotifiedQuestion, TappedAnswer, WayReport},
};
use crate::{
    limits,
    notify::{Circumstances, Message, NotifyStep, Plan, Way},
};

/// The input of a notifier.
#[derive(Debug)]
pub struct NotifierStart {
    /// The bridge of the question, connected.
    pub joined: JoinedInbox,
    /// The question.
    pub record: Arc<Record>,
    /// How long it has been open.
    pub age: Duration,
    /// The folder that its bridge was started in.
    pub folder: String,
    /// How the user is notified.
    pub settings: NotifySettings,
    /// When the user is notified.
    pub plan: Plan,
    /// The terminal that may be written to.
    pub terminal: Option<PathBuf>,
    /// The place of this notifier among those of the user.
    pub slot: Slot,
    /// Whether it reports each success, and not only failures.
    pub says_all: bool,
}

/// Capacity of the channel for the reports of the ways.
const WAITING: usize = 16;

/// Notifies the user until the question is settled or `stop` completes. If the question changes, its notifications are
/// withdrawn, and the user is notified anew: a button counts for the text above it (I13). Returns how many ways
/// succeeded.
pub async fn follow(notifying: NotifierStart, stop: impl Future<Output = u8>) -> usize {
    let NotifierStart { joined, mut record, age, folder, settings, plan, terminal, slot, says_all } =
        notifying;
    let settings = Arc::new(settings);
    let begun = Instant::now().checked_sub(age).unwrap_or_else(Instant::now);
    let is_last = slot.is_last();
    let (mut followed, mut stop, mut ending) = (pin!(joined.follow()), pin!(stop), JoinSet::new());
    let mut told = 0;
    let over = loop {
        let (ended, over) = watch::channel(None);
        let (said, heard) = mpsc::channel(WAITING);
        let (folder, settings, terminal) = (folder.clone(), Arc::clone(&settings), terminal.clone());
        let mut following = Notifier {
            joined: joined.clone(),
            telling: NotifiedQuestion { record: Arc::clone(&record), folder, settings, terminal, over, said },
            plan: plan.clone(),
            begun,
            counted: is_last.then(Instant::now),
            heard,
            tasks: JoinSet::new(),
            told: 0,
            says_all,
        };
        let follower = joined.store().follow();
        let over = tokio::select! {
            over = following.until_over(follower) => over,
            // This future only completes if the directory becomes unreadable.
            _ = &mut followed => Over::Nothing,
            _ = &mut stop => Over::Nothing,
        };
        told += following.told;
        // Only the ways listen. Without them, the send fails, and nothing needs to be withdrawn.
        ended.send(Some(over.text().to_owned())).unwrap_or_default();
        ending.spawn(async move { following.wind_up().await });
        match over {
            Over::Changed(now) => record = now,
            over => break over,
        }
    };
    // Winding up can take NOTIFY_LATE: another question must not wait for the place as long.
    drop(slot);
    if let Over::Settled(how) = &over
        && says_all
    {
        say(how);
    }
    // The phone still replies to late taps for NOTIFY_LATE; withdrawing takes its time beside that.
    let all = async { while ending.join_next().await.is_some() {} };
    timeout(limits::NOTIFY_LATE + limits::NOTIFY_END, all).await.unwrap_or_default();
    told
}

/// Why the user is notified no longer.
enum Over {
    /// The question was settled in this way.
    Settled(&'static str),
    /// The question has another text now.
    Changed(Arc<Record>),
    /// Nothing is left to do.
    Nothing,
}

impl Over {
    /// Returns what stands where the notification stood.
    fn text(&self) -> &'static str {
        match self {
            Over::Settled(how) => how,
            Over::Changed(_) => "It has changed since",
            Over::Nothing => "askbridge no longer follows this question",
        }
    }
}

struct Notifier {
    joined: JoinedInbox,
    telling: NotifiedQuestion,
    plan: Plan,
    /// When the question opened.
    begun: Instant,
    /// When this notifier last counted how many more questions wait. `None` if another notifier counts.
    counted: Option<Instant>,
    heard: mpsc::Receiver<WayReport>,
    tasks: JoinSet<()>,
    told: usize,
    says_all: bool,
}

impl Notifier {
    /// Notifies the user until the question is settled or has changed.
    async fn until_over(&mut self, mut follower: Follower) -> Over {
        loop {
            match self.over() {
                // An agent may complete a text in many steps: the user is notified once.
                Some(Over::Changed(now)) => {
                    sleep(REACTION).await;
                    return self.over().unwrap_or(Over::Changed(now));
                }
                Some(over) => return over,
                None => {}
            }
            self.count().await;
            let around = self.around().await;
            for step in self.plan.poll(self.begun.elapsed(), around) {
                self.carry_out(step);
            }
            if self.tasks.is_empty() && self.plan.next_deadline().is_none() && self.counted.is_none() {
                return Over::Nothing;
            }
            let deadline = self.plan.next_deadline().map(|deadline| self.begun + deadline);
            tokio::select! {
                // The last report of a task is taken before the end of the task, after which the loop may return.
                biased;
                batch = follower.next() => if batch.is_none() {
                    return Over::Nothing;
                },
                Some(said) = self.heard.recv() => self.take(said),
                Some(_) = self.tasks.join_next() => {}
                () = at(deadline) => {}
                () = sleep(limits::NOTIFY_COUNT), if self.counted.is_some() => {}
            }
        }
    }

    /// Returns how the question was settled, or its present text, if one of them is new.
    fn over(&self) -> Option<Over> {
        let record = self.joined.store().read(|_, now| now.get(&self.telling.record.id).cloned())?;
        if record.is_open() && record.later.is_some() {
            return Some(Over::Settled("It is set aside until later"));
        }
        if record.is_open() {
            return (record.edition != self.telling.record.edition).then_some(Over::Changed(record));
        }
        // The answer itself is left out: this text may be sent to a phone.
        Some(Over::Settled(match record.settlement.as_ref().map(|settlement| &settlement.outcome) {
            Some(Outcome::Answered(_)) => "It was answered",
            Some(Outcome::Rejected(Reason::Over)) => "It is over: the agent went on without an answer",
            Some(Outcome::Rejected(Reason::CallEnded)) => {
                "It is over: the host ended the call that waited for it"
            }
            Some(Outcome::Rejected(_)) => "It was rejected",
            Some(Outcome::Failed | Outcome::Unknown(_)) => "It is over",
            None => "The bridge that asked is gone",
        }))
    }

    /// Returns the circumstances of the user. The bridge is asked only when something is due.
    async fn around(&self) -> Circumstances {
        let is_due = self.plan.next_deadline().is_some_and(|deadline| deadline <= self.begun.elapsed());
        let bridge = &self.telling.record.bridge;
        let is_present = is_due && self.telling.settings.presence && self.joined.is_watched(bridge).await;
        Circumstances { minute: minute(), is_present }
    }

    /// Counts the questions without a notifier of their own. Only the notifier in the last place counts.
    async fn count(&mut self) {
        if self.counted.is_none_or(|at| at.elapsed() < limits::NOTIFY_COUNT) {
            return;
        }
        self.counted = Some(Instant::now());
        let Ok(places) = Places::here() else { return };
        if let Ok(all) = JoinedInbox::glance(&places, Depth::Outline, limits::PATIENCE).await {
            let open = all.store().read(|_, snapshot| snapshot.open_count());
            // Every place is taken, and each notifier in a place serves one question.
            self.plan.more(open.saturating_sub(limits::NOTIFIERS));
        }
    }

    fn carry_out(&mut self, step: NotifyStep) {
        let telling = self.telling.clone();
        match step {
            NotifyStep::Tell(way) => drop(self.tasks.spawn(dispatch::tell(way, telling))),
            // A failed heartbeat is reported, and the heartbeat continues.
            NotifyStep::Beat => drop(self.tasks.spawn(async move {
                let beat = async {
                    tokio::select! {
                        done = programs::beat(&telling) => done,
                        _ = telling.ended() => Ok(()),
                    }
                };
                if let Err(error) = beat.await {
                    telling.say(WayReport::Failed(Way::Sound, format!("the heartbeat: {error}"))).await;
                }
                telling.say(WayReport::Beaten).await;
            })),
            NotifyStep::TellMore(count) => drop(self.tasks.spawn(async move {
                for way in Way::set(&telling.settings, telling.terminal.is_some()) {
                    if let Err(error) = dispatch::say(way, &telling, &Message::more(count)).await {
                        telling.say(WayReport::Failed(way, error)).await;
                    }
                }
            })),
        }
    }

    fn take(&mut self, said: WayReport) {
        match said {
            WayReport::Told(way) => {
                self.told += 1;
                if self.says_all {
                    say(&format!("notified by {way}"));
                }
            }
            WayReport::Failed(way, error) => say(&format!("{way}: {error}")),
            WayReport::Beaten => self.plan.beaten(self.begun.elapsed()),
            WayReport::Chosen(choice) => self.submit(choice),
        }
    }

    /// Submits what the user chose, as any responder does: the bridge checks it, and the first valid answer wins.
    fn submit(&mut self, choice: TappedAnswer) {
        let TappedAnswer { way, submission, verdict } = choice;
        let (joined, id) = (self.joined.clone(), self.telling.record.id.clone());
        self.tasks.spawn(async move {
            let by = Provenance { responder: Responder::Notification, name: Some(way.name().to_owned()) };
            let submitted = joined.submit(&id, submission, by).await.map(drop);
            // If the way has ended, nobody waits for the verdict: ignore the error.
            verdict.send(submitted).unwrap_or_default();
        });
    }

    /// Waits until all ways have withdrawn their notifications.
    async fn wind_up(&mut self) {
        self.plan.over();
        // The reports are read meanwhile: a way whose channel is full would never end.
        while !self.tasks.is_empty() {
            tokio::select! {
                Some(said) = self.heard.recv() => self.take(said),
                Some(_) = self.tasks.join_next() => {}
            }
        }
        // Reports that the last tasks sent just before they ended.
        while let Ok(said) = self.heard.try_recv() {
            self.take(said);
        }
    }
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

/// Writes one line to stderr, which the bridge logs or the user reads.
fn say(text: &str) {
    // If stderr is closed, there is nowhere to report the error.
    drop(writeln!(io::stderr(), "askbridge: {}", printable_line(text)));
}

/// The line on stderr of a notifier that ends because 16 notifiers are already running.
pub const BUSY: &str = "busy";

/// One of the places for notifiers, held until this is dropped.
#[derive(Debug)]
pub struct Slot {
    number: usize,
    _lock: Lock,
}

impl Slot {
    /// Returns whether this is the place with the highest number: its holder reports how many more questions wait.
    pub fn is_last(&self) -> bool {
        self.number + 1 == limits::NOTIFIERS
    }
}

/// Takes a place, if one is free. `folder` is the folder of the sockets.
pub fn take(folder: &Path) -> io::Result<Option<Slot>> {
    for number in 0..limits::NOTIFIERS {
        let file = LockFile::open(&folder.join(format!("notify-{number}.lock")))?;
        if let Ok(lock) = file.try_take()? {
            return Ok(Some(Slot { number, _lock: lock }));
        }
    }
    Ok(None)
}

/// Returns the minute of the day, counted from midnight, by the clock of this machine.
pub(crate) fn minute() -> u16 {
    let time = jiff::Zoned::now().time();
    u16::try_from(i32::from(time.hour()) * 60 + i32::from(time.minute())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::limits;

    #[test]
    fn there_are_only_so_many_places_and_each_is_given_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let next = || take(folder.path()).expect("a folder");
        let mut held: Vec<_> = (0..limits::NOTIFIERS).map(|_| next().expect("a place")).collect();
        assert!(held.pop().is_some_and(|last| last.is_last()));
        held.extend(next());
        assert!(next().is_none());
        held.remove(3);
        // A process that another test starts at this moment holds the lock until it runs its program.
        let deadline = Instant::now() + Duration::from_secs(120);
        let free = loop {
            if let Some(slot) = next() {
                break slot;
            }
            assert!(Instant::now() < deadline, "the place is not given back");
            std::thread::yield_now();
        };
        assert!(!free.is_last());
    }
}
