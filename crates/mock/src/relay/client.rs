//! Breaks the rules of clients: with one of these faults, a right client behind the relay is a wrong one.

use serde_json::{Value, json};

use super::{
    fault::RelayFault,
    side::{Outputs, Side, written},
};

/// A value that no agent offers.
const OTHER: &str = "a value that no agent offers";
/// The longest text that the fault about long IDs passes on.
const LONG: usize = 32;
/// The largest number that the fault about huge IDs passes on.
const HUGE: u64 = 1 << 62;

/// Returns whether a fault breaks a rule of clients.
pub(super) fn is_about_clients(fault: RelayFault) -> bool {
    matches!(
        fault,
        RelayFault::NoiseToAgent
            | RelayFault::TextVersion
            | RelayFault::RelativeFolders
            | RelayFault::TextServers
            | RelayFault::WrongValues
            | RelayFault::RefusesQuestions
            | RelayFault::FillsForms
            | RelayFault::ChangesIds
            | RelayFault::LeavesNoVersion
            | RelayFault::TalksEarly
            | RelayFault::TextPrompts
            | RelayFault::PromptsTwice
            | RelayFault::AddsErrors
            | RelayFault::RefusesUnknownKinds
            | RelayFault::RefusesMeta
            | RelayFault::RefusesUnknownTools
            | RelayFault::NeedsKinds
            | RelayFault::NeedsTitles
            | RelayFault::NeedsRejections
            | RelayFault::NullForUnpromised
    )
}

/// Breaks a rule of clients.
pub(super) fn of_client(fault: RelayFault, from: Side, line: Vec<u8>, mut message: Value) -> Outputs {
    let to = from.other();
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    if from == Side::Agent {
        return to_client(fault, line, &message);
    }
    match fault {
        RelayFault::NoiseToAgent if method == "initialize" => {
            return vec![(to, [b"hello, agent\n", &*line].concat())];
        }
        RelayFault::TalksEarly if method == "initialize" => {
            let early = json!({ "jsonrpc": "2.0", "method": "_askbridge/early" });
            return vec![(to, [&*written(&early), &*line].concat())];
        }
        RelayFault::TextPrompts if method == "session/prompt" => message["params"]["prompt"] = "hello".into(),
        RelayFault::PromptsTwice if method == "session/prompt" => {
            message["id"] = format!("again-{}", message["id"]).into();
            return vec![(to, [&*line, &*written(&message)].concat())];
        }
        RelayFault::AddsErrors if message.get("result").is_some() => message["error"] = Value::Null,
        RelayFault::AddsErrors if message.get("error").is_some() => message["result"] = Value::Null,
        RelayFault::TextVersion if method == "initialize" => {
            message["params"]["protocolVersion"] = message["params"]["protocolVersion"].to_string().into();
        }
        RelayFault::RelativeFolders if method == "session/new" => message["params"]["cwd"] = "project".into(),
        RelayFault::TextServers if method == "session/new" => message["params"]["mcpServers"] = "none".into(),
        RelayFault::WrongValues => {
            if let Some(option) = message.pointer_mut("/result/outcome/optionId") {
                *option = OTHER.into();
            }
            if let Some(values) = message.pointer_mut("/result/content").and_then(Value::as_object_mut) {
                values.values_mut().for_each(|value| *value = json!([OTHER]));
            }
        }
        RelayFault::ChangesIds if method.is_empty() && message["id"].is_number() => {
            message["id"] = message["id"].to_string().into();
        }
        RelayFault::LeavesNoVersion => {
            if let Some(members) = message.as_object_mut() {
                members.remove("jsonrpc");
            }
        }
        _ => return vec![(to, line)],
    }
    vec![(to, written(&message))]
}

/// Breaks a rule of clients at a line of the agent.
fn to_client(fault: RelayFault, line: Vec<u8>, message: &Value) -> Outputs {
    let (from, to) = (Side::Agent, Side::Client);
    let method = message["method"].as_str().unwrap_or_default();
    let asks = matches!(method, "elicitation/create" | "session/request_permission");
    match fault {
        RelayFault::RefusesQuestions if asks => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            vec![(from, written(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })))]
        }
        RelayFault::NullForUnpromised if is_service(method, message) => {
            vec![(from, written(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null })))]
        }
        _ if is_refused(fault, message) => {
            let error = json!({ "code": -32602, "message": "unknown variant" });
            vec![(from, written(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })))]
        }
        RelayFault::FillsForms
            if method == "elicitation/create" && message.to_string().contains("\"pg\"") =>
        {
            let result = json!({ "action": "accept", "content": { "db": "pg" } });
            vec![(from, written(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })))]
        }
        _ => vec![(to, line)],
    }
}

/// Returns whether a request is for what the mock client never promises, or for the form of the case about that.
fn is_service(method: &str, message: &Value) -> bool {
    let is_form = method == "elicitation/create";
    let is_unpromised = message["params"]["mode"] == "url"
        || message["params"]["requestedSchema"]["properties"].get("a").is_some();
    method.starts_with("fs/") || method.starts_with("terminal/") || (is_form && is_unpromised)
}

/// Returns whether the fault refuses a permission for what is in it, or is not.
fn is_refused(fault: RelayFault, message: &Value) -> bool {
    let params = &message["params"];
    if message["method"] != "session/request_permission" {
        return false;
    }
    let mut kinds = params["options"].as_array().into_iter().flatten().map(|option| &option["kind"]);
    match fault {
        RelayFault::NeedsKinds => params["toolCall"]["kind"].is_null(),
        RelayFault::NeedsTitles => params["toolCall"]["title"].is_null(),
        RelayFault::NeedsRejections => {
            kinds.all(|kind| kind.as_str().is_some_and(|kind| kind.starts_with("allow")))
        }
        RelayFault::RefusesMeta => params.get("_meta").is_some(),
        RelayFault::RefusesUnknownTools => {
            params["toolCall"]["kind"].as_str().is_some_and(|kind| kind.starts_with('_'))
        }
        RelayFault::RefusesUnknownKinds => has_unknown_kind(message),
        _ => false,
    }
}

fn has_unknown_kind(message: &Value) -> bool {
    const KINDS: [&str; 4] = ["allow_once", "allow_always", "reject_once", "reject_always"];
    let options = message["params"]["options"].as_array().into_iter().flatten();
    options.into_iter().any(|option| option["kind"].as_str().is_some_and(|kind| !KINDS.contains(&kind)))
}

/// Returns whether the relay loses a message, by its ID.
pub(super) fn is_lost(fault: RelayFault, from: Side, message: &Value) -> bool {
    let id = &message["id"];
    let method = message["method"].as_str();
    let is_answer = from == Side::Client && method.is_none();
    match fault {
        RelayFault::DropsStrings => id.is_string(),
        RelayFault::LosesZero => is_answer && *id == 0,
        RelayFault::LosesNegative => is_answer && id.as_i64().is_some_and(i64::is_negative),
        RelayFault::LosesHuge => is_answer && id.as_u64().is_some_and(|id| id > HUGE),
        RelayFault::LosesEmpty => is_answer && *id == "",
        RelayFault::LosesLong => is_answer && id.as_str().is_some_and(|id| id.len() > LONG),
        RelayFault::LosesTextQuestions => {
            id.is_string() && matches!(method, Some("elicitation/create" | "session/request_permission"))
        }
        _ => false,
    }
}
