//! A typed secret is for the asker alone: once its question is settled, it is in no reply, whoever holds the token.
//! What the commands print is tested in `tests/answers/secrets.rs`, what the journal keeps in `tests/answers/history.rs`.

use askbridge_core::question::{Answer, Outcome, Question};
use serde_json::{Value, json};

use crate::http::bridge::{Bridge, question};
use crate::http::client::{Listener, soon};
use crate::http::websocket::WebSocket;

const SECRET: &str = "correct horse battery";
/// What stands in its place.
const MARK: &str = "(secret)";

/// A question for a secret beside a harmless text.
fn asked(id: &str) -> Question {
    question(
        id,
        json!([
            { "name": "token", "label": "The token?", "required": true, "kind": "text", "secret": true },
            { "name": "where", "label": "Where?", "required": true, "kind": "text" },
        ]),
    )
}

/// An answer that has the secret as a value, and in a note on it.
fn answer() -> Value {
    let note = format!("it is {SECRET}, for now");
    json!({ "values": { "token": SECRET, "where": "here" }, "notes": { "token": note } })
}

/// The replies of a server, each with what was asked for.
#[derive(Default)]
struct Replies(Vec<(String, String)>);

impl Replies {
    fn note(&mut self, what: &str, reply: impl ToString) {
        self.0.push((what.to_owned(), reply.to_string()));
    }

    async fn rest(&mut self, bridge: &Bridge, method: &str, path: &str, body: &str) {
        let reply = bridge.http.send(method, path, &["Content-Type: application/json"], body).await;
        self.note(&format!("{method} {path} {body}"), reply.body);
    }

    /// Calls over HTTP. A WebSocket has the same methods.
    async fn call(&mut self, bridge: &Bridge, method: &str, params: Value) {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let reply = bridge.http.post("/rpc", &request.to_string()).await;
        self.note(&format!("{method} {params}"), reply.body);
    }

    /// Notes all events up to the first with this text.
    async fn events(&mut self, what: &str, listener: &mut Listener, last: &str) {
        loop {
            let data = listener.next().await.data.to_string();
            let is_last = data.contains(last);
            self.note(what, data);
            if is_last {
                return;
            }
        }
    }

    /// Checks that the secret is nowhere, and that its mark stands where the outcome is told.
    fn check(&self, marked: &[&str]) {
        for (what, reply) in &self.0 {
            assert!(!reply.contains("correct horse"), "{what}: {reply}");
        }
        for begin in marked {
            let mut told = self.0.iter().filter(|(what, _)| what.starts_with(begin));
            assert!(told.any(|(_, reply)| reply.contains(MARK)), "{begin}: {:#?}", self.0);
        }
    }
}

#[tokio::test]
async fn a_typed_secret_is_in_no_reply_after_settling() {
    let bridge = Bridge::start().await;
    let (mut replies, id) = (Replies::default(), "bridge-1");
    let mut events = bridge.http.listen("/v1/events", &[]).await;
    let mut opencode = bridge.http.listen("/event", &[]).await;
    let mut socket = WebSocket::connect(&bridge.http).await;
    socket.subscribe().await;
    bridge.ask(asked("q")).await;
    let first = events.next().await;
    replies.events("before", &mut events, "\"requested\"").await;
    let path = format!("/v1/questions/{id}");

    replies.rest(&bridge, "POST", &format!("{path}/reply"), &answer().to_string()).await;
    // The agent has it, with the note.
    let given: Answer = serde_json::from_value(answer()).unwrap();
    assert_eq!(bridge.agent.lock().unwrap()[..], [(1, Outcome::Answered(given))]);

    replies.rest(&bridge, "GET", &path, "").await;
    replies.rest(&bridge, "GET", "/v1/questions", "").await;
    replies.rest(&bridge, "GET", "/v1/sessions/s/questions", "").await;
    replies.rest(&bridge, "GET", &format!("/v1/sessions/s/questions/{id}"), "").await;
    let late = json!({ "values": { "token": "another", "where": "here" } });
    replies.rest(&bridge, "POST", &format!("{path}/reply"), &late.to_string()).await;
    replies.rest(&bridge, "POST", &format!("{path}/reject"), "{}").await;
    replies.rest(&bridge, "POST", &format!("{path}/extend"), r#"{"milliseconds":1000}"#).await;
    for method in ["question_get", "question_reject"] {
        replies.call(&bridge, method, json!({ "id": id })).await;
    }
    for method in [
        "question_list",
        "question_outline",
        "question_settled",
        "question_lost",
        "question_history",
        "bridge_status",
    ] {
        replies.call(&bridge, method, json!({})).await;
    }
    // The same once more is accepted, and its result has the question.
    replies.call(&bridge, "question_answer", json!({ "id": id, "answer": answer() })).await;
    let late = json!({ "id": id, "answer": late });
    replies.call(&bridge, "question_answer", late).await;
    replies.rest(&bridge, "GET", "/question", "").await;
    replies.rest(&bridge, "POST", &format!("/question/{id}/reply"), r#"{"answers":[["x"],["y"]]}"#).await;
    replies.rest(&bridge, "GET", "/metrics", "").await;

    replies.events("the events", &mut events, "\"answered\"").await;
    let last = first.id.expect("an ID of the snapshot");
    let mut again = bridge.http.listen("/v1/events", &[&format!("Last-Event-ID: {last}")]).await;
    replies.events("the events again", &mut again, "\"answered\"").await;
    replies.events("opencode's events", &mut opencode, "question.replied").await;
    while !replies.0.last().is_some_and(|(_, change)| change.contains("\"settled\"")) {
        replies.note("a change", socket.changed().await);
    }
    let marked =
        [&*format!("GET {path}"), "POST", "the events", "the events again", "opencode's", "a change"];
    replies.check(&marked);
    let conflict = format!("POST {path}/reply {{\"values\":{{\"token\":\"another\"");
    replies.check(&[&conflict]);
    for method in ["question_get", "question_settled", "question_answer"] {
        replies.check(&[method]);
    }
}

#[tokio::test]
async fn a_program_that_asks_for_a_secret_gets_it_and_others_do_not() {
    let bridge = Bridge::start().await;
    let mut replies = Replies::default();
    let mut events = bridge.http.listen("/v1/events", &[]).await;
    let (http, body) = (bridge.http.clone(), json!({ "fields": asked("q").fields }).to_string());
    let asking = tokio::spawn(async move { http.post("/v1/questions", &body).await });
    let id = events.requested().await;
    replies.rest(&bridge, "POST", &format!("/v1/questions/{id}/reply"), &answer().to_string()).await;
    let settlement = soon("the settlement", asking).await.unwrap().is(200).json();
    assert_eq!(settlement["outcome"]["values"]["token"], SECRET);
    replies.rest(&bridge, "GET", &format!("/v1/questions/{id}"), "").await;
    replies.call(&bridge, "question_settled", json!({})).await;
    replies.events("the events", &mut events, "\"answered\"").await;
    replies.check(&["GET", "question_settled", "the events"]);
}

#[tokio::test]
async fn what_the_client_answered_of_a_secret_is_in_no_reply() {
    let bridge = Bridge::start().await;
    let mut replies = Replies::default();
    let number = bridge.ask(asked("q")).await;
    let given: Answer = serde_json::from_value(answer()).unwrap();
    assert!(bridge.settle(number, Outcome::Answered(given)).await);
    replies.rest(&bridge, "GET", "/v1/questions/bridge-1", "").await;
    replies.rest(&bridge, "POST", "/v1/questions/bridge-1/reply", &answer().to_string()).await;
    replies.check(&["GET"]);
}
