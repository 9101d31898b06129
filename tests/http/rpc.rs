//! The control protocol over HTTP, and over a WebSocket.

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Bytes, Message};

use crate::http::bridge::{Bridge, choice, permission};
use crate::http::client::soon;
use crate::http::websocket::WebSocket;

/// Returns the states of the questions in a change, by their IDs.
fn states(delta: &Value) -> Vec<(&str, &str)> {
    let questions = delta["questions"].as_array().unwrap().iter();
    questions.map(|record| (record["id"].as_str().unwrap(), record["state"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn the_methods_work_over_http() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    let call = async |method: &str, params: Value| {
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
    let by = json!({ "responder": "client", "name": "a program" });
    let answer = json!({ "id": "bridge-1", "answer": { "answers": [["a"]] }, "by": by });
    let settled = call("question_answer", answer).await;
    let by = json!({ "responder": "rpc", "name": "a program" });
    assert_eq!(settled["result"]["settlement"]["by"], by, "it cannot pass for the client");
    let late = call("question_reject", json!({ "id": "bridge-1" })).await;
    assert_eq!((&late["error"]["code"], &late["error"]["data"]["name"]), (&json!(409), &json!("conflict")));
    bridge.http.send("POST", "/rpc", &["Content-Type: text/plain"], "{}").await.is(415);
    let large = bridge.http.post("/rpc", &"x".repeat((1 << 20) + 1)).await;
    assert!(large.is(413).json()["detail"].as_str().unwrap().starts_with("the body is larger"), "{large:?}");
    assert!(bridge.http.get("/rpc").await.is(405).has("allow: post"));
    assert!(bridge.http.send("PUT", "/rpc", &[], "").await.is(405).has("allow: get,head,post"));
}

#[tokio::test]
async fn a_permission_can_be_decided_by_the_methods() {
    let bridge = Bridge::start().await;
    for _ in 0..3 {
        bridge.ask(permission("p")).await;
    }
    let call = async |method: &str, params: Value| {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        bridge.http.post("/rpc", &request.to_string()).await.is(200).json()
    };
    let listed = &call("question_list", json!({})).await["result"]["questions"][0]["question"];
    assert_eq!((&listed["purpose"], &listed["subject"]["command"]), (&json!("permission"), &json!("make")));
    let answer = |number: u64, option: &str| json!({ "id": format!("bridge-{number}"), "answer": { "answers": [[option]] } });
    let wrong = call("question_answer", answer(1, "yes")).await;
    assert_eq!(
        (&wrong["error"]["code"], &wrong["error"]["data"]["name"]),
        (&json!(422), &json!("does_not_fit"))
    );
    let settled = call("question_answer", answer(1, "allow")).await;
    assert_eq!(settled["result"]["settlement"]["outcome"]["values"], json!({ "q0": "allow" }));
    let late = call("question_answer", answer(1, "always")).await;
    assert_eq!((&late["error"]["code"], &late["error"]["data"]["name"]), (&json!(409), &json!("conflict")));
    let settled = call("question_reject", json!({ "id": "bridge-2", "reason": "not on a Friday" })).await;
    assert_eq!(settled["result"]["settlement"]["outcome"], json!({ "status": "rejected", "reason": "user" }));
    bridge.withdraw(3).await;
    let gone = call("question_answer", answer(3, "allow")).await;
    assert_eq!((&gone["error"]["code"], &gone["error"]["data"]["name"]), (&json!(410), &json!("gone")));
}

#[tokio::test]
async fn malformed_calls_have_an_error_each() {
    let bridge = Bridge::start().await;
    for (body, code) in [
        ("nonsense", -32700),
        ("{}", -32600),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no_such_method"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"question_get","params":{}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"question_subscribe"}"#, 426),
        (r#"{"jsonrpc":"2.0","id":1,"method":"question_unsubscribe","params":[1]}"#, 426),
    ] {
        let reply = bridge.http.post("/rpc", body).await.is(200).json();
        assert_eq!(reply["error"]["code"], code, "{body}: {reply}");
    }
    bridge.http.post("/rpc", r#"{"jsonrpc":"2.0","method":"a_notification"}"#).await.is(204);
}

#[tokio::test]
async fn a_batch_has_a_reply_for_each_call() {
    let bridge = Bridge::start().await;
    let call = |id: usize, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method });
    let batch = json!([call(1, "bridge_status"), call(2, "question_subscribe"), call(3, "question_list")]);
    let replies = bridge.http.post("/rpc", &batch.to_string()).await.is(200).json();
    assert_eq!(replies[0]["result"][0]["bridge"], "bridge", "{replies}");
    assert_eq!((&replies[1]["id"], &replies[1]["error"]["code"]), (&json!(2), &json!(426)));
    assert_eq!((&replies[2]["id"], &replies[2]["result"]["revision"]), (&json!(3), &json!(0)));
    let most = askbridge::limits::BATCH;
    let batch = |count: usize| json!((0..count).map(|id| call(id, "bridge_status")).collect::<Vec<_>>());
    let replies = bridge.http.post("/rpc", &batch(most).to_string()).await.is(200).json();
    assert_eq!(replies.as_array().unwrap().len(), most);
    let refused = bridge.http.post("/rpc", &batch(most + 1).to_string()).await.is(200).json();
    assert!(refused["error"]["code"].is_number(), "{refused}");
}

#[tokio::test]
async fn a_subscription_tells_what_changes() {
    let bridge = Bridge::start().await;
    let mut client = WebSocket::connect(&bridge.http).await;
    client.subscribe().await;
    let first = client.changed().await;
    assert_eq!((&first["snapshot"], &first["protocol"]), (&json!(true), &json!(1)));
    assert_eq!(states(&first), []);
    bridge.ask(choice("q")).await;
    assert_eq!(states(&client.changed().await), [("bridge-1", "open")]);
    let settled = client.begin("question_reject", &json!({ "id": "bridge-1" })).await;
    let (mut reply, mut change) = (Value::Null, Value::Null);
    while reply.is_null() || change.is_null() {
        let message = client.receive().await;
        if message["id"] == settled { reply = message } else { change = message }
    }
    assert_eq!(reply["result"]["settlement"]["by"]["responder"], "rpc");
    assert_eq!(reply["result"]["settlement"]["outcome"], json!({ "status": "rejected", "reason": "user" }));
    assert_eq!(states(&change["params"]["result"]), [("bridge-1", "settled")]);
    let unknown = client.call("question_get", json!({ "id": "bridge-7" })).await;
    assert_eq!(unknown["error"]["code"], 404);
}

/// A program asks over a WebSocket, and is answered over REST.
#[tokio::test]
async fn a_program_asks_and_is_answered() {
    let bridge = Bridge::start().await;
    let mut client = WebSocket::connect(&bridge.http).await;
    let question = serde_json::to_value(choice("q")).unwrap();
    let asked = client.begin("question_ask", &json!({ "question": question })).await;
    let id = bridge.http.listen("/v1/events", &[]).await.requested().await;
    bridge.http.post(&format!("/v1/questions/{id}/reply"), r#"{"answers":[["a"]]}"#).await.is(204);
    let settlement = client.receive().await;
    assert_eq!(
        (&settlement["id"], &settlement["result"]["by"]["responder"]),
        (&json!(asked), &json!("http"))
    );
}

#[tokio::test]
async fn a_question_is_withdrawn_when_the_websocket_closes() {
    let bridge = Bridge::start().await;
    let mut client = WebSocket::connect(&bridge.http).await;
    let question = serde_json::to_value(choice("q")).unwrap();
    client.begin("question_ask", &json!({ "question": question })).await;
    let mut listener = bridge.http.listen("/v1/events", &[]).await;
    listener.requested().await;
    drop(client);
    loop {
        let event = listener.next().await;
        if event.event == "question.resolved" {
            let outcome = json!({ "status": "rejected", "reason": "withdrawn" });
            assert_eq!(event.data["question"]["settlement"]["outcome"], outcome);
            return;
        }
    }
}

/// More calls wait on each than may be in flight, and more on all of them.
#[tokio::test]
async fn websockets_that_are_gone_are_noticed_whatever_waits() {
    const WEBSOCKETS: usize = 17;
    const ASKS: usize = 36;
    let bridge = Bridge::start().await;
    let mut clients = Vec::new();
    for number in 0..WEBSOCKETS {
        let mut client = WebSocket::connect(&bridge.http).await;
        let question = serde_json::to_value(choice("q")).unwrap();
        for _ in 0..ASKS {
            let mut question = question.clone();
            question["sessionId"] = format!("s-{number}").into();
            client.begin("question_ask", &json!({ "question": question })).await;
        }
        clients.push(client);
    }
    bridge.wait_until(|now| now.open_count() == WEBSOCKETS * ASKS).await;
    // Others get their replies meanwhile.
    let mut other = WebSocket::connect(&bridge.http).await;
    assert!(other.call("bridge_status", json!({})).await["result"].is_array());
    drop(clients);
    bridge.wait_until(|now| now.open_count() == 0).await;
}

#[tokio::test]
async fn a_websocket_answers_pings_and_ends_with_the_server() {
    let mut bridge = Bridge::start().await;
    let mut client = WebSocket::connect(&bridge.http).await;
    client.stream.send(Message::Ping(Bytes::from_static(b"x"))).await.unwrap();
    let pong = soon("a pong", client.stream.next()).await.unwrap().unwrap();
    assert_eq!(pong, Message::Pong(Bytes::from_static(b"x")));
    client.subscribe().await;
    assert!(client.changed().await["snapshot"] == true);
    bridge.end().await;
    let ended = async {
        while let Some(Ok(message)) = client.stream.next().await {
            if matches!(message, Message::Close(_)) {
                return;
            }
        }
    };
    soon("the end of the WebSocket", ended).await;
    soon("the end of the server", &mut bridge.server).await.unwrap();
}

#[tokio::test]
async fn a_message_that_is_too_long_ends_the_websocket() {
    let bridge = Bridge::start().await;
    let mut client = WebSocket::connect(&bridge.http).await;
    let long = json!("x".repeat(askbridge::limits::REQUEST));
    // The server may close the connection before all of it is sent.
    drop(soon("it is sent", client.stream.send(Message::text(long.to_string()))).await);
    let ended = async { while let Some(Ok(_)) = client.stream.next().await {} };
    soon("the end of the WebSocket", ended).await;
    bridge.http.get("/healthz").await.is(200);
}

#[tokio::test]
async fn websockets_beyond_the_limit_are_refused() {
    let bridge = Bridge::start().await;
    let mut open = Vec::new();
    for _ in 0..askbridge::limits::WEBSOCKETS {
        open.push(WebSocket::connect(&bridge.http).await);
    }
    assert_eq!(WebSocket::try_connect(&bridge.http).await.err(), Some(503));
    open.pop();
    // The place is free as soon as the server has seen it.
    soon("a place", async { while WebSocket::try_connect(&bridge.http).await.is_err() {} }).await;
}
