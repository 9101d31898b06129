//! Breaks the rules of clients: with one of these faults, a right client behind the relay is a wrong one.

use serde_json::{Value, json};

use super::{
    fault::RelayFault,
    side::{Outputs, Side, written},
};

/// A value that no agent offers.
const OTHER: &str = "a value that is longer than any text may be, and that no agent offers";

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
            | RelayFault::AnswersWithdrawn
            | RelayFault::ChangesIds
            | RelayFault::LeavesNoVersion
    )
}

/// Breaks a rule of clients.
pub(super) fn of_client(fault: RelayFault, from: Side, line: Vec<u8>, mut message: Value) -> Outputs {
    let to = from.other();
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    if from == Side::Agent {
        let asks = matches!(method.as_str(), "elicitation/create" | "session/request_permission");
        return match fault {
            RelayFault::RefusesQuestions if asks => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                vec![(from, written(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })))]
            }
            RelayFault::FillsForms if method == "elicitation/create" => {
                let result = json!({ "action": "accept", "content": { "db": "pg" } });
                vec![(from, written(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })))]
            }
            RelayFault::AnswersWithdrawn if method == "$/cancel_request" => {
                let result = json!({ "action": "accept", "content": { "db": "pg" } });
                let id = &message["params"]["requestId"];
                vec![(from, written(&json!({ "jsonrpc": "2.0", "id": id, "result": result })))]
            }
            _ => vec![(to, line)],
        };
    }
    match fault {
        RelayFault::NoiseToAgent if method == "initialize" => {
            return vec![(to, [b"hello, agent\n", &*line].concat())];
        }
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
                values.values_mut().for_each(|value| *value = OTHER.into());
            }
        }
        RelayFault::ChangesIds if method.is_empty() => {
            message["id"] = match &message["id"] {
                Value::String(text) => format!("{text}.").into(),
                id => id.to_string().into(),
            };
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
