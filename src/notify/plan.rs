//! Decides when the user is notified of a question. The settings, the rules and what happened so far say when each way
//! is due. A bridge starts a limited number of notifiers, however much its agent asks. The time comes in, steps come
//! out.
//! What each way does is left to `ways`.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    time::Duration,
};

use askbridge_core::{
    desk::{QuestionId, Record},
    guard::Files,
    question::Question,
};
use askbridge_settings::{
    NotifySettings,
    kinds::QuietHours,
    rule::{Rule, RuleEffect, decide},
};

use crate::limits;

/// The circumstances of the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The minute of the day, counted from midnight.
    pub minute: u16,
    /// Whether a person is looking at the questions.
    pub is_present: bool,
}

/// A step for the notifier to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotifyStep {
    /// Notify the user in this way.
    Tell(Way),
    /// Notify the user that this many more questions wait, which have no notifier of their own.
    TellMore(usize),
    /// Run the heartbeat command. [`Plan::beaten`] must follow.
    Beat,
}

/// When the user is notified of one question. Times are ages of the question.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The ways that have not been used yet, each with its delay.
    pending: Vec<(Duration, Way)>,
    quiet: QuietHours,
    presence: bool,
    /// The interval of the heartbeat.
    every: Option<Duration>,
    /// When the heartbeat command runs next. `None` while it runs.
    beat: Option<Duration>,
    /// When a way that is due is tried again, because the user must not be notified now.
    again: Option<Duration>,
    /// How many more questions wait, and how many of them the user has been notified of.
    more: (usize, usize),
    /// When the user was last notified of how many more wait.
    more_told: Option<Duration>,
    is_over: bool,
}

impl Plan {
    /// Plans for a question. Returns `None` if the settings ask for nothing.
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

    /// Makes all ways due at once, without regard to quiet hours and presence.
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

    /// Returns whether notifications are held back now.
    pub fn is_held(&self, around: Circumstances) -> bool {
        self.quiet.contains(around.minute) || (self.presence && around.is_present)
    }

    /// Returns the steps that are due now.
    pub fn poll(&mut self, now: Duration, around: Circumstances) -> Vec<NotifyStep> {
        let mut steps = Vec::new();
        if self.is_over || self.next_deadline().is_none_or(|deadline| deadline > now) {
            return steps;
        }
        if self.is_held(around) {
            // No event tells the end of quiet hours or of presence, so they are polled.
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
            // `beaten` sets the next time, so that two heartbeat commands never run at once.
            self.beat = None;
            steps.push(NotifyStep::Beat);
        }
        if self.more_deadline().is_some_and(|deadline| deadline <= now) {
            (self.more.1, self.more_told) = (self.more.0, Some(now));
            steps.push(NotifyStep::TellMore(self.more.0));
        }
        steps
    }

    /// Records that the heartbeat command has ended.
    pub fn beaten(&mut self, now: Duration) {
        self.beat = self.every.map(|every| now + every);
    }

    /// Records how many more questions wait without a notifier of their own.
    pub fn more(&mut self, count: usize) {
        // If the count falls, a later question is worth a new notification.
        self.more = (count, self.more.1.min(count));
    }

    /// Records that the question is settled.
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

    /// Returns when the user is next notified that more questions wait: at most once in [`limits::NOTIFY_MORE`].
    fn more_deadline(&self) -> Option<Duration> {
        let (count, told) = self.more;
        (count > told).then(|| self.more_told.map_or(Duration::ZERO, |at| at + limits::NOTIFY_MORE))
    }
}

/// One way to notify the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Escape sequences to the terminal that the bridge was started in.
    Terminal,
    /// A program that plays or speaks.
    Sound,
    /// A notification of the desktop.
    Desktop,
    /// A command that the user has set.
    Command,
    /// A request to a server of the user.
    Webhook,
    /// A message through an ntfy server.
    Ntfy,
}

impl Way {
    /// Returns the ways that are set up, in the order in which they are used. `has_terminal` says whether there is a
    /// terminal to write to.
    pub fn set(settings: &NotifySettings, has_terminal: bool) -> Vec<Way> {
        let all = [
            (Way::Terminal, settings.terminal && has_terminal),
            (Way::Sound, settings.sound.is_some()),
            (Way::Desktop, settings.desktop),
            (Way::Command, settings.command.is_some()),
            (Way::Webhook, settings.webhook.is_some()),
            (Way::Ntfy, settings.ntfy.is_some()),
        ];
        all.into_iter().filter(|(_, is_set)| *is_set).map(|(way, _)| way).collect()
    }

    /// Returns the name of the way, which is also the name of its table in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Way::Terminal => "terminal",
            Way::Sound => "sound",
            Way::Desktop => "desktop",
            Way::Command => "command",
            Way::Webhook => "webhook",
            Way::Ntfy => "ntfy",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Returns whether the settings ask for notifications of a question's purpose. A purpose that this version does not
/// know counts as set: one notification too many is better than a missed question.
pub(super) fn is_told(settings: &NotifySettings, question: &Question) -> bool {
    use askbridge_core::question::Purpose;
    matches!(question.purpose, Purpose::Other(_)) || settings.purposes.contains(&question.purpose)
}

/// Returns the settings for one question. If a rule names the ways for it, only these ways stay set.
pub fn ruled(settings: NotifySettings, rules: &[Rule], record: &Record, files: &dyn Files) -> NotifySettings {
    match decide(rules, record, files).map(|decision| decision.what) {
        Some(RuleEffect::Notify(ways)) => settings.only(&ways),
        _ => settings,
    }
}

/// Which open questions of one bridge have a notifier. Times count from the start of the bridge.
#[derive(Debug, Default)]
pub struct NotifierStarts {
    questions: BTreeMap<QuestionId, Stage>,
    /// The start times of the notifiers of the last minute.
    recent: VecDeque<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A notifier is due at this time.
    Waits(Duration),
    /// A notifier of the question runs.
    Runs,
    /// The question is over or set aside, and its notifier still withdraws its notifications.
    Ends,
    /// The question needs no notifier, or its notifier has ended.
    Done,
}

impl NotifierStarts {
    /// Records which questions are open. `due` returns when the user is to be notified of a new question, if at all.
    pub fn open<'a>(
        &mut self,
        open: impl Iterator<Item = &'a QuestionId>,
        mut due: impl FnMut(&QuestionId) -> Option<Duration>,
    ) {
        let open: BTreeSet<_> = open.collect();
        // A running notifier outlives its question, to withdraw its notifications, and takes one of the places until it
        // ends.
        self.questions.retain(|id, stage| {
            if *stage == Stage::Runs && !open.contains(id) {
                *stage = Stage::Ends;
            }
            *stage == Stage::Ends || open.contains(id)
        });
        for id in open {
            if !self.questions.contains_key(id) {
                let stage = due(id).map_or(Stage::Done, Stage::Waits);
                self.questions.insert(id.clone(), stage);
            }
        }
    }

    /// Returns the questions for which a notifier must be started now. A question that `is_held` holds back is tried
    /// again after [`limits::NOTIFY_LOOK`].
    pub fn poll(&mut self, now: Duration, mut is_held: impl FnMut(&QuestionId) -> bool) -> Vec<QuestionId> {
        while self.recent.front().is_some_and(|at| *at + limits::MINUTE <= now) {
            self.recent.pop_front();
        }
        let mut room = self.room();
        let mut started = Vec::new();
        for (id, stage) in &mut self.questions {
            match stage {
                Stage::Waits(due) if *due <= now && room > 0 => {
                    // A question that is held back must not use up the room of others.
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

    /// Records that a notifier has ended. If it ended because too many others ran (`was_busy`), it is started again
    /// later.
    pub fn ended(&mut self, id: &QuestionId, was_busy: bool, now: Duration) {
        match self.questions.get_mut(id) {
            // A question that is back by now is a new one.
            Some(Stage::Ends) => _ = self.questions.remove(id),
            Some(stage) if was_busy => *stage = Stage::Waits(now + limits::NOTIFY_RETRY),
            Some(stage) => *stage = Stage::Done,
            None => {}
        }
    }

    /// Returns when [`NotifierStarts::poll`] is to be called next.
    pub fn next_deadline(&self) -> Option<Duration> {
        let waits = self.questions.values().filter_map(|stage| match stage {
            Stage::Waits(due) => Some(*due),
            Stage::Runs | Stage::Ends | Stage::Done => None,
        });
        let first = waits.min()?;
        match (self.room(), self.recent.front()) {
            (1.., _) => Some(first),
            // The limit per minute leaves room when the oldest start is a minute old. The limit of running notifiers
            // leaves room when one ends, which has no known time.
            (0, Some(oldest)) if self.recent.len() >= limits::NOTIFIED_A_MINUTE => {
                Some(first.max(*oldest + limits::MINUTE))
            }
            (0, _) => None,
        }
    }

    /// Returns how many notifiers may be started now.
    fn room(&self) -> usize {
        let running =
            self.questions.values().filter(|stage| matches!(stage, Stage::Runs | Stage::Ends)).count();
        let of_minute = limits::NOTIFIED_A_MINUTE.saturating_sub(self.recent.len());
        limits::NOTIFIERS.saturating_sub(running).min(of_minute)
    }
}

#[cfg(test)]
mod tests {
    use askbridge_core::question::{Origin, Purpose};
    use askbridge_settings::{Settings, SettingsFile, Sources};
    use serde_json::json;

    use super::*;
    use crate::{limits, notify::message::samples::settings};

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

    struct NoFiles;

    impl Files for NoFiles {
        fn resolve(&self, _: &std::path::Path) -> Option<std::path::PathBuf> {
            None
        }

        fn has_other_names(&self, _: &std::path::Path) -> bool {
            false
        }
    }

    #[test]
    fn a_rule_names_the_ways_for_its_questions() {
        let text = "[notify.desktop]\nenabled = true\n[notify.ntfy]\ntopic = 't'\n\
                [[rule]]\nname = 'phone'\nagent = 'Codex'\nthen = 'notify'\nby = ['ntfy', 'sound']\n";
        let user = Some(SettingsFile {
            path: "config.toml".into(),
            text: text.to_owned(),
            is_readable_by_others: false,
        });
        let all = Settings::of(Sources { user, ..Sources::default() });
        assert_eq!(all.problems(), []);
        let ways = |agent: &str| {
            let question = json!({
                "questionId": "q", "message": "Why?", "origin": "program", "dangerous": false, "blocking": true,
                "agent": agent, "fields": [{ "name": "f", "label": "F", "kind": "text" }],
            });
            let question = serde_json::from_value(question).expect("a question");
            let record =
                Record::new("b-1".parse().expect("an ID"), std::sync::Arc::new(question), Default::default());
            let settings = NotifySettings::of(&all, None).expect("settings");
            Way::set(&ruled(settings, all.rules(), &record, &NoFiles), true)
        };
        assert_eq!(ways("Codex"), [Way::Ntfy], "a way that is not set up stays away");
        assert_eq!(ways("Claude"), [Way::Terminal, Way::Desktop, Way::Ntfy]);
    }

    #[test]
    fn the_ways_of_rules_are_those_of_the_settings() {
        let all = [Way::Terminal, Way::Sound, Way::Desktop, Way::Command, Way::Webhook, Way::Ntfy];
        assert_eq!(askbridge_settings::rule::keys::WAYS, all.map(Way::name));
    }

    fn ids(numbers: impl Iterator<Item = u64>) -> Vec<QuestionId> {
        numbers.map(|number| format!("b-{number}").parse().expect("an ID")).collect()
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

    /// What is set aside is not among the open ones until it is back.
    #[test]
    fn a_question_that_is_set_aside_is_told_once_it_is_back() {
        let (mut starts, one) = (NotifierStarts::default(), ids(1..2));
        let none = || [].iter();
        // Before its delay is over: nobody is told, and the delay begins again with its return.
        starts.open(one.iter(), |_| Some(at(10)));
        starts.open(none(), |_| panic!("it is set aside"));
        assert_eq!((starts.poll(at(3600), |_| false), starts.next_deadline()), (vec![], None));
        starts.open(one.iter(), |_| Some(at(3610)));
        assert_eq!((starts.poll(at(3609), |_| false), starts.next_deadline()), (vec![], Some(at(3610))));
        assert_eq!(starts.poll(at(3610), |_| false), one);
        // While its notifier runs, which then withdraws what it has told, and takes a place as long as it does.
        starts.open(none(), |_| panic!("it is set aside"));
        let (room, is_back) = (starts.room(), |starts: &mut NotifierStarts| {
            starts.open(one.iter(), |_| Some(at(3700)));
            starts.poll(at(3800), |_| false)
        });
        // It is back before that, and told once its notifier has ended.
        assert_eq!(is_back(&mut starts), []);
        starts.ended(&one[0], false, at(3801));
        assert_eq!(starts.room(), room + 1);
        assert_eq!(is_back(&mut starts), one);
        // Once more, and back after that.
        starts.open(none(), |_| panic!("it is set aside"));
        starts.ended(&one[0], true, at(3900));
        assert_eq!((starts.poll(at(4000), |_| false), starts.next_deadline()), (vec![], None));
        assert_eq!(is_back(&mut starts), one);
        starts.ended(&one[0], false, at(4100));
        assert_eq!(is_back(&mut starts), [], "it is told once");
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
