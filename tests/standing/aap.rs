//! The Agent Approval Protocol: a request from when it is made until its outcome is reported, and what is refused. Its own
//! client and its middleware run in `sdk/python/frameworks`.

use serde_json::{Value, json};

use crate::http::client::{Http, Reply, soon};
use crate::standing::home::{Home, open, send as to_question};

fn submission() -> Value {
    json!({ "tool": "deploy", "server": "ops", "arguments": { "to": "prod", "share": 0.1 }, "timeout": "10m",
        "agent_reasoning": "It is ready.", "context": { "call_id": "c1" } })
}

async fn call(http: &Http, method: &str, path: &str, key: Option<&str>, body: Option<&Value>) -> Reply {
    let key = key.map(|key| format!("Idempotency-Key: {key}"));
    let kind = body.map(|_| "Content-Type: application/json".to_owned());
    let headers: Vec<_> = [&key, &kind].into_iter().flatten().map(String::as_str).collect();
    let body = body.map(Value::to_string).unwrap_or_default();
    http.try_send(method, &format!("/aap/v1/requests{path}"), &headers, &body).await.expect("a response")
}

async fn create(http: &Http, key: &str) -> Value {
    call(http, "POST", "", Some(key), Some(&submission())).await.is(201).json()
}

async fn show(http: &Http, id: &str) -> Value {
    call(http, "GET", &format!("/{id}"), None, None).await.is(200).json()
}

/// Decides the only open question as a person does.
async fn decide(http: &Http, verb: &str, body: &Value) {
    let listed = open(http).await;
    let id = listed[0]["id"].as_str().expect("an ID");
    to_question(http, id, verb, &[], body).await.expect("a response").is(204);
}

#[track_caller]
fn refused(reply: &Reply, status: u16, code: &str) {
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (status, &json!(code)), "{reply:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_approved_consumed_once_and_reported() {
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let request = create(http, "k").await;
    let id = request["id"].as_str().expect("an ID").to_owned();
    let members = submission();
    for (name, value) in members.as_object().expect("members") {
        assert_eq!(request[name], *value, "{request}");
    }
    assert_eq!((&request["status"], request.get("decision")), (&json!("pending"), None));
    assert_eq!(call(http, "POST", "", Some("k"), Some(&submission())).await.is(200).json(), request);
    let mut other = submission();
    other["context"] = json!({});
    refused(&call(http, "POST", "", Some("k"), Some(&other)).await, 409, "idempotency_conflict");

    let shown = open(http).await[0]["question"].clone();
    assert_eq!(shown["message"], "deploy, of the MCP server ops");
    assert!(shown["subject"]["content"].as_str().is_some_and(|content| content.contains("c1")), "{shown}");

    let consume = format!("/{id}/consume");
    refused(&call(http, "POST", &consume, Some("run"), None).await, 409, "not_approved");
    let waiting = async { call(http, "GET", &format!("/{id}?wait=25s"), None, None).await.is(200).json() };
    let allow = json!({ "values": { "q0": "allow" } });
    let deciding = decide(http, "reply", &allow);
    let (approved, ()) = soon("a decision", async { tokio::join!(waiting, deciding) }).await;
    assert_eq!(
        (&approved["status"], &approved["decision"]["status"]),
        (&json!("approved"), &json!("approved"))
    );
    assert!(approved["decision"]["expires_at"].is_string(), "{approved}");

    let outcome = format!("/{id}/outcome");
    let done = json!({ "status": "succeeded", "note": "done" });
    refused(&call(http, "POST", &outcome, None, Some(&done)).await, 409, "not_consumed");
    let consumed = call(http, "POST", &consume, Some("run"), None).await.is(200).json();
    assert!(consumed["consumption"]["consumed_at"].is_string(), "{consumed}");
    inbox.kill();

    let inbox = home.start();
    let http = &inbox.http;
    assert_eq!(call(http, "POST", &consume, Some("run"), None).await.is(200).json(), consumed);
    refused(&call(http, "POST", &consume, Some("again"), None).await, 409, "already_consumed");
    refused(&call(http, "DELETE", &format!("/{id}"), None, None).await, 409, "already_terminal");
    let reported = call(http, "POST", &outcome, None, Some(&done)).await.is(200).json();
    assert_eq!(reported["consumption"]["outcome"]["status"], "succeeded");
    assert_eq!(call(http, "POST", &outcome, None, Some(&done)).await.is(200).json(), reported);
    let failed = json!({ "status": "failed" });
    refused(&call(http, "POST", &outcome, None, Some(&failed)).await, 409, "outcome_conflict");
    assert_eq!(show(http, &id).await, reported);
    assert_eq!(call(http, "POST", "", Some("k"), Some(&submission())).await.is(200).json(), reported);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_approved_says_why_and_what_is_wrong_is_refused() {
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let id = |request: &Value| request["id"].as_str().expect("an ID").to_owned();
    let denied = id(&create(http, "denied").await);
    decide(http, "reject", &json!({ "reason": "not today" })).await;
    let decision = show(http, &denied).await["decision"].clone();
    assert_eq!((&decision["status"], &decision["note"]), (&json!("denied"), &json!("not today")));
    assert_eq!(decision.get("expires_at"), None);
    let cancelled = id(&create(http, "cancelled").await);
    for _ in 0..2 {
        let told = call(http, "DELETE", &format!("/{cancelled}"), None, None).await.is(200).json();
        assert_eq!(told["status"], "cancelled");
    }
    let short = json!({ "tool": "t", "arguments": {}, "timeout": "1s" });
    let expired = id(&call(http, "POST", "", Some("expired"), Some(&short)).await.is(201).json());
    let told = call(http, "GET", &format!("/{expired}?wait=25s"), None, None).await.is(200).json();
    assert_eq!(told["status"], "expired");

    refused(&call(http, "POST", "", None, Some(&submission())).await, 400, "missing_idempotency_key");
    for body in [json!({}), json!({ "tool": "t", "arguments": {}, "timeout": "soon" }), json!([])] {
        refused(&call(http, "POST", "", Some("bad"), Some(&body)).await, 400, "invalid_request");
    }
    for unknown in ["x", "6b336639-7132-8000-8000-00000000000a"] {
        refused(&call(http, "GET", &format!("/{unknown}"), None, None).await, 404, "not_found");
    }
    assert!(open(http).await.is_empty());
}
