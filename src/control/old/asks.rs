//! Questions that no agent asked: a program on this machine did, and waits.
//! What agents ask is left to the bridge.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{oneshot, watch},
    time::{Instant, sleep_until},
};

use crate::control::old::view::Settlement;
use crate::limits;

/// Who waits for what becomes of which question.
#[derive(Debug, Default)]
pub(crate) struct Local {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The number of the last question.
    last: u64,
    open: BTreeMap<u64, Open>,
    /// The bytes of all of them.
    bytes: usize,
}

#[derive(Debug)]
struct Open {
    settled: oneshot::Sender<Settlement>,
    deadline: watch::Sender<Option<Instant>>,
    bytes: usize,
}

/// One question that is waited for.
#[derive(Debug)]
pub(crate) struct Wait {
    /// Its number: no other question of a program has it.
    pub number: u64,
    settled: oneshot::Receiver<Settlement>,
    deadline: watch::Receiver<Option<Instant>>,
}

impl Local {
    /// Begins to wait for a question of so many bytes that ends by itself after this time. The error names the limit that
    /// it would break: they are those of the questions of agents.
    pub(crate) fn open(&self, timeout: Option<Duration>, bytes: usize) -> Result<Wait, String> {
        let (settled, waits) = oneshot::channel();
        // One beyond what the clock can say never comes.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let (deadline, ends) = watch::channel(deadline);
        let mut waiting = self.lock();
        let too_many = |what: &str, most: usize| Err(format!("too many {what}; the most is {most}"));
        if waiting.open.len() >= limits::OPEN {
            return too_many("open questions", limits::OPEN);
        }
        if waiting.bytes + bytes > limits::OPEN_BYTES {
            return too_many("bytes of open questions", limits::OPEN_BYTES);
        }
        waiting.bytes += bytes;
        waiting.last += 1;
        let number = waiting.last;
        waiting.open.insert(number, Open { settled, deadline, bytes });
        Ok(Wait { number, settled: waits, deadline: ends })
    }

    /// Settles a question, and says whether somebody waited for it.
    pub(crate) fn settle(&self, number: u64, settlement: Settlement) -> bool {
        let mut waiting = self.lock();
        let Some(open) = waiting.open.remove(&number) else { return false };
        waiting.bytes -= open.bytes;
        open.settled.send(settlement).is_ok()
    }

    /// Gives a question this much more time. `None` where it ends not by itself.
    pub(crate) fn extend(&self, number: u64, time: Duration) -> Option<()> {
        let waiting = self.lock();
        let open = waiting.open.get(&number)?;
        let deadline = (*open.deadline.borrow())?;
        // One beyond what the clock can say stays where it is.
        let deadline = deadline.checked_add(time.min(limits::WAIT)).unwrap_or(deadline);
        open.deadline.send_replace(Some(deadline));
        Some(())
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing that holds it can leave it half changed.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wait {
    /// Waits for what becomes of it. `None` when its time is over.
    pub(crate) async fn settled(&mut self) -> Option<Settlement> {
        loop {
            let deadline = *self.deadline.borrow_and_update();
            tokio::select! {
                settled = &mut self.settled => return settled.ok(),
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    // From now on nobody is told that it was answered.
                    self.settled.close();
                    return self.settled.try_recv().ok();
                }
                Ok(()) = self.deadline.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::control::old::asks::*;
    use crate::question::{Outcome, Provenance, Reason};

    fn rejected() -> Settlement {
        let (outcome, by) = (Outcome::Rejected(Reason::User), Provenance::bridge());
        Settlement { outcome, by, at: String::new(), remark: None }
    }

    #[tokio::test]
    async fn whoever_comes_after_the_deadline_is_not_told_that_it_was_in_time() {
        let local = Local::default();
        let mut wait = local.open(Some(Duration::ZERO), 1).expect("room");
        assert_eq!(wait.settled().await, None);
        assert!(!local.settle(wait.number, rejected()));

        let mut wait = local.open(None, 1).expect("room");
        assert!(local.settle(wait.number, rejected()));
        assert_eq!(wait.settled().await, Some(rejected()));
        assert!(!local.settle(wait.number, rejected()), "it was settled before");
        assert_eq!(local.lock().bytes, 0, "what is settled takes no room");
    }

    #[tokio::test]
    async fn a_deadline_that_was_moved_is_the_one_that_counts() {
        let local = Local::default();
        let mut wait = local.open(Some(Duration::from_millis(1)), 1).expect("room");
        assert_eq!(local.extend(wait.number, Duration::from_secs(3600)), Some(()));
        let early = tokio::time::timeout(Duration::from_millis(20), wait.settled()).await;
        assert!(early.is_err(), "{early:?}");
        assert_eq!(local.extend(local.open(None, 1).expect("room").number, Duration::ZERO), None);
    }

    #[test]
    fn questions_have_the_room_that_those_of_agents_have() {
        let local = Local::default();
        let big = local.open(None, limits::OPEN_BYTES).expect("room");
        assert_eq!(
            local.open(None, 1).expect_err("no room"),
            format!("too many bytes of open questions; the most is {}", limits::OPEN_BYTES)
        );
        local.settle(big.number, rejected());
        let all: Vec<_> = (0..limits::OPEN).map(|_| local.open(None, 1).expect("room")).collect();
        assert_eq!(
            local.open(None, 1).expect_err("no room"),
            format!("too many open questions; the most is {}", all.len())
        );
    }

    #[tokio::test]
    async fn more_time_than_can_be_counted_is_as_long_as_it_takes() {
        let local = Local::default();
        let wait = local.open(Some(Duration::from_secs(1)), 1).expect("room");
        for _ in 0..400 {
            assert_eq!(local.extend(wait.number, Duration::MAX), Some(()));
        }
    }
}
