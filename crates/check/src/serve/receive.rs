//! The meaning of a client's line for the conversation, and the rules that every line of a client must keep.
//! Waiting for lines is left to `perform.rs`.

use serde_json::{Value, json};

use super::state::{Response, SESSION, Served};
use crate::{messages::Heard, rule::Rule};

impl Served {
    /// Returns the method of an open request of the agent.
    pub(crate) fn requested(&self, id: &str) -> Option<&str> {
        self.open.get(id).map(|request| request.method.as_str())
    }

    /// Notes a message of the client. The agent replies at once as any agent does: it opens the session, and refuses what it
    /// does not know.
    pub(crate) fn receive(&mut self, message: &Value, line: &[u8]) -> Heard {
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => self.request(method, id, &message["params"]),
            (Some(_), None) => Heard::default(),
            (None, id) => self.response(&id.map(Value::to_string).unwrap_or_default(), line),
        }
    }

    fn request(&mut self, method: &str, id: &Value, params: &Value) -> Heard {
        let result = match method {
            "initialize" => {
                self.capabilities = params["clientCapabilities"].clone();
                return Heard::default();
            }
            "session/prompt" if self.prompt.is_some() => {
                let error = json!({ "code": -32600, "message": "a turn runs in this session" });
                return replied(id, "error", &error)
                    .breaks(Rule::Turns, "the client prompts in a session whose turn has not ended");
            }
            "session/prompt" => {
                self.prompt = Some(id.to_string());
                return Heard::default();
            }
            "session/new" => json!({ "sessionId": SESSION }),
            "authenticate" | "session/set_mode" | "session/set_model" | "session/set_config_option" => {
                json!({})
            }
            _ => return replied(id, "error", &json!({ "code": -32601, "message": "Method not found" })),
        };
        replied(id, "result", &result)
    }

    fn response(&mut self, id: &str, line: &[u8]) -> Heard {
        let Some(request) = self.open.remove(id) else {
            return match self.answered.contains(id) {
                true => Heard::wrong(Rule::OneResponse, "a request got a second response"),
                false => {
                    self.strays += usize::from(id != "null");
                    Heard::stray(id)
                }
            };
        };
        self.answered.insert(id.to_owned());
        self.responses.push(Response { id: id.to_owned(), request, line: line.to_vec() });
        Heard::default()
    }
}

fn replied(id: &Value, member: &str, value: &Value) -> Heard {
    Heard::replied(json!({ "jsonrpc": "2.0", "id": id, member: value }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::driver::Persons;

    fn heard(lines: &[&str]) -> Heard {
        let mut served = Served::new(Persons::default());
        served.sent(br#"{"jsonrpc":"2.0","id":7,"method":"_asked"}"#);
        let heard = lines
            .iter()
            .map(|line| served.receive(&serde_json::from_str(line).unwrap(), format!("{line}\n").as_bytes()));
        heard.last().unwrap()
    }

    #[test]
    fn what_a_client_must_not_write_is_found() {
        let prompt = r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{}}"#;
        let response = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
        for (lines, rule) in [
            (&[r#"{"jsonrpc":"2.0","id":"7","result":{}}"#][..], Rule::ResponseIds),
            (&[response, response], Rule::OneResponse),
            (&[prompt, prompt], Rule::Turns),
        ] {
            assert_eq!(heard(lines).broken.first().map(|(rule, _)| *rule), Some(rule), "{lines:?}");
        }
        assert_eq!(heard(&[response]), Heard::default());
    }

    #[test]
    fn an_agent_opens_sessions_and_refuses_what_it_does_not_know() {
        let reply = |line: &str| {
            heard(&[line]).replies.first().map(|line| serde_json::from_str::<Value>(line).unwrap())
        };
        let opened = reply(r#"{"jsonrpc":"2.0","id":"a","method":"session/new"}"#).unwrap();
        assert_eq!(opened, json!({ "jsonrpc": "2.0", "id": "a", "result": { "sessionId": SESSION } }));
        let refused = reply(r#"{"jsonrpc":"2.0","id":2,"method":"_other"}"#).unwrap();
        assert_eq!(refused["error"]["code"], -32601);
        assert_eq!(reply(r#"{"jsonrpc":"2.0","method":"_other"}"#), None);
    }
}
