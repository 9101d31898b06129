//! Read your writes: what was answered is settled for all that look next, and others follow soon.

use serde_json::json;

use crate::http::client::Http;
use crate::http::program::{ask, ask_again, askbridge, http};
use crate::support::Process;

const ASKBRIDGE: &str = env!("CARGO_BIN_EXE_askbridge");
const ROUNDS: u64 = 60;
const SESSION: &str = "session-1";
const ANSWER: &str = r#"{"answers":[["option-a"]]}"#;

/// Checks that no new listing, snapshot or stream has an open question. The stream is opened first.
async fn nothing_is_open(http: &Http, round: u64) {
    let mut listener = http.listen("/v1/events", &[]).await;
    let first = listener.next().await;
    assert_eq!((&*first.event, &first.data["open"]), ("snapshot", &json!([])), "in round {round}");
    let listed = http.get("/v1/questions").await.is(200).json();
    assert_eq!(listed["questions"], json!([]), "in round {round}");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "question_list", "params": {} });
    let listed = http.post("/rpc", &list.to_string()).await.is(200).json();
    assert_eq!(listed["result"]["questions"], json!([]), "in round {round}");
    assert_eq!(http.get("/question").await.is(200).json(), json!([]), "in round {round}");
}

/// Answers the question of each round over this server, and looks at once.
async fn answer_and_look(run: &mut Process, http: &Http) {
    let mut listener = http.listen("/v1/events", &[]).await;
    ask(run, SESSION);
    for round in 0..ROUNDS {
        let id = listener.requested().await;
        http.post(&format!("/v1/questions/{id}/reply"), ANSWER).await.is(204);
        nothing_is_open(http, round).await;
        run.expect("the agent's reply", |line| line.contains("You chose: option-a"));
        ask_again(run, SESSION, round + 3);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bridge_shows_an_answered_question_as_settled_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["run", "--serve=127.0.0.1:0", "--client-questions", "none", "--", ASKBRIDGE, "mock-agent"];
    let mut run = Process::spawn(&mut askbridge(&folder, &args));
    let http = http(&run, &folder);
    answer_and_look(&mut run, &http).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_inbox_server_shows_an_answered_question_as_settled_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]));
    let http = http(&inbox, &folder);
    let args = ["run", "--client-questions", "none", "--", ASKBRIDGE, "mock-agent"];
    let mut run = Process::spawn(&mut askbridge(&folder, &args));
    answer_and_look(&mut run, &http).await;
}

/// The answer comes by the bridge's own server, and the server of all bridges follows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_inbox_server_follows_answers_that_came_another_way() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]));
    let all = http(&inbox, &folder);
    let args = ["run", "--serve=127.0.0.1:0", "--client-questions", "none", "--", ASKBRIDGE, "mock-agent"];
    let mut run = Process::spawn(&mut askbridge(&folder, &args));
    let one = http(&run, &folder);
    let mut listener = all.listen("/v1/events", &[]).await;
    ask(&mut run, SESSION);
    let id = listener.requested().await;
    one.post(&format!("/v1/questions/{id}/reply"), ANSWER).await.is(204);
    let resolved = loop {
        let event = listener.next().await;
        if event.event != "question.changed" {
            break event;
        }
    };
    assert_eq!(
        (&*resolved.event, &resolved.data["question"]["id"], &resolved.data["status"]),
        ("question.resolved", &json!(id), &json!("answered"))
    );
    nothing_is_open(&all, 0).await;
}
