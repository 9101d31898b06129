//! One question between an agent and a client, on the core alone, with a virtual clock.

use std::collections::{BTreeSet, VecDeque};

use askbridge::limits;
use askbridge_core::{
    acp::{Bridge, Config, Tier},
    engine::{Output, Peer, UnansweredReason},
};
use serde_json::{Value, json};

use crate::matrix::agents::Agent;
use crate::matrix::clients::{Client, Reply, Wish};
use crate::matrix::field::{Field, Heard};
use crate::matrix::typed;
use crate::support::stage::{Out, Stage};

/// The id of the agent's request. The client's `initialize` has the same id: ids are scoped to one direction.
const ID: u32 = 0;

pub(crate) struct World {
    stage: Stage,
    agent: Agent,
    client: Client,
    fields: Vec<Field>,
    wish: Wish,
    /// The requests to the client that await its reply.
    asked: VecDeque<Value>,
    /// The last request to the client.
    pub(crate) shown: Value,
    /// Whether the agent's own line and the client's reply were both forwarded unchanged.
    pub(crate) own: bool,
    /// The responses to the agent's question.
    responses: Vec<Value>,
    /// Why the client did not answer, for each request to it.
    pub(crate) unanswered: Vec<UnansweredReason>,
    /// The methods of the requests to the client.
    pub(crate) ways: Vec<String>,
    /// The IDs of the bridge's own requests to the client.
    ids: BTreeSet<String>,
    /// The number of cancellations sent to the client.
    pub(crate) taken_back: usize,
}

impl World {
    /// Starts a turn in which the agent asks for these fields, and lets the client reply as its user wishes.
    pub(crate) fn new(agent: Agent, client: Client, fields: &[Field], wish: Wish) -> Self {
        let tier = (client == Client::NotAsked).then_some(Tier::None);
        let mut world = World {
            stage: Stage::new(Bridge::new(Config { tier, ..Config::default() })),
            agent,
            client,
            fields: fields.to_vec(),
            wish,
            asked: VecDeque::new(),
            shown: Value::Null,
            own: false,
            responses: Vec::new(),
            unanswered: Vec::new(),
            ways: Vec::new(),
            ids: BTreeSet::new(),
            taken_back: 0,
        };
        let name = if agent == Agent::Cursor { "Cursor Agent" } else { "agent" };
        world.client_calls(
            ID,
            "initialize",
            &json!({
                "protocolVersion": 1, "clientCapabilities": client.capabilities(),
                "clientInfo": { "name": client.client_name(), "version": "1" },
            }),
        );
        world.agent_says(&json!({ "jsonrpc": "2.0", "id": ID, "result": {
            "protocolVersion": 1, "agentCapabilities": {}, "agentInfo": { "name": name, "version": "1" },
        } }));
        // Two turns are running, so a question without a session is assigned by its tool call. hrns names none.
        world.client_calls(1, "session/prompt", &json!({ "sessionId": "s", "prompt": [] }));
        if agent != Agent::Hrns {
            world.client_calls(2, "session/prompt", &json!({ "sessionId": "other", "prompt": [] }));
        }
        let update = json!({ "sessionUpdate": "tool_call", "toolCallId": "call", "title": "Ask" });
        world.agent_says(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": {
            "sessionId": "s", "update": update,
        } }));
        world.asks();
        assert!(world.shown.is_null() || (world.shown["id"] == ID) == world.own, "whose ID it has");
        world.client_looks();
        world
    }

    /// The agent asks, for the first time or again with the same id.
    pub(crate) fn asks(&mut self) {
        let (method, params) = self.agent.asks(&self.fields);
        self.responses.clear();
        self.agent_says(&json!({ "jsonrpc": "2.0", "id": ID, "method": method, "params": params }));
    }

    /// The person reads what the client shows.
    pub(crate) fn wait(&mut self) {
        let out = self.stage.pass(limits::REACTION);
        self.perform(out, b"");
    }

    /// The client replies to this request.
    pub(crate) fn replies(&mut self, request: &Value, result: &Value) {
        self.says(Peer::Client, &json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    /// The client replies to all pending requests.
    fn client_looks(&mut self) {
        let mut rounds = 0;
        while let Some(request) = self.asked.pop_front() {
            let method = request["method"].as_str().expect("a method");
            let out = self.stage.pass(self.client.reaction());
            self.perform(out, b"");
            let reply = self.client.replies(method, &request["params"], &self.fields, &self.wish);
            let (member, value) = match reply {
                Reply::Result(result) => ("result", result),
                Reply::Unknown => ("error", json!({ "code": -32601, "message": "Method not found" })),
                Reply::Error(code) => ("error", json!({ "code": code, "message": "failed" })),
                Reply::Nothing => continue,
            };
            let mut response = json!({ "jsonrpc": "2.0", "id": request["id"] });
            response[member] = value;
            self.says(Peer::Client, &response);
            rounds += 1;
            assert!(rounds < 200, "the client is asked without end");
        }
    }

    /// Returns what the agent understood, if it got a response. Fails on a second response.
    pub(crate) fn heard(&self) -> Option<Heard> {
        let response = self.responses.first()?;
        assert_eq!(self.responses.len(), 1, "more than one response: {:?}", self.responses);
        assert!(response["result"].is_object(), "{response}");
        Some(self.agent.hears(&response["result"], &self.fields))
    }

    /// Returns the only response to the agent.
    pub(crate) fn response(&self) -> &Value {
        assert_eq!(self.responses.len(), 1, "not one response: {:?}", self.responses);
        &self.responses[0]
    }

    pub(crate) fn is_open(&self) -> bool {
        self.stage.bridge.open_questions() == 1
    }

    /// Cancels the turn, and checks that late replies of the client do not reach the agent.
    pub(crate) fn end(&mut self) -> &Value {
        self.cancel();
        self.late_replies();
        self.response()
    }

    /// Cancels the turn, and checks that the agent gets one response.
    pub(crate) fn cancel(&mut self) {
        let before = self.responses.len();
        let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s" } });
        self.says(Peer::Client, &cancel);
        assert_eq!(self.stage.bridge.open_questions(), 0, "{:?} hangs before {:?}", self.agent, self.client);
        assert_eq!(self.responses.len(), before.max(1));
    }

    /// The agent takes its question back, and the client does not react.
    pub(crate) fn withdraw(&mut self) -> &Value {
        let params = json!({ "requestId": ID });
        self.agent_says(&json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": params }));
        let out = self.stage.pass(limits::WITHDRAW);
        self.perform(out, b"");
        assert_eq!(self.stage.bridge.open_questions(), 0);
        self.late_replies();
        self.response()
    }

    fn late_replies(&mut self) {
        let responses = self.responses.clone();
        if self.client != Client::NotAsked {
            let ids = [json!(ID), self.shown["id"].clone()];
            for id in ids.iter().filter(|id| !id.is_null()) {
                for result in [json!({ "action": "decline" }), json!({ "status": "rejected" })] {
                    self.says(Peer::Client, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
                }
            }
        }
        assert_eq!(self.responses, responses, "a late reply reaches the agent");
    }

    fn client_calls(&mut self, id: u32, method: &str, params: &Value) {
        self.says(Peer::Client, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn agent_says(&mut self, message: &Value) {
        self.says(Peer::Agent, message);
    }

    fn says(&mut self, from: Peer, message: &Value) {
        let line = format!("{message}\n");
        let out = self.stage.receive(from, line.as_bytes());
        self.perform(out, line.as_bytes());
    }

    /// `line` is what was said, and so what is forwarded.
    fn perform(&mut self, out: Vec<Out>, line: &[u8]) {
        for out in out {
            match out {
                Out::Bytes(to, bytes) => {
                    for bytes in bytes.split_inclusive(|byte| *byte == b'\n') {
                        self.arrive(to.other(), bytes, bytes == line);
                    }
                }
                Out::Told(Output::Unanswered(_, why)) => self.unanswered.push(why),
                Out::Told(Output::Notice(_)) => {}
                Out::Told(output) => panic!("{output:?}"),
            }
        }
    }

    fn arrive(&mut self, from: Peer, bytes: &[u8], forwarded: bool) {
        let message: Value = serde_json::from_slice(bytes).expect("a message");
        let method = message["method"].as_str();
        if !forwarded {
            typed::check(self.agent, &message);
        }
        match (from, method) {
            (Peer::Agent, Some("$/cancel_request")) => self.taken_back += 1,
            (Peer::Agent, Some(_)) if message.get("id").is_some() => {
                self.own = forwarded;
                let is_new = forwarded || self.ids.insert(message["id"].to_string());
                assert!(is_new && (forwarded || message["id"] != ID), "it has an ID of its own: {message}");
                self.ways.push(method.unwrap_or_default().to_owned());
                self.shown = message.clone();
                self.asked.push_back(message);
            }
            (Peer::Client, None) => {
                assert_eq!(message["id"], ID);
                self.own &= forwarded;
                self.responses.push(message);
            }
            _ => {}
        }
    }
}
