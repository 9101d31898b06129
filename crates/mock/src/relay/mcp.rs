//! Breaks the rules of bridges between a host of MCP and a server.

use serde_json::{Value, json};

use super::{
    fault::RelayFault,
    side::{Outputs, Side, written},
};

/// Where a message has a progress token.
const TOKENS: [&str; 2] = ["/params/_meta/progressToken", "/params/progressToken"];
const STATE: &str = "requestState";

/// Returns whether a fault is about MCP.
pub(super) fn is_about_mcp(fault: RelayFault) -> bool {
    matches!(
        fault,
        RelayFault::AddsCapabilities
            | RelayFault::TurnsErrors
            | RelayFault::KeepsContent
            | RelayFault::TextTokens
            | RelayFault::TellsProgress
            | RelayFault::AnswersPings
            | RelayFault::DropsInputRequired
            | RelayFault::ChangesState
            | RelayFault::RepeatsState
    )
}

/// Breaks a rule of MCP. `last` is what the fault keeps from one message to the next.
pub(super) fn of_mcp(
    fault: RelayFault,
    from: Side,
    line: Vec<u8>,
    mut message: Value,
    last: &mut Value,
) -> Outputs {
    let to = from.other();
    match fault {
        RelayFault::AnswersPings if message["method"] == "ping" => {
            return vec![(from, written(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} })))];
        }
        RelayFault::TellsProgress
            if from == Side::Client && !message["params"]["_meta"]["progressToken"].is_null() =>
        {
            let params =
                json!({ "progressToken": message["params"]["_meta"]["progressToken"], "progress": 0 });
            let told = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
            return vec![(to, line), (from, written(&told))];
        }
        RelayFault::DropsInputRequired if message["result"]["resultType"] == "input_required" => {
            return Vec::new();
        }
        RelayFault::AddsCapabilities if message["method"] == "initialize" => {
            message["params"]["capabilities"]["sampling"] = json!({});
        }
        RelayFault::TurnsErrors if message["result"]["isError"] == true => {
            let error = json!({ "code": -32603, "message": "the tool failed" });
            message = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
        }
        RelayFault::KeepsContent if message["result"]["content"].is_array() => {
            message["result"] = json!({ "content": message["result"]["content"] });
        }
        RelayFault::TextTokens => {
            for token in TOKENS {
                if let Some(token) = message.pointer_mut(token).filter(|token| token.is_number()) {
                    *token = token.to_string().into();
                }
            }
        }
        RelayFault::ChangesState if message["params"][STATE].is_string() => {
            let small = message["params"][STATE].as_str().unwrap_or_default().to_lowercase();
            message["params"][STATE] = small.into();
        }
        RelayFault::RepeatsState if message["params"][STATE].is_string() => {
            *last = message["params"][STATE].clone()
        }
        RelayFault::RepeatsState if message["method"] == "tools/call" && last.is_string() => {
            message["params"][STATE] = last.clone();
        }
        _ => return vec![(to, line)],
    }
    vec![(to, written(&message))]
}
