//! How often all may ask together, over HTTP and within a WebSocket.
//! A batch brings so many calls at once that no machine is too slow to exceed the limit.

use askbridge::{control::old::rpc::QuestionsClient, limits};
use jsonrpsee::core::{
    client::{BatchResponse, Client, ClientT, Error},
    params::{BatchRequestBuilder, ObjectParams},
};
use serde_json::{Value, json};

use crate::{
    bridge::Bridge,
    client::soon,
    program::{askbridge, http},
    rpc::connect,
    support::Process,
};

const MOST: usize = limits::REQUESTS_PER_SECOND as usize;
/// More than are let through in the two seconds that a batch may fall in.
const CALLS: usize = 3 * MOST;

/// Calls so often at once over a WebSocket. Returns how many calls were let through.
async fn exceed(client: &Client) -> usize {
    let mut batch = BatchRequestBuilder::new();
    for _ in 0..CALLS {
        batch.insert("no_such_method", ObjectParams::new()).unwrap();
    }
    let replies: BatchResponse<'_, Value> = soon("replies", client.batch_request(batch)).await.unwrap();
    let codes: Vec<_> = replies.iter().map(|reply| reply.as_ref().unwrap_err().code()).collect();
    assert!(codes.iter().all(|code| [-32601, 429].contains(code)), "{codes:?}");
    codes.iter().filter(|code| **code == -32601).count()
}

/// Waits for a refusal while the limit is exceeded again and again: another second may begin at any time.
async fn meanwhile<T>(exceed: impl AsyncFn(), refused: impl Future<Output = T>) -> T {
    let exceeds = async {
        loop {
            exceed().await;
        }
    };
    tokio::select! {
        () = exceeds => unreachable!(),
        refused = soon("a refusal", refused) => refused,
    }
}

#[tokio::test]
async fn calls_in_a_websocket_are_counted_with_all_other_requests() {
    let bridge = Bridge::start().await;
    let client = connect(&bridge.http).await;
    let let_through = exceed(&client).await;
    assert!((MOST - 1..CALLS).contains(&let_through), "{let_through}");
    let call = async {
        loop {
            match client.get("bridge-7".to_owned()).await.unwrap_err() {
                Error::Call(error) if error.code() == 404 => {}
                Error::Call(error) => break error,
                error => panic!("{error}"),
            }
        }
    };
    let request = async { while bridge.http.get("/v1/questions").await.status != 429 {} };
    let exceeds = async || {
        exceed(&client).await;
    };
    let refused = meanwhile(exceeds, call).await;
    let data: Value = serde_json::from_str(refused.data().unwrap().get()).unwrap();
    assert_eq!((refused.code(), data), (429, json!({ "name": "too_many_requests" })));
    meanwhile(exceeds, request).await;
    soon("another second", async { while client.status().await.is_err() {} }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_requests_are_refused_by_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]));
    let http = http(&inbox, &folder);
    let call = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "no_such_method" });
    let batch = json!((0..CALLS).map(call).collect::<Vec<_>>()).to_string();
    let request = async {
        loop {
            let reply = http.get("/v1/questions").await;
            if reply.status != 200 {
                break reply;
            }
        }
    };
    let refused = meanwhile(async || drop(http.post("/rpc", &batch).await), request).await;
    assert!(refused.is(429).has("retry-after: 1"), "{refused:?}");
    assert_eq!(refused.json()["name"], "too_many_requests");
    // Who needs no token is not counted.
    let host = format!("Host: {}", http.address);
    http.send_only("GET", "/healthz", &[&host], "").await.is(200);
    soon("another second", async { while http.get("/v1/questions").await.status != 200 {} }).await;
}
