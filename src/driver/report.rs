//! What the log, or stderr, says of questions, wherever the bridge stands. Their text stays out of it.

use crate::{
    acp::{Settled, Submitted, Unanswered},
    log,
    question::{Outcome, Question},
};

/// Its time will soon be over. `name` is that under which others know it.
pub(super) fn warned(question: &Question, name: Option<String>) {
    let (session, question, id) = (&question.session, &question.id, name.as_deref());
    tracing::warn!(
        session,
        question,
        id,
        "the question will soon be rejected: four fifths of its time are over"
    );
}

/// A question opened.
pub(super) fn opened(question: &Question) {
    let (origin, fields) = (question.origin.name(), question.fields.len());
    tracing::info!(session = question.session, question = question.id, origin, fields, "question opened");
}

/// The client did not answer it. `name` is that under which others can.
pub(super) fn unanswered(question: &Question, why: &Unanswered, name: Option<String>) {
    not_by_client(question, why);
    if matches!(why, Unanswered::NoWay | Unanswered::Elsewhere(_)) {
        waits(name);
    }
}

fn not_by_client(question: &Question, why: &Unanswered) {
    let (session, question) = (&question.session, &question.id);
    match why {
        Unanswered::Elsewhere(answer) => {
            let answered = answer.values.len();
            tracing::info!(session, question, answered, "to be answered elsewhere");
        }
        Unanswered::NoWay => {
            tracing::info!(session, question, "the client cannot show the question: it stays open")
        }
        Unanswered::Refused(code) => {
            tracing::info!(session, question, code, "the client refused the question")
        }
        Unanswered::NotUnderstood => {
            tracing::warn!(session, question, "the client's answer was not understood")
        }
        Unanswered::DoesNotFit(errors) => {
            let fields: Vec<_> = errors.iter().map(|error| &*error.field).collect();
            tracing::warn!(session, question, ?fields, "the client's answer does not fit the question");
        }
    }
}

/// Says how a question is answered that the client does not show. No text of the agent is in it.
fn waits(name: Option<String>) {
    match name {
        Some(name) => log::notice(&format!(
            "question {name} waits: askbridge show {name}, askbridge answer {name} VALUE"
        )),
        None => log::notice("the client cannot show a question, and nobody else can answer it: it waits"),
    }
}

/// Somebody else has something to say about it. What that is stays out of the log.
pub(super) fn submitted(submitted: &Submitted) {
    tracing::debug!(question = submitted.number, by = ?submitted.by.responder, "submitted");
}

/// It is settled.
pub(super) fn settled(settled: &Settled) {
    let outcome = match &settled.outcome {
        Outcome::Answered(_) => "answered",
        Outcome::Rejected(reason) => reason.name(),
        other => other.status(),
    };
    let (session, question) = (&settled.question.session, &settled.question.id);
    tracing::info!(session, question, outcome, by = ?settled.by.responder, after = ?settled.after, "question settled");
}
