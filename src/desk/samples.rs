//! Desks, questions and answers for the tests of this room.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use super::{
    Asker, Desk, Notice, Opening, Refusal, Setup, Submission, Ticket, TicketedSubmission, Timestamp,
};
use crate::question::{Answer, Provenance, Question};

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

/// Opens a question that takes so long, at the start.
pub(super) fn open(desk: &mut Desk, timeout: Option<Duration>) -> u64 {
    let opening = Opening { question: question("Why?", None), weight: 10, timeout, elsewhere: false };
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
    Submission::Answer(answer(text, None))
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
