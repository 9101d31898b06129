//! The bridge's own messages are valid for the types of the protocol's SDK, and no member of them is dropped there.

use std::fmt::Debug;

use agent_client_protocol::v1::schema::{
    CancelRequestNotification, CreateElicitationRequest, CreateElicitationResponse, RequestPermissionRequest,
    RequestPermissionResponse,
};
use askbridge_core::{
    dialect::{self, elicitation},
    wire::method::REQUEST_QUESTION,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::matrix::agents::Agent;

/// Checks a message that the bridge wrote: a request to a client, or a response to this agent.
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
            // Qwen's extension: the standard has no place for answers.
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
    assert_eq!(numbers(again), numbers(written), "a member was dropped");
}

/// Turns all numbers into floats, so that `1` equals `1.0`.
fn numbers(json: Value) -> Value {
    match json {
        Value::Number(number) => number.as_f64().map_or(Value::Number(number), Value::from),
        Value::Array(entries) => entries.into_iter().map(numbers).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, numbers(value))).collect(),
        other => other,
    }
}

/// A form with this field, as the bridge writes it for a client.
fn form(field: &Value) -> Value {
    let params = json!({ "sessionId": "s", "prompt": "?", "_meta": { "askbridge": { "fields": [field] } } });
    let asked = dialect::read(REQUEST_QUESTION, params.to_string().as_bytes(), "q").expect("a question");
    let question = asked.expect("a question").question;
    let format = elicitation::form::reply_format(&question).expect("a form");
    let form = elicitation::form::write(&question, &format, true);
    serde_json::from_str(form.get()).expect("JSON")
}

#[test]
fn form_of_every_kind_of_field_is_valid() {
    let options = json!([{ "value": "a", "label": "A", "description": "D", "preview": { "format": "markdown", "text": "# P" } }]);
    let fields = [
        json!({ "kind": "text", "minLength": 1, "maxLength": 9, "pattern": "x", "format": "date-time", "default": "x" }),
        json!({ "kind": "text", "format": "ipv4", "multiline": true, "placeholder": "P" }),
        json!({ "kind": "choice", "options": options, "other": true, "default": "a" }),
        json!({ "kind": "choices", "options": options, "other": true, "min": 1, "max": 2, "default": ["a"] }),
        json!({ "kind": "boolean", "default": false }),
        json!({ "kind": "confirm", "yes": "Do it", "no": "Leave it" }),
        json!({ "kind": "number", "min": 0.5, "max": 1e300, "default": 0.75 }),
        json!({ "kind": "number", "integer": true, "min": 0.5, "max": 2.5, "default": 1.5 }),
        json!({ "kind": "number", "integer": true, "min": -1e300, "max": 1e300, "default": 2.0 }),
    ];
    for mut field in fields {
        (field["name"], field["label"], field["help"]) = (json!("f"), json!("Label"), json!("Help"));
        for required in [false, true] {
            field["required"] = json!(required);
            check_as::<CreateElicitationRequest>(form(&field));
        }
    }
}

#[test]
fn bounds_of_an_integer_are_integers() {
    let field =
        json!({ "name": "f", "label": "F", "kind": "number", "integer": true, "min": 0.5, "max": 2.5 });
    let property = &form(&field)["requestedSchema"]["properties"]["f"];
    assert_eq!((property["minimum"].as_i64(), property["maximum"].as_i64()), (Some(1), Some(2)));
}
