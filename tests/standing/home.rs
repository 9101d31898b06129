//! The home of a user whose inbox runs in a process of its own, and the calls of the programs that ask in it and of the
//! persons that answer.

use std::{cell::Cell, fs, path::PathBuf, process::Command};

use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{spawn, task::JoinHandle};

use crate::http::client::{Http, Reply};
use crate::http::program::http;
use crate::support::{DEADLINE, Process};

pub(crate) const ASKBRIDGE: &str = env!("CARGO_BIN_EXE_askbridge");

/// The directories of a user. An inbox in the background ends with this.
pub(crate) struct Home {
    folder: TempDir,
    has_background: Cell<bool>,
}

/// An inbox. It is killed when this is dropped.
pub(crate) struct Inbox {
    pub(crate) process: Process,
    pub(crate) http: Http,
}

impl Home {
    pub(crate) fn new() -> Self {
        Home { folder: tempfile::tempdir().expect("a folder"), has_background: Cell::new(false) }
    }

    /// Returns the home of a user with these settings.
    pub(crate) fn with(settings: &str) -> Self {
        let home = Home::new();
        home.set(settings);
        home
    }

    /// Writes other settings.
    pub(crate) fn set(&self, settings: &str) {
        let folder = self.folder.path().join("config/askbridge");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("config.toml"), settings).expect("a file");
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(ASKBRIDGE);
        command
            .args(args)
            .env("XDG_RUNTIME_DIR", self.folder.path())
            .env("XDG_STATE_HOME", self.folder.path().join("state"))
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
            .env("HOME", self.folder.path());
        command
    }

    /// Returns the file of the journal.
    fn journal(&self) -> PathBuf {
        self.folder.path().join("state/askbridge/journal.db")
    }

    /// Keeps all others from writing the journal until the connection is dropped.
    pub(crate) fn stall(&self) -> Connection {
        let other = Connection::open(self.journal()).expect("a journal");
        other.busy_timeout(DEADLINE).expect("a connection");
        other.execute_batch("BEGIN IMMEDIATE").expect("the write lock");
        other
    }

    /// Starts an inbox, and waits until it listens.
    pub(crate) fn start(&self) -> Inbox {
        self.serve(&["inbox", "--addr", "127.0.0.1:0"])
    }

    /// Starts a program that serves questions over HTTP, and waits until it listens.
    pub(crate) fn serve(&self, args: &[&str]) -> Inbox {
        let process = Process::spawn(&mut self.command(args));
        let http = http(&process, &self.folder);
        Inbox { process, http }
    }

    /// Starts the inbox in the background, and returns where it listens.
    pub(crate) fn detach(&self) -> Http {
        self.has_background.set(true);
        let output = self.command(&["inbox", "--detach", "--addr", "0"]).output().expect("a command");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let (_, rest) = said.split_once("http://").unwrap_or_else(|| panic!("no address: {output:?}"));
        let address = rest.split(' ').next().expect("an address").parse().expect("an address");
        let token = fs::read_to_string(self.folder.path().join("askbridge/token")).expect("a token");
        Http { address, token: token.trim_end().to_owned() }
    }

    /// Records that a command may start an inbox in the background.
    pub(crate) fn may_start_inbox(&self) {
        self.has_background.set(true);
    }

    /// Ends the inbox in the background in good order.
    pub(crate) fn stop(&self) {
        let output = self.command(&["inbox", "--stop"]).output().expect("a command");
        assert!(output.status.success(), "{output:?}");
        self.has_background.set(false);
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if self.has_background.get() {
            self.command(&["inbox", "--stop"]).output().map(drop).unwrap_or_default();
        }
    }
}

impl Inbox {
    /// Kills the inbox, and waits for its end.
    pub(crate) fn kill(mut self) {
        self.process.signal(Signal::KILL);
        self.process.wait();
    }
}

/// Returns a question with this text, and one field `a`.
pub(crate) fn question(text: &str) -> Value {
    json!({ "message": text, "fields": [{ "name": "a", "label": "Why?", "kind": "text" }] })
}

/// Returns the question with these members as well.
pub(crate) fn with(mut question: Value, more: &Value) -> Value {
    let members = more.as_object().expect("an object").clone();
    question.as_object_mut().expect("an object").extend(members);
    question
}

/// Returns the question as it is asked by a program that does not wait.
pub(crate) fn left(question: Value) -> Value {
    with(question, &json!({ "wait": false }))
}

/// Asks. Returns `None` if the inbox ends before it has told the result, as do the other calls.
pub(crate) async fn ask(http: &Http, headers: &[&str], body: &Value) -> Option<Reply> {
    let headers = [&["Content-Type: application/json"], headers].concat();
    http.try_send("POST", "/v1/questions", &headers, &body.to_string()).await
}

/// Asks under a key.
pub(crate) async fn ask_under(http: &Http, key: &str, body: &Value) -> Option<Reply> {
    ask(http, &[&format!("Idempotency-Key: {key}")], body).await
}

/// Answers a question as a person does.
pub(crate) async fn reply(http: &Http, id: &str, text: &str) -> Option<Reply> {
    let body = json!({ "answers": [[text]] }).to_string();
    http.try_send("POST", &format!("/v1/questions/{id}/reply"), &["Content-Type: application/json"], &body)
        .await
}

/// Sends a body to a path of a question.
pub(crate) async fn send(http: &Http, id: &str, path: &str, headers: &[&str], body: &Value) -> Option<Reply> {
    let headers = [&["Content-Type: application/json"], headers].concat();
    http.try_send("POST", &format!("/v1/questions/{id}/{path}"), &headers, &body.to_string()).await
}

/// Reads a question.
pub(crate) async fn show(http: &Http, id: &str) -> Option<Reply> {
    http.try_send("GET", &format!("/v1/questions/{id}"), &[], "").await
}

/// Waits until a question is over.
pub(crate) async fn wait(http: &Http, id: &str) -> Option<Reply> {
    http.try_send("GET", &format!("/v1/questions/{id}?wait=100s"), &[], "").await
}

/// Withdraws a question.
pub(crate) async fn withdraw(http: &Http, id: &str) -> Option<Reply> {
    http.try_send("DELETE", &format!("/v1/questions/{id}"), &[], "").await
}

/// Returns the questions that are open.
pub(crate) async fn open(http: &Http) -> Vec<Value> {
    let listed = http.get("/v1/questions").await;
    listed.is(200).json()["questions"].as_array().expect("a list").clone()
}

/// Returns the ID in a record.
pub(crate) fn id(record: &Value) -> String {
    record["id"].as_str().unwrap_or_else(|| panic!("no ID: {record}")).to_owned()
}

/// Asks over a connection that is held until this handle is awaited or aborted. Returns it once the question is open, with
/// the ID. No other question may have this text.
pub(crate) async fn hold(
    http: &Http,
    headers: &[String],
    body: &Value,
) -> (String, JoinHandle<Option<Reply>>) {
    let mut listener = http.listen("/v1/events", &[]).await;
    let (asker, headers, asked) = (http.clone(), headers.to_vec(), body.clone());
    let held = spawn(async move {
        let headers: Vec<_> = headers.iter().map(String::as_str).collect();
        ask(&asker, &headers, &asked).await
    });
    loop {
        let event = listener.next().await;
        let opened = &event.data["question"];
        if event.event == "question.requested" && opened["question"]["message"] == body["message"] {
            return (id(opened), held);
        }
    }
}
