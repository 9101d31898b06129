//! Questions of the past over HTTP: after their bridges have ended, after a restart, and with a journal that cannot be read.

use rusqlite::Connection;
use serde_json::json;
use tokio::task::yield_now;

use crate::http::client::{Http, soon};
use crate::http::program::{ask, askbridge, http};
use crate::support::Process;

const ASKBRIDGE: &str = env!("CARGO_BIN_EXE_askbridge");
const RUN: [&str; 6] = ["run", "--client-questions", "none", "--", ASKBRIDGE, "mock-agent"];

async fn rpc(http: &Http, method: &str, params: serde_json::Value) -> serde_json::Value {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    http.post("/rpc", &call.to_string()).await.is(200).json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_found_after_its_bridge_and_the_server_have_ended() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]));
    let before = http(&inbox, &folder);
    let mut listener = before.listen("/v1/events", &[]).await;
    let mut run = Process::spawn(&mut askbridge(&folder, &RUN));
    ask(&mut run, "session-1");
    let answered = listener.requested().await;
    let answer = r#"{"answers":[["option-b"]]}"#;
    before.post(&format!("/v1/questions/{answered}/reply"), answer).await.is(204);
    run.close_stdin();
    run.wait();
    let mut killed = Process::spawn(&mut askbridge(&folder, &RUN));
    ask(&mut killed, "session-1");
    let lost = listener.requested().await;
    // A bridge that is killed has written what it had the time for.
    let journal = Connection::open(folder.path().join("state/askbridge/journal.db")).unwrap();
    let written = "SELECT count(*) FROM question WHERE id = ?1 AND record IS NOT NULL";
    soon("the journal", async {
        while journal.query_row(written, [&lost], |row| row.get::<_, i64>(0)) != Ok(1) {
            yield_now().await;
        }
    })
    .await;
    drop((killed, inbox));
    let inbox = Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]));
    let after = http(&inbox, &folder);
    let found = after.get(&format!("/v1/questions/{answered}")).await.is(200).json();
    assert_eq!(
        found["settlement"]["outcome"],
        json!({ "status": "answered", "values": { "q0": "option-b" } })
    );
    assert_eq!(rpc(&after, "question_get", json!({ "id": answered })).await["result"], found);
    let found = after.get(&format!("/v1/questions/{lost}")).await.is(200).json();
    assert_eq!((&found["state"], &found["settlement"]), (&json!("lost"), &json!(null)));
    // The same answer again is accepted, as by the bridge, and a lost question takes none.
    let other = r#"{"answers":[["option-a"]]}"#;
    for (id, answer, status) in [(&answered, answer, 204), (&answered, other, 409), (&lost, answer, 503)] {
        after.post(&format!("/v1/questions/{id}/reply"), answer).await.is(status);
    }
    after.get("/v1/questions/nobody-1").await.is(404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_that_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]));
    let http = http(&inbox, &folder);
    let mut run = Process::spawn(&mut askbridge(&folder, &RUN));
    ask(&mut run, "session-1");
    let id = http.listen("/v1/events", &[]).await.requested().await;
    // The bridge has written the question before it told anybody of the answer.
    http.post(&format!("/v1/questions/{id}/reply"), r#"{"answers":[["option-a"]]}"#).await.is(204);
    let journal = Connection::open(folder.path().join("state/askbridge/journal.db")).unwrap();
    journal.pragma_update(None, "user_version", 36).unwrap();
    for path in ["/v1/history", "/v1/questions/nobody-1"] {
        let problem = http.get(path).await.is(503).json();
        assert_eq!(problem["name"], "history_unavailable", "{path}: {problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(
            detail.starts_with("the history cannot be read: the journal was changed"),
            "{path}: {detail}"
        );
    }
    // An empty list would say that nothing was lost.
    for method in ["question_history", "question_lost"] {
        let error = rpc(&http, method, json!({})).await["error"].clone();
        assert_eq!((&error["code"], &error["data"]["name"]), (&json!(500), &json!("history_unavailable")));
    }
    // What an inbox knows needs no journal.
    http.get(&format!("/v1/questions/{id}")).await.is(200);
    journal.pragma_update(None, "user_version", 0).unwrap();
}
