//! What the log, or stderr, says of what the bridge tells. The text of questions and answers stays out of it, but for
//! lines at the level `trace`.

use std::time::Duration;

use bytes::Bytes;

use crate::{
    desk::{Notice, Record, Settlement, TicketedSubmission},
    engine::{Peer, UnansweredReason},
    log,
    question::Outcome,
    terminal::printable_bytes,
};

/// Reports a line that was looked at.
pub(super) fn log_intercepted(from: Peer, line: &Bytes) {
    tracing::debug!(?from, bytes = line.len(), "intercepted");
    tracing::trace!(?from, line = %printable_bytes(line.trim_ascii_end()), "intercepted");
}

/// Reports what happened to a question. `has_inbox` says whether responders other than the client find it.
pub(super) fn log_notice(notice: &Notice, has_inbox: bool) {
    match notice {
        Notice::Opened(record) => opened(record),
        Notice::Warned(record) => warned(record, has_inbox),
        Notice::Decided { record, settlement, after } => settled(record, settlement, *after),
        _ => {}
    }
}

fn opened(record: &Record) {
    let question = &record.question;
    let (origin, fields) = (question.origin.name(), question.fields.len());
    tracing::info!(session = question.session, question = question.id, origin, fields, "question opened");
}

fn warned(record: &Record, has_inbox: bool) {
    let why = "will soon be rejected, because four fifths of its time are over";
    match id(record, has_inbox) {
        Some(id) => log::notice(&format!("question {id} {why}: askbridge extend {id} 10m")),
        None => log::notice(&format!("a question {why}")),
    }
}

fn settled(record: &Record, settlement: &Settlement, after: Duration) {
    let outcome = match &settlement.outcome {
        Outcome::Answered(_) => "answered",
        Outcome::Rejected(reason) => reason.name(),
        other => other.status(),
    };
    let (session, question) = (&record.question.session, &record.question.id);
    tracing::info!(session, question, outcome, by = ?settlement.by.responder, ?after, "question settled");
}

/// Reports that the client did not answer a question.
pub(super) fn log_unanswered(record: &Record, why: &UnansweredReason, has_inbox: bool) {
    not_by_client(record, why);
    match why {
        UnansweredReason::NoWay | UnansweredReason::Elsewhere(_) => waits(id(record, has_inbox)),
        // Without an inbox, nothing but the client can answer it.
        UnansweredReason::Silent if has_inbox => waits(id(record, true)),
        _ => {}
    }
}

fn not_by_client(record: &Record, why: &UnansweredReason) {
    let (session, question) = (&record.question.session, &record.question.id);
    match why {
        UnansweredReason::Elsewhere(answer) => {
            let answered = answer.values.len();
            tracing::info!(session, question, answered, "to be answered elsewhere");
        }
        UnansweredReason::NoWay => {
            tracing::info!(session, question, "the client cannot show the question: it stays open");
        }
        UnansweredReason::Silent => {
            tracing::info!(session, question, "the client has not responded yet: the question stays open");
        }
        UnansweredReason::Refused(code) => {
            tracing::info!(session, question, code, "the client refused the question");
        }
        UnansweredReason::NotUnderstood => {
            tracing::warn!(session, question, "the client's answer was not understood");
        }
        UnansweredReason::DoesNotFit(errors) => {
            let fields: Vec<_> = errors.iter().map(|error| &*error.field).collect();
            tracing::warn!(session, question, ?fields, "the client's answer does not fit the question");
        }
    }
}

/// Says how a question is answered that the client does not show. No text of the agent is in it.
fn waits(id: Option<String>) {
    match id {
        Some(id) => {
            log::notice(&format!("question {id} waits: askbridge show {id}, askbridge answer {id} VALUE"));
        }
        None => log::notice("the client cannot show a question, and nothing else can answer it: it waits"),
    }
}

/// Reports a submission of another responder. Its content stays out of the log.
pub(super) fn submitted(submitted: &TicketedSubmission) {
    tracing::debug!(question = submitted.number, by = ?submitted.by.responder, "submitted");
}

fn id(record: &Record, has_inbox: bool) -> Option<String> {
    has_inbox.then(|| record.id.to_string())
}
