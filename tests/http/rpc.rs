//! JSON-RPC over HTTP, and over WebSocket by jsonrpsee's own client.

use askbridge::{
    control::old::rpc::QuestionsClient,
    question::{Outcome, Reason, Responder},
};
use jsonrpsee::{
    client_transport::ws::{Url, WsTransportClientBuilder},
    core::client::{Client, ClientBuilder, Error},
};
use serde_json::json;

use crate::{
    bridge::{Bridge, choice},
    client::{Http, soon},
};

pub(crate) async fn connect(http: &Http) -> Client {
    let mut headers = axum::http::HeaderMap::new();
    headers.insert("authorization", format!("Bearer {}", http.token).parse().unwrap());
    let url = Url::parse(&format!("ws://{}/rpc", http.address)).unwrap();
    let transport = WsTransportClientBuilder::default().set_headers(headers).build(url);
    let (sender, receiver) = soon("a connection", transport).await.unwrap();
    ClientBuilder::default().build_with_tokio(sender, receiver)
}

#[tokio::test]
async fn the_methods_are_there_over_http() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    let call = async |method: &str, params: serde_json::Value| {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        bridge.http.post("/rpc", &request.to_string()).await.is(200).json()
    };
    assert_eq!(call("bridge_status", json!({})).await["result"][0]["bridge"], "bridge");
    assert_eq!(call("question_list", json!({})).await["result"]["questions"][0]["id"], "bridge-1");
    let wrong = call("question_answer", json!({ "id": "bridge-1", "answer": { "answers": [["c"]] } })).await;
    assert_eq!(
        (&wrong["error"]["code"], &wrong["error"]["data"]["name"]),
        (&json!(422), &json!("does_not_fit"))
    );
    let by = json!({ "responder": "client", "name": "somebody" });
    let answer = json!({ "id": "bridge-1", "answer": { "answers": [["a"]] }, "by": by });
    let settled = call("question_answer", answer).await;
    let by = json!({ "responder": "rpc", "name": "somebody" });
    assert_eq!(settled["result"]["settlement"]["by"], by, "nobody is the client who is not");
    let late = call("question_reject", json!({ "id": "bridge-1" })).await;
    assert_eq!((&late["error"]["code"], &late["error"]["data"]["name"]), (&json!(409), &json!("conflict")));
    bridge.http.send("POST", "/rpc", &["Content-Type: text/plain"], "{}").await.is(415);
    // The body is looked at before the path is: see `serve/body.rs`.
    let large = bridge.http.post("/rpc", &"x".repeat((1 << 20) + 1)).await;
    assert!(large.is(413).json()["detail"].as_str().unwrap().starts_with("the body is larger"), "{large:?}");
    assert!(bridge.http.get("/rpc").await.is(405).has("allow: post"));
    assert!(bridge.http.send("PUT", "/rpc", &[], "").await.is(405).has("allow: get,head,post"));
}

#[tokio::test]
async fn a_subscription_tells_what_is_open() {
    let bridge = Bridge::start().await;
    let client = connect(&bridge.http).await;
    let mut changes = soon("a subscription", client.changes()).await.unwrap();
    let mut open = async || {
        let listing = soon("a change", changes.next()).await.unwrap().unwrap();
        listing.questions.into_iter().map(|view| view.id).collect::<Vec<_>>()
    };
    assert_eq!(open().await, [""; 0]);
    bridge.ask(choice("q")).await;
    assert_eq!(open().await, ["bridge-1"]);
    let settled = soon("a rejection", client.reject("bridge-1".to_owned(), None, None)).await.unwrap();
    let settlement = settled.settlement.unwrap();
    assert_eq!(
        (settlement.outcome, settlement.by.responder),
        (Outcome::Rejected(Reason::User), Responder::Rpc)
    );
    assert_eq!(open().await, [""; 0]);
    let Error::Call(error) = client.get("bridge-7".to_owned()).await.unwrap_err() else {
        panic!("no answer")
    };
    assert_eq!(error.code(), 404);
}

/// A program asks over WebSocket, and somebody answers over HTTP.
#[tokio::test]
async fn a_program_asks_and_is_answered() {
    let bridge = Bridge::start().await;
    let client = connect(&bridge.http).await;
    let asked = tokio::spawn(async move { client.ask(choice("q")).await });
    let mut listener = bridge.http.listen("/v1/events", &[]).await;
    let id = loop {
        let event = listener.next().await;
        if event.event == "question.requested" {
            break event.data["question"]["id"].as_str().unwrap().to_owned();
        }
    };
    bridge.http.post(&format!("/v1/questions/{id}/reply"), r#"{"answers":[["a"]]}"#).await.is(204);
    let settlement = soon("an answer", asked).await.unwrap().unwrap();
    assert_eq!(settlement.by.responder, Responder::Http);
}
