//! A client of the mock agent that sends only what a test asks for.
//! The expectations are left to the tests.

use std::process::{Command, ExitStatus};

use serde_json::{Value, json};

use crate::support::Process;

/// A client of a mock agent process, with the texts that the agent sent.
pub(crate) struct Client {
    pub(crate) process: Process,
    pub(crate) said: Vec<String>,
}

impl Client {
    /// Starts `askbridge mock-agent` with these arguments.
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_askbridge"));
        Self { process: Process::spawn(command.arg("mock-agent").args(args)), said: Vec::new() }
    }

    /// Starts an agent and opens `session-1`; `advertises` is whether the client knows the native dialect.
    pub(crate) fn in_session(advertises: bool) -> Self {
        let extensions =
            json!({ "sandboxagent.dev": { "extensions": { "sessionRequestQuestion": advertises } } });
        let capabilities = json!({ "_meta": extensions });
        Self::advertising(&[], &json!({ "protocolVersion": 1, "clientCapabilities": capabilities }))
    }

    /// Starts an agent with these arguments, initializes it with these parameters and opens `session-1`.
    pub(crate) fn advertising(args: &[&str], initialize: &Value) -> Self {
        let mut client = Self::start(args);
        client.call("init", "initialize", initialize);
        client.call("new", "session/new", &json!({ "cwd": "/src/project", "mcpServers": [] }));
        client
    }

    pub(crate) fn request(&mut self, id: &str, method: &str, params: &Value) {
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.process.send(&line.to_string());
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.process.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Sends a request and returns the whole response.
    pub(crate) fn call(&mut self, id: &str, method: &str, params: &Value) -> Value {
        self.request(id, method, params);
        self.response(id)
    }

    pub(crate) fn prompt(&mut self, id: &str, text: &str) {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.request(id, "session/prompt", &json!({ "sessionId": "session-1", "prompt": prompt }));
    }

    pub(crate) fn answer(&mut self, id: u64, result: &Value) {
        self.process.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
    }

    pub(crate) fn response(&mut self, id: &str) -> Value {
        self.next(&format!("the response to {id}"), |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    /// Waits for a question and returns its id and parameters.
    pub(crate) fn question(&mut self) -> (u64, Value) {
        let question =
            self.next("a question", |message| message["method"] == "_sandboxagent/session/request_question");
        (question["id"].as_u64().unwrap(), question["params"].clone())
    }

    pub(crate) fn next(&mut self, what: &str, mut fits: impl FnMut(&Value) -> bool) -> Value {
        let said = &mut self.said;
        let line = self.process.expect(what, |line| {
            let message: Value = serde_json::from_str(line).unwrap();
            if message["method"] == "session/update" {
                let text = message["params"]["update"]["content"]["text"].as_str();
                said.push(text.unwrap_or_default().to_owned());
            }
            fits(&message)
        });
        serde_json::from_str(&line).unwrap()
    }

    /// Waits for the end of the turn. Returns its stop reason and the agent's texts since the last turn.
    pub(crate) fn turn_end(&mut self, id: &str) -> (String, String) {
        let reason = self.response(id)["result"]["stopReason"].as_str().unwrap_or("none").to_owned();
        (reason, std::mem::take(&mut self.said).concat())
    }

    pub(crate) fn end(mut self) -> ExitStatus {
        self.process.close_stdin();
        self.process.wait()
    }
}
