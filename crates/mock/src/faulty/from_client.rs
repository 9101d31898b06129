//! How a fault changes the lines of the client before the agent gets them.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{
    fault::AgentFault,
    state::{Faulty, Received, allowing, selected},
};

/// The longest line under [`AgentFault::LimitsLines`].
const LONGEST: usize = 64 << 10;
/// The methods that the mock agent knows.
const KNOWN: [&str; 10] = [
    "initialize",
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
    "session/list",
    "session/set_mode",
    "session/set_config_option",
    "session/close",
    "session/prompt",
];

impl Faulty {
    /// Returns what becomes of a line of the client.
    pub(crate) fn received<'a>(&mut self, line: &'a [u8]) -> Received<'a> {
        let passed_on = || Received::Line(Cow::Borrowed(line));
        match self.fault {
            AgentFault::LimitsLines if line.len() > LONGEST => return Received::Nothing,
            AgentFault::OneSpelling if line.starts_with(b"{ ") => return Received::Nothing,
            _ => {}
        }
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return if self.fault == AgentFault::DiesOnBadJson { Received::Death } else { passed_on() };
        };
        match (message["method"].as_str().map(str::to_owned), message.get("id").cloned()) {
            (Some(method), Some(id)) => self.request(&method, &id, message),
            (Some(method), None) => self.notification(&method, message),
            (None, Some(id)) => self.response(&id, message),
            (None, None) => passed_on(),
        }
    }

    fn request(&mut self, method: &str, id: &Value, mut message: Value) -> Received<'static> {
        let params = &mut message["params"];
        match method {
            "initialize" => {
                self.version = params["protocolVersion"].clone();
                self.promised = params["clientCapabilities"].clone();
                if self.fault == AgentFault::AsksWithoutPromise {
                    params["clientCapabilities"]["elicitation"] = json!({ "form": {} });
                }
            }
            "session/new" => self.cwd = params["cwd"].as_str().unwrap_or_default().to_owned(),
            "session/resume" if self.fault == AgentFault::ResumesAloud => {
                message["method"] = json!("session/load")
            }
            "session/load" if self.fault == AgentFault::LoadsNothing => {
                message["method"] = json!("session/resume")
            }
            "session/load" if self.fault == AgentFault::LoadsAnySession => {
                params["sessionId"] = json!("session-1")
            }
            "session/fork" => self.fork = id.clone(),
            "session/set_mode" if self.fault == AgentFault::RefusesModes => {
                message["method"] = json!("_nothing")
            }
            "session/set_mode" if self.fault == AgentFault::TakesAnyMode => params["modeId"] = json!("ask"),
            "authenticate" if self.fault == AgentFault::TakesAnySignIn => {
                (message["method"], message["params"]) = (json!("session/list"), json!({}));
            }
            "session/list" if self.fault == AgentFault::TakesAnyCursor => params["cursor"] = Value::Null,
            "session/list" if self.fault == AgentFault::ListsNothing => params["cwd"] = json!("/nowhere"),
            "session/close" if self.fault == AgentFault::ClosesNothing => {
                self.before.push(json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
                // What it does not know makes it write, and with that the line before.
                return line(&json!({ "jsonrpc": "2.0", "id": "closed", "method": "_nothing" }));
            }
            "session/prompt" if self.fault == AgentFault::OneTurnAtATime && !self.turns.is_empty() => {
                return Received::Nothing;
            }
            "session/prompt" => {
                self.turns.push(id.clone());
                self.is_cancelled = false;
                let is_unknown = !params["sessionId"].as_str().unwrap_or_default().starts_with("session-");
                if self.fault == AgentFault::TakesAnySession && is_unknown {
                    params["sessionId"] = json!("session-1");
                }
            }
            _ => {}
        }
        let is_dropped = match self.fault {
            AgentFault::IgnoresUnknown => !KNOWN.contains(&method),
            AgentFault::SharesIds => self.open.contains_key(&id.to_string()),
            AgentFault::BlocksWhileAsking => !self.open.is_empty(),
            _ => false,
        };
        if is_dropped { Received::Nothing } else { line(&message) }
    }

    fn notification(&mut self, method: &str, message: Value) -> Received<'static> {
        match self.fault {
            AgentFault::AnswersNotifications => {
                self.before.push(json!({ "jsonrpc": "2.0", "id": null, "result": null }));
            }
            AgentFault::IgnoresCancel if method == "session/cancel" => return Received::Nothing,
            AgentFault::DiesOnSecondCancel if method == "session/cancel" => {
                if self.is_cancelled {
                    return Received::Death;
                }
                self.is_cancelled = !self.turns.is_empty();
            }
            AgentFault::CancelsNext if method == "session/cancel" => {
                self.cancels_next = self.turns.is_empty()
            }
            _ => {}
        }
        line(&message)
    }

    fn response(&mut self, id: &Value, message: Value) -> Received<'static> {
        let id_text = id.to_string();
        let mut before = self.asked.iter().take_while(|asked| **asked != id_text);
        let is_older_open = before.any(|asked| self.open.contains_key(asked));
        let Some(asked) = self.open.remove(&id.to_string()) else {
            let is_second = self.asked.contains(&id.to_string());
            return match self.fault {
                AgentFault::DiesOnStrayResponse if !is_second => Received::Death,
                AgentFault::DiesOnSecondAnswer if is_second => Received::Death,
                _ => line(&message),
            };
        };
        let result = &message["result"];
        let outcome = result["outcome"]["outcome"].as_str();
        let option = &result["outcome"]["optionId"];
        let options = asked["params"]["options"].as_array().cloned().unwrap_or_default();
        let chosen = options.iter().find(|it| it["optionId"] == *option);
        let rejects =
            chosen.and_then(|it| it["kind"].as_str()).is_some_and(|kind| kind.starts_with("reject"));
        self.is_rejected = rejects;
        match self.fault {
            AgentFault::LosesSecondAnswer if is_older_open => return Received::Nothing,
            AgentFault::UnknownIsYes if outcome == Some("selected") && chosen.is_none() => {
                return line(&selected(id, &allowing(&asked)));
            }
            AgentFault::ErrorIsYes if message.get("error").is_some() => {
                return line(&selected(id, &allowing(&asked)));
            }
            AgentFault::ActsWhenRejected if rejects => self.act(),
            AgentFault::ActsWhenCancelled if outcome == Some("cancelled") => self.act(),
            AgentFault::HangsOnError if message.get("error").is_some() => self.hangs = true,
            AgentFault::MistakesChoice => {
                let text = message.to_string().replace("option-b", "option-a");
                return Received::Line(Cow::Owned(text.into_bytes()));
            }
            fault => self.fails |= is_refused(fault, result, &asked),
        }
        line(&message)
    }
}

/// Returns whether the fault makes the agent fail at this answer.
fn is_refused(fault: AgentFault, result: &Value, asked: &Value) -> bool {
    let content = result["content"].as_object();
    let mut values = content.into_iter().flat_map(|content| content.values());
    // The request has the options that were offered.
    let offered = asked.to_string();
    let is_offered = |value: &Value| offered.contains(&format!("\"const\":{value}"));
    match fault {
        AgentFault::RefusesChoices => values.any(|value| value.is_string() && is_offered(value)),
        AgentFault::RefusesTexts => values.any(|value| value.is_string() && !is_offered(value)),
        AgentFault::RefusesLists => values.any(Value::is_array),
        AgentFault::RefusesBooleans => values.any(Value::is_boolean),
        AgentFault::RefusesNumbers => values.any(Value::is_number),
        AgentFault::RefusesForms => values.count() > 1,
        AgentFault::RefusesDeclined => result["action"] == "decline",
        AgentFault::RefusesCancelled => result["action"] == "cancel",
        _ => false,
    }
}

fn line(message: &Value) -> Received<'static> {
    Received::Line(Cow::Owned(message.to_string().into_bytes()))
}
