//! When the outcome of a question is sent to the callback that its asker named: at once, and again with back-off for a day,
//! some at a time. The caller says what time it is, sends, and says what came of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::{QuestionId, Timestamp};
use crate::limits;

/// The outcome of a question that is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// The question.
    pub id: QuestionId,
    /// When it opened: an ID may be used again.
    pub opened_at: Timestamp,
    /// Where the outcome is sent.
    pub url: String,
    /// When the question was over.
    pub ended_at: Timestamp,
    /// How often it was sent in vain.
    pub attempts: u32,
    /// When it is sent next.
    pub due: Timestamp,
}

/// What becomes of a callback after it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterCallback {
    /// It has arrived.
    Done,
    /// It is sent again.
    Again {
        /// How often it was sent in vain.
        attempts: u32,
        /// When it is sent next.
        due: Timestamp,
    },
    /// It was sent in vain for a day.
    GivenUp,
}

/// The callbacks of questions that are over.
#[derive(Debug, Default)]
pub struct Callbacks {
    callbacks: BTreeMap<QuestionId, (Callback, Arc<str>)>,
    /// Those that are not being sent, by the time at which they are due.
    due: BTreeSet<(Timestamp, QuestionId)>,
    hosts: BTreeMap<Arc<str>, Host>,
    /// How many are being sent.
    sending: usize,
}

/// A host that callbacks are sent to.
#[derive(Debug, Default)]
struct Host {
    callbacks: usize,
    sending: usize,
}

impl Callbacks {
    /// Adds a callback that is sent to this host.
    pub fn add(&mut self, callback: Callback, host: &str) {
        let id = callback.id.clone();
        if self.callbacks.contains_key(&id) {
            return;
        }
        // A host of many callbacks has its name once.
        let host = self.hosts.get_key_value(host).map_or_else(|| host.into(), |(host, _)| Arc::clone(host));
        self.hosts.entry(Arc::clone(&host)).or_default().callbacks += 1;
        self.due.insert((callback.due, id.clone()));
        self.callbacks.insert(id, (callback, host));
    }

    /// Returns a callback that is to be sent now, until [`Callbacks::sent`] says what came of it. A host that does not reply
    /// does not take the places of the others.
    pub fn next(&mut self, now: Timestamp) -> Option<Callback> {
        if self.sending >= limits::CALLBACKS {
            return None;
        }
        let has_place = |id: &QuestionId| {
            let host = self.callbacks.get(id).and_then(|(_, host)| self.hosts.get(host));
            host.is_some_and(|host| host.sending < limits::CALLBACKS_OF_HOST)
        };
        let due = self.due.iter().take_while(|(due, _)| *due <= now).find(|(_, id)| has_place(id))?.clone();
        self.due.remove(&due);
        let (callback, host) = self.callbacks.get(&due.1)?;
        self.hosts.entry(Arc::clone(host)).or_default().sending += 1;
        self.sending += 1;
        Some(callback.clone())
    }

    /// Returns when [`Callbacks::next`] is to be asked again, if nothing comes of what is being sent until then.
    pub fn wakes_at(&self) -> Option<Timestamp> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Records whether a callback has arrived that was sent. `None` if there is no such callback.
    pub fn sent(&mut self, id: &QuestionId, has_arrived: bool, now: Timestamp) -> Option<AfterCallback> {
        let (mut callback, host) = self.callbacks.remove(id)?;
        self.sending = self.sending.saturating_sub(1);
        let counts = self.hosts.entry(Arc::clone(&host)).or_default();
        counts.sending = counts.sending.saturating_sub(1);
        // An attempt after a day is the last one, such as that of a machine that was switched off meanwhile.
        let is_last = now.since(callback.ended_at) >= limits::CALLBACK_LIFE;
        if has_arrived || is_last {
            counts.callbacks = counts.callbacks.saturating_sub(1);
            if counts.callbacks == 0 {
                self.hosts.remove(&host);
            }
            return Some(if has_arrived { AfterCallback::Done } else { AfterCallback::GivenUp });
        }
        callback.attempts = callback.attempts.saturating_add(1);
        callback.due = now.after(pause(callback.attempts));
        let after = AfterCallback::Again { attempts: callback.attempts, due: callback.due };
        self.due.insert((callback.due, callback.id.clone()));
        self.callbacks.insert(id.clone(), (callback, host));
        Some(after)
    }
}

/// Returns the pause after so many attempts in vain.
fn pause(attempts: u32) -> Duration {
    let doubled = limits::CALLBACK_BACK_OFF.saturating_mul(1 << attempts.saturating_sub(1).min(20));
    doubled.min(limits::CALLBACK_BACK_OFF_MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3600;
    const DAY: u64 = 24 * HOUR;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::default().after(Duration::from_secs(seconds))
    }

    /// Returns the callback of a question that ended at 0.
    fn callback(number: u64, attempts: u32, due: u64) -> Callback {
        let url = "https://hooks.example/".to_owned();
        let id = format!("b-p{number}").parse().expect("an ID");
        Callback { id, opened_at: at(0), url, ended_at: at(0), attempts, due: at(due) }
    }

    fn only(attempts: u32, due: u64) -> Callbacks {
        let mut callbacks = Callbacks::default();
        callbacks.add(callback(1, attempts, due), "hooks.example");
        callbacks
    }

    #[test]
    fn pauses_grow_up_to_an_hour_for_a_day() {
        let mut callbacks = only(0, 0);
        let (mut now, mut pauses) = (at(0), Vec::new());
        let end = loop {
            assert_eq!(callbacks.wakes_at(), Some(now));
            let sent = callbacks.next(now).expect("it is due");
            assert_eq!(callbacks.wakes_at(), None, "it is being sent");
            match callbacks.sent(&sent.id, false, now).expect("it is known") {
                AfterCallback::Again { attempts, due } => {
                    pauses.push(due.since(now).as_secs());
                    assert_eq!(usize::try_from(attempts), Ok(pauses.len()));
                    let before = now.after(due.since(now) - Duration::from_millis(1));
                    assert_eq!(callbacks.next(before), None);
                    now = due;
                }
                end => break end,
            }
        };
        assert_eq!(end, AfterCallback::GivenUp);
        assert_eq!(pauses[..13], [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, HOUR]);
        assert!(pauses[13..].iter().all(|pause| *pause == HOUR));
        assert!((DAY..DAY + HOUR).contains(&now.since(at(0)).as_secs()));
        assert!(callbacks.hosts.is_empty() && callbacks.callbacks.is_empty() && callbacks.sending == 0);
    }

    #[test]
    fn what_becomes_of_a_callback() {
        use AfterCallback::{Again, Done, GivenUp};
        let again = |attempts, due| Again { attempts, due: at(due) };
        for (attempts, due, now, has_arrived, after) in [
            (0, 0, 0, true, Done),
            (0, 0, 10, false, again(1, 11)),
            // The pause begins with the end of the attempt.
            (3, 20, 30, false, again(4, 38)),
            (12, 2 * HOUR, 2 * HOUR, false, again(13, 3 * HOUR)),
            (u32::MAX, 5, 5, false, again(u32::MAX, 5 + HOUR)),
            (30, DAY - 1, DAY - 1, false, again(31, DAY - 1 + HOUR)),
            (30, DAY - 1, DAY, false, GivenUp),
            (30, DAY, DAY, true, Done),
            // The machine was switched off for days.
            (0, 0, 9 * DAY, false, GivenUp),
            (0, 0, 9 * DAY, true, Done),
        ] {
            let mut callbacks = only(attempts, due);
            let sent = callbacks.next(at(now)).expect("it is due");
            let case = format!("{attempts} {due} {now} {has_arrived}");
            assert_eq!(callbacks.sent(&sent.id, has_arrived, at(now)), Some(after), "{case}");
            let wakes = if let Again { due, .. } = after { Some(due) } else { None };
            assert_eq!(callbacks.wakes_at(), wakes, "{case}");
        }
    }

    #[test]
    fn a_clock_that_goes_back_delays_nothing_for_ever() {
        let mut callbacks = only(0, DAY);
        assert_eq!(callbacks.next(at(0)), None);
        let sent = callbacks.next(at(DAY)).expect("it is due");
        let after = callbacks.sent(&sent.id, false, at(0));
        assert_eq!(after, Some(AfterCallback::Again { attempts: 1, due: at(1) }));
    }

    #[test]
    fn a_host_that_does_not_reply_leaves_places_to_others() {
        let mut callbacks = Callbacks::default();
        let per_host = limits::CALLBACKS_OF_HOST;
        for number in 0..100 {
            callbacks.add(callback(number, 0, 0), "slow.example");
        }
        callbacks.add(callback(200, 0, 1), "other.example");
        callbacks.add(callback(200, 0, 0), "again.example");
        let slow: Vec<_> = std::iter::from_fn(|| callbacks.next(at(0))).collect();
        assert_eq!(slow.len(), per_host);
        assert_eq!(callbacks.next(at(1)).map(|callback| callback.id), Some(callback(200, 0, 0).id));
        assert_eq!(callbacks.next(at(1)), None);
        // One that is over makes room for the next.
        callbacks.sent(&slow[0].id, true, at(1));
        assert!(callbacks.next(at(1)).is_some() && callbacks.next(at(1)).is_none());
        for host in 0..100 {
            callbacks.add(callback(1000 + host, 0, 2), &format!("{host}.example"));
        }
        let all = std::iter::from_fn(|| callbacks.next(at(2))).count();
        assert_eq!(all, limits::CALLBACKS - per_host - 1);
        assert_eq!(callbacks.sent(&callback(9999, 0, 0).id, true, at(2)), None);
    }
}
