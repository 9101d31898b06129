//! The meaning of an agent's line for the conversation, and the rules that every line of an agent must keep.
//! Waiting for lines is left to `perform.rs`, tool calls to `calls.rs`, files and terminals to `services.rs`.

use std::collections::BTreeSet;

use askbridge_core::{
    dialect::{AgentQuestion, ShownBy, methods, read, shown_by},
    question::Purpose,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::state::{Asked, Conversation, Response};
use crate::{messages::Heard, rule::Rule};

/// The method of a permission request.
pub(super) const PERMISSION: &str = "session/request_permission";
/// The code of an error that says that the user must sign in.
const AUTH_REQUIRED: i64 = -32000;

/// The parts of a request in the spelling of the agent.
#[derive(Deserialize)]
struct Spelled<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl Conversation {
    /// Returns the method of an open request of the client.
    pub(crate) fn requested(&self, id: &str) -> Option<&str> {
        self.open.get(id).map(String::as_str)
    }

    /// Notes a message of the agent.
    pub(crate) fn receive(&mut self, message: &Value, line: &[u8]) -> Heard {
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(_)) => {
                let spelled: Option<Spelled<'_>> = serde_json::from_slice(line).ok();
                let spelled = spelled.as_ref();
                let id = spelled.and_then(|spelled| spelled.id).map_or("null", RawValue::get);
                let params = spelled.and_then(|spelled| spelled.params).map_or("{}", RawValue::get);
                self.request(method, id, params, line)
            }
            (Some("session/update"), None) => self.update(&message["params"]),
            (Some(_), None) => Heard::default(),
            (None, id) => self.response(&id.map(Value::to_string).unwrap_or_default(), message, line),
        }
    }

    fn request(&mut self, method: &str, id: &str, params: &str, line: &[u8]) -> Heard {
        if self.asked.iter().any(|asked| asked.id == id && !asked.is_replied) {
            let what = "the agent wrote two requests with one ID, of which the first is open";
            return Heard::wrong(Rule::RequestIds, what);
        }
        if method.starts_with("fs/") || method.starts_with("terminal/") {
            return self.service(method, id, &serde_json::from_str(params).unwrap_or_default());
        }
        let refused = || Heard::replied(refusal(id, -32601, "Method not found"));
        if !methods().any(|known| known == method) {
            return refused();
        }
        let is_permission = method == PERMISSION;
        let asked = match read(method, params.as_bytes(), id) {
            Ok(Some(asked)) => asked,
            Ok(None) if !is_permission => return refused(),
            Ok(None) => {
                let (rule, what) = same_option_ids(&serde_json::from_str(params).unwrap_or_default())
                    .unwrap_or_else(|| {
                        let what = "the agent asks for a permission in a way that the protocol does not have";
                        (Rule::Questions, what.to_owned())
                    });
                return refused().breaks(rule, what);
            }
            Err(why) => {
                let rule = if is_permission { Rule::PermissionCall } else { Rule::Questions };
                let what = format!("the parameters of the agent's `{method}` are not valid: {why}");
                return refused().breaks(rule, what);
            }
        };
        if shown_by(method) == Some(ShownBy::Forms) && !self.promised.forms {
            let what = format!("the agent sent `{method}` to a client that did not promise forms");
            return refused().breaks(Rule::Forms, what);
        }
        let broken = self.judge(&asked, &serde_json::from_str(params).unwrap_or_default());
        let (id, line) = (id.to_owned(), line.to_vec());
        self.asked.push(Asked { id, line, asked, is_seen: false, is_replied: false });
        Heard { broken, replies: Vec::new() }
    }

    /// Checks the rules of questions that the reader of the dialect does not check.
    fn judge(&mut self, asked: &AgentQuestion, params: &Value) -> Vec<(Rule, String)> {
        let question = &asked.question;
        let is_permission = question.purpose == Purpose::Permission;
        let mut broken = Vec::new();
        if question.session.as_ref().is_some_and(|session| !self.sessions.contains(session)) {
            let rule = if is_permission { Rule::PermissionSession } else { Rule::QuestionSession };
            broken.push((rule, "the agent asks in a session that the client does not have".to_owned()));
        }
        if !is_permission {
            // A question in the words of a permission tells of its tool call as well.
            self.asks_for(&params["sessionId"], &params["toolCall"]);
            if let Some(dialect) = self.dialect.as_ref().filter(|name| *name != question.origin.name()) {
                let origin = question.origin.name();
                let what = format!("the agent asks in the dialect `{origin}`, not in `{dialect}`");
                broken.push((Rule::Questions, what));
            }
            return broken;
        }
        broken.extend(same_option_ids(params));
        if broken.iter().any(|(rule, _)| *rule == Rule::PermissionSession) {
            return broken;
        }
        broken.extend(self.asks_for(&params["sessionId"], &params["toolCall"]));
        broken
    }

    fn update(&mut self, params: &Value) -> Heard {
        let (session, update) = (&params["sessionId"], &params["update"]);
        // The schema says what is missing.
        let (Some(session), Some(kind)) = (session.as_str(), update["sessionUpdate"].as_str()) else {
            return Heard::default();
        };
        // An agent may tell of a session before it has responded with its ID.
        let opens = self.open.values().any(|method| method.starts_with("session/"));
        if !self.sessions.contains(session) && !opens {
            let what = "an update is of a session that the client does not have";
            return Heard::wrong(Rule::UpdateSession, what);
        }
        let mut heard = Heard::default();
        let restores = |method: &String| method == "session/load" || method == "session/resume";
        if kind.ends_with("_message_chunk") && self.open.values().any(restores) {
            self.retold += 1;
        }
        match kind {
            "tool_call" | "tool_call_update" => heard.broken = self.call_update(session, update),
            "agent_message_chunk" => {
                if self.runs(None) && !self.runs(Some(session)) {
                    let what = "a message is of a session in which no turn runs, and another one has a turn";
                    return heard.breaks(Rule::UpdateSession, what);
                }
                self.messages += 1;
                self.said += update.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
            }
            _ => {}
        }
        heard
    }

    fn response(&mut self, id: &str, message: &Value, line: &[u8]) -> Heard {
        let Some(method) = self.open.remove(id) else {
            // The client wrote a line without an ID that the agent could repeat.
            let is_refusal = id == "null" && message.get("error").is_some() && self.wrote_nonsense;
            return match (is_refusal, self.answered.contains(id)) {
                (true, _) => Heard::default(),
                (_, true) => Heard::wrong(Rule::OneResponse, "a request got a second response"),
                _ => Heard::stray(id),
            };
        };
        self.answered.insert(id.to_owned());
        let result = message.get("result").cloned();
        let mut heard = Heard::default();
        if let Some(result) = result.as_ref().filter(|_| method == "initialize") {
            self.agent = result["agentCapabilities"].clone();
        }
        if let Some(result) = result.as_ref().filter(|_| method == "session/new") {
            self.opened = result.clone();
        }
        if let Some(at) = self.turns.iter().position(|turn| turn.id == id) {
            self.turns[at].has_ended = true;
            let stopped = result.as_ref().and_then(|result| result["stopReason"].as_str());
            if stopped.is_some_and(|reason| reason != "cancelled") {
                heard.broken = self.left_behind(at);
            }
        }
        let session = result.as_ref().and_then(|result| result["sessionId"].as_str());
        let opens = method == "session/new" || method == "session/fork";
        if let Some(session) = session.filter(|_| opens)
            && !self.sessions.insert(session.to_owned())
        {
            heard = heard.breaks(Rule::SessionIds, "a new session has the ID of another one");
        }
        self.responses.push(Response { id: id.to_owned(), line: line.to_vec(), result });
        heard
    }
}

/// Returns the breach of two options of a permission that have one ID.
fn same_option_ids(params: &Value) -> Option<(Rule, String)> {
    let options = params["options"].as_array().into_iter().flatten();
    let ids: Vec<_> = options.filter_map(|option| option["optionId"].as_str()).collect();
    let are_apart = ids.iter().collect::<BTreeSet<_>>().len() == ids.len();
    (!are_apart).then(|| (Rule::OptionIds, "two options of the permission have the same ID".to_owned()))
}

/// Returns the line that refuses a request of the agent.
pub(super) fn refusal(id: &str, code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

/// Returns whether a response to `session/new` says that the user must sign in.
pub(super) fn wants_sign_in(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok_and(|message| message["error"]["code"] == AUTH_REQUIRED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(lines: &[&str]) -> Heard {
        let mut conversation = Conversation::default();
        conversation.sent(b"{\"id\":1,\"method\":\"session/new\"}\n{\"id\":2,\"method\":\"session/new\"}\n");
        let first = r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#;
        let heard = [&[first], lines].concat().into_iter().map(|line| {
            conversation.receive(&serde_json::from_str(line).unwrap(), format!("{line}\n").as_bytes())
        });
        heard.last().unwrap()
    }

    #[test]
    fn what_an_agent_must_not_write_is_found() {
        let form = r#""method":"elicitation/create","params":{"sessionId":"s","message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}"#;
        let said = r#""update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}"#;
        let options = r#""options":[{"optionId":"a","name":"A","kind":"allow_once"},{"optionId":"a","name":"B","kind":"reject_once"}]"#;
        let permission = |session: &str, call: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{{"sessionId":"{session}","toolCall":{{"toolCallId":"t"{call}}},{options}}}}}"#
            )
        };
        for (line, rules) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, &[Rule::ResponseIds][..]),
            (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, &[Rule::NoResponse]),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"t"}}"#, &[Rule::OneResponse]),
            (r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#, &[Rule::SessionIds]),
            (r#"{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file"}"#, &[Rule::Promises]),
            (r#"{"jsonrpc":"2.0","id":1,"method":"terminal/create"}"#, &[Rule::Promises]),
            (&format!(r#"{{"jsonrpc":"2.0","id":1,{form}}}"#), &[Rule::Forms]),
            (r#"{"jsonrpc":"2.0","method":"session/update","params":{}}"#, &[]),
            (&permission("s", r#","title":"x""#), &[Rule::OptionIds]),
            (&permission("s", "").replacen(r#":"a""#, r#":"b""#, 1), &[Rule::KnownCall]),
            (&permission("t", "").replacen(r#":"a""#, r#":"b""#, 1), &[Rule::PermissionSession]),
        ] {
            let broken: Vec<_> = heard(&[line]).broken.into_iter().map(|(rule, _)| rule).collect();
            assert_eq!(broken, rules, "{line}");
        }
        let update = |session: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}",{said}}}}}"#
            )
        };
        let opened = r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"t"}}"#;
        assert_eq!(heard(&[opened, &update("t")]), Heard::default());
        assert_eq!(heard(&[opened, &update("u")]).broken.first().unwrap().0, Rule::UpdateSession);
        assert_eq!(
            heard(&[r#"{"jsonrpc":"2.0","id":"a","method":"_x/y"}"#]).replies,
            [r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}"#]
        );
    }
}
