//! The response to a permission, and what the mock agent says and does about it.
//! The request is left to `request.rs`.

use serde_json::{Value, json, value::RawValue};

use super::MockPermission;
use crate::message::{PermissionOutcome, RpcError};

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
        // What was asked can be asked again.
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
