//! What the bridge writes is what the protocol's own typed schema reads, and nothing of it is dropped there.

use std::fmt::Debug;

use agent_client_protocol::v1::schema::{
    CancelRequestNotification, CreateElicitationRequest, CreateElicitationResponse, RequestPermissionRequest,
    RequestPermissionResponse,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::agents::Agent;

/// Checks a message of the bridge's own: a request to a client, or a response to this agent.
pub(crate) fn check(agent: Agent, message: &Value) {
    let (params, result) = (&message["params"], &message["result"]);
    match (message["method"].as_str(), agent) {
        (Some("elicitation/create"), _) => check_as::<CreateElicitationRequest>(params.clone()),
        (Some("session/request_permission"), _) => check_as::<RequestPermissionRequest>(params.clone()),
        (Some("$/cancel_request"), _) => check_as::<CancelRequestNotification>(params.clone()),
        (None, _) if !result.is_object() || message["id"] != 0 || result.get("protocolVersion").is_some() => {
        }
        (None, Agent::Qwen) => {
            let mut result = result.clone();
            // Qwen's own place for its answers, which the standard does not have.
            result.as_object_mut().map(|result| result.remove("answers"));
            check_as::<RequestPermissionResponse>(result);
        }
        (None, Agent::KimiPermission | Agent::Pi) => check_as::<RequestPermissionResponse>(result.clone()),
        (None, Agent::Historic) => check_as::<CreateElicitationResponse>(result["action"].clone()),
        (
            None,
            Agent::Form
            | Agent::Claude
            | Agent::Codex
            | Agent::CodexAsync
            | Agent::Kimi
            | Agent::OhMyPi
            | Agent::Opencode
            | Agent::Devin,
        ) => check_as::<CreateElicitationResponse>(result.clone()),
        _ => {}
    }
}

fn check_as<T: DeserializeOwned + Serialize + Debug>(written: Value) {
    let read: T = match serde_json::from_value(written.clone()) {
        Ok(read) => read,
        Err(error) => panic!("{error}: {written}"),
    };
    let again = serde_json::to_value(&read).expect("JSON");
    assert_eq!(numbers(again), numbers(written), "something was dropped");
}

/// A whole number is the same with and without a fraction.
fn numbers(json: Value) -> Value {
    match json {
        Value::Number(number) => number.as_f64().map_or(Value::Number(number), Value::from),
        Value::Array(entries) => entries.into_iter().map(numbers).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, numbers(value))).collect(),
        other => other,
    }
}
