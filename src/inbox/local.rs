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

use super::view::Settlement;

/// Who waits for what becomes of which question.
#[derive(Debug, Default)]
pub(super) struct Local {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The number of the last question.
    last: u64,
    open: BTreeMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    settled: oneshot::Sender<Settlement>,
    deadline: watch::Sender<Option<Instant>>,
}

/// One question that is waited for.
#[derive(Debug)]
pub(super) struct Wait {
    /// Its number: no other question of a program has it.
    pub number: u64,
    settled: oneshot::Receiver<Settlement>,
    deadline: watch::Receiver<Option<Instant>>,
}

impl Local {
    /// Begins to wait for a question that ends by itself after this time.
    pub(super) fn open(&self, timeout: Option<Duration>) -> Wait {
        let (settled, waits) = oneshot::channel();
        // One beyond what the clock can say never comes.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let (deadline, ends) = watch::channel(deadline);
        let mut waiting = self.lock();
        waiting.last += 1;
        let number = waiting.last;
        waiting.open.insert(number, Open { settled, deadline });
        Wait { number, settled: waits, deadline: ends }
    }

    /// Returns how many are waited for.
    pub(super) fn count(&self) -> usize {
        self.lock().open.len()
    }

    /// Settles a question, and says whether somebody waited for it.
    pub(super) fn settle(&self, number: u64, settlement: Settlement) -> bool {
        let open = self.lock().open.remove(&number);
        open.is_some_and(|open| open.settled.send(settlement).is_ok())
    }

    /// Gives a question this much more time. `None` where it ends not by itself.
    pub(super) fn extend(&self, number: u64, time: Duration) -> Option<()> {
        let waiting = self.lock();
        let open = waiting.open.get(&number)?;
        let deadline = (*open.deadline.borrow())?.checked_add(time)?;
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
    pub(super) async fn settled(&mut self) -> Option<Settlement> {
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
    use super::*;
    use crate::question::{Outcome, Provenance, Reason};

    fn rejected() -> Settlement {
        let (outcome, by) = (Outcome::Rejected(Reason::User), Provenance::bridge());
        Settlement { outcome, by, at: String::new(), remark: None }
    }

    #[tokio::test]
    async fn whoever_comes_after_the_deadline_is_not_told_that_it_was_in_time() {
        let local = Local::default();
        let mut wait = local.open(Some(Duration::ZERO));
        assert_eq!(wait.settled().await, None);
        assert!(!local.settle(wait.number, rejected()));

        let mut wait = local.open(None);
        assert!(local.settle(wait.number, rejected()));
        assert_eq!(wait.settled().await, Some(rejected()));
        assert!(!local.settle(wait.number, rejected()), "it was settled before");
        assert_eq!(local.count(), 0);
    }

    #[tokio::test]
    async fn a_deadline_that_was_moved_is_the_one_that_counts() {
        let local = Local::default();
        let mut wait = local.open(Some(Duration::from_millis(1)));
        assert_eq!(local.extend(wait.number, Duration::from_secs(3600)), Some(()));
        let early = tokio::time::timeout(Duration::from_millis(20), wait.settled()).await;
        assert!(early.is_err(), "{early:?}");
        assert_eq!(local.extend(local.open(None).number, Duration::ZERO), None);
    }
}
