//! Forwards each line, or breaks the rule of the fault with it.
//! Reading and writing is left to `run.rs`.

use std::sync::{Mutex, PoisonError};

use serde_json::{Number, Value, json};

use super::{
    client::{is_about_clients, is_lost, of_client},
    fault::RelayFault,
    mcp::{is_about_mcp, of_mcp},
    side::{Outputs, Side, written},
    values::{changed, is_about_values},
};

/// A line of more bytes is a long one, for the faults about length.
const LONG: usize = 64 << 10;
/// The answers that a client gives until it tires.
const ANSWERS: usize = 5;
/// The lines that a relay with a limit passes on.
const MANY: usize = 5_000;
/// The methods of ACP that the relay knows, for the faults about others.
const KNOWN: [&str; 7] = [
    "initialize",
    "session/new",
    "session/prompt",
    "session/update",
    "session/cancel",
    "session/request_permission",
    "elicitation/create",
];
/// The notifications that take something back.
const CANCELS: [&str; 3] = ["session/cancel", "$/cancel_request", "notifications/cancelled"];
/// The namespaces of ACP's methods.
const NAMESPACES: [&str; 6] = ["session", "fs", "terminal", "elicitation", "mcp", "$"];

/// Passes lines on, with a fault.
#[derive(Debug)]
pub(super) struct Lines {
    fault: Option<RelayFault>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// A notification that waits to be overtaken, with the side that it goes to.
    held: Option<(Side, Vec<u8>)>,
    /// Requests that have no response yet: who sent them, and the ID.
    open: Vec<(Side, Value)>,
    responses: usize,
    /// Whether nothing is passed on any more.
    hangs: bool,
    lines: usize,
    /// What the fault keeps of a message.
    last: Value,
}

impl Lines {
    pub(super) fn new(fault: Option<RelayFault>) -> Self {
        Self { fault, state: Mutex::default() }
    }

    /// Takes a line with its line feed, or the last one without.
    pub(super) fn pass(&self, from: Side, line: Vec<u8>) -> Outputs {
        let Some(fault) = self.fault else { return vec![(from.other(), line)] };
        match self.bytes(fault, from, line) {
            Err(passed) => passed,
            Ok(line) => match serde_json::from_slice(&line) {
                Ok(message @ Value::Object(_)) => {
                    let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                    if state.hangs {
                        return Vec::new();
                    }
                    state.hangs = from == Side::Agent && hangs_after(fault, &message);
                    message_of(fault, from, line, message, &mut state)
                }
                _ => vec![(from.other(), line)],
            },
        }
    }

    /// Returns the bytes that are still to be written to a side at the end of its stream.
    pub(super) fn end(&self, to: Side) -> Vec<u8> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.held.take_if(|(held, _)| *held == to).map(|(_, line)| line).unwrap_or_default()
    }

    /// Breaks a rule about bytes. `Err` has the outputs of a line that is done; `Ok` has a line that may be a message.
    fn bytes(&self, fault: RelayFault, from: Side, mut line: Vec<u8>) -> Result<Vec<u8>, Outputs> {
        let to = from.other();
        let is_terminated = line.ends_with(b"\n");
        let text = line.trim_ascii();
        let is_json = || serde_json::from_slice::<Value>(text).is_ok();
        match fault {
            RelayFault::ChangesBytes => {
                let at = line.len() - usize::from(is_terminated);
                line.insert(at, b' ');
            }
            RelayFault::BreaksUtf8 => line = String::from_utf8_lossy(&line).into_owned().into_bytes(),
            RelayFault::StripsControl => {
                line.retain(|byte| *byte >= b' ' || *byte == b'\n');
                let text = String::from_utf8_lossy(&line).replace("\\u001b", "").replace("\\u0000", "");
                line = text.into_bytes();
            }
            RelayFault::DropsBlankLines if text.is_empty() => return Err(Vec::new()),
            RelayFault::DropsInvalid if !is_json() => return Err(Vec::new()),
            RelayFault::DropsBatches if text.starts_with(b"[") => return Err(Vec::new()),
            RelayFault::AnswersInvalid if !is_json() => {
                let error = json!({ "code": -32700, "message": "Parse error" });
                let reply = json!({ "jsonrpc": "2.0", "id": null, "error": error });
                return Err(vec![(from, written(&reply))]);
            }
            RelayFault::LimitsLines if line.len() > LONG => return Err(Vec::new()),
            RelayFault::LimitsMessages => {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.lines += 1;
                if state.lines > MANY {
                    return Err(Vec::new());
                }
            }
            RelayFault::SplitsLines if line.len() > LONG => {
                return Err(vec![(to, line.chunks(LONG).collect::<Vec<_>>().join(&b'\n'))]);
            }
            RelayFault::DropsRest if !is_terminated => return Err(Vec::new()),
            RelayFault::TerminatesRest if !is_terminated => line.push(b'\n'),
            _ => {}
        }
        Ok(line)
    }
}

/// Breaks a rule about messages.
fn message_of(fault: RelayFault, from: Side, line: Vec<u8>, message: Value, state: &mut State) -> Outputs {
    let to = from.other();
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
    let id = message.get("id").cloned();
    let is_request = !method.is_empty() && id.is_some();
    let is_notification = !method.is_empty() && id.is_none();
    let is_response = method.is_empty() && id.is_some();
    let is_known = KNOWN.contains(&method.as_str());
    let is_question = from == Side::Agent && is_request;
    let is_cancel = CANCELS.contains(&method.as_str());
    let same = || vec![(to, line.clone())];
    let reply = |result: Value| written(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    let refusal = |code: i64| {
        let error = json!({ "code": code, "message": "refused by the relay" });
        written(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    };
    match fault {
        RelayFault::ReSerializes => vec![(to, written(&message))],
        RelayFault::Duplicates => [same(), same()].concat(),
        RelayFault::DropsNotifications if is_notification => Vec::new(),
        RelayFault::DropsExtensions if method.starts_with('_') => Vec::new(),
        RelayFault::DropsForeign if is_foreign(&method) => Vec::new(),
        RelayFault::DropsErrors if is_response && message.get("error").is_some() => Vec::new(),
        RelayFault::DropsUnknown if !method.is_empty() && !is_known => Vec::new(),
        RelayFault::DropsCancel if is_cancel => Vec::new(),
        RelayFault::DropsSecond if is_response => {
            state.responses += 1;
            if state.responses.is_multiple_of(2) { Vec::new() } else { same() }
        }
        fault if is_about_values(fault) => {
            changed(fault, message, 0).map(|message| (to, written(&message))).into_iter().collect()
        }
        RelayFault::DropsTitles => vec![(to, written(&without_titles(message)))],
        RelayFault::KeepsObjects
            if is_response && message.get("result").is_some_and(|it| !it.is_object()) =>
        {
            Vec::new()
        }
        fault if is_lost(fault, from, &message) => Vec::new(),
        RelayFault::AnswersTwice if is_response && from == Side::Client => [same(), same()].concat(),
        RelayFault::RefusesUnknown if is_request && !is_known => vec![(from, refusal(-32601))],
        RelayFault::RefusesAgain if is_response => [same(), vec![(to, refusal(-32603))]].concat(),
        RelayFault::Acknowledges if is_notification => {
            // The sender has the reply before its peer can react, so that no later line overtakes it.
            [vec![(from, written(&json!({ "jsonrpc": "2.0", "id": null, "result": {} })))], same()].concat()
        }
        RelayFault::AsksTwice if is_question => [same(), same()].concat(),
        RelayFault::Approves if is_question && method == "session/request_permission" => {
            let option = message.pointer("/params/options/0/optionId").cloned().unwrap_or_default();
            vec![(from, reply(json!({ "outcome": { "outcome": "selected", "optionId": option } })))]
        }
        RelayFault::Answers if is_question => vec![(from, reply(json!({ "action": "cancel" })))],
        RelayFault::AnswersAsWell if is_question => {
            [vec![(from, reply(json!({ "action": "cancel" })))], same()].concat()
        }
        fault if is_about_clients(fault) => of_client(fault, from, line, message),
        fault if is_about_mcp(fault) => of_mcp(fault, from, line, message, &mut state.last),
        RelayFault::ChangesVersion => vec![(to, written(&with_version(message, 2)))],
        RelayFault::DropsCapabilities => vec![(to, written(&without_capabilities(message)))],
        _ => with_state(fault, from, line, message, state),
    }
}

fn without_titles(mut message: Value) -> Value {
    for call in ["/params/update", "/params/toolCall"] {
        message.pointer_mut(call).and_then(Value::as_object_mut).map(|call| call.remove("title"));
    }
    message
}

/// Returns whether the relay hangs after a message.
fn hangs_after(fault: RelayFault, message: &Value) -> bool {
    let update = &message["params"]["update"];
    let text = update["content"]["text"].as_str().unwrap_or_default();
    let kind = update["sessionUpdate"].as_str().unwrap_or_default();
    match fault {
        RelayFault::HangsOnUnicode => text.chars().any(|char| char > '\u{ffff}'),
        RelayFault::HangsOnControl => text.chars().any(char::is_control),
        RelayFault::HangsOnCancel => message["method"] == "$/cancel_request",
        RelayFault::HangsOnPlans => kind == "plan",
        RelayFault::HangsOnUnknownUpdates => kind.starts_with('_'),
        _ => false,
    }
}

/// Returns whether a method is in a namespace that neither ACP has nor its `_` marks as an extension.
fn is_foreign(method: &str) -> bool {
    let namespace = method.split_once('/').map(|(namespace, _)| namespace);
    namespace.is_some_and(|namespace| !namespace.starts_with('_') && !NAMESPACES.contains(&namespace))
}

/// Breaks a rule for which messages before count, or those about IDs.
fn with_state(
    fault: RelayFault,
    from: Side,
    line: Vec<u8>,
    mut message: Value,
    state: &mut State,
) -> Outputs {
    let to = from.other();
    let is_call = message.get("method").is_some();
    let id = message.get("id").cloned();
    match (fault, id) {
        (RelayFault::Reorders, None) if is_call && state.held.is_none() => {
            state.held = Some((to, line));
            Vec::new()
        }
        (RelayFault::Reorders, _) => {
            let held = state.held.take_if(|(held, _)| *held == to);
            [(to, line)].into_iter().chain(held).collect()
        }
        (RelayFault::RoundsIds | RelayFault::StringIds | RelayFault::NumberIds, Some(id)) => {
            vec![(to, with_id(fault, line, message, &id))]
        }
        (RelayFault::SharesIds, Some(id)) if is_call => {
            if state.open.iter().any(|(_, open)| *open == id) {
                return Vec::new();
            }
            state.open.push((from, id));
            vec![(to, line)]
        }
        (RelayFault::RemembersIds, Some(id)) if is_call => {
            let is_new = !state.open.contains(&(from, id.clone()));
            state.open.push((from, id));
            if is_new { vec![(to, line)] } else { Vec::new() }
        }
        (RelayFault::MixesIds, Some(id)) if is_call && from == Side::Agent => {
            let id = Value::from(id.as_str().map_or_else(|| id.to_string(), str::to_owned));
            let is_new = !state.open.contains(&(from, id.clone()));
            state.open.push((from, id));
            if is_new { vec![(to, line)] } else { Vec::new() }
        }
        (RelayFault::SwapsIds, Some(id)) if is_call => {
            state.open.push((from, id));
            vec![(to, line)]
        }
        (RelayFault::SwapsIds, Some(id)) => {
            let other = state.open.iter().rev().find(|(asker, other)| *asker == to && *other != id);
            match other {
                Some((_, other)) => {
                    message["id"] = other.clone();
                    vec![(to, written(&message))]
                }
                None => vec![(to, line)],
            }
        }
        (
            RelayFault::Tires
            | RelayFault::AnswersOne
            | RelayFault::AnswersOnCancel
            | RelayFault::AnswersWithdrawn,
            id,
        ) => about_questions(fault, from, line, &message, id, state),
        (RelayFault::SharesIds, Some(id)) => {
            state.open.retain(|(_, open)| *open != id);
            vec![(to, line)]
        }
        _ => vec![(to, line)],
    }
}

/// Breaks a rule about the agent's open questions.
fn about_questions(
    fault: RelayFault,
    from: Side,
    line: Vec<u8>,
    message: &Value,
    id: Option<Value>,
    state: &mut State,
) -> Outputs {
    let to = from.other();
    let is_call = message.get("method").is_some();
    match (fault, id) {
        (RelayFault::Tires, Some(_)) if !is_call && from == Side::Client => {
            state.responses += 1;
            if state.responses > ANSWERS { Vec::new() } else { vec![(to, line)] }
        }
        (RelayFault::AnswersOne, Some(id)) if is_call && from == Side::Agent => {
            let is_question = ["session/request_permission", "elicitation/create"].map(Value::from);
            if !is_question.contains(&message["method"]) {
                return vec![(to, line)];
            }
            let is_first = state.open.is_empty();
            state.open.push((from, id));
            if is_first { vec![(to, line)] } else { Vec::new() }
        }
        (RelayFault::AnswersOne, Some(id)) if !is_call && from == Side::Client => {
            state.open.retain(|(_, open)| *open != id);
            vec![(to, line)]
        }
        (RelayFault::AnswersWithdrawn, Some(id)) if message["method"] == "elicitation/create" => {
            state.open.push((from, id));
            vec![(to, line)]
        }
        (RelayFault::AnswersWithdrawn, None)
            if message["method"] == "$/cancel_request"
                && state.open.contains(&(from, message["params"]["requestId"].clone())) =>
        {
            // The client does not hear of it, so that it does not respond as well.
            let result = json!({ "action": "accept", "content": { "db": "pg" } });
            let id = &message["params"]["requestId"];
            vec![(from, written(&json!({ "jsonrpc": "2.0", "id": id, "result": result })))]
        }
        (RelayFault::AnswersOnCancel, Some(id)) if is_call && from == Side::Agent => {
            state.open.push((from, id));
            vec![(to, line)]
        }
        (RelayFault::AnswersOnCancel, None) if message["method"] == "session/cancel" => {
            let reply = |(asker, id): (Side, Value)| {
                let result = json!({ "outcome": { "outcome": "cancelled" } });
                (asker, written(&json!({ "jsonrpc": "2.0", "id": id, "result": result })))
            };
            [(to, line)].into_iter().chain(state.open.drain(..).map(reply)).collect()
        }
        _ => vec![(to, line)],
    }
}

/// Spells the ID of a message in another way.
fn with_id(fault: RelayFault, line: Vec<u8>, mut message: Value, id: &Value) -> Vec<u8> {
    let changed = match (fault, id) {
        (RelayFault::RoundsIds, Value::Number(number)) => rounded(number),
        (RelayFault::StringIds, Value::Number(number)) => Some(Value::from(number.to_string())),
        (RelayFault::NumberIds, Value::String(text)) => text.parse::<u64>().ok().map(Value::from),
        _ => None,
    };
    let Some(changed) = changed else { return line };
    message["id"] = changed;
    written(&message)
}

/// Returns the integer that is left of an ID in a double.
fn rounded(number: &Number) -> Option<Value> {
    let text = format!("{:.0}", number.as_f64()?);
    serde_json::from_str(&text).ok()
}

fn with_version(mut message: Value, version: u64) -> Value {
    for part in ["/params/protocolVersion", "/result/protocolVersion"] {
        if let Some(offered) = message.pointer_mut(part) {
            *offered = version.into();
        }
    }
    message
}

fn without_capabilities(mut message: Value) -> Value {
    let of_mcp = ["/params/capabilities", "/result/capabilities"];
    for part in ["/params/clientCapabilities", "/result/agentCapabilities"].into_iter().chain(of_mcp) {
        if let Some(capabilities) = message.pointer_mut(part) {
            *capabilities = json!({});
        }
    }
    message
}
