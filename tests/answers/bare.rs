//! What askbridge itself sends to a client that declares no `_meta`: nothing with `_meta`, whoever asks. Some libraries make each
//! member an argument of the client's handler, and fail on one that it does not have.

use serde_json::{Value, json};

use crate::answers::machine::{ASKBRIDGE, TestMachine};
use crate::support::Process;

/// How a client without forms, and one that shows them, is asked in each dialect of the mock agent.
const DIALECTS: [(&str, &str, &str); 17] = [
    ("sandboxagent", "prompts", "form"),
    ("claude", "prompts", "own"),
    ("codex", "prompts", "own"),
    ("codex-async", "prompts", "own"),
    ("kimi", "prompts", "own"),
    ("kimi-permission", "prompts", "form"),
    ("oh-my-pi", "prompts", "own"),
    ("devin", "prompts", "own"),
    ("form", "prompts", "own"),
    ("historic", "prompts", "form"),
    ("qwen", "prompts", "form"),
    ("pi", "prompts", "form"),
    ("cursor", "prompts", "form"),
    ("grok", "prompts", "form"),
    ("kiro", "prompts", "form"),
    ("agentao", "prompts", "form"),
    ("hrns", "prompts", "form"),
];

/// A client that chooses the first option of its own in each prompt, and accepts each form.
struct Client {
    process: Process,
    /// What the bridge sent by itself.
    own: Vec<Value>,
}

impl Client {
    fn new(machine: &TestMachine, dialect: &str, capabilities: &Value) -> Self {
        let words = ["run", "--", ASKBRIDGE, "mock-agent", "--dialect", dialect];
        let mut client = Client { process: machine.start(&words), own: Vec::new() };
        client.request(
            "i",
            "initialize",
            json!({ "protocolVersion": 1, "clientCapabilities": capabilities }),
        );
        client.until_response("i");
        client.request("n", "session/new", json!({ "cwd": "/", "mcpServers": [] }));
        client.until_response("n");
        client
    }

    fn request(&mut self, id: &str, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn send(&mut self, message: &Value) {
        self.process.send(&message.to_string());
    }

    /// Prompts, and answers what is asked until the turn ends or the question is left to others. Returns how it was asked.
    fn prompt(&mut self, text: &str) -> String {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.request("p", "session/prompt", json!({ "sessionId": "session-1", "prompt": prompt }));
        let mut ways = Vec::new();
        loop {
            let message = self.next();
            let is_own = message["id"].as_str().is_some_and(|id| id.starts_with("askbridge-"));
            let is_hint = message["params"]["update"].to_string().contains("askbridge");
            if is_own || is_hint {
                self.own.push(message.clone());
            }
            let way = match message["method"].as_str() {
                Some("session/request_permission") if is_own => "prompts",
                Some("elicitation/create") if is_own => "form",
                Some(_) if message.get("id").is_some() => "own",
                Some(_) if is_hint => break,
                None if message["id"] == "p" => break,
                _ => continue,
            };
            ways.push(way);
            if way == "own" {
                break;
            }
            self.reply(&message);
        }
        ways.dedup();
        ways.join(", ")
    }

    fn reply(&mut self, asked: &Value) {
        let result = match asked["params"]["options"].as_array() {
            Some(options) => {
                // A list has "Done" once something is chosen. The first option is "Answer elsewhere".
                let done = options.iter().find(|option| option["name"] == "Done");
                let chosen = &done.or(options.get(1)).unwrap()["optionId"];
                json!({ "outcome": { "outcome": "selected", "optionId": chosen } })
            }
            None => {
                let fields = asked["params"]["requestedSchema"]["properties"].as_object().unwrap();
                let first = |(name, field): (&String, &Value)| {
                    let value = match field["type"].as_str() {
                        Some("array") => json!([field["items"]["anyOf"][0]["const"]]),
                        Some("string") => field["oneOf"][0]["const"].clone(),
                        _ => field["minimum"].clone(),
                    };
                    (!value.is_null()).then(|| (name.clone(), value))
                };
                json!({ "action": "accept", "content": fields.iter().filter_map(first).collect::<serde_json::Map<_, _>>() })
            }
        };
        self.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }));
    }

    fn until_response(&mut self, id: &str) {
        while self.next()["id"] != *id {}
    }

    fn next(&mut self) -> Value {
        serde_json::from_str(&self.process.expect("a message", |_| true)).unwrap()
    }
}

#[test]
fn a_client_without_meta_gets_none_from_askbridge() {
    let machine = TestMachine::new();
    let forms = json!({ "elicitation": { "form": {} } });
    let asked = |dialect: &str, capabilities: &Value| {
        let mut client = Client::new(&machine, dialect, capabilities);
        let way = client.prompt("question");
        assert_eq!(client.own.is_empty(), way == "own", "{dialect}, {capabilities}");
        for message in &client.own {
            assert!(!message.to_string().contains("_meta"), "{dialect}, {capabilities}: {message}");
        }
        way
    };
    let seen = DIALECTS.map(|(dialect, ..)| (dialect, asked(dialect, &json!({})), asked(dialect, &forms)));
    let expected = DIALECTS.map(|(dialect, without, with)| (dialect, without.to_owned(), with.to_owned()));
    assert_eq!(seen, expected);
}
