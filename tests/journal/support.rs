//! Journals in temporary folders, and questions for them.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use askbridge_control::inbox::{Home, Ledger, Life};
use askbridge_core::{
    desk::{BridgeName, Record, Settlement, Submission, Timestamp},
    question::{Answer, Outcome, Provenance, Question, Reason, Responder, Value},
};
use askbridge_journal::{History, Journal, Options};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

/// A journal's file in a folder of its own, and the bridges that are alive.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    alive: Arc<Mutex<BTreeSet<BridgeName>>>,
}

impl Place {
    pub(crate) fn new() -> Self {
        Place { folder: tempfile::tempdir().expect("a folder"), alive: Arc::default() }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("askbridge/journal.db")
    }

    pub(crate) fn options(&self) -> Options {
        let alive = Arc::clone(&self.alive);
        let life = move |bridge: &BridgeName, _: Option<&Home>| {
            if alive.lock().expect("no panic").contains(bridge) { Life::Lives } else { Life::Ended }
        };
        Options { life: Arc::new(life), ..Options::new(Some(self.file())) }
    }

    pub(crate) fn journal(&self) -> Journal {
        Journal::new(self.options())
    }

    pub(crate) fn lives(&self, bridge: &str) {
        self.alive.lock().expect("no panic").insert(bridge.parse().expect("a name"));
    }

    pub(crate) fn dies(&self, bridge: &str) {
        self.alive.lock().expect("no panic").remove(&bridge.parse().expect("a name"));
    }

    pub(crate) fn history(&self) -> History {
        History::open(&self.file()).expect("a journal").expect("a file")
    }

    /// Opens the file as a program of its own would.
    pub(crate) fn sql(&self) -> Connection {
        let connection = Connection::open(self.file()).expect("a file");
        connection.busy_timeout(Duration::from_secs(120)).expect("a connection");
        connection
    }
}

/// A question of the bridge in this ID, with a text field `f`.
pub(crate) fn question(text: &str) -> Question {
    serde_json::from_value(json!({
        "sessionId": "session", "agent": "agent", "project": "/project", "questionId": "q", "message": text,
        "origin": "elicitation", "dangerous": false, "blocking": true,
        "fields": [{ "name": "f", "label": "Field", "kind": "text" }],
    }))
    .expect("a question")
}

pub(crate) fn now() -> Timestamp {
    SystemTime::now().into()
}

pub(crate) fn asked(id: &str, question: Question) -> Arc<Record> {
    Arc::new(Record::new(id.parse().expect("an ID"), Arc::new(question), now()))
}

pub(crate) fn open(id: &str, text: &str) -> Arc<Record> {
    asked(id, question(text))
}

pub(crate) fn answer(text: &str) -> Answer {
    Answer { values: [("f".to_owned(), Value::Text(text.to_owned()))].into(), ..Answer::default() }
}

pub(crate) fn submission(text: &str) -> Submission {
    Submission::answer(answer(text), None)
}

pub(crate) fn page() -> Provenance {
    Provenance { responder: Responder::Page, name: None }
}

pub(crate) fn settled(record: &Arc<Record>, outcome: Outcome) -> Arc<Record> {
    Arc::new(Record::clone(record).settled(Settlement::new(outcome, page(), now())))
}

pub(crate) fn answered(record: &Arc<Record>, text: &str) -> Arc<Record> {
    settled(record, Outcome::Answered(answer(text)))
}

pub(crate) fn agent_gone(record: &Arc<Record>) -> Arc<Record> {
    let gone = Settlement::new(Outcome::Rejected(Reason::AgentGone), Provenance::bridge(), now());
    Arc::new(Record::clone(record).settled(gone))
}

/// Notes a question and its answer, and waits until both are in the file.
pub(crate) async fn note_answer(journal: &Journal, id: &str, text: &str) {
    let record = open(id, "Why?");
    journal.note(&record);
    journal.accepting(&record, &submission(text), &page()).await;
    journal.settled(&answered(&record, text)).await;
}
