//! For which questions a bridge starts a notifier, and when: an agent that asks without end starts only a few.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use crate::{desk::QuestionId, limits};

/// What becomes of the open questions of one bridge. Times are since the bridge started.
#[derive(Debug, Default)]
pub struct NotifierStarts {
    questions: BTreeMap<QuestionId, Stage>,
    /// When notifiers were started in the last minute.
    recent: VecDeque<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A notifier starts then.
    Waits(Duration),
    /// Its notifier runs.
    Runs,
    /// There is nothing to be done, or it is done.
    Done,
}

impl NotifierStarts {
    /// Takes over which questions are open. `due` says when the person is to be told of a new one, if at all.
    pub fn open<'a>(
        &mut self,
        open: impl Iterator<Item = &'a QuestionId>,
        mut due: impl FnMut(&QuestionId) -> Option<Duration>,
    ) {
        let open: BTreeSet<_> = open.collect();
        self.questions.retain(|id, stage| *stage == Stage::Runs || open.contains(id));
        for id in open {
            if !self.questions.contains_key(id) {
                let stage = due(id).map_or(Stage::Done, Stage::Waits);
                self.questions.insert(id.clone(), stage);
            }
        }
    }

    /// Returns the questions for which a notifier is to be started now. Where `is_held` says that the person is not to be
    /// told now, it is asked again after [`limits::NOTIFY_LOOK`].
    pub fn poll(&mut self, now: Duration, mut is_held: impl FnMut(&QuestionId) -> bool) -> Vec<QuestionId> {
        while self.recent.front().is_some_and(|at| *at + limits::MINUTE <= now) {
            self.recent.pop_front();
        }
        let mut room = self.room();
        let mut started = Vec::new();
        for (id, stage) in &mut self.questions {
            match stage {
                Stage::Waits(due) if *due <= now && room > 0 => {
                    if is_held(id) {
                        *due = now + limits::NOTIFY_LOOK;
                        continue;
                    }
                    room -= 1;
                    *stage = Stage::Runs;
                    self.recent.push_back(now);
                    started.push(id.clone());
                }
                _ => {}
            }
        }
        started
    }

    /// Takes over that a notifier has ended. One that found too many of others is started again later.
    pub fn ended(&mut self, id: &QuestionId, was_busy: bool, now: Duration) {
        if let Some(stage) = self.questions.get_mut(id) {
            *stage = if was_busy { Stage::Waits(now + limits::NOTIFY_RETRY) } else { Stage::Done };
        }
    }

    /// Returns when [`NotifierStarts::poll`] is to be called next.
    pub fn next_deadline(&self) -> Option<Duration> {
        let waits = self.questions.values().filter_map(|stage| match stage {
            Stage::Waits(due) => Some(*due),
            Stage::Runs | Stage::Done => None,
        });
        let first = waits.min()?;
        match (self.room(), self.recent.front()) {
            (1.., _) => Some(first),
            // There is room again once a minute has passed. Otherwise, a notifier has to end.
            (0, Some(oldest)) if self.recent.len() >= limits::NOTIFIED_A_MINUTE => {
                Some(first.max(*oldest + limits::MINUTE))
            }
            (0, _) => None,
        }
    }

    /// Returns how many notifiers may be started now.
    fn room(&self) -> usize {
        let running = self.questions.values().filter(|stage| **stage == Stage::Runs).count();
        let of_minute = limits::NOTIFIED_A_MINUTE.saturating_sub(self.recent.len());
        limits::NOTIFIERS.saturating_sub(running).min(of_minute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(numbers: impl Iterator<Item = u64>) -> Vec<QuestionId> {
        numbers.map(|number| format!("b-{number}").parse().expect("an ID")).collect()
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_question_that_is_settled_within_the_delay_costs_nothing() {
        let mut starts = NotifierStarts::default();
        starts.open(ids(1..3).iter(), |_| Some(at(10)));
        assert_eq!((starts.poll(at(9), |_| false), starts.next_deadline()), (vec![], Some(at(10))));
        starts.open(ids(2..3).iter(), |_| panic!("it is known"));
        assert_eq!(starts.poll(at(10), |_| false), ids(2..3));
        assert_eq!((starts.poll(at(99), |_| false), starts.next_deadline()), (vec![], None));
    }

    #[test]
    fn nothing_starts_where_nothing_is_to_be_told_or_while_it_is_held() {
        let mut starts = NotifierStarts::default();
        starts.open(ids(1..2).iter(), |_| None);
        assert_eq!((starts.poll(at(99), |_| false), starts.next_deadline()), (vec![], None));
        starts.open(ids(1..3).iter(), |_| Some(at(0)));
        assert_eq!(starts.poll(at(99), |_| true), []);
        let again = starts.next_deadline().expect("it looks again");
        assert_eq!(again, at(99) + limits::NOTIFY_LOOK);
        assert_eq!(starts.poll(again, |_| false), ids(2..3));
    }

    #[test]
    fn an_agent_cannot_start_more_than_a_few_a_minute() {
        let (mut starts, most) = (NotifierStarts::default(), limits::NOTIFIED_A_MINUTE);
        let mut begun = Vec::new();
        for second in 0..60 {
            // Each question is withdrawn after a second, and each notifier ends at once.
            let asked = ids(100 * second..100 * second + 50);
            starts.open(asked.iter(), |_| Some(at(0)));
            for id in starts.poll(at(second), |_| false) {
                starts.ended(&id, false, at(second));
                begun.push(id);
            }
        }
        assert_eq!(begun.len(), most);
        assert_eq!(starts.next_deadline(), Some(at(60)));
        assert_eq!(starts.poll(at(60), |_| false).len(), most);
    }

    #[test]
    fn no_more_run_at_once_than_may() {
        let (mut starts, most) = (NotifierStarts::default(), limits::NOTIFIERS);
        let asked = ids(0..100);
        starts.open(asked.iter(), |_| Some(at(0)));
        let mut running = Vec::new();
        for minute in 0..5 {
            running.extend(starts.poll(at(60 * minute), |_| false));
        }
        assert_eq!((running.len(), starts.next_deadline()), (most, None));
        starts.ended(&running[0], false, at(300));
        assert_eq!(starts.poll(at(300), |_| false).len(), 1);
    }

    #[test]
    fn a_notifier_that_found_too_many_of_others_is_started_again() {
        let mut starts = NotifierStarts::default();
        let asked = ids(1..2);
        starts.open(asked.iter(), |_| Some(at(0)));
        assert_eq!(starts.poll(at(0), |_| false), asked);
        starts.ended(&asked[0], true, at(1));
        assert_eq!(starts.next_deadline(), Some(at(1) + limits::NOTIFY_RETRY));
    }
}
