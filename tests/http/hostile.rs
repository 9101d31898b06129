//! Hostile texts of an agent: in every response they are strings in JSON, and come back unchanged.

use askbridge::limits;
use askbridge_core::{
    dialect,
    question::{Outcome, Question, Reason},
};
use serde_json::{Value, json};

use crate::http::bridge::{Bridge, question};
use crate::http::client::Reply;
use crate::support::hostile::HOSTILE;

fn hostile(text: &str) -> Question {
    let option = json!({ "value": text, "label": text, "description": text, "preview": { "format": "html", "text": text } });
    let field = json!({ "name": text, "label": text, "header": text, "help": text, "kind": "choices", "options": [option] });
    let mut question = question(text, json!([field]));
    question.message = text.to_owned();
    question.session = Some(text.to_owned());
    question
}

/// Returns all strings in a value.
fn texts(json: &Value) -> Vec<&str> {
    match json {
        Value::String(text) => vec![text],
        Value::Array(entries) => entries.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

#[track_caller]
fn is_json_with(reply: &Reply, status: u16, text: &str) {
    let kind = if status < 400 { "application/json" } else { "application/problem+json" };
    assert!(reply.status == status && reply.headers.contains(&format!("content-type: {kind}")), "{reply:?}");
    assert!(reply.has("x-content-type-options: nosniff"), "{reply:?}");
    assert!(reply.body.bytes().all(|byte| byte >= b' '), "{:?}", reply.body);
    assert!(texts(&reply.json()).iter().any(|told| told.contains(text)), "{text:?} is not in {reply:?}");
}

#[tokio::test]
async fn hostile_texts_are_strings_in_every_response() {
    let large = "x".repeat(limits::TEXT);
    for text in HOSTILE.into_iter().chain([&*large]) {
        let bridge = Bridge::start().await;
        let (mut events, mut opencode) =
            (bridge.http.listen("/v1/events", &[]).await, bridge.http.listen("/event", &[]).await);
        assert_eq!(events.next().await.event, "snapshot");
        assert_eq!(opencode.next().await.data["type"], "server.connected");
        bridge.ask(hostile(text)).await;
        for path in ["/v1/questions", "/v1/questions/bridge-1", "/question"] {
            is_json_with(&bridge.http.get(path).await, 200, text);
        }
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "question_list", "params": {} }).to_string();
        is_json_with(&bridge.http.post("/rpc", &list).await, 200, text);
        let event = events.next().await;
        assert_eq!((&*event.event, &event.data["prompt"]), ("question.requested", &json!(text)));
        assert_eq!(opencode.next().await.data["properties"]["questions"][0]["header"], text);

        let answer = json!({ "values": { text: ["none of these"] } }).to_string();
        is_json_with(&bridge.http.post("/v1/questions/bridge-1/reply", &answer).await, 422, text);
        let answer = json!({ "answers": [[text]] }).to_string();
        bridge.http.post("/v1/questions/bridge-1/reply", &answer).await.is(204);
        is_json_with(&bridge.http.post("/v1/questions/bridge-1/reject", "").await, 409, text);
        let event = events.next().await;
        assert_eq!((&*event.event, &event.data["response"]), ("question.resolved", &json!(text)));
        assert_eq!(opencode.next().await.data["properties"]["answers"], json!([[text]]));
        let metrics = bridge.http.get("/metrics").await.body;
        assert!(
            metrics.lines().any(|line| line == "askbridge_bridges 1") && !metrics.contains(text),
            "{metrics}"
        );
        assert!(!bridge.settle(1, Outcome::Rejected(Reason::Withdrawn)).await);
    }
}

/// Reads a permission of an agent whose texts are all this one, with so much more raw input. It offers two options that
/// allow it always.
fn hostile_permission(text: &str, more: usize) -> Question {
    let option = |id: &str, kind: &str| json!({ "optionId": id, "name": text, "kind": kind });
    let options = [option("a", "allow_always"), option("b", "allow_always"), option("c", "reject_once")];
    let diff = json!({ "type": "diff", "path": text, "oldText": text, "newText": format!("{text}{text}") });
    let content = json!({ "type": "content", "content": { "type": "text", "text": text } });
    let params = json!({
        "sessionId": "s",
        "toolCall": {
            "toolCallId": text, "title": text, "kind": "execute", "content": [diff, content],
            "locations": [{ "path": text }],
            "rawInput": { "command": text, "cwd": text, "more": "x".repeat(more) },
        },
        "options": options,
    });
    let asked = dialect::read("session/request_permission", params.to_string().as_bytes(), "q");
    asked.unwrap().expect("a permission").question
}

#[tokio::test]
async fn hostile_permissions_are_strings_in_every_response() {
    for text in HOSTILE {
        let bridge = Bridge::start().await;
        let (mut events, mut opencode) =
            (bridge.http.listen("/v1/events", &[]).await, bridge.http.listen("/event", &[]).await);
        assert_eq!(events.next().await.event, "snapshot");
        assert_eq!(opencode.next().await.data["type"], "server.connected");
        bridge.ask(hostile_permission(text, 0)).await;
        for path in ["/v1/questions", "/v1/questions/bridge-1", "/permission"] {
            is_json_with(&bridge.http.get(path).await, 200, text);
        }
        let listed = &bridge.http.get("/permission").await.json()[0];
        assert_eq!(
            (&listed["patterns"], &listed["metadata"]["subject"]["command"]),
            (&json!([text]), &json!(text))
        );
        // Neither the path nor a text adds a line that is read as the beginning of another change.
        let diff = listed["metadata"]["diff"].as_str().unwrap();
        let begin: Vec<_> = diff.trim_end_matches('\n').split('\n').map(|line| line.chars().next()).collect();
        assert_eq!(begin[..3], [Some('-'), Some('+'), Some('@')], "{diff:?}");
        assert!(begin[3..].iter().all(|mark| mark.is_some_and(|mark| " +-\\".contains(mark))), "{diff:?}");
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "question_list", "params": {} }).to_string();
        is_json_with(&bridge.http.post("/rpc", &list).await, 200, text);
        let event = events.next().await;
        assert_eq!((&*event.event, &event.data["prompt"]), ("question.requested", &json!(text)));
        assert_eq!(opencode.next().await.data["properties"]["metadata"]["title"], text);
        assert_eq!(opencode.next().await.data["properties"]["title"], text);

        let ambiguous = bridge.http.post("/permission/bridge-1/reply", r#"{"reply":"always"}"#).await;
        is_json_with(&ambiguous, 422, &format!("{text:?}"));
        let reason = json!({ "reply": "reject", "message": text }).to_string();
        bridge.http.post("/permission/bridge-1/reply", &reason).await.is(200);
        is_json_with(
            &bridge.http.post("/v1/questions/bridge-1/reply", r#"{"answers":[["a"]]}"#).await,
            409,
            text,
        );
        assert_eq!(events.next().await.event, "question.resolved");
        assert_eq!(opencode.next().await.data["properties"]["reply"], "reject");
        let metrics = bridge.http.get("/metrics").await.body;
        assert!(
            metrics.lines().any(|line| line == "askbridge_bridges 1") && !metrics.contains(text),
            "{metrics}"
        );
    }
}

/// As much as a line of the agent can hold.
#[tokio::test]
async fn a_permission_of_a_mebibyte_is_cut_with_a_mark() {
    let bridge = Bridge::start().await;
    bridge.ask(hostile_permission("make", limits::HOLD - 1024)).await;
    for (path, subject) in
        [("/v1/questions/bridge-1", "/question/subject"), ("/permission", "/0/metadata/subject")]
    {
        let reply = bridge.http.get(path).await;
        assert!(reply.body.len() < 2 * limits::SUBJECT_TEXT, "{} bytes", reply.body.len());
        let shown = reply.is(200).json();
        let raw = shown.pointer(subject).unwrap()["rawInput"].as_str().unwrap();
        assert!(raw.ends_with(" more bytes are not shown") && raw.len() <= limits::SUBJECT_TEXT, "{path}");
    }
}
