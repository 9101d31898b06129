//! A permission of the mock agent that has no answer yet, and the parts of the request for it. Making the request is
//! left to `templates.rs`.

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    MockDialect,
    behaviour::Act,
    message::{PermissionOutcome, RpcError},
};

/// The file that is changed, relative to the session's folder.
pub(super) const FILE: &str = "src/main.rs";

/// A permission that the mock agent asks for.
#[derive(Clone, Debug)]
pub(crate) struct MockPermission {
    pub(crate) session: String,
    pub(crate) cwd: String,
    /// Its number in the process, counted from 1 together with the questions.
    pub(crate) number: u64,
    pub(crate) dialect: MockDialect,
    pub(crate) act: Act,
    /// Whether the client speaks version 2 of the protocol.
    pub(crate) version_2: bool,
    /// Whether the agent asks for other permissions at the same time.
    pub(crate) together: bool,
}

/// The request that asks for a permission, and the updates that precede it.
#[derive(Debug, Deserialize)]
pub(crate) struct PermissionRequest {
    /// The title of the prompt in version 2 of the protocol.
    pub(super) title: String,
    pub(crate) updates: Vec<Value>,
    pub(crate) params: Value,
}

impl MockPermission {
    /// Returns the ID of its tool call, in the spelling of the dialect.
    pub(super) fn tool_call(&self) -> String {
        match (self.dialect, self.act) {
            (MockDialect::Claude, _) => format!("toolu_{:02}", self.number),
            (MockDialect::Pi, _) => format!("pi-ui-{}", self.number),
            // Kimi puts the number of the turn before it.
            (MockDialect::Kimi | MockDialect::KimiPermission, _) => format!("1:call-{}", self.number),
            (MockDialect::Codex | MockDialect::CodexAsync, Act::Plan) => {
                format!("plan-review:call-{}", self.number)
            }
            _ => format!("call-{}", self.number),
        }
    }

    /// Returns the absolute path of the file that is changed.
    pub(super) fn path(&self) -> String {
        format!("{}/{FILE}", self.cwd.trim_end_matches('/'))
    }
}

/// The response to a permission.
#[derive(Debug, PartialEq)]
pub(crate) enum Told {
    /// An option that was offered, and whether it allows.
    Selected { option: String, allows: bool },
    /// An option that was not offered.
    NotOffered(String),
    /// No option: the client cancelled the request.
    Cancelled,
    /// A JSON-RPC error.
    Failed(RpcError),
    /// A result that the protocol does not have, as raw JSON.
    Garbled(String),
}

impl MockPermission {
    /// Reads the response. Only an option that was offered is an answer.
    pub(crate) fn read_response(&self, outcome: Result<&RawValue, &RpcError>) -> Told {
        let result = match outcome {
            Ok(result) => result.get(),
            Err(error) => return Told::Failed(error.clone()),
        };
        let option = match PermissionOutcome::read(result) {
            Some(PermissionOutcome::Selected { option_id }) => option_id,
            Some(PermissionOutcome::Cancelled) => return Told::Cancelled,
            None => return Told::Garbled(result.to_owned()),
        };
        // The request was not kept, but it can be built again.
        let options = self.request().map(|mut it| it.params["options"].take()).unwrap_or_default();
        let offered = options.as_array().into_iter().flatten().find(|offered| offered["optionId"] == option);
        match offered.and_then(|offered| offered["kind"].as_str()) {
            Some(kind) => Told::Selected { allows: kind.starts_with("allow"), option },
            None => Told::NotOffered(option),
        }
    }

    /// Returns the sentence that reports it.
    pub(crate) fn report(&self, told: &Told) -> String {
        let said = match told {
            Told::Selected { option, .. } => format!("selected {option}"),
            Told::NotOffered(option) => format!("{option} was not offered"),
            Told::Cancelled => "cancelled".to_owned(),
            Told::Failed(error) => format!("failed: {error}"),
            Told::Garbled(result) => format!("not understood: {result}"),
        };
        if self.together {
            format!("[{}] Permission: {said}\n", self.tool_call())
        } else {
            format!("Permission: {said}")
        }
    }

    /// Returns the update that ends the tool call: only an option that allows completes it.
    pub(crate) fn conclusion(&self, told: &Told) -> Value {
        let allowed = matches!(told, Told::Selected { allows: true, .. });
        let status = if allowed { "completed" } else { "failed" };
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": self.tool_call(), "status": status })
    }
}
