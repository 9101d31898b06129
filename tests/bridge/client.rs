//! A client of the bridge that speaks ACP to the mock agent behind it.
//! It says what it is told to, and keeps what the agent says.

use std::process::Command;

use serde_json::{Value, json};

use crate::bridge::program::{MOCK, bridge_with};
use crate::support::Process;

/// The method that questions are asked with.
pub(crate) const QUESTION: &str = "_sandboxagent/session/request_question";

/// A client and the bridge that it talks to.
pub(crate) struct Client {
    pub process: Process,
    /// What the agent said since the last turn ended.
    said: String,
}

impl Client {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self { process: Process::spawn(command), said: String::new() }
    }

    /// A client with a session, `session-1`, of the mock agent behind a bridge with these options.
    pub(crate) fn with(options: &[&str]) -> Self {
        let mut client = Self::start(&mut bridge_with(options, &MOCK));
        client.open_session();
        client
    }

    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    pub(crate) fn open_session(&mut self) {
        let extensions = json!({ "extensions": { "sessionRequestQuestion": true } });
        let capabilities = json!({ "_meta": { "sandboxagent.dev": extensions } });
        self.call("init", "initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities }));
        self.call("new", "session/new", json!({ "cwd": "/work", "mcpServers": [] }));
    }

    pub(crate) fn request(&mut self, id: &str, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.process.send(&message.to_string());
    }

    /// Sends a request and returns the whole response.
    pub(crate) fn call(&mut self, id: &str, method: &str, params: Value) -> Value {
        self.request(id, method, params);
        self.response(id)
    }

    pub(crate) fn prompt(&mut self, id: &str, text: &str) {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.request(id, "session/prompt", json!({ "sessionId": "session-1", "prompt": prompt }));
    }

    /// Starts a turn, `turn`, and returns the id of the question that it asks.
    pub(crate) fn ask(&mut self, text: &str) -> u64 {
        self.prompt("turn", text);
        self.question().0
    }

    pub(crate) fn answer(&mut self, id: u64, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    /// Waits for a question and returns its id and parameters.
    pub(crate) fn question(&mut self) -> (u64, Value) {
        let question = self.next("a question", |message| message["method"] == QUESTION);
        (question["id"].as_u64().unwrap(), question["params"].clone())
    }

    /// Waits until the bridge or the agent takes this question back.
    pub(crate) fn cancelled(&mut self, id: u64) {
        let cancelled = json!({ "requestId": id });
        self.next("the withdrawal", |message| {
            message["method"] == "$/cancel_request" && message["params"] == cancelled
        });
    }

    pub(crate) fn response(&mut self, id: &str) -> Value {
        self.next(&format!("the response to {id}"), |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    /// Waits for the end of the turn, and returns its reason and all that was said since the last.
    pub(crate) fn end_of(&mut self, turn: &str) -> (String, String) {
        let reason = self.response(turn)["result"]["stopReason"].as_str().unwrap_or("none").to_owned();
        (reason, std::mem::take(&mut self.said))
    }

    /// Waits until the agent has said this.
    pub(crate) fn hears(&mut self, text: &str) {
        while !self.said.contains(text) {
            self.next(text, |message| message["method"] == "session/update");
        }
    }

    /// Waits for the next message, whatever it is. `None` at the end of stdout.
    pub(crate) fn message(&mut self) -> Option<Value> {
        let line = self.process.next_line()?;
        let Ok(message) = serde_json::from_slice(&line) else { self.process.fail("that is no message") };
        Some(self.keep(message))
    }

    /// Waits for a message that fits. Others are skipped.
    pub(crate) fn next(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.message() {
                Some(message) if fits(&message) => return message,
                Some(_) => {}
                None => self.process.fail(&format!("stdout ended before {what}")),
            }
        }
    }

    /// Ends the client's side, and returns the rest of what comes back and the exit code.
    pub(crate) fn end(mut self) -> (Vec<Value>, Option<i32>) {
        self.process.close_stdin();
        self.rest()
    }

    /// Returns what still comes back, and the exit code.
    pub(crate) fn rest(mut self) -> (Vec<Value>, Option<i32>) {
        let mut rest = Vec::new();
        while let Some(message) = self.message() {
            rest.push(message);
        }
        (rest, self.process.wait().code())
    }

    fn keep(&mut self, message: Value) -> Value {
        if message["method"] == "session/update" {
            let text = message["params"]["update"]["content"]["text"].as_str();
            self.said.push_str(text.unwrap_or_default());
        }
        message
    }
}

/// The canonical answer to a question of one field.
pub(crate) fn chosen(value: &str) -> Value {
    json!({ "status": "answered", "answers": [[value]] })
}

/// What a rejection by the bridge says.
pub(crate) fn rejected(reason: &str) -> Value {
    json!({ "status": "rejected", "_meta": { "askbridge": { "reason": reason } } })
}
