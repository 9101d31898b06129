//! The files and the terminals of the client, for an agent that was promised them: files of the project, and terminals whose
//! command exits at once with 0 and says nothing.

use std::path::Path;

use serde_json::{Value, json};

use super::{
    receive::refusal,
    state::{Conversation, Terminal},
};
use crate::{messages::Heard, rule::Rule};

/// The parameters do not fit.
const INVALID_PARAMS: i64 = -32602;
/// There is no such file.
const NOT_FOUND: i64 = -32002;

impl Conversation {
    /// Replies to a request for a file or a terminal.
    pub(super) fn service(&mut self, method: &str, id: &str, params: &Value) -> Heard {
        let is_promised = match method {
            "fs/read_text_file" => self.promised.reading,
            "fs/write_text_file" => self.promised.writing,
            _ => self.promised.terminals && method.starts_with("terminal/"),
        };
        if !is_promised {
            let what = format!("the agent sent `{method}` to a client that did not promise it");
            return Heard::replied(refusal(id, -32601, "Method not found")).breaks(Rule::Promises, what);
        }
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        if !self.sessions.contains(&session) {
            let what = format!("the agent sent `{method}` in a session that the client does not have");
            return Heard::replied(refusal(id, INVALID_PARAMS, "no such session"))
                .breaks(Rule::UpdateSession, what);
        }
        match method.starts_with("fs/") {
            true => self.file(method, id, params),
            false => self.terminal(method, id, params, session),
        }
    }

    fn file(&self, method: &str, id: &str, params: &Value) -> Heard {
        let path = Path::new(params["path"].as_str().unwrap_or_default());
        if !path.is_absolute() {
            let what = format!("the path of the agent's `{method}` is not absolute");
            return Heard::replied(refusal(id, INVALID_PARAMS, "not an absolute path"))
                .breaks(Rule::Paths, what);
        }
        let refused = || Heard::replied(refusal(id, NOT_FOUND, "no such file in the project"));
        let is_hidden_step = path.components().any(|part| part.as_os_str() == "..");
        if is_hidden_step || !path.starts_with(self.project.folder()) {
            return refused();
        }
        if method == "fs/write_text_file" {
            let written = std::fs::write(path, params["content"].as_str().unwrap_or_default());
            return written.map_or_else(|_| refused(), |()| replied(id, &json!({})));
        }
        let Ok(text) = std::fs::read_to_string(path) else { return refused() };
        let number = |name: &str| params[name].as_u64().and_then(|number| usize::try_from(number).ok());
        let lines = text.split_inclusive('\n').skip(number("line").unwrap_or(1).saturating_sub(1));
        let content: String = lines.take(number("limit").unwrap_or(usize::MAX)).collect();
        replied(id, &json!({ "content": content }))
    }

    fn terminal(&mut self, method: &str, id: &str, params: &Value, session: String) -> Heard {
        if method == "terminal/create" {
            self.created += 1;
            let terminal = format!("terminal-{}", self.created);
            self.terminals.insert(terminal.clone(), Terminal { session, is_waited_for: false });
            return replied(id, &json!({ "terminalId": terminal }));
        }
        let name = params["terminalId"].as_str().unwrap_or_default();
        let Some(terminal) = self.terminals.get_mut(name) else {
            let what =
                format!("the agent's `{method}` names a terminal that it has not created, or has released");
            return Heard::replied(refusal(id, INVALID_PARAMS, "no such terminal"))
                .breaks(Rule::Terminals, what);
        };
        replied(
            id,
            &match method {
                "terminal/output" => {
                    json!({ "output": "", "truncated": false, "exitStatus": { "exitCode": 0, "signal": null } })
                }
                "terminal/wait_for_exit" => {
                    terminal.is_waited_for = true;
                    json!({ "exitCode": 0, "signal": null })
                }
                "terminal/kill" => json!({}),
                "terminal/release" => {
                    self.terminals.remove(name);
                    json!({})
                }
                _ => return Heard::replied(refusal(id, -32601, "Method not found")),
            },
        )
    }
}

fn replied(id: &str, result: &Value) -> Heard {
    Heard::replied(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}
