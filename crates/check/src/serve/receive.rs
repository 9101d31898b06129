//! The meaning of a client's line for the conversation, and the rules that every line of a client must keep.
//! Waiting for lines is left to `perform.rs`.

use serde_json::{Value, json};

use super::state::{Response, SESSION, Served};
use crate::{play::Problem, wire::shown};

impl Served {
    /// Returns the method of an open request of the agent.
    pub(crate) fn requested(&self, id: &str) -> Option<&str> {
        self.open.get(id).map(|request| request.method.as_str())
    }

    /// Notes a line of the client. Returns what the agent replies at once, as any agent does: it opens the session, and
    /// refuses what it does not know.
    pub(crate) fn receive(&mut self, line: &[u8]) -> Result<Option<Value>, Problem> {
        let wrong =
            |what: &str| Problem::Broken { what: what.to_owned(), expected: None, got: Some(shown(line)) };
        let text =
            line.strip_suffix(b"\n").ok_or_else(|| wrong("the client's last line has no line feed"))?;
        let message: Value = serde_json::from_slice(text)
            .map_err(|_| wrong("the client wrote a line that is not a message of ACP"))?;
        if message["jsonrpc"] != "2.0" {
            return Err(wrong("the client wrote a message without `\"jsonrpc\": \"2.0\"`"));
        }
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => {
                self.request(method, id, &message["params"]).map_err(|what| wrong(&what))
            }
            (Some(_), None) => Ok(None),
            (None, Some(id)) => self.response(&id.to_string(), &message, line).map(|()| None).map_err(wrong),
            (None, None) => Err(wrong(
                "the client wrote a message that is neither a request nor a notification nor a response",
            )),
        }
    }

    fn request(&mut self, method: &str, id: &Value, params: &Value) -> Result<Option<Value>, String> {
        let result = match method {
            "initialize" => {
                self.capabilities = params["clientCapabilities"].clone();
                return Ok(None);
            }
            "session/prompt" if self.prompt.is_some() => {
                return Err("the client prompts in a session whose turn has not ended".to_owned());
            }
            "session/prompt" => {
                self.prompt = Some(id.to_string());
                return Ok(None);
            }
            "session/new" => json!({ "sessionId": SESSION }),
            "authenticate" | "session/set_mode" | "session/set_model" | "session/set_config_option" => {
                json!({})
            }
            _ => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                return Ok(Some(json!({ "jsonrpc": "2.0", "id": id, "error": error })));
            }
        };
        Ok(Some(json!({ "jsonrpc": "2.0", "id": id, "result": result })))
    }

    fn response(&mut self, id: &str, message: &Value, line: &[u8]) -> Result<(), &'static str> {
        if message.get("result").is_some() == message.get("error").is_some() {
            return Err("the response needs either a `result` or an `error`");
        }
        let request = self.open.remove(id).ok_or("the response is to no open request")?;
        self.responses.push(Response { id: id.to_owned(), request, line: line.to_vec() });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::driver::Persons;

    fn heard(lines: &[&str]) -> Result<Option<Value>, String> {
        let mut served = Served::new(Persons::default());
        served.sent(br#"{"jsonrpc":"2.0","id":7,"method":"_asked"}"#);
        lines.iter().try_fold(None, |_, line| {
            served.receive(format!("{line}\n").as_bytes()).map_err(|problem| match problem {
                Problem::Broken { what, .. } | Problem::Lacks(what) | Problem::Inconclusive(what) => what,
            })
        })
    }

    #[test]
    fn what_a_client_must_not_write_is_found() {
        let prompt = r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{}}"#;
        let response = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
        for (lines, why) in [
            (&["hello"][..], "not a message of ACP"),
            (&[r#"{"id":7,"result":{}}"#], "without `\"jsonrpc\""),
            (&[r#"{"jsonrpc":"2.0"}"#], "neither a request nor a notification"),
            (&[r#"{"jsonrpc":"2.0","id":7}"#], "either a `result` or an `error`"),
            (&[r#"{"jsonrpc":"2.0","id":"7","result":{}}"#], "to no open request"),
            (&[response, response], "to no open request"),
            (&[prompt, prompt], "whose turn has not ended"),
        ] {
            let what = heard(lines).unwrap_err();
            assert!(what.contains(why), "{what}");
        }
    }

    #[test]
    fn an_agent_opens_sessions_and_refuses_what_it_does_not_know() {
        let opened = heard(&[r#"{"jsonrpc":"2.0","id":"a","method":"session/new"}"#]).unwrap().unwrap();
        assert_eq!(opened, json!({ "jsonrpc": "2.0", "id": "a", "result": { "sessionId": SESSION } }));
        let refused = heard(&[r#"{"jsonrpc":"2.0","id":2,"method":"_other"}"#]).unwrap().unwrap();
        assert_eq!(refused["error"]["code"], -32601);
        assert_eq!(heard(&[r#"{"jsonrpc":"2.0","method":"_other"}"#]), Ok(None));
    }
}
