//! The end of an inbox in which programs have asked.

use rustix::process::Signal;
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::http::bridge::choice;
use crate::http::client::soon;
use crate::http::program::{askbridge, http};
use crate::support::Process;

/// Programs that wait hear how their questions ended, as do those who follow, and the history.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_inbox_that_ends_tells_the_programs_that_wait() {
    let server = ["inbox", "--addr", "127.0.0.1:0"];
    let bridge = ["run", "--serve=127.0.0.1:0", "--", "cat"];
    for (args, signal) in
        [(&server[..], Signal::TERM), (&server, Signal::INT), (&bridge, Signal::TERM), (&bridge, Signal::HUP)]
    {
        let folder = tempfile::tempdir().unwrap();
        let mut inbox = Process::spawn(&mut askbridge(&folder, args));
        let http = http(&inbox, &folder);
        let mut listener = http.listen("/v1/events", &[]).await;
        assert_eq!(listener.next().await.event, "snapshot");
        let fields = json!([{ "name": "a", "label": "Why?", "kind": "text" }]);
        let rest = json!({ "fields": fields }).to_string();
        let params = json!({ "question": serde_json::to_value(choice("q")).unwrap() });
        let rpc =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "question_ask", "params": params }).to_string();
        let mut asked = Vec::new();
        for (path, body) in [("/v1/questions", rest), ("/rpc", rpc)] {
            let asks = http.clone();
            asked.push(tokio::spawn(async move { asks.post(path, &body).await.is(200).json() }));
            listener.requested().await;
        }
        // One that asks and then reads nothing delays nobody.
        let mut mute = TcpStream::connect(http.address).await.unwrap();
        let body = json!({ "fields": fields }).to_string();
        let (bearer, length) = (http.bearer(), body.len());
        let head = format!("POST /v1/questions HTTP/1.1\r\nHost: {}\r\n{bearer}\r\n", http.address);
        let head = format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
        mute.write_all((head + &body).as_bytes()).await.unwrap();
        listener.requested().await;

        inbox.signal(signal);
        let rejected = json!({ "status": "rejected", "reason": "shutdown" });
        for asked in asked {
            let told = soon("the end", asked).await.unwrap();
            let settlement = told.get("result").unwrap_or(&told);
            assert_eq!(settlement["outcome"], rejected, "{args:?}, {signal:?}: {told}");
        }
        for _ in 0..3 {
            let event = listener.next().await;
            assert_eq!(event.event, "question.resolved", "{args:?}, {signal:?}: {:?}", event.data);
            assert_eq!(event.data["question"]["settlement"]["outcome"], rejected, "{args:?}, {signal:?}");
        }
        inbox.wait();
        let mut history = Process::spawn(&mut askbridge(&folder, &["history", "--json"]));
        let lines = std::iter::from_fn(|| history.next_line()).flatten().collect();
        let said = String::from_utf8(lines).unwrap();
        assert_eq!(said.matches("\"shutdown\"").count(), 3, "{args:?}, {signal:?}: {said}");
    }
}
