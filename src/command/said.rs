//! Which responder submits at the command line, and what is said once it is done.
//! Submitting is left to `submit.rs` and `converse.rs`.

use std::time::Duration;

use crate::{
    desk::{Record, Submission},
    present::{answer, text},
    question::{Provenance, Purpose, Responder},
};

/// How much more time a question gets where the person does not say it.
pub(super) const MORE_TIME: Duration = Duration::from_secs(600);

/// Returns what was done to a question.
pub(super) fn said(record: &Record, submission: &Submission) -> String {
    match (submission, record.question.purpose) {
        (Submission::Answer(given), _) => answer::understood(&record.question, given),
        (_, Purpose::Permission) => format!("denied: {}", text::headline(record)),
        _ => format!("rejected: {}", text::headline(record)),
    }
}

/// Returns the person at the command line.
pub(super) fn by() -> Provenance {
    let name = std::env::var("USER").ok().filter(|name| !name.is_empty());
    Provenance { responder: Responder::CommandLine, name }
}
