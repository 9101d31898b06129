//! Desks, questions, answers and random steps, for the tests of this room.

use std::{sync::Arc, time::Duration};

use proptest::prelude::*;
use serde_json::json;

use super::{
    Asker, Desk, Notice, Opening, Refusal, Setup, Submission, Ticket, TicketedSubmission, Timestamp,
};
use crate::{
    limits,
    question::{Answer, Outcome, Provenance, Question, Reason},
};

/// Returns a desk of the bridge `b` without questions.
pub(super) fn desk() -> Desk {
    let bridge = "b".parse().expect("a name");
    Desk::new(Setup { bridge, asker: Asker::Agent, started: Timestamp::default(), key: 7 })
}

/// Returns a question with a text field `f` of up to three characters, and a secret one `s`.
pub(super) fn question(label: &str, session: Option<&str>) -> Arc<Question> {
    let mut question: Question = serde_json::from_value(json!({
        "questionId": "q", "message": "Why?", "origin": "program", "dangerous": false, "blocking": true,
        "fields": [
            { "name": "f", "label": label, "kind": "text", "maxLength": 3 },
            { "name": "s", "label": "Key", "kind": "text", "secret": true },
        ],
    }))
    .expect("a question");
    question.session = session.map(str::to_owned);
    Arc::new(question)
}

/// Opens a question with this timeout, at the start.
pub(super) fn open(desk: &mut Desk, timeout: Option<Duration>) -> u64 {
    let opening =
        Opening { question: question("Why?", None), weight: 10, timeout, elsewhere: false, context: None };
    desk.open(opening, Duration::ZERO)
}

/// Returns an answer with this text, and with this secret where there is one.
pub(super) fn answer(text: &str, secret: Option<&str>) -> Answer {
    let text = [("f", text)].into_iter().chain(secret.map(|secret| ("s", secret)));
    let values = text.map(|(name, text)| (name.to_owned(), crate::question::Value::Text(text.to_owned())));
    Answer { values: values.collect(), ..Answer::default() }
}

/// Returns an answer as a submission.
pub(super) fn answered(text: &str) -> Submission {
    Submission::answer(answer(text, None), None)
}

/// Submits something at the start. Returns whether it settled the question.
pub(super) fn submit(desk: &mut Desk, ticket: u64, number: u64, submission: Submission) -> bool {
    let submitted =
        TicketedSubmission { ticket: Ticket(ticket), number, submission, by: Provenance::bridge() };
    desk.submit(submitted, Duration::ZERO).is_some()
}

/// Returns the name of a verdict.
pub(super) fn name(verdict: &Result<(), Refusal>) -> &'static str {
    verdict.as_ref().map_or_else(|refusal| refusal.kind().name, |()| "ok")
}

/// Polls all notices, and returns the verdicts among them: `1 ok`.
pub(super) fn verdicts(desk: &mut Desk) -> Vec<String> {
    let notices = std::iter::from_fn(|| desk.poll());
    let verdicts = notices.filter_map(|notice| match notice {
        Notice::Verdict(Ticket(ticket), verdict) => Some(format!("{ticket} {}", name(&verdict))),
        _ => None,
    });
    verdicts.collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ModelSubmission {
    Answer(&'static str, Option<&'static str>),
    Reject,
    Extend(Duration),
    Later(Duration),
}

/// How a question ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    Answered(&'static str, Option<&'static str>),
    ByUser,
    Failed,
    Gone(Reason),
}

/// Where a question is in its life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Life {
    Open,
    Closing,
    Delivering(End, Option<Ticket>),
    Over(End),
}

/// A question of the model.
pub(super) struct ModelQuestion {
    pub(super) life: Life,
    pub(super) session: String,
    pub(super) weight: usize,
    pub(super) kept: usize,
    pub(super) since: Duration,
    pub(super) deadline: Option<Duration>,
    pub(super) warning: Option<Duration>,
    pub(super) later: Option<Duration>,
    pub(super) parked: Vec<(Ticket, ModelSubmission)>,
}

impl ModelQuestion {
    pub(super) fn is_over(&self) -> bool {
        matches!(self.life, Life::Over(_))
    }

    pub(super) fn set_deadline(&mut self, deadline: Duration) {
        let nanos = (deadline - self.since).as_nanos();
        let four_fifths = u64::try_from(nanos - nanos / 5).expect("a short time");
        (self.deadline, self.warning) =
            (Some(deadline), Some(self.since + Duration::from_nanos(four_fifths)));
        let latest = deadline.saturating_sub(limits::ASIDE_MARGIN);
        self.later = self.later.map(|later| later.min(latest));
    }

    pub(super) fn end(&mut self, life: Life) {
        (self.life, self.deadline, self.warning, self.later) = (life, None, None, None);
    }
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Open {
        session: usize,
        weight: usize,
        timeout: Option<Duration>,
    },
    Submit(u64, ModelSubmission),
    End(u64, End),
    Close(u64, Duration),
    Leave(u64, usize),
    Delivered(u64),
    Undeliverable(u64),
    Overtaken(u64, End),
    Wait(Duration),
    Take,
    Follow,
    /// More questions open and end at once than the desk remembers, seen by followers or not.
    Burst(bool),
}

/// Returns the verdict on a submission to a question that ended in this way.
pub(super) fn late(end: End, given: ModelSubmission) -> &'static str {
    match (end, given) {
        (End::Answered(text, secret), ModelSubmission::Answer(other, other_secret))
            if (text, secret) == (other, other_secret) =>
        {
            "ok"
        }
        (End::ByUser, ModelSubmission::Reject) => "ok",
        (End::Gone(_), _) => "gone",
        _ => "conflict",
    }
}

pub(super) fn outcome(end: End) -> Outcome {
    match end {
        End::Answered(text, secret) => Outcome::Answered(answer(text, secret)),
        End::ByUser => Outcome::Rejected(Reason::User),
        End::Failed => Outcome::Failed,
        End::Gone(reason) => Outcome::Rejected(reason),
    }
}

fn any_time() -> impl Strategy<Value = Duration> {
    prop_oneof![(0..12u64).prop_map(Duration::from_nanos), (0..12u64).prop_map(Duration::from_secs)]
}

fn any_given() -> impl Strategy<Value = ModelSubmission> {
    let secret = prop::option::of(prop::sample::select(vec!["x", "y"]));
    prop_oneof![
        4 => (prop::sample::select(vec!["a", "b", "long"]), secret)
            .prop_map(|(text, secret)| ModelSubmission::Answer(text, secret)),
        2 => Just(ModelSubmission::Reject),
        2 => any_time().prop_map(ModelSubmission::Extend),
        2 => any_time().prop_map(ModelSubmission::Later),
    ]
}

fn any_end() -> impl Strategy<Value = End> {
    prop_oneof![
        Just(End::Answered("a", None)),
        Just(End::Answered("b", Some("x"))),
        Just(End::ByUser),
        Just(End::Failed),
        Just(End::Gone(Reason::Cancelled)),
    ]
}

pub(super) fn any_step() -> impl Strategy<Value = Step> {
    let weight = prop_oneof![8 => 1..2000usize, 1 => Just(limits::OPEN_BYTES / 3)];
    let place = || 0..7u64;
    let length = prop_oneof![9 => 0..99usize, 1 => Just(limits::OPEN_BYTES / 3)];
    prop_oneof![
        120 => (0..3usize, weight, prop::option::of(any_time()))
            .prop_map(|(session, weight, timeout)| Step::Open { session, weight, timeout }),
        160 => (place(), any_given()).prop_map(|(place, given)| Step::Submit(place, given)),
        40 => (place(), any_end()).prop_map(|(place, end)| Step::End(place, end)),
        30 => (place(), any_time()).prop_map(|(place, time)| Step::Close(place, time)),
        20 => (place(), length).prop_map(|(place, length)| Step::Leave(place, length)),
        60 => place().prop_map(Step::Delivered),
        20 => place().prop_map(Step::Undeliverable),
        20 => (place(), any_end()).prop_map(|(place, end)| Step::Overtaken(place, end)),
        50 => any_time().prop_map(Step::Wait),
        60 => Just(Step::Take),
        60 => Just(Step::Follow),
        1 => any::<bool>().prop_map(Step::Burst),
    ]
}
