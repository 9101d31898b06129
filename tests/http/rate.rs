//! The limit on requests in a second, over HTTP and within a WebSocket.

use askbridge::limits;
use serde_json::{Value, json};

use crate::http::bridge::Bridge;
use crate::http::client::{Http, soon};
use crate::http::websocket::WebSocket;

/// A batch of so many calls, each of which counts as one request.
fn batch() -> Value {
    let call = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "no_such_method" });
    json!((0..limits::BATCH).map(call).collect::<Vec<_>>())
}

/// Sends batches until one is refused. No machine is too slow for that: each counts for many requests.
async fn exceed(http: &Http) -> Value {
    let batch = batch().to_string();
    loop {
        let reply = http.post("/rpc", &batch).await;
        if reply.status == 429 {
            continue;
        }
        let replies = reply.is(200).json();
        match replies[0]["error"]["code"].as_i64() {
            Some(-32601) => {}
            Some(429) => return replies,
            other => panic!("{other:?} in {replies}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_beyond_the_rate_is_refused_as_a_whole() {
    let bridge = Bridge::start().await;
    let replies = soon("a refusal", exceed(&bridge.http)).await;
    let replies = replies.as_array().unwrap();
    assert_eq!(replies.len(), limits::BATCH);
    for (id, reply) in replies.iter().enumerate() {
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(id), &json!(429)));
        assert_eq!(reply["error"]["data"], json!({ "name": "too_many_requests" }));
    }
}

/// Runs a future while the limit is exceeded again and again: another second may begin at any time.
async fn meanwhile<T>(http: &Http, refused: impl Future<Output = T>) -> T {
    let exceeds = async {
        loop {
            exceed(http).await;
        }
    };
    tokio::select! {
        () = exceeds => unreachable!(),
        refused = soon("a refusal", refused) => refused,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_requests_count_together() {
    let bridge = Bridge::start().await;
    let http = &bridge.http;
    let request = async {
        loop {
            let reply = http.get("/v1/questions").await;
            if reply.status != 200 {
                break reply;
            }
        }
    };
    let refused = meanwhile(http, request).await;
    assert!(refused.is(429).has("retry-after: 1"), "{refused:?}");
    assert_eq!(refused.json()["name"], "too_many_requests");
    let mut client = soon("a WebSocket", async {
        loop {
            if let Ok(client) = WebSocket::try_connect(http).await {
                break client;
            }
        }
    })
    .await;
    let call = async {
        loop {
            let reply = client.call("no_such_method", json!({})).await;
            if reply["error"]["code"] != -32601 {
                break reply;
            }
        }
    };
    let refused = meanwhile(http, call).await;
    assert_eq!(refused["error"]["data"], json!({ "name": "too_many_requests" }));
    // A request that needs no token is not counted.
    let host = format!("Host: {}", http.address);
    http.send_only("GET", "/healthz", &[&host], "").await.is(200);
    soon("another second", async { while http.get("/v1/questions").await.status != 200 {} }).await;
}

#[tokio::test]
async fn messages_of_a_websocket_count() {
    let bridge = Bridge::start().await;
    let mut client = WebSocket::connect(&bridge.http).await;
    let batch = batch();
    let refused = async {
        loop {
            client.send(&batch).await;
            let replies = client.receive().await;
            if replies[0]["error"]["code"] == 429 {
                break replies;
            }
            assert_eq!(replies[0]["error"]["code"], -32601, "{replies}");
        }
    };
    let replies = soon("a refusal", refused).await;
    assert_eq!(replies.as_array().unwrap().len(), limits::BATCH);
}
