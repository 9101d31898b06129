//! When each way tells of one question. What happened and the time come in, steps come out.

use std::time::Duration;

use super::way::{Way, is_told};
use crate::{
    limits,
    question::Question,
    settings::{NotifySettings, kinds::QuietHours},
};

/// What is around the person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The minute of the day, counted from midnight.
    pub minute: u16,
    /// Whether a person is looking at the questions.
    pub is_present: bool,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotifyStep {
    /// Tell the person in this way.
    Tell(Way),
    /// Say that so many more questions wait that are not told one by one.
    TellMore(usize),
    /// Run the heartbeat command. [`Plan::beaten`] must follow.
    Beat,
}

/// When the person is told of one question. Times are the age of the question.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The ways that have not told yet, each with its delay.
    pending: Vec<(Duration, Way)>,
    quiet: QuietHours,
    presence: bool,
    /// The interval of the heartbeat.
    every: Option<Duration>,
    /// When the heartbeat command runs next. `None` while it runs.
    beat: Option<Duration>,
    /// When a way that is due is looked at again, because the person is not to be told now.
    again: Option<Duration>,
    /// How many more questions wait, and how many of them are told.
    more: (usize, usize),
    /// When it was told how many more wait.
    more_told: Option<Duration>,
    is_over: bool,
}

impl Plan {
    /// Plans for a question. Returns `None` where nothing is to be done for it.
    pub fn new(settings: &NotifySettings, question: &Question, has_terminal: bool) -> Option<Self> {
        let ways = Way::set(settings, has_terminal);
        let every = settings.heartbeat.as_ref().map(|heartbeat| heartbeat.every);
        if !is_told(settings, question) || (ways.is_empty() && every.is_none()) {
            return None;
        }
        Some(Plan {
            pending: ways.into_iter().map(|way| (settings.delay_of(way.name()), way)).collect(),
            quiet: settings.quiet.clone(),
            presence: settings.presence,
            every,
            beat: every.map(|_| settings.delay),
            again: None,
            more: (0, 0),
            more_told: None,
            is_over: false,
        })
    }

    /// Tells at once in all ways, whatever the time is and wherever the person is.
    #[must_use]
    pub fn now(mut self) -> Self {
        self.pending.iter_mut().for_each(|(delay, _)| *delay = Duration::ZERO);
        self.beat = self.beat.map(|_| Duration::ZERO);
        (self.quiet, self.presence) = (QuietHours::default(), false);
        self
    }

    /// Returns when the first way is due.
    pub fn first(&self) -> Option<Duration> {
        self.pending.iter().map(|(delay, _)| *delay).chain(self.beat).min()
    }

    /// Returns whether the person is not to be told now.
    pub fn is_held(&self, around: Circumstances) -> bool {
        self.quiet.contains(around.minute) || (self.presence && around.is_present)
    }

    /// Returns what is to be done now.
    pub fn poll(&mut self, now: Duration, around: Circumstances) -> Vec<NotifyStep> {
        let mut steps = Vec::new();
        if self.is_over || self.next_deadline().is_none_or(|deadline| deadline > now) {
            return steps;
        }
        if self.is_held(around) {
            self.again = Some(now + limits::NOTIFY_LOOK);
            return steps;
        }
        self.again = None;
        self.pending.retain(|(delay, way)| {
            let is_due = *delay <= now;
            if is_due {
                steps.push(NotifyStep::Tell(*way));
            }
            !is_due
        });
        if self.beat.is_some_and(|beat| beat <= now) {
            self.beat = None;
            steps.push(NotifyStep::Beat);
        }
        if self.more_deadline().is_some_and(|deadline| deadline <= now) {
            (self.more.1, self.more_told) = (self.more.0, Some(now));
            steps.push(NotifyStep::TellMore(self.more.0));
        }
        steps
    }

    /// Takes over that the heartbeat command has ended.
    pub fn beaten(&mut self, now: Duration) {
        self.beat = self.every.map(|every| now + every);
    }

    /// Takes over how many more questions wait that are not told one by one.
    pub fn more(&mut self, count: usize) {
        // Once fewer wait, a new one is news again.
        self.more = (count, self.more.1.min(count));
    }

    /// Takes over that the question is settled.
    pub fn over(&mut self) {
        self.is_over = true;
    }

    /// Returns when [`Plan::poll`] is to be called next.
    pub fn next_deadline(&self) -> Option<Duration> {
        if self.is_over {
            return None;
        }
        self.again.or_else(|| self.first().into_iter().chain(self.more_deadline()).min())
    }

    /// Returns when it is told that more questions wait: not more often than once in [`limits::NOTIFY_MORE`].
    fn more_deadline(&self) -> Option<Duration> {
        let (count, told) = self.more;
        (count > told).then(|| self.more_told.map_or(Duration::ZERO, |at| at + limits::NOTIFY_MORE))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        notify::message::samples::settings,
        question::{Origin, Purpose},
    };

    fn question(purpose: Purpose) -> Question {
        let fields = json!([{ "name": "f", "label": "Which?", "kind": "boolean" }]);
        let fields = serde_json::from_value(fields).expect("fields");
        Question { purpose, ..Question::new(Origin::Elicitation, "q", fields) }
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn plan(text: &str) -> Plan {
        Plan::new(&settings(text), &question(Purpose::Question), true).expect("something is to be done")
    }

    const AWAY: Circumstances = Circumstances { minute: 12 * 60, is_present: false };
    const HERE: Circumstances = Circumstances { is_present: true, ..AWAY };

    #[test]
    fn each_way_tells_once_after_its_delay() {
        let mut plan = plan(
            "[notify]\ndelay = \"10s\"\n[notify.desktop]\nenabled = true\n[notify.ntfy]\ntopic = \"t\"\ndelay = \"2m\"\n",
        );
        assert_eq!(plan.next_deadline(), Some(at(10)));
        assert_eq!(plan.poll(at(9), AWAY), []);
        assert_eq!(
            plan.poll(at(10), AWAY),
            [NotifyStep::Tell(Way::Terminal), NotifyStep::Tell(Way::Desktop)]
        );
        assert_eq!((plan.poll(at(119), AWAY), plan.next_deadline()), (vec![], Some(at(120))));
        assert_eq!(plan.poll(at(120), AWAY), [NotifyStep::Tell(Way::Ntfy)]);
        assert_eq!((plan.poll(at(9999), AWAY), plan.next_deadline()), (vec![], None));
    }

    #[test]
    fn nothing_is_told_while_the_person_is_there_or_wants_quiet() {
        let mut plan = plan("[notify]\nquiet = [\"22:00-07:00\"]\n");
        assert_eq!(plan.poll(at(10), HERE), []);
        let again = plan.next_deadline().expect("it looks again");
        assert_eq!(again, at(10) + limits::NOTIFY_LOOK);
        assert_eq!(plan.poll(again - at(1), AWAY), [], "it looks again only then");
        assert_eq!(plan.poll(again, Circumstances { minute: 22 * 60, ..AWAY }), []);
        assert_eq!(plan.poll(at(9999), Circumstances { minute: 6 * 60 + 59, ..AWAY }), []);
        assert_eq!(
            plan.poll(at(99_999), Circumstances { minute: 7 * 60, ..AWAY }),
            [NotifyStep::Tell(Way::Terminal)]
        );
    }

    #[test]
    fn presence_can_be_left_out_of_account() {
        let mut plan = plan("[notify]\npresence = false\n");
        assert_eq!(plan.poll(at(10), HERE), [NotifyStep::Tell(Way::Terminal)]);
    }

    #[test]
    fn the_heartbeat_begins_with_the_delay_and_waits_for_the_run_before() {
        let mut plan = plan(
            "[notify.terminal]\nenabled = false\n[notify.heartbeat]\nevery = \"1m\"\ncommand = [\"beat\"]\n",
        );
        assert_eq!((plan.poll(at(9), AWAY), plan.next_deadline()), (vec![], Some(at(10))));
        assert_eq!(plan.poll(at(10), AWAY), [NotifyStep::Beat]);
        assert_eq!((plan.poll(at(500), AWAY), plan.next_deadline()), (vec![], None), "it still runs");
        plan.beaten(at(500));
        assert_eq!((plan.poll(at(559), AWAY), plan.next_deadline()), (vec![], Some(at(560))));
        assert_eq!(plan.poll(at(560), HERE), [], "the person is there");
        assert_eq!(plan.poll(at(600), AWAY), [NotifyStep::Beat]);
    }

    #[test]
    fn nothing_is_told_of_a_question_that_is_over() {
        let mut plan = plan("");
        plan.more(3);
        plan.over();
        assert_eq!((plan.poll(at(10), AWAY), plan.next_deadline()), (vec![], None));
    }

    #[test]
    fn only_the_purposes_that_are_set_are_told() {
        let of = |text: &str, purpose| Plan::new(&settings(text), &question(purpose), true).is_some();
        let permissions = "[notify]\npurposes = [\"permission\"]\n";
        assert!(of("", Purpose::Question) && of("", Purpose::Permission));
        assert!(!of(permissions, Purpose::Question) && of(permissions, Purpose::Permission));
        let unknown: Purpose = serde_json::from_value(json!("of_next_year")).expect("a purpose");
        assert!(of(permissions, unknown));
    }

    #[test]
    fn there_is_nothing_to_do_without_a_way() {
        assert!(Plan::new(&settings(""), &question(Purpose::Question), false).is_none());
    }

    #[test]
    fn at_once_means_now_in_every_way() {
        let mut plan = plan("[notify]\ndelay = \"1h\"\nquiet = [\"00:00-23:59\"]\n").now();
        assert_eq!(plan.poll(at(0), HERE), [NotifyStep::Tell(Way::Terminal)]);
    }

    #[test]
    fn it_is_told_that_more_wait_at_most_once_a_minute() {
        let mut plan = plan("[notify]\ndelay = \"0s\"\n");
        assert_eq!(plan.poll(at(0), AWAY), [NotifyStep::Tell(Way::Terminal)]);
        plan.more(2);
        assert_eq!(plan.poll(at(1), AWAY), [NotifyStep::TellMore(2)]);
        plan.more(2);
        assert_eq!(plan.next_deadline(), None);
        plan.more(5);
        assert_eq!((plan.poll(at(2), AWAY), plan.next_deadline()), (vec![], Some(at(61))));
        assert_eq!(plan.poll(at(61), AWAY), [NotifyStep::TellMore(5)]);
        plan.more(0);
        plan.more(1);
        assert_eq!(plan.poll(at(200), AWAY), [NotifyStep::TellMore(1)]);
    }
}
