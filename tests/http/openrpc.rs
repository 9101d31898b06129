//! A client that knows the control protocol from `schema/openrpc.json` alone: all messages in both directions match that
//! document.

use std::{cell::RefCell, collections::BTreeSet, fs};

use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::http::bridge::{Bridge, PIXEL, choice, with_image};
use crate::http::client::{Http, soon};
use crate::http::websocket::WebSocket;

/// The protocol, as it is published.
struct Protocol {
    document: Value,
    /// The methods that were called.
    called: RefCell<BTreeSet<String>>,
}

impl Protocol {
    fn published() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/openrpc.json");
        let document = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        Protocol { document, called: RefCell::default() }
    }

    fn methods(&self) -> &Vec<Value> {
        self.document["methods"].as_array().unwrap()
    }

    fn method(&self, name: &str) -> &Value {
        let method = self.methods().iter().find(|method| method["name"] == name);
        method.unwrap_or_else(|| panic!("{name} is not described"))
    }

    /// Checks a value against a schema of the document.
    #[track_caller]
    fn check(&self, schema: &Value, value: &Value) {
        let root = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "allOf": [schema],
            "components": self.document["components"],
        });
        if let Err(error) = jsonschema::validator_for(&root).unwrap().validate(value) {
            panic!("{error} at {} in {value}", error.instance_path());
        }
    }

    /// Checks arguments against the parameters of a method or a notification, and arranges them as it says.
    #[track_caller]
    fn params(&self, described: &Value, args: &Value) -> Value {
        let params = described["params"].as_array().unwrap();
        let mut left = args.as_object().unwrap().clone();
        let mut by_name = Map::new();
        for param in params {
            let name = param["name"].as_str().unwrap();
            match left.remove(name) {
                Some(arg) => {
                    self.check(&param["schema"], &arg);
                    by_name.insert(name.to_owned(), arg);
                }
                None => assert_eq!(param["required"], false, "{name} is missing in {args}"),
            }
        }
        assert!(left.is_empty(), "not described: {left:?}");
        match described["paramStructure"].as_str() {
            Some("by-name") => by_name.into(),
            Some("by-position") => by_name.into_iter().map(|(_, arg)| arg).collect(),
            structure => panic!("{structure:?}"),
        }
    }

    fn request(&self, id: u64, name: &str, args: &Value) -> Value {
        self.called.borrow_mut().insert(name.to_owned());
        let params = self.params(self.method(name), args);
        json!({ "jsonrpc": "2.0", "id": id, "method": name, "params": params })
    }

    /// Reads the result of a method, or the name of the error.
    #[track_caller]
    fn outcome(&self, name: &str, response: &Value) -> Result<Value, String> {
        let method = self.method(name);
        let Some(error) = response.get("error") else {
            self.check(&method["result"]["schema"], &response["result"]);
            return Ok(response["result"].clone());
        };
        let references = method["errors"].as_array().unwrap().iter();
        let mut pointers = references.map(|error| error["$ref"].as_str().unwrap().trim_start_matches('#'));
        let pointer =
            pointers.find(|pointer| self.document.pointer(pointer).unwrap()["code"] == error["code"]);
        let pointer = pointer.unwrap_or_else(|| panic!("{name} does not say that there is {error}"));
        let name = pointer.rsplit('/').next().unwrap();
        if self.document.pointer(pointer).unwrap().get("data").is_some() {
            self.check(&self.document["x-error-data"], &error["data"]);
            assert_eq!(error["data"]["name"], name);
        }
        Err(name.to_owned())
    }
}

/// A way to send requests, and to receive messages.
trait Wire {
    async fn send(&mut self, request: Value);
    /// Returns the next message.
    async fn receive(&mut self) -> Value;
}

struct OverHttp(Http, Vec<JoinHandle<Value>>);

impl Wire for OverHttp {
    async fn send(&mut self, request: Value) {
        let http = self.0.clone();
        self.1
            .push(tokio::spawn(async move { http.post("/rpc", &request.to_string()).await.is(200).json() }));
    }

    async fn receive(&mut self) -> Value {
        let (response, index, _) = soon("a response", futures::future::select_all(&mut self.1)).await;
        drop(self.1.remove(index));
        response.unwrap()
    }
}

struct OverWebSocket(WebSocket);

impl Wire for OverWebSocket {
    async fn send(&mut self, request: Value) {
        self.0.send(&request).await;
    }

    async fn receive(&mut self) -> Value {
        self.0.receive().await
    }
}

/// The client.
struct Client<'a, W> {
    protocol: &'a Protocol,
    wire: W,
    last: u64,
    /// Messages that came while another was waited for.
    came: Vec<Value>,
}

impl<'a, W: Wire> Client<'a, W> {
    fn new(protocol: &'a Protocol, wire: W) -> Self {
        Client { protocol, wire, last: 0, came: Vec::new() }
    }

    async fn begin(&mut self, name: &str, args: &Value) -> u64 {
        self.last += 1;
        self.wire.send(self.protocol.request(self.last, name, args)).await;
        self.last
    }

    /// Waits for a certain message.
    async fn wait(&mut self, is_meant: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.came.iter().position(&is_meant) {
            return self.came.remove(index);
        }
        loop {
            let came = self.wire.receive().await;
            assert_eq!(came["jsonrpc"], "2.0");
            if is_meant(&came) {
                return came;
            }
            self.came.push(came);
        }
    }

    async fn end(&mut self, id: u64, name: &str) -> Result<Value, String> {
        let response = self.wait(|came| came["id"] == id).await;
        self.protocol.outcome(name, &response)
    }

    async fn call(&mut self, name: &str, args: Value) -> Result<Value, String> {
        let id = self.begin(name, &args).await;
        self.end(id, name).await
    }

    /// Waits for a notification of this subscription, and returns the IDs in it.
    async fn changed(&mut self, subscription: &Value) -> Vec<String> {
        let described = &self.protocol.method("question_subscribe")["x-subscription"];
        let message = self.wait(|came| came["method"] == described["notification"]).await;
        let params = self.protocol.params(described, &message["params"]);
        assert_eq!(params["subscription"], *subscription);
        ids(&params["result"])
    }
}

fn ids(listing: &Value) -> Vec<String> {
    let records = listing["questions"].as_array().unwrap().iter();
    records.map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

fn error(name: &str) -> Result<Value, String> {
    Err(name.to_owned())
}

/// Calls each method that works over both ways, with success and with each error.
async fn calls<W: Wire>(client: &mut Client<'_, W>, bridge: &Bridge) {
    for name in ["one", "two", "three"] {
        bridge.ask(choice(name)).await;
    }
    bridge.withdraw(3).await;
    look(client).await;
    lead(client, bridge).await;
    settle(client).await;
    ask(client).await;
    keep(client).await;
    // A client that knows the schema would not send this.
    client.last += 1;
    let (id, get) = (client.last, "question_get");
    client.wire.send(json!({ "jsonrpc": "2.0", "id": id, "method": get, "params": { "name": "x" } })).await;
    assert_eq!(client.end(id, get).await, error("invalid_params"));
}

async fn read<W: Wire>(client: &mut Client<'_, W>) {
    let texts = json!(["# A", { "path": "a.rs", "text": "let a;" }]);
    let read = client.call("markdown_read", json!({ "texts": texts })).await.unwrap();
    assert_eq!(read["documents"][0]["blocks"][0]["kind"], "heading");
    assert_eq!(read["documents"][1]["blocks"][0]["parts"][0]["role"], "keyword");
}

async fn lead<W: Wire>(client: &mut Client<'_, W>, bridge: &Bridge) {
    let context = client.call("question_context", json!({ "id": "bridge-1" })).await.unwrap();
    assert_eq!(context, json!({ "words": "", "calls": [] }));
    let image = json!({ "id": "bridge-1", "image": 1 });
    assert_eq!(client.call("question_image", image).await, error("not_found"));
    let number = bridge.ask(with_image("four")).await;
    let image = json!({ "id": "bridge-4", "image": 1, "from": 2 });
    let piece = client.call("question_image", image).await.unwrap();
    assert_eq!(piece, json!({ "bytes": PIXEL.len(), "data": BASE64_STANDARD.encode(&PIXEL[2..]) }));
    bridge.withdraw(number).await;
}

async fn look<W: Wire>(client: &mut Client<'_, W>) {
    assert_eq!(client.call("bridge_status", json!({})).await.unwrap()[0]["bridge"], "bridge");
    assert!(client.call("machine_report", json!({})).await.unwrap()["version"].is_string());
    assert_eq!(client.call("machine_list", json!({})).await.unwrap()["machines"], json!([]));
    read(client).await;
    assert_eq!(client.call("question_watch", json!({})).await, Ok(Value::Null));
    for (args, open) in [
        (json!({}), &["bridge-1", "bridge-2"][..]),
        (json!({ "session": "s" }), &["bridge-1", "bridge-2"]),
        (json!({ "session": "none" }), &[]),
    ] {
        assert_eq!(ids(&client.call("question_list", args).await.unwrap()), open);
    }
    let outline = client.call("question_outline", json!({})).await.unwrap();
    assert_eq!(ids(&outline), ["bridge-1", "bridge-2"]);
    assert_eq!(
        (&outline["questions"][0]["questionId"], &outline["questions"][0]["fields"]),
        (&json!("one"), &Value::Null)
    );
    // This bridge has no journal, which would know them.
    assert_eq!(ids(&client.call("question_lost", json!({})).await.unwrap()), [""; 0]);
    assert_eq!(ids(&client.call("question_history", json!({ "limit": 9 })).await.unwrap()), [""; 0]);
    let one = client.call("question_get", json!({ "id": "bridge-1" })).await.unwrap();
    assert_eq!(one["question"]["questionId"], "one");
    for (id, why) in [("none", "not_found"), ("bridge", "ambiguous")] {
        assert_eq!(client.call("question_get", json!({ "id": id })).await, error(why));
    }
}

/// The first is answered, the second rejected, and the third is over.
async fn settle<W: Wire>(client: &mut Client<'_, W>) {
    let by = json!({ "responder": "rpc", "name": "me" });
    let answer = |answer: Value| json!({ "id": "bridge-1", "answer": answer, "by": by });
    let right = answer(json!({ "values": { "q0": "a" }, "notes": { "q0": "so" } }));
    for (args, why) in [
        (answer(json!({ "answers": [["c"]] })), Some("does_not_fit")),
        (right.clone(), None),
        (answer(json!({ "answers": [["b"]] })), Some("conflict")),
        (right, None),
    ] {
        let settled = client.call("question_answer", args).await;
        let by = settled.map(|settled| settled["settlement"]["by"].clone());
        assert_eq!(by, why.map_or(Ok(json!({ "responder": "rpc", "name": "me" })), error));
    }
    let more = json!({ "id": "bridge-2", "milliseconds": 1000 });
    assert_eq!(client.call("question_extend", more).await, error("no_deadline"));
    let reason = json!({ "id": "bridge-2", "reason": "no time" });
    let rejected = client.call("question_reject", reason).await.unwrap();
    assert_eq!(rejected["settlement"]["remark"], "no time");
    assert_eq!(client.call("question_reject", json!({ "id": "bridge-3" })).await, error("gone"));
}

/// Asks, gives the question more time, and answers it.
async fn ask<W: Wire>(client: &mut Client<'_, W>) {
    let mut question = serde_json::to_value(choice("own")).unwrap();
    question["timeoutMs"] = json!(600_000);
    let asked = client.begin("question_ask", &json!({ "question": question })).await;
    let id = soon("a question", async {
        loop {
            let listing = client.call("question_list", json!({})).await.unwrap();
            if let Some(id) = ids(&listing).pop() {
                return id;
            }
        }
    })
    .await;
    let before = client.call("question_get", json!({ "id": id })).await.unwrap();
    let after = client.call("question_extend", json!({ "id": id, "milliseconds": 60_000 })).await.unwrap();
    assert!(after["deadline"].as_str() > before["deadline"].as_str(), "{before} {after}");
    let aside = client.call("question_later", json!({ "id": id, "milliseconds": 60_000 })).await.unwrap();
    assert!(aside["later"].as_str() > before["openedAt"].as_str(), "{aside}");
    let answer = json!({ "id": id, "answer": { "answers": [["Option B"]] } });
    client.call("question_answer", answer).await.unwrap();
    let settlement = client.end(asked, "question_ask").await.unwrap();
    assert_eq!(settlement["outcome"]["values"], json!({ "q0": "b" }));
    question["fields"] = json!([]);
    assert_eq!(client.call("question_ask", json!({ "question": question })).await, error("bad_question"));
    let latest = [id.as_str(), "bridge-2", "bridge-1", "bridge-4", "bridge-3"];
    for (args, expected) in
        [(json!({}), &latest[..]), (json!({ "limit": 2 }), &latest[..2]), (json!({ "limit": 0 }), &[])]
    {
        let settled = client.call("question_settled", args).await.unwrap();
        assert_eq!(ids(&settled), expected);
    }
}

/// A bridge keeps no questions. What an inbox does is in `tests/standing`.
async fn keep<W: Wire>(client: &mut Client<'_, W>) {
    let question = serde_json::to_value(choice("kept")).unwrap();
    for args in [json!({ "question": question }), json!({ "question": question, "key": "k" })] {
        assert_eq!(client.call("question_keep", args).await, error("not_kept"));
    }
    let args = json!({ "question": question, "key": "" });
    assert_eq!(client.call("question_keep", args).await, error("invalid_params"));
    for args in [json!({ "id": "bridge-1" }), json!({ "id": "bridge-1", "milliseconds": 600_000 })] {
        assert_eq!(client.call("question_outcome", args).await, error("not_kept"));
    }
    let args = json!({ "id": "bridge-1", "milliseconds": 600_001 });
    assert_eq!(client.call("question_outcome", args).await, error("invalid_params"));
    assert_eq!(client.call("question_withdraw", json!({ "id": "bridge-1" })).await, error("not_kept"));
}

/// This server lets nothing wait. What does is in `undo.rs`.
async fn undo<W: Wire>(client: &mut Client<'_, W>) {
    let by = json!({ "responder": "rpc", "name": "me" });
    let answer = json!({ "answers": [["a"]] });
    for (args, expected) in [
        (
            json!({ "id": "bridge-1", "answer": answer, "seen": 0, "by": by }),
            Ok(json!({ "milliseconds": 0 })),
        ),
        (json!({ "id": "bridge-1", "reason": "no time" }), Ok(json!({ "milliseconds": 0 }))),
        (json!({ "id": "bridge-1", "answer": { "answers": [["c"]] } }), error("does_not_fit")),
        (json!({ "id": "bridge-9" }), error("not_found")),
    ] {
        assert_eq!(client.call("question_defer", args.clone()).await, expected, "{args}");
    }
    assert_eq!(client.call("question_deferred", json!({ "id": "bridge-1" })).await, error("not_found"));
    assert_eq!(client.call("question_undo", json!({ "id": "bridge-1" })).await, Ok(json!(false)));
}

#[tokio::test]
async fn a_client_that_knows_the_schema_alone_works_over_http() {
    let (bridge, protocol) = (Bridge::start().await, Protocol::published());
    let mut client = Client::new(&protocol, OverHttp(bridge.http.clone(), Vec::new()));
    calls(&mut client, &bridge).await;
    assert_eq!(client.call("question_subscribe", json!({})).await, error("needs_websocket"));
    let ended = client.call("question_unsubscribe", json!({ "subscription": 1 })).await;
    assert_eq!(ended, error("needs_websocket"));
    for name in ["question_defer", "question_deferred", "question_undo"] {
        assert_eq!(client.call(name, json!({ "id": "bridge-1" })).await, error("needs_websocket"), "{name}");
    }
}

#[tokio::test]
async fn a_client_that_knows_the_schema_alone_works_over_websocket() {
    let (bridge, protocol) = (Bridge::start().await, Protocol::published());
    let mut client = Client::new(&protocol, OverWebSocket(WebSocket::connect(&bridge.http).await));
    calls(&mut client, &bridge).await;
    undo(&mut client).await;

    let subscription = client.call("question_subscribe", json!({})).await.unwrap();
    assert_eq!(client.changed(&subscription).await, [""; 0]);
    let number = bridge.ask(choice("next")).await;
    assert_eq!(client.changed(&subscription).await, [format!("bridge-{number}")]);
    let described = &protocol.method("question_subscribe")["x-subscription"];
    let unsubscribe = described["unsubscribe"].as_str().unwrap();
    let ended = client.call(unsubscribe, json!({ "subscription": subscription })).await;
    assert_eq!(ended, Ok(json!(true)));
    assert_eq!(client.call(unsubscribe, json!({ "subscription": 0 })).await, Ok(json!(false)));
    let all = protocol.methods().iter().map(|method| method["name"].as_str().unwrap().to_owned());
    assert_eq!(*protocol.called.borrow(), all.collect());
}

#[tokio::test]
async fn the_protocol_is_described() {
    let bridge = Bridge::start().await;
    let mut document = bridge.http.get("/v1/openrpc.json").await.is(200).json();
    document.sort_all_objects();
    assert_eq!(document, Protocol::published().document);
}
