//! How a fault changes the lines of the agent before the client gets them.

use serde_json::{Value, json};

use super::{
    fault::AgentFault,
    state::{Faulty, allowing, selected},
};

const PERMISSION: &str = "session/request_permission";
/// The difference between the IDs of a question and of its repetition.
const AGAIN: u64 = 1000;

impl Faulty {
    /// Returns the lines that are written in place of a line of the agent.
    pub(crate) fn written(&mut self, line: &[u8]) -> Vec<Vec<u8>> {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return vec![line.to_vec()] };
        let mut lines: Vec<_> = self.before.drain(..).collect();
        lines.extend(match (message.get("method").is_some(), message.get("id").is_some()) {
            (true, true) => self.asks(message),
            (true, false) => self.notifies(message),
            _ => self.responds(message),
        });
        match self.fault {
            AgentFault::LeavesNoVersion => lines.iter_mut().for_each(|line| {
                line.as_object_mut().map(|members| members.remove("jsonrpc"));
            }),
            AgentFault::AddsErrors => {
                let results = lines.iter_mut().filter(|line| line.get("result").is_some());
                results.for_each(|line| line["error"] = Value::Null);
            }
            _ => {}
        }
        let is_first = !std::mem::replace(&mut self.has_written, true);
        let mut lines: Vec<_> = lines.iter().map(|line| self.spelled(line)).collect();
        if self.fault == AgentFault::Noise && is_first {
            lines.insert(0, b"agent: ready".to_vec());
        }
        lines
    }

    fn spelled(&self, message: &Value) -> Vec<u8> {
        let text = message.to_string();
        if self.fault != AgentFault::Latin1 {
            return text.into_bytes();
        }
        text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
    }

    fn asks(&mut self, mut message: Value) -> Vec<Value> {
        let id = message["id"].to_string();
        let is_permission = message["method"] == PERMISSION;
        let is_again = is_permission && self.last["method"] == PERMISSION;
        let params = &mut message["params"];
        match self.fault {
            AgentFault::OtherSession => params["sessionId"] = json!("no-session"),
            AgentFault::InvalidQuestion if !is_permission => {
                params.as_object_mut().map(|params| params.remove("requestedSchema"));
            }
            AgentFault::OnlyAllows if is_permission => {
                let options = params["options"].as_array_mut().map(std::mem::take).unwrap_or_default();
                let allows = |it: &Value| it["kind"].as_str().is_some_and(|kind| kind.starts_with("allow"));
                params["options"] = options.into_iter().filter(allows).collect();
            }
            AgentFault::SameOptionIds if is_permission => {
                for option in params["options"].as_array_mut().into_iter().flatten() {
                    option["optionId"] = json!("option");
                }
            }
            AgentFault::NoToolCall if is_permission => {
                params["toolCall"].as_object_mut().map(|call| call.remove("toolCallId"));
            }
            AgentFault::NoSuchCall if is_permission => {
                params["toolCall"] = json!({ "toolCallId": "call-nowhere" })
            }
            AgentFault::RemembersOnce if is_again => {
                self.injected.push(selected(&message["id"], &allowing(&message)));
                return Vec::new();
            }
            AgentFault::ActsEarly => self.act(),
            _ => {}
        }
        self.open.insert(id.clone(), message.clone());
        self.asked.push(id);
        self.last = message.clone();
        let mut lines = vec![message];
        if self.fault == AgentFault::CompletesEarly && is_permission {
            let params = &self.last["params"];
            let (session, call) = (&params["sessionId"], &params["toolCall"]["toolCallId"]);
            let update =
                json!({ "sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed" });
            let params = json!({ "sessionId": session, "update": update });
            lines.push(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
        }
        lines
    }

    fn notifies(&mut self, mut message: Value) -> Vec<Value> {
        let params = &mut message["params"];
        let session = params["sessionId"].clone();
        let is_said = params["update"]["sessionUpdate"] == "agent_message_chunk";
        let status = &mut params["update"]["status"];
        match self.fault {
            AgentFault::NumberTexts if is_said => params["update"]["content"]["text"] = json!(7),
            AgentFault::MixesSessions => params["sessionId"] = json!("session-1"),
            AgentFault::FailsWhenAllowed if *status == "completed" => *status = json!("failed"),
            AgentFault::CompletesWhenRejected if self.is_rejected && *status == "failed" => {
                *status = json!("completed")
            }
            AgentFault::ReadsFiles if is_said => {
                let params = json!({ "sessionId": session, "path": format!("{}/README.md", self.cwd) });
                let request = json!({ "jsonrpc": "2.0", "id": "read", "method": "fs/read_text_file", "params": params });
                return vec![request, message];
            }
            AgentFault::StartsTerminals if is_said => {
                let params = json!({ "sessionId": session, "command": "true" });
                let request =
                    json!({ "jsonrpc": "2.0", "id": "run", "method": "terminal/create", "params": params });
                return vec![request, message];
            }
            _ if is_said => {
                let mut lines = self.own_calls(&session);
                lines.push(message);
                return lines;
            }
            _ => {}
        }
        vec![message]
    }

    /// Returns the messages of a tool call that has nothing to do with the prompt, or of a file or a terminal.
    fn own_calls(&mut self, session: &Value) -> Vec<Value> {
        // In the order in which they are told, with the status of each.
        let told: &[(&str, &str)] = match self.fault {
            AgentFault::UpdatesUnannounced => &[("tool_call_update", "completed")],
            AgentFault::SameCallIds => &[("tool_call", "completed"), ("tool_call", "completed")],
            AgentFault::CallsGoBack => &[
                ("tool_call", "in_progress"),
                ("tool_call_update", "pending"),
                ("tool_call_update", "completed"),
            ],
            AgentFault::RevivesCalls => &[("tool_call", "completed"), ("tool_call_update", "failed")],
            AgentFault::LeavesCalls => &[("tool_call", "in_progress")],
            _ => return self.own_requests(session),
        };
        self.calls += 1;
        let id = format!("own-{}", self.calls);
        let update = |(kind, status): &(&str, &str)| {
            let update =
                json!({ "sessionUpdate": kind, "toolCallId": id, "title": "Look", "status": status });
            let params = json!({ "sessionId": session, "update": update });
            json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
        };
        told.iter().map(update).collect()
    }

    fn own_requests(&mut self, session: &Value) -> Vec<Value> {
        let request = |id: &str, method: &str, mut params: Value| {
            params["sessionId"] = session.clone();
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
        };
        let is_first = self.calls == 0;
        match self.fault {
            AgentFault::RelativePaths if self.promised["fs"]["readTextFile"] == true => {
                vec![request("read", "fs/read_text_file", json!({ "path": "README.md" }))]
            }
            AgentFault::LeavesTerminals if self.promised["terminal"] == true && is_first => {
                self.calls += 1;
                // The checker gives its first terminal this ID.
                let wait = json!({ "terminalId": "terminal-1" });
                vec![
                    request("run", "terminal/create", json!({ "command": "true" })),
                    request("wait", "terminal/wait_for_exit", wait),
                ]
            }
            _ => Vec::new(),
        }
    }

    fn responds(&mut self, mut message: Value) -> Vec<Value> {
        let turn = self.turns.iter().position(|id| *id == message["id"]);
        if let Some(turn) = turn {
            self.turns.remove(turn);
            return self.ends(message);
        }
        let id = message["id"].as_u64();
        match (self.fault, id) {
            (AgentFault::WrapsIds, Some(id)) => message["id"] = json!(id & u64::from(u32::MAX)),
            (AgentFault::RoundsIds, Some(id)) => message["id"] = json!(rounded(id)),
            (AgentFault::ChangesStringIds, None) => message["id"] = Value::Null,
            (AgentFault::WrongCode, _) if message["error"]["code"] == -32601 => {
                message["error"]["code"] = json!(-32603);
            }
            _ => {}
        }
        let is_fork = message["id"] == self.fork;
        let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) else {
            return vec![message];
        };
        match (self.fault, result.contains_key("protocolVersion"), result.contains_key("sessionId")) {
            (AgentFault::VersionAsText, true, _) => {
                result["protocolVersion"] = json!(result["protocolVersion"].to_string());
            }
            (AgentFault::EchoesVersion, true, _) => result["protocolVersion"] = self.version.clone(),
            (AgentFault::UntypedCapabilities, true, _) => {
                result["agentCapabilities"]["loadSession"] = json!("yes")
            }
            (AgentFault::ForksNowhere, _, true) if is_fork => result["sessionId"] = json!("session-nowhere"),
            (AgentFault::ForgetsOptions, _, false) => {
                if let Some(options) = result.get_mut("configOptions").and_then(Value::as_array_mut) {
                    options.truncate(1);
                }
            }
            (AgentFault::NoSessionId, _, true) => drop(result.remove("sessionId")),
            (AgentFault::OneSessionId, _, true) => result["sessionId"] = json!("session-1"),
            _ => {}
        }
        vec![message]
    }

    /// Returns what is written in place of the response to a prompt.
    fn ends(&mut self, mut message: Value) -> Vec<Value> {
        let id = message["id"].clone();
        if std::mem::take(&mut self.hangs) {
            return Vec::new();
        }
        if std::mem::take(&mut self.fails) {
            let error = json!({ "code": -32603, "message": "the answer is not understood" });
            return vec![json!({ "jsonrpc": "2.0", "id": id, "error": error })];
        }
        match self.fault {
            AgentFault::EndsTurnTwice => return vec![message.clone(), message],
            AgentFault::EndsTurnOnCancel if message.get("result").is_some() => {
                message["result"]["stopReason"] = json!("end_turn")
            }
            AgentFault::StaysCancelled if message.get("result").is_some() => {
                let reason = &mut message["result"]["stopReason"];
                self.cancels_next |= *reason == "cancelled";
                if self.cancels_next {
                    *reason = json!("cancelled");
                }
            }
            AgentFault::CancelsNext if self.cancels_next => {
                message["result"]["stopReason"] = json!("cancelled")
            }
            AgentFault::AsksAgain if self.last.is_object() => {
                let mut again = self.last.take();
                again["id"] = json!(again["id"].as_u64().unwrap_or_default() + AGAIN);
                return vec![again, message];
            }
            AgentFault::LateUpdates => {
                let text = json!({ "type": "text", "text": "One more thing." });
                let update = json!({ "sessionUpdate": "agent_message_chunk", "content": text });
                let params = json!({ "sessionId": "session-1", "update": update });
                let late = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
                return vec![message, late];
            }
            _ => {}
        }
        vec![message]
    }
}

/// Rounds an ID as a language does whose numbers are doubles.
fn rounded(id: u64) -> u64 {
    let lost = (u64::BITS - id.leading_zeros()).saturating_sub(f64::MANTISSA_DIGITS);
    id >> lost << lost
}
