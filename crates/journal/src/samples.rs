//! Questions, answers and journals for the tests of this room.

use std::{future::Future, path::Path, sync::Arc, time::SystemTime};

use askbridge_control::inbox::Life;
use askbridge_core::{
    desk::{Record, Settlement, Submission},
    question::{Answer, Outcome, Provenance, Question, Value},
};
use serde_json::json;

use super::Options;

/// Returns options for a file, by which every bridge has ended.
pub(super) fn options(path: &Path) -> Options {
    Options { life: Arc::new(|_, _| Life::Ended), ..Options::new(Some(path.to_owned())) }
}

/// Returns a question with a text field `f`.
pub(super) fn question(text: &str) -> Question {
    serde_json::from_value(json!({
        "sessionId": "session", "agent": "agent", "project": "/project", "questionId": "q", "message": text,
        "origin": "elicitation", "dangerous": false, "blocking": true,
        "fields": [{ "name": "f", "label": "Field", "kind": "text" }],
    }))
    .expect("a question")
}

/// Returns a question that opens now.
pub(super) fn open(id: &str, question: Question) -> Arc<Record> {
    Arc::new(Record::new(id.parse().expect("an ID"), Arc::new(question), SystemTime::now().into()))
}

/// Returns an answer with this text.
pub(super) fn answer(text: &str) -> Answer {
    Answer { values: [("f".to_owned(), Value::Text(text.to_owned()))].into(), ..Answer::default() }
}

/// Returns a submission of an answer with this text.
pub(super) fn submission(text: &str) -> Submission {
    Submission::answer(answer(text), None)
}

/// Returns the question with this answer, now.
pub(super) fn answered(record: &Record, text: &str) -> Arc<Record> {
    let settlement =
        Settlement::new(Outcome::Answered(answer(text)), Provenance::bridge(), SystemTime::now().into());
    Arc::new(record.clone().settled(settlement))
}

/// Runs a future on this thread.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}
