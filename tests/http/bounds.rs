//! I6 over HTTP: whatever clients with the token send and do not read, a bridge's memory stays bounded.

use std::{fs, time::Duration};

use askbridge::limits;
use futures::future::join_all;
use serde_json::json;
use tempfile::TempDir;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpSocket, TcpStream},
    task::JoinHandle,
    time::timeout,
};

use crate::http::client::{Http, soon};
use crate::http::program::{askbridge, http};
use crate::support::Process;
use crate::support::procfs::peak_kib;

/// MiB that the program has at the most, whatever one hostile connection does.
const ONE: usize = 40;
/// MiB that the program has at the most, whatever many hostile connections do.
const MANY: usize = 160;
/// Connections whose whole replies would be more than [`ONE`], and more than [`MANY`] for batches of calls. They are few,
/// since a debug build is slow to write replies.
const READERS: usize = 20;
/// Connections whose whole bodies would be more than [`ONE`].
const SENDERS: usize = 100;

/// Starts a bridge with as many large questions as may be open.
fn start(folder: &TempDir) -> (Process, Http) {
    let options: Vec<_> =
        (0..limits::OPTIONS).map(|number| format!("{number}{}", "x".repeat(3800))).collect();
    let question = |number: usize| {
        let params = json!({
            "sessionId": "s", "questionId": format!("q-{number}"), "prompt": "Which?", "options": options,
        });
        let method = "_sandboxagent/session/request_question";
        json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params }).to_string()
    };
    let path = folder.path().join("questions");
    let lines: Vec<_> = (0..16).map(question).collect();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    // It asks once it is told to: the log of so much text would come before the address.
    let agent = format!("read -r _; cat '{}'; cat > /dev/null", path.display());
    let args = ["run", "--serve=127.0.0.1:0", "--client-questions", "none", "--", "sh", "-c", &agent];
    let mut run = Process::spawn(&mut askbridge(folder, &args));
    let http = http(&run, folder);
    run.send("ask");
    (run, http)
}

/// Waits until the questions are open. Returns the bytes of a listing.
async fn listing(http: &Http) -> usize {
    soon("questions", async {
        loop {
            let bytes = http.get("/v1/questions").await.is(200).body.len();
            if bytes > 2 * 1024 * 1024 {
                return bytes;
            }
        }
    })
    .await
}

/// Returns the most MiB that a process had.
fn peak(run: &Process) -> usize {
    peak_kib(run.id()) / 1024
}

/// Connections that send and do not read, until this is dropped.
#[derive(Default)]
struct Hostile(Vec<JoinHandle<()>>);

impl Hostile {
    /// Opens a connection, which holds as little as possible of what it does not read.
    async fn send(&mut self, http: &Http, request: String) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut stream = soon("a connection", socket.connect(http.address)).await.unwrap();
        self.0.push(tokio::spawn(async move {
            // The server may stop reading.
            drop(stream.write_all(request.as_bytes()).await);
            std::future::pending::<()>().await;
            drop(stream);
        }));
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

fn head(http: &Http, method: &str, path: &str, headers: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{}\r\n{headers}\r\n", http.bearer())
}

/// Waits until the server has had its turn with all connections: it answers so many others.
async fn settle(http: &Http) {
    for _ in 0..20 {
        http.get("/healthz").await.is(200);
    }
}

/// Returns a text frame of a WebSocket, under a mask of zeros.
fn frame(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap();
    assert!(length < 126, "a longer text has another head");
    [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat()
}

async fn websocket(http: &Http) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = soon("a connection", socket.connect(http.address)).await.unwrap();
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    stream.write_all(head(http, "GET", "/rpc", upgrade).as_bytes()).await.unwrap();
    stream
}

/// Sends calls over a WebSocket without reading, until the server reads no further.
async fn flood(stream: &mut TcpStream, call: &str, count: usize) {
    let frame = frame(call);
    let flood = async {
        for _ in 0..count {
            if stream.write_all(&frame).await.is_err() {
                return;
            }
        }
    };
    // That it blocks is what back-pressure means.
    drop(timeout(Duration::from_secs(2), flood).await);
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"question_list"}"#;
const SUBSCRIBE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"question_subscribe"}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_websocket_that_does_not_read_takes_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (run, http) = start(&folder);
    listing(&http).await;
    let mut stream = websocket(&http).await;
    flood(&mut stream, LIST, 500).await;
    settle(&http).await;
    let mut stream = websocket(&http).await;
    flood(&mut stream, SUBSCRIBE, 20).await;
    settle(&http).await;
    assert!(peak(&run) <= ONE, "{} MiB", peak(&run));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_that_are_not_read_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (run, http) = start(&folder);
    let bytes = listing(&http).await;
    for path in ["/v1/questions", "/question", "/v1/sessions/s/questions/q-0"] {
        let mut hostile = Hostile::default();
        for _ in 0..READERS {
            hostile.send(&http, head(&http, "GET", path, "")).await;
        }
        settle(&http).await;
        assert!(peak(&run) <= ONE, "{path}: {} MiB, {bytes} bytes each", peak(&run));
    }
    let mut hostile = Hostile::default();
    for index in 0..limits::SUBSCRIBERS {
        hostile.send(&http, head(&http, "GET", ["/v1/events", "/event"][index % 2], "")).await;
    }
    settle(&http).await;
    assert!(peak(&run) <= ONE, "streams: {} MiB", peak(&run));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_whose_replies_are_not_read_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (run, http) = start(&folder);
    listing(&http).await;
    let batch = format!("[{}]", [LIST; 7].join(","));
    let headers = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", batch.len());
    let mut hostile = Hostile::default();
    for _ in 0..READERS {
        let request = head(&http, "POST", "/rpc", &headers) + &batch;
        hostile.send(&http, request).await;
    }
    settle(&http).await;
    assert!(peak(&run) <= MANY, "batches: {} MiB", peak(&run));
    drop(hostile);
    let mut streams = Vec::new();
    for _ in 0..limits::WEBSOCKETS {
        streams.push(websocket(&http).await);
    }
    join_all(streams.iter_mut().map(|stream| flood(stream, LIST, 20))).await;
    settle(&http).await;
    assert!(peak(&run) <= MANY, "WebSockets: {} MiB", peak(&run));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_never_end_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (run, http) = start(&folder);
    listing(&http).await;
    let mut hostile = Hostile::default();
    for _ in 0..SENDERS {
        let headers = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", limits::REQUEST);
        let request = head(&http, "POST", "/rpc", &headers) + &"x".repeat(limits::REQUEST - 1);
        hostile.send(&http, request).await;
    }
    settle(&http).await;
    // A small body needs no room.
    let small = json!({ "jsonrpc": "2.0", "id": 1, "method": "bridge_status" }).to_string();
    http.post("/rpc", &small).await.is(200);
    assert!(peak(&run) <= ONE, "{} MiB", peak(&run));
}
