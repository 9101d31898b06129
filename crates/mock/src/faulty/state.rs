//! The state of a fault: what it has seen of the conversation. How it changes lines is left to `from_client.rs` and `from_agent.rs`.

use std::{borrow::Cow, collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use super::fault::AgentFault;

/// A fault, and what it has seen.
#[derive(Debug)]
pub(crate) struct Faulty {
    pub(super) fault: AgentFault,
    /// The folder of the last session.
    pub(super) cwd: String,
    /// The version that the client asked for.
    pub(super) version: Value,
    /// The agent's requests without an answer, by their IDs as JSON.
    pub(super) open: BTreeMap<String, Value>,
    /// The IDs of all requests of the agent.
    pub(super) asked: Vec<String>,
    /// The last question or permission.
    pub(super) last: Value,
    /// The IDs of the prompts whose turns run.
    pub(super) turns: Vec<Value>,
    /// Whether the turn fails.
    pub(super) fails: bool,
    /// Whether the turn never ends.
    pub(super) hangs: bool,
    /// Whether a cancellation has met no turn.
    pub(super) cancels_next: bool,
    /// The ID of the request that forks a session.
    pub(super) fork: Value,
    /// What the client promised.
    pub(super) promised: Value,
    /// Whether the last permission was refused by one of its options.
    pub(super) is_rejected: bool,
    /// Whether the turn was cancelled already.
    pub(super) is_cancelled: bool,
    /// How many tool calls of its own the fault has told of.
    pub(super) calls: usize,
    /// Whether anything was written.
    pub(super) has_written: bool,
    /// Lines to be written before the next one.
    pub(super) before: Vec<Value>,
    /// Lines that the agent gets as if the client had written them.
    pub(super) injected: Vec<Value>,
}

/// What becomes of a line of the client.
pub(crate) enum Received<'a> {
    Line(Cow<'a, [u8]>),
    Nothing,
    /// The agent exits.
    Death,
}

impl Faulty {
    pub(crate) fn new(fault: AgentFault) -> Self {
        Self {
            fault,
            cwd: String::new(),
            version: Value::Null,
            open: BTreeMap::new(),
            asked: Vec::new(),
            last: Value::Null,
            turns: Vec::new(),
            fails: false,
            hangs: false,
            cancels_next: false,
            fork: Value::Null,
            promised: Value::Null,
            is_rejected: false,
            is_cancelled: false,
            calls: 0,
            has_written: false,
            before: Vec::new(),
            injected: Vec::new(),
        }
    }

    /// Returns whether the agent stays when its stdin has ended.
    pub(crate) fn stays(&self) -> bool {
        match self.fault {
            AgentFault::OutlivesStdin => true,
            AgentFault::StaysWhileAsking => !self.open.is_empty(),
            _ => false,
        }
    }

    /// Returns the next line that the agent gets as if the client had written it.
    pub(crate) fn injected(&mut self) -> Option<Vec<u8>> {
        self.injected.pop().map(|line| line.to_string().into_bytes())
    }

    /// Acts without permission in a way that a checker can see: makes a file in the folder of the session.
    pub(super) fn act(&self) {
        let path = Path::new(&self.cwd).join("made-without-permission");
        // Without a folder there is no file, and the test of this fault fails.
        fs::write(path, "made by askbridge mock-agent\n").unwrap_or_default();
    }
}

/// Returns the ID of the first option of a permission that allows.
pub(super) fn allowing(asked: &Value) -> Value {
    let options = asked["params"]["options"].as_array().into_iter().flatten();
    let allows = |option: &&Value| option["kind"].as_str().is_some_and(|kind| kind.starts_with("allow"));
    options.into_iter().find(allows).map_or(Value::Null, |option| option["optionId"].clone())
}

/// Returns the response that takes an option of a permission.
pub(super) fn selected(id: &Value, option: &Value) -> Value {
    let outcome = serde_json::json!({ "outcome": { "outcome": "selected", "optionId": option } });
    serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": outcome })
}
