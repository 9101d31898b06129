//! What programs ask to be allowed: how it is shown, that a decision is bound to what was shown, and that an approval is
//! spent once, also where the inbox is killed between.

use serde_json::{Value, json};

use crate::http::client::{Http, Reply};
use crate::standing::home::{Home, ask_under, id, open, send, show, withdraw};

/// The digest of `{"arguments":{"to":"prod"},"tool":"deploy"}`, by `sha256sum`.
const DEPLOY: &str = "sha256:ca23e568eb0f9ef8a51e0edba514fcd7c71dc4f68047bc68c2875573eac38805";

fn permission(subject: &Value, more: &Value) -> Value {
    let mut body = json!({ "purpose": "permission", "subject": subject, "wait": false, "agent": "graph" });
    let members = more.as_object().expect("an object").clone();
    body.as_object_mut().expect("an object").extend(members);
    body
}

fn deploy(more: &Value) -> Value {
    permission(&json!({ "tool": "deploy", "arguments": { "to": "prod" } }), more)
}

async fn asked(http: &Http, key: &str, body: &Value) -> Value {
    ask_under(http, key, body).await.expect("a response").is(201).json()
}

async fn decide(http: &Http, id: &str, values: &Value) -> Reply {
    send(http, id, "reply", &[], &json!({ "values": values })).await.expect("a response")
}

async fn consume(http: &Http, id: &str, digest: &Value, key: Option<&str>) -> Reply {
    let header = key.map(|key| format!("Idempotency-Key: {key}"));
    let headers: Vec<_> = header.iter().map(String::as_str).collect();
    send(http, id, "consume", &headers, &json!({ "digest": digest })).await.expect("a response")
}

async fn report(http: &Http, id: &str, body: &Value) -> Reply {
    send(http, id, "outcome", &[], body).await.expect("a response")
}

#[track_caller]
fn refused(reply: &Reply, name: &str) {
    assert_eq!((reply.status, &reply.json()["name"]), (409, &json!(name)), "{reply:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_is_bound_to_what_was_shown_and_spent_once() {
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let record = asked(http, "a", &deploy(&json!({}))).await;
    let (name, digest) = (id(&record), record["question"]["action"]["digest"].clone());
    assert_eq!(digest, DEPLOY);
    assert_eq!(record["question"]["purpose"], "permission");
    assert_eq!(record["question"]["riskReason"], "the effect of its tool is unknown");

    refused(&consume(http, &name, &digest, None).await, "not_allowed");
    refused(&report(http, &name, &json!({ "status": "failed" })).await, "not_allowed");
    decide(http, &name, &json!({ "q0": "allow" })).await.is(204);
    let settled = show(http, &name).await.expect("a response").is(200).json();
    assert_eq!(settled["settlement"]["grant"], json!({ "digest": digest }));

    refused(&consume(http, &name, &json!("sha256:00"), Some("run")).await, "stale");
    let first = consume(http, &name, &digest, Some("run")).await.is(200).json();
    inbox.kill();

    let inbox = home.start();
    let http = &inbox.http;
    // Whoever did not hear of it asks again, and nobody else has it.
    assert_eq!(consume(http, &name, &digest, Some("run")).await.is(200).json(), first);
    refused(&consume(http, &name, &digest, Some("another run")).await, "spent");
    refused(&consume(http, &name, &digest, None).await, "spent");
    let done = json!({ "status": "succeeded", "note": "release 12" });
    report(http, &name, &done).await.is(204);
    inbox.kill();

    let inbox = home.start();
    let http = &inbox.http;
    report(http, &name, &done).await.is(204);
    refused(&report(http, &name, &json!({ "status": "failed" })).await, "reported");
    let shown = show(http, &name).await.expect("a response").is(200).json();
    assert_eq!((&shown["use"]["consumedAt"], &shown["use"]["report"]), (&first["consumedAt"], &done));
    let history = home.command(&["history"]).output().expect("a command");
    let said = String::from_utf8_lossy(&history.stdout);
    assert!(said.contains("allowed by HTTP: Allow; it was done: release 12"), "{said}");
    refused(&withdraw(http, &name).await.expect("a response"), "conflict");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_arguments_are_what_is_decided() {
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let schema = json!({ "type": "object", "properties": { "to": { "enum": ["prod", "test"] } } });
    let body = deploy(&json!({ "changes": true, "schema": schema }));
    for (key, given, expected) in [
        ("blank", Value::Null, None),
        ("same", json!("{ \"to\": \"prod\" }"), None),
        ("changed", json!("{\"to\":\"test\"}"), Some(json!({ "to": "test" }))),
    ] {
        let name = id(&asked(http, key, &body).await);
        let unfit = decide(http, &name, &json!({ "q0": "allow", "arguments": "{\"to\":\"moon\"}" })).await;
        assert_eq!((unfit.status, &unfit.json()["errors"][0]["field"]), (422, &json!("arguments")), "{key}");
        let mut values = json!({ "q0": "allow" });
        if given != Value::Null {
            values["arguments"] = given;
        }
        decide(http, &name, &values).await.is(204);
        let settled = show(http, &name).await.expect("a response").is(200).json();
        let grant = &settled["settlement"]["grant"];
        assert_eq!(grant.get("arguments"), expected.as_ref(), "{key}");
        assert_eq!(grant["digest"] == DEPLOY, expected.is_none(), "{key}");
        if expected.is_some() {
            refused(&consume(http, &name, &json!(DEPLOY), None).await, "stale");
        }
        let consumed = consume(http, &name, &grant["digest"], None).await.is(200).json();
        assert_eq!(consumed.get("arguments"), expected.as_ref(), "{key}");
    }
    // What is refused allows nothing, whatever stands beside it.
    let name = id(&asked(http, "refused", &body).await);
    decide(http, &name, &json!({ "q0": "reject", "arguments": "{\"to\":\"test\"}" })).await.is(204);
    refused(&consume(http, &name, &json!(DEPLOY), None).await, "not_allowed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_ends_and_commands_decide_as_for_agents() {
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let ends = id(&asked(http, "ends", &deploy(&json!({ "grantMs": 0 }))).await);
    decide(http, &ends, &json!({ "q0": "allow" })).await.is(204);
    refused(&consume(http, &ends, &json!(DEPLOY), None).await, "expired");

    let run = permission(&json!({ "command": "rm -rf build", "folder": "/srv/shop" }), &json!({}));
    let name = id(&asked(http, "command", &run).await);
    let listed = open(http).await;
    assert_eq!(listed[0]["question"]["subject"]["command"], "rm -rf build");
    assert_eq!(listed[0]["question"]["risk"], "dangerous");
    let allowed = home.command(&["allow", &name, "--yes"]).output().expect("a command");
    assert!(allowed.status.success(), "{allowed:?}");
    let settled = show(http, &name).await.expect("a response").is(200).json();
    assert!(settled["settlement"]["grant"]["digest"].is_string(), "{settled}");

    // With a reason, and over the connection that asked.
    let rejected = id(&asked(http, "rejected", &run).await);
    send(http, &rejected, "reject", &[], &json!({ "reason": "not today" }))
        .await
        .expect("a response")
        .is(204);
    let settled = show(http, &rejected).await.expect("a response").is(200).json();
    assert_eq!(
        (&settled["settlement"]["remark"], settled["settlement"].get("grant")),
        (&json!("not today"), None)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_decided_is_refused_and_nothing_opens() {
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let tool = json!({ "tool": "x" });
    let with_arguments = json!({ "tool": "x", "arguments": {} });
    let no_role =
        json!([{ "name": "a", "label": "A", "kind": "choice", "options": [{ "value": "y", "label": "Y" }] }]);
    for (body, status, said) in [
        (json!({ "purpose": "permission" }), 422, "subject: a permission needs one"),
        (
            permission(&json!({ "arguments": {} }), &json!({})),
            422,
            "`tool`, a `command`, `files` or a `title`",
        ),
        (permission(&json!({ "tool": "x", "more": 1 }), &json!({})), 422, "unknown field `more`"),
        (
            permission(
                &json!({ "tool": "x", "arguments": { "a": [9_007_199_254_740_993_u64] } }),
                &json!({}),
            ),
            422,
            "arguments.a[0]",
        ),
        (permission(&tool, &json!({ "changes": true })), 422, "no `arguments` to change"),
        (
            permission(&json!({ "command": "ls", "arguments": {} }), &json!({ "changes": true })),
            422,
            "send the arguments alone",
        ),
        (permission(&with_arguments, &json!({ "schema": {} })), 422, "only with `changes`"),
        (
            permission(&with_arguments, &json!({ "changes": true, "schema": { "required": ["a"] } })),
            422,
            "subject.arguments: the JSON",
        ),
        (permission(&tool, &json!({ "fields": no_role })), 422, "has no `role`"),
        (json!({ "subject": tool, "wait": false }), 422, "only a permission has one"),
        (json!({ "purpose": "question", "grantMs": 1, "message": "?" }), 422, "only a permission has them"),
        (json!({ "purpose": "order", "subject": tool }), 422, "neither `question` nor `permission`"),
        (json!({ "purpose": "permission", "subject": [] }), 400, "it must be an object"),
    ] {
        let told = ask_under(http, "bad", &body).await.expect("a response");
        assert_eq!(told.status, status, "{body}: {told:?}");
        let detail = told.json()["detail"].as_str().unwrap_or_default().to_owned();
        assert!(detail.contains(said), "{body}: {detail}");
    }
    let twice = r#"{"purpose":"permission","wait":false,"subject":{"tool":"x","arguments":{"a":1,"a":2}}}"#;
    let told = http.try_send("POST", "/v1/questions", &["Content-Type: application/json"], twice).await;
    let told = told.expect("a response").is(400).json();
    assert!(
        told["detail"].as_str().is_some_and(|it| it.contains("two members of an object have the same name")),
        "{told}"
    );
    assert!(open(http).await.is_empty());
}
