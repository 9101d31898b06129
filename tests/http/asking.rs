//! Asking a question over REST, and giving one more time.

use std::time::Duration;

use askbridge_core::desk::Record;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream, task::JoinHandle};

use crate::http::bridge::{Bridge, choice};
use crate::http::client::{Reply, soon};

const PATH: &str = "/v1/questions";

/// Returns a question with a deadline that no test reaches.
fn deploy() -> Value {
    let field = json!({ "name": "go", "label": "Deploy?", "required": true, "kind": "boolean" });
    json!({ "sessionId": "s", "agent": "deployer", "fields": [field], "timeoutMs": 3_600_000 })
}

const HOUR: Duration = Duration::from_secs(3600);

/// Returns how long a question may be open in all.
fn time(record: &Value) -> Duration {
    let record: Record = serde_json::from_value(record.clone()).unwrap();
    record.deadline.unwrap().since(record.opened_at)
}

/// Asks, and returns the ID of the question and the request that waits.
async fn ask(bridge: &Bridge, question: &Value) -> (String, JoinHandle<Reply>) {
    let (http, body) = (bridge.http.clone(), question.to_string());
    let mut listener = bridge.http.listen("/v1/events", &[]).await;
    // The questions that are open already come before the snapshot.
    while listener.next().await.event != "snapshot" {}
    let asked = tokio::spawn(async move { http.post(PATH, &body).await });
    (listener.requested().await, asked)
}

#[tokio::test]
async fn a_question_is_asked_and_the_response_says_how_it_was_settled() {
    let bridge = Bridge::start().await;
    let (id, asked) = ask(&bridge, &deploy()).await;
    let record = bridge.http.get(&format!("{PATH}/{id}")).await.is(200).json();
    let question = &record["question"];
    assert_eq!((&question["origin"], &question["questionId"]), (&json!("program"), &json!("ask")));
    assert_eq!((&question["agent"], &question["sessionId"]), (&json!("deployer"), &json!("s")));
    assert_eq!(time(&record), HOUR);
    assert!(!asked.is_finished());
    let wrong = bridge.http.post(&format!("{PATH}/{id}/reply"), r#"{"values":{"go":"maybe"}}"#).await;
    assert_eq!(wrong.is(422).json()["errors"][0]["field"], "go");
    bridge.http.post(&format!("{PATH}/{id}/reply"), r#"{"values":{"go":true}}"#).await.is(204);
    let settlement = soon("the settlement", asked).await.unwrap().is(200).json();
    assert_eq!(settlement["outcome"], json!({ "status": "answered", "values": { "go": true } }));
    assert_eq!(settlement["by"], json!({ "responder": "http" }));
}

#[tokio::test]
async fn a_rejection_and_a_timeout_are_settlements_as_well() {
    let bridge = Bridge::start().await;
    let (id, asked) = ask(&bridge, &deploy()).await;
    bridge.http.post(&format!("{PATH}/{id}/reject"), r#"{"reason":"not today"}"#).await.is(204);
    let settlement = soon("the settlement", asked).await.unwrap().is(200).json();
    assert_eq!(settlement["outcome"], json!({ "status": "rejected", "reason": "user" }));
    assert_eq!(settlement["remark"], "not today");
    let mut question = deploy();
    question["timeoutMs"] = json!(1);
    let settlement = bridge.http.post(PATH, &question.to_string()).await.is(200).json();
    assert_eq!(settlement["outcome"], json!({ "status": "rejected", "reason": "timeout" }));
}

#[tokio::test]
async fn a_question_is_withdrawn_when_the_client_disconnects() {
    let bridge = Bridge::start().await;
    let mut listener = bridge.http.listen("/v1/events", &[]).await;
    assert_eq!(listener.next().await.event, "snapshot");
    let mut stream = TcpStream::connect(bridge.http.address).await.unwrap();
    let body = deploy().to_string();
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nHost: localhost\r\n{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        bridge.http.bearer(),
        body.len(),
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let id = listener.requested().await;
    drop(stream);
    let event = listener.next().await;
    assert_eq!((&*event.event, event.data["question"]["id"].as_str()), ("question.resolved", Some(&*id)));
    let outcome = json!({ "status": "rejected", "reason": "withdrawn" });
    assert_eq!(event.data["question"]["settlement"]["outcome"], outcome);
}

#[tokio::test]
async fn a_question_that_cannot_be_asked_is_refused_with_the_reason() {
    let bridge = Bridge::start().await;
    let field = |kind: &str| json!({ "name": "f", "label": "F", "kind": kind });
    for (question, told) in [
        (json!({ "fields": [] }), "must have 1 to"),
        (json!({}), "must have 1 to"),
        (json!({ "fields": [field("text"), field("boolean")] }), "two fields are named"),
        (json!({ "fields": [field("drawing")] }), "drawing"),
        (json!({ "fields": [field("text")], "message": "x".repeat(5000) }), "longer than"),
    ] {
        let problem = bridge.http.post(PATH, &question.to_string()).await.is(422).json();
        assert_eq!(problem["name"], "bad_question", "{problem}");
        assert!(problem["errors"][0]["message"].as_str().unwrap().contains(told), "{problem}");
    }
    for body in ["", "[]", r#"{"fields":[{"name":"f"}]}"#, r#"{"fields":[],"timeout":1}"#] {
        bridge.http.post(PATH, body).await.is(400);
    }
    bridge.http.send("POST", PATH, &["Content-Type: text/plain"], &deploy().to_string()).await.is(415);
    assert_eq!(bridge.http.get(PATH).await.json()["questions"], json!([]));
}

#[tokio::test]
async fn questions_beyond_the_limit_of_a_session_are_refused() {
    let bridge = Bridge::start().await;
    let mut asked = Vec::new();
    for _ in 0..askbridge::limits::OPEN_PER_SESSION {
        asked.push(ask(&bridge, &deploy()).await);
    }
    let problem = bridge.http.post(PATH, &deploy().to_string()).await.is(507).json();
    assert_eq!(problem["name"], "too_many_questions");
    let (id, settled) = asked.pop().unwrap();
    bridge.http.post(&format!("{PATH}/{id}/reject"), "").await.is(204);
    soon("the settlement", settled).await.unwrap().is(200);
    ask(&bridge, &deploy()).await;
}

#[tokio::test]
async fn a_question_gets_more_time_and_the_response_has_its_new_deadline() {
    let bridge = Bridge::start().await;
    let (id, asked) = ask(&bridge, &deploy()).await;
    let paths = [format!("{PATH}/{id}/extend"), format!("/v1/sessions/s/questions/{id}/extend")];
    for (path, hours) in paths.into_iter().zip([2, 3]) {
        let after = bridge.http.post(&path, r#"{"milliseconds":3600000}"#).await.is(200).json();
        assert_eq!((&after["id"], time(&after)), (&json!(id), hours * HOUR));
        assert_eq!(bridge.http.get(&format!("{PATH}/{id}")).await.json()["deadline"], after["deadline"]);
        for body in [
            "",
            "{}",
            r#"{"milliseconds":0}"#,
            r#"{"milliseconds":-1}"#,
            r#"{"milliseconds":"1s"}"#,
            r#"{"seconds":1}"#,
        ] {
            bridge.http.post(&path, body).await.is(400);
        }
    }
    asked.abort();
}

#[tokio::test]
async fn extending_is_refused_as_over_the_other_interfaces() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    let more = r#"{"milliseconds":1000}"#;
    let problem = bridge.http.post("/v1/questions/bridge-1/extend", more).await.is(412).json();
    assert_eq!(problem["name"], "no_deadline");
    bridge.http.post("/v1/questions/bridge-2/extend", more).await.is(404);
    bridge.http.post("/v1/questions/bridge-1/reply", r#"{"answers":[["a"]]}"#).await.is(204);
    bridge.http.post("/v1/questions/bridge-1/extend", more).await.is(409);
    let withdrawn = bridge.ask(choice("q")).await;
    bridge.withdraw(withdrawn).await;
    bridge.http.post(&format!("/v1/questions/bridge-{withdrawn}/extend"), more).await.is(410);
}
