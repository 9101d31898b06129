//! A client that knows REST from `schema/openapi.json` alone: each operation exists at its path, and every body and
//! response has the described shape. `tests/clients` tries the same with two generators.

use std::{cell::RefCell, collections::BTreeSet, fs};

use askbridge_core::question::{Outcome, Reason};
use serde_json::{Value, json};

use crate::http::bridge::{Bridge, choice, question};
use crate::http::client::soon;

/// The interface, as it is published, and the operations that were called.
struct Interface {
    document: Value,
    called: RefCell<BTreeSet<String>>,
}

impl Interface {
    fn published() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/openapi.json");
        let document = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        Interface { document, called: RefCell::default() }
    }

    /// Returns the path, the method and the description of each operation.
    fn operations(&self) -> Vec<(&str, &str, &Value)> {
        let paths = self.document["paths"].as_object().unwrap().iter();
        let operations = paths.flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().iter().filter(|(method, _)| *method != "parameters");
            methods.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
        });
        operations.collect()
    }

    #[track_caller]
    fn check(&self, schema: &Value, value: &Value) {
        let root = json!({ "allOf": [schema], "components": self.document["components"] });
        if let Err(error) = jsonschema::validator_for(&root).unwrap().validate(value) {
            panic!("{error} at {} in {value}", error.instance_path());
        }
    }

    /// Calls an operation with these values for the parameters in its path, and returns the status and the body.
    async fn call(&self, bridge: &Bridge, id: &str, names: &[&str], body: Option<Value>) -> (u16, Value) {
        self.called.borrow_mut().insert(id.to_owned());
        let operations = self.operations();
        let found = operations.iter().find(|(_, _, operation)| operation["operationId"] == id);
        let (path, method, operation) = found.unwrap_or_else(|| panic!("{id} is not described"));
        let mut parts = path.split(['{', '}']);
        let mut url = parts.next().unwrap().to_owned();
        for name in names {
            parts.next().unwrap();
            url = url + name + parts.next().unwrap_or_default();
        }
        assert_eq!(parts.next(), None, "{path} has more parameters");
        if let Some(body) = &body {
            self.check(&operation["requestBody"]["content"]["application/json"]["schema"], body);
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let headers = ["Content-Type: application/json"];
        let reply = bridge.http.send(&method.to_uppercase(), &url, &headers, &body).await;
        let described = &operation["responses"][reply.status.to_string()];
        assert!(described.is_object(), "{id} does not say that there is {reply:?}");
        let content = described["content"].as_object().and_then(|content| content.iter().next());
        let Some((kind, content)) = content else {
            assert_eq!(reply.body, "", "{id}");
            return (reply.status, Value::Null);
        };
        assert!(reply.has(&format!("content-type: {kind}")), "{kind}: {reply:?}");
        self.check(&content["schema"], &reply.json());
        (reply.status, reply.json())
    }
}

/// A form with a field of each kind.
fn every_kind() -> Value {
    let options = json!([{ "value": "1", "label": "One", "preview": { "format": "code", "text": "x" } }]);
    json!([
        { "name": "t", "label": "Why?", "kind": "text", "maxLength": 9 },
        { "name": "c", "label": "Which?", "kind": "choice", "options": options, "other": true },
        { "name": "m", "label": "Which ones?", "kind": "choices", "options": options },
        { "name": "b", "label": "Now?", "kind": "boolean", "default": true },
        { "name": "n", "label": "How many?", "kind": "number", "integer": true },
        { "name": "y", "label": "Sure?", "kind": "confirm", "yes": "Do it", "no": "Leave it" },
    ])
}

/// A question that its agent holds has no approval to spend.
async fn no_approval_is_spent(bridge: &Bridge, interface: &Interface) {
    let call = async |id: String, names: &[&str], body| interface.call(bridge, &id, names, Some(body)).await;
    for session in [&["bridge-1"][..], &["s", "q"]] {
        let of_session = if session.len() > 1 { "Session" } else { "" };
        let digest = json!({ "digest": "sha256:00" });
        let consumed = call(format!("consume{of_session}Approval"), session, digest).await;
        assert_eq!((consumed.0, &consumed.1["name"]), (409, &json!("held")));
        let done = json!({ "status": "succeeded" });
        assert_eq!(call(format!("report{of_session}Outcome"), session, done).await.0, 409);
    }
}

#[tokio::test]
async fn every_operation_does_what_is_described() {
    let (bridge, interface) = (Bridge::start().await, Interface::published());
    bridge.ask(question("q", every_kind())).await;
    let call = async |id: &str, names: &[&str], body| interface.call(&bridge, id, names, body).await;
    let (status, listed) = call("listQuestions", &[], None).await;
    assert_eq!((status, &listed["questions"][0]["id"]), (200, &json!("bridge-1")));
    assert_eq!(call("listSessionQuestions", &["s"], None).await.1["questions"], listed["questions"]);
    assert_eq!(call("getQuestion", &["bridge-1"], None).await.1, listed["questions"][0]);
    assert_eq!(call("getSessionQuestion", &["s", "q"], None).await.1, listed["questions"][0]);
    assert_eq!(call("getQuestion", &["none"], None).await.0, 404);
    let nothing = json!({ "words": "", "calls": [] });
    assert_eq!(call("getQuestionContext", &["bridge-1"], None).await.1, nothing);
    assert_eq!(call("getSessionQuestionContext", &["s", "q"], None).await.1, nothing);
    assert_eq!(call("getQuestionImage", &["bridge-1", "1"], None).await.0, 404);
    assert_eq!(call("getSessionQuestionImage", &["s", "q", "1"], None).await.0, 404);
    // This bridge has no journal.
    assert_eq!(call("listHistory", &[], None).await.1["questions"], json!([]));

    // Its agent holds the question.
    assert_eq!(call("withdrawQuestion", &["bridge-1"], None).await.1["name"], json!("held"));
    assert_eq!(call("withdrawSessionQuestion", &["s", "q"], None).await.0, 409);

    no_approval_is_spent(&bridge, &interface).await;

    let wrong = json!({ "answers": [[], [], ["9"]] });
    assert_eq!(call("answerQuestion", &["bridge-1"], Some(wrong)).await.0, 422);
    let values = json!({ "t": "so", "c": "own", "m": ["1"], "b": false, "n": 4, "y": true });
    let right = json!({ "values": values, "notes": { "t": "because" } });
    assert_eq!(call("answerQuestion", &["bridge-1"], Some(right)).await.0, 204);
    let (status, problem) = call("rejectQuestion", &["bridge-1"], None).await;
    assert_eq!((status, &problem["outcome"]["values"]), (409, &values));
    bridge.ask(choice("q")).await;
    let by_place = json!({ "answers": [["Option A"]] });
    assert_eq!(call("answerSessionQuestion", &["s", "q"], Some(by_place)).await.0, 204);
    bridge.ask(choice("q")).await;
    let reason = json!({ "reason": "no time" });
    assert_eq!(call("rejectSessionQuestion", &["s", "q"], Some(reason)).await.0, 204);
    let more = json!({ "milliseconds": 1000 });
    assert_eq!(call("extendQuestion", &["bridge-3"], Some(more.clone())).await.0, 409);
    bridge.ask(choice("q")).await;
    assert_eq!(call("extendSessionQuestion", &["s", "q"], Some(more.clone())).await.0, 412);
    let (status, aside) = call("postponeSessionQuestion", &["s", "q"], Some(more)).await;
    assert!(status == 200 && aside["later"].is_string(), "{aside}");
    let back = json!({ "milliseconds": 0 });
    let (status, back) = call("postponeQuestion", &["bridge-4"], Some(back)).await;
    assert!(status == 200 && back["later"].is_null(), "{back}");
    bridge.settle(4, Outcome::Rejected(Reason::Timeout)).await;
    assert_eq!(call("rejectQuestion", &["bridge-4"], None).await.0, 410);

    let asking = call("askQuestion", &[], Some(json!({ "message": "Which?", "fields": every_kind() })));
    let answering = async {
        let id = bridge.http.listen("/v1/events", &[]).await.requested().await;
        bridge.http.post(&format!("/v1/questions/{id}/reject"), "").await.is(204);
    };
    let ((status, settlement), ()) = soon("a settlement", async { tokio::join!(asking, answering) }).await;
    assert_eq!((status, &settlement["outcome"]["reason"]), (200, &json!("user")));
    // This bridge keeps no question.
    let leaving = json!({ "message": "Which?", "fields": every_kind(), "wait": false });
    assert_eq!(call("askQuestion", &[], Some(leaving)).await.1["name"], json!("not_kept"));
    let empty = json!({ "message": "", "fields": [] });
    assert_eq!(call("askQuestion", &[], Some(empty)).await.0, 422);

    let operations = interface.operations();
    let described = operations.iter().map(|(_, _, operation)| operation["operationId"].as_str().unwrap());
    let mut described: BTreeSet<_> = described.map(str::to_owned).collect();
    assert!(described.remove("followEvents"), "its stream does not end: it is checked by itself");
    assert_eq!(*interface.called.borrow(), described);
}

#[tokio::test]
async fn events_have_the_described_data() {
    let (bridge, interface) = (Bridge::start().await, Interface::published());
    bridge.ask(question("q", every_kind())).await;
    let described = &interface.document["paths"]["/v1/events"]["get"]["responses"]["200"];
    let described = &described["content"]["text/event-stream"]["x-events"];
    let mut listener = bridge.http.listen("/v1/events", &[]).await;
    for name in ["question.requested", "snapshot", "question.resolved"] {
        let event = listener.next().await;
        assert_eq!(event.event, name);
        interface.check(&described[name], &event.data);
        if name == "snapshot" {
            bridge.http.post("/v1/questions/bridge-1/reject", "").await.is(204);
        }
    }
}

/// Bridges of other versions run at the same time, and the server passes on what they say.
#[test]
fn names_of_other_versions_match_the_description() {
    let interface = Interface::published();
    let field = json!({ "name": "f", "label": "F", "kind": "drawing", "colours": ["red"] });
    let record = json!({
        "id": "b-1", "bridge": "b", "state": "pondering", "openedAt": "2026-11-22T00:00:00.000Z",
        "question": {
            "questionId": "q", "message": "", "origin": "of_next_year", "purpose": "confession",
            "dangerous": false, "blocking": true, "fields": [field],
        },
        "settlement": {
            "outcome": { "status": "dreamt", "depth": 2 }, "by": { "responder": "phone" },
            "at": "2026-11-22T00:00:01.000Z",
        },
    });
    interface.check(&json!({ "$ref": "#/components/schemas/QuestionRecord" }), &record);
    let rejected = json!({ "status": "rejected", "reason": "of_next_year" });
    interface.check(&json!({ "$ref": "#/components/schemas/Outcome" }), &rejected);
}
