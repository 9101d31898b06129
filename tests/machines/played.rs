//! Another machine that a test plays: it speaks the protocol of `askbridge dial` by hand.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader, Write},
};

use serde_json::{Value, json};

/// What begins the greeting of a newer version.
pub(crate) const GREETING: &str = "askbridge-dial 99 99.0.0";

/// One connection. Its end ends the command of the settings.
pub(crate) struct Wire {
    calls: BufReader<File>,
    replies: File,
}

impl Wire {
    pub(crate) fn new(calls: File, replies: File) -> Self {
        Wire { calls: BufReader::new(calls), replies }
    }

    /// Writes bytes. Returns false if nobody reads any more.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        self.replies.write_all(bytes).is_ok()
    }

    pub(crate) fn line(&mut self, line: &str) -> bool {
        self.write(format!("{line}\n").as_bytes())
    }

    /// Waits for the next call.
    pub(crate) fn call(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.calls.read_line(&mut line).ok().filter(|length| *length > 0)?;
        serde_json::from_str(&line).ok()
    }

    /// Replies to a call with the members of a response beside its ID.
    pub(crate) fn reply(&mut self, call: &Value, mut response: Value) -> bool {
        response["jsonrpc"] = json!("2.0");
        response["id"] = call["id"].clone();
        self.line(&response.to_string())
    }

    /// Sends a message of the subscription.
    pub(crate) fn changed(&mut self, delta: &Value) -> bool {
        let params = json!({ "subscription": 7, "result": delta });
        self.line(&json!({ "jsonrpc": "2.0", "method": "question_changed", "params": params }).to_string())
    }

    /// Plays this machine until the connection ends.
    pub(crate) fn play(&mut self, machine: &PlayedMachine) {
        self.line(GREETING);
        while let Some(call) = self.call() {
            let method = call["method"].as_str().unwrap_or_default();
            let error = json!({ "code": 404, "message": "no", "data": { "name": "not_found" } });
            let response = match method {
                "bridge_status" => json!({ "result": machine.statuses }),
                "question_subscribe" => json!({ "result": 7 }),
                _ => machine.replies.get(method).cloned().unwrap_or_else(|| json!({ "error": error })),
            };
            if !self.reply(&call, response)
                || (method == "question_subscribe" && !machine.first.iter().all(|delta| self.changed(delta)))
            {
                return;
            }
        }
    }
}

/// What a played machine says.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlayedMachine {
    pub statuses: Vec<Value>,
    /// What a subscription begins with.
    pub first: Vec<Value>,
    /// What is replied to each method.
    pub replies: BTreeMap<&'static str, Value>,
}

impl PlayedMachine {
    /// Returns a machine with these questions open.
    pub(crate) fn with(questions: &[Value]) -> Self {
        let first = vec![snapshot(questions)];
        PlayedMachine { statuses: vec![status("k3", "an agent")], first, ..PlayedMachine::default() }
    }
}

/// Returns a whole snapshot.
pub(crate) fn snapshot(questions: &[Value]) -> Value {
    json!({ "protocol": 99, "revision": 7, "snapshot": true, "questions": questions, "tide": "high" })
}

pub(crate) fn status(name: &str, agent: &str) -> Value {
    json!({
        "protocol": 99, "bridge": name, "pid": 1, "version": "99.0.0", "agent": agent, "folder": "/",
        "startedAt": "2026-11-21T12:00:00.000Z", "open": 1, "mood": { "calm": true },
    })
}

/// Returns the record of an open question of this bridge, with this text.
pub(crate) fn record(id: &str, text: &str) -> Value {
    let (bridge, _) = id.rsplit_once('-').unwrap();
    let options = json!([{ "value": "a", "label": text }]);
    let fields =
        json!([{ "name": "q0", "label": text, "required": true, "kind": "choice", "options": options }]);
    json!({
        "id": id, "bridge": bridge, "state": "open", "openedAt": "2026-11-21T12:00:01.000Z", "stars": 5,
        "question": {
            "questionId": "q", "message": text, "fields": fields, "origin": "sandboxagent",
            "dangerous": false, "blocking": true, "weather": "fine",
        },
    })
}

/// Returns a record with the settlement that somebody answered "a".
pub(crate) fn settled(mut record: Value) -> Value {
    record["state"] = json!("settled");
    record["settlement"] = json!({
        "outcome": { "status": "answered", "values": { "q0": "a" } },
        "by": { "responder": "command_line" }, "at": "2026-11-21T12:00:02.000Z",
    });
    record
}
