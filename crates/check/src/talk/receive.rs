//! The meaning of an agent's line for the conversation, and the rules that every line of an agent must keep.
//! Waiting for lines is left to `perform.rs`.

use std::collections::{BTreeMap, BTreeSet};

use askbridge_core::{
    dialect::{AgentQuestion, ShownBy, methods, read, shown_by},
    question::Purpose,
};
use serde_json::{Value, value::RawValue};

use super::state::{Asked, Conversation, Response};
use crate::{limits, play::Problem, wire::shown};

/// The method of a permission request.
const PERMISSION: &str = "session/request_permission";
/// The code of an error that says that the user must sign in.
const AUTH_REQUIRED: i64 = -32000;

/// The members of a message, in the spelling of the agent.
type Members<'a> = BTreeMap<String, &'a RawValue>;

impl Conversation {
    /// Returns the method of an open request of the client.
    pub(crate) fn requested(&self, id: &str) -> Option<&str> {
        self.open.get(id).map(String::as_str)
    }

    /// Notes a line of the agent. Returns the line that any client replies at once: the refusal of an unknown request.
    pub(crate) fn receive(&mut self, line: &[u8]) -> Result<Option<String>, Problem> {
        let wrong = |what: String| Problem::Broken { what, expected: None, got: Some(shown(line)) };
        if line.len() > limits::MESSAGE {
            let most = limits::MESSAGE / (1024 * 1024);
            return Err(wrong(format!("the agent wrote a line of more than {most} MiB")));
        }
        let text =
            line.strip_suffix(b"\n").ok_or_else(|| wrong("the agent's last line has no line feed".into()))?;
        let text = std::str::from_utf8(text)
            .map_err(|error| wrong(format!("the agent wrote a line that is not UTF-8: {error}")))?;
        let members: Members<'_> = serde_json::from_str(text).map_err(|error| {
            wrong(format!("the agent wrote a line that is not a message of ACP: {error}"))
        })?;
        if member(&members, "jsonrpc") != Some(Value::from("2.0")) {
            return Err(wrong("the agent wrote a message without `\"jsonrpc\": \"2.0\"`".into()));
        }
        let method = member(&members, "method");
        let heard = match (&method, members.get("id")) {
            (Some(Value::String(method)), Some(id)) => self.request(method, id.get(), &members, line),
            (Some(Value::String(method)), None) => self.notification(method, &members).map(|()| None),
            (None, Some(_)) => {
                let id = member(&members, "id").unwrap_or_default().to_string();
                self.response(&id, &members, line).map(|()| None)
            }
            _ => Err("the agent wrote a message that is neither a request nor a notification nor a response"
                .to_owned()),
        };
        heard.map_err(wrong)
    }

    fn request(
        &mut self,
        method: &str,
        id: &str,
        members: &Members<'_>,
        line: &[u8],
    ) -> Result<Option<String>, String> {
        if !id.starts_with(['"', '-']) && !id.starts_with(|first: char| first.is_ascii_digit()) {
            return Err("the agent wrote a request whose ID is neither a text nor a number".to_owned());
        }
        if self.asked.iter().any(|asked| asked.id == id && !asked.is_replied) {
            return Err("the agent wrote two requests with one ID, of which the first is open".to_owned());
        }
        if method.starts_with("fs/") || method.starts_with("terminal/") {
            return Err(format!("the agent sent `{method}` to a client that did not promise it"));
        }
        let refusal = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found"}}}}"#
        );
        if !methods().any(|known| known == method) {
            return Ok(Some(refusal));
        }
        let params = members.get("params").map_or("{}", |params| params.get());
        let asked = read(method, params.as_bytes(), id)
            .map_err(|why| format!("the parameters of the agent's `{method}` are not valid: {why}"))?;
        if shown_by(method) == Some(ShownBy::Forms) && !self.promised_forms {
            return Err(format!("the agent sent `{method}` to a client that did not promise forms"));
        }
        match asked {
            Some(asked) => {
                self.judge(&asked, params)?;
                let (id, line) = (id.to_owned(), line.to_vec());
                self.asked.push(Asked { id, line, asked, is_seen: false, is_replied: false });
                Ok(None)
            }
            None if method == PERMISSION => {
                Err("the agent asks for a permission in a way that the protocol does not have".to_owned())
            }
            None => Ok(Some(refusal)),
        }
    }

    /// Checks the rules of questions that the reader of the dialect does not check.
    fn judge(&self, asked: &AgentQuestion, params: &str) -> Result<(), String> {
        let question = &asked.question;
        if let Some(session) = question.session.as_ref().filter(|session| !self.sessions.contains(*session)) {
            return Err(format!("the agent asks in the session `{session}`, which the client does not have"));
        }
        if question.purpose == Purpose::Permission {
            let params: Value = serde_json::from_str(params).unwrap_or_default();
            let options = params["options"].as_array().into_iter().flatten();
            let ids: Vec<_> = options.filter_map(|option| option["optionId"].as_str()).collect();
            if ids.iter().collect::<BTreeSet<_>>().len() != ids.len() {
                return Err("two options of the permission have the same ID".to_owned());
            }
            return Ok(());
        }
        match &self.dialect {
            Some(dialect) if question.origin.name() != dialect => {
                Err(format!("the agent asks in the dialect `{}`, not in `{dialect}`", question.origin.name()))
            }
            _ => Ok(()),
        }
    }

    fn notification(&mut self, method: &str, members: &Members<'_>) -> Result<(), String> {
        if method != "session/update" {
            return Ok(());
        }
        let params = member(members, "params").unwrap_or_default();
        let (session, update) = (&params["sessionId"], &params["update"]);
        let (Some(session), Some(kind)) = (session.as_str(), update["sessionUpdate"].as_str()) else {
            return Err("the update lacks its `sessionId` or its `sessionUpdate`".to_owned());
        };
        // An agent may tell of a session before it has responded with its ID.
        let opens = self.open.values().any(|method| method.starts_with("session/"));
        if !self.sessions.contains(session) && !opens {
            return Err(format!("the update is of the session `{session}`, which the client does not have"));
        }
        if let Some(call) = update["toolCallId"].as_str() {
            let call = self.calls.entry(call.to_owned()).or_default();
            for (name, known) in [("title", &mut call.title), ("status", &mut call.status)] {
                if let Some(value) = update[name].as_str() {
                    value.clone_into(known);
                }
            }
        }
        if kind == "agent_message_chunk" {
            if self.runs(None) && !self.runs(Some(session)) {
                return Err(format!("the message is of the session `{session}`, in which no turn runs"));
            }
            self.messages += 1;
            self.said += update.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
        }
        Ok(())
    }

    fn response(&mut self, id: &str, members: &Members<'_>, line: &[u8]) -> Result<(), String> {
        let (result, error) = (member(members, "result"), member(members, "error"));
        if result.is_some() == error.is_some() {
            return Err("the response needs either a `result` or an `error`".to_owned());
        }
        let Some(method) = self.open.remove(id) else {
            // The client wrote a line without an ID that the agent could repeat.
            let is_refusal = id == "null" && error.is_some() && self.wrote_nonsense;
            return if is_refusal { Ok(()) } else { Err("the response is to no open request".to_owned()) };
        };
        if let Some(turn) = self.turns.iter_mut().find(|turn| turn.id == id) {
            turn.has_ended = true;
        }
        let session = result.as_ref().and_then(|result| result["sessionId"].as_str());
        if let Some(session) = session.filter(|_| method == "session/new")
            && !self.sessions.insert(session.to_owned())
        {
            return Err("the new session has the ID of another one".to_owned());
        }
        self.responses.push(Response { id: id.to_owned(), line: line.to_vec(), result });
        Ok(())
    }
}

/// Returns whether a response to `session/new` says that the user must sign in.
pub(super) fn wants_sign_in(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok_and(|message| message["error"]["code"] == AUTH_REQUIRED)
}

fn member(members: &Members<'_>, name: &str) -> Option<Value> {
    members.get(name).and_then(|value| serde_json::from_str(value.get()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(lines: &[&str]) -> Result<Option<String>, String> {
        let mut conversation = Conversation::default();
        conversation.sent(b"{\"id\":1,\"method\":\"session/new\"}\n{\"id\":2,\"method\":\"session/new\"}\n");
        let first = r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#;
        [&[first], lines].concat().iter().try_fold(None, |_, line| {
            conversation.receive(format!("{line}\n").as_bytes()).map_err(|problem| match problem {
                Problem::Broken { what, .. } | Problem::Lacks(what) | Problem::Inconclusive(what) => what,
            })
        })
    }

    #[test]
    fn what_an_agent_must_not_write_is_found() {
        let form = r#""method":"elicitation/create","params":{"sessionId":"s","message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}"#;
        for (line, why) in [
            ("ready", "is not a message of ACP"),
            (r#"{"id":2,"result":{}}"#, "without `\"jsonrpc\""),
            (r#"{"jsonrpc":"2.0"}"#, "neither a request nor a notification nor a response"),
            (r#"{"jsonrpc":"2.0","id":2}"#, "either a `result` or an `error`"),
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, "to no open request"),
            (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, "to no open request"),
            (r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#, "the ID of another one"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, "neither a text nor a number"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file"}"#, "did not promise it"),
            (r#"{"jsonrpc":"2.0","method":"session/update","params":{}}"#, "lacks its"),
            (&format!(r#"{{"jsonrpc":"2.0","id":1,{form}}}"#), "did not promise forms"),
        ] {
            let error = heard(&[line]).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
        let refused = heard(&[r#"{"jsonrpc":"2.0","id":"a","method":"_x/y"}"#]).unwrap();
        assert_eq!(
            refused.unwrap(),
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}"#
        );
    }
}
