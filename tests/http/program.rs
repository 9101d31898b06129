//! `askbridge inbox` and `askbridge run --serve`, with real bridges behind them.

use std::{fs, net::TcpListener, path::Path, process::Command};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::yield_now;

use crate::http::bridge::choice;
use crate::http::client::{Http, soon};
use crate::support::Process;

const ASKBRIDGE: &str = env!("CARGO_BIN_EXE_askbridge");

/// Returns `askbridge ARGS` with its sockets in this directory, and everything logged.
pub(crate) fn askbridge(folder: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(ASKBRIDGE);
    command
        .args(["--log", "trace"])
        .args(args)
        .env("XDG_RUNTIME_DIR", folder.path())
        .env("XDG_STATE_HOME", folder.path().join("state"));
    command
}

/// Returns whether the journal has a question.
fn has_noted(folder: &TempDir, id: &str) -> bool {
    let listed = askbridge(folder, &["history"]).output().expect("a command");
    String::from_utf8_lossy(&listed.stdout).contains(id)
}

/// Returns the address and the token, which it announces on stderr.
pub(crate) fn http(process: &Process, folder: &TempDir) -> Http {
    http_in(process, folder.path())
}

/// The same of a program whose sockets are below this folder.
pub(crate) fn http_in(process: &Process, folder: &Path) -> Http {
    let said = process.expect_stderr("an address", |text| {
        text.split_once("listening on http://").is_some_and(|(_, rest)| rest.contains('\n'))
    });
    let (_, rest) = said.split_once("listening on http://").unwrap();
    let address = rest.split(',').next().unwrap().parse().unwrap();
    let file = folder.join("askbridge/token");
    assert!(rest.contains(file.to_str().unwrap()), "{rest}");
    Http { address, token: fs::read_to_string(file).unwrap().trim_end().to_owned() }
}

/// Makes the mock agent ask in this session.
pub(crate) fn ask(run: &mut Process, session: &str) {
    run.send(
        &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": 1 } })
            .to_string(),
    );
    run.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": { "cwd": "/", "mcpServers": [] } }).to_string());
    run.expect("a session", |line| line.contains(session));
    ask_again(run, session, 2);
}

/// Makes the mock agent ask once more, by a prompt with this ID.
pub(crate) fn ask_again(run: &mut Process, session: &str, id: u64) {
    let prompt = json!([{ "type": "text", "text": "question" }]);
    let params = json!({ "sessionId": session, "prompt": prompt });
    run.send(
        &json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params }).to_string(),
    );
}

/// Sends a request that the server could log.
async fn status_over_rpc(http: &Http) {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "bridge_status" });
    http.post("/rpc", &call.to_string()).await.is(200);
}

fn is_not_in(http: &Http, process: &Process) {
    let stderr = process.whole_stderr();
    assert!(stderr.contains("TRACE"), "all is logged: {stderr}");
    assert!(!stderr.contains(&http.token), "the token is in the log: {stderr}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_settings_of_the_user_open_a_server_to_an_origin_and_those_of_a_project_do_not() {
    let (folder, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let config = folder.path().join("config");
    fs::create_dir_all(config.join("askbridge")).unwrap();
    fs::write(config.join("askbridge/config.toml"), "[inbox]\nallow-origin = ['https://Dash.example:443']\n")
        .unwrap();
    fs::write(project.path().join(".askbridge.toml"), "[inbox]\nallow-origin = ['https://evil.example']\n")
        .unwrap();
    for args in [&["inbox", "--addr", "127.0.0.1:0"][..], &["run", "--serve=127.0.0.1:0", "--", "cat"]] {
        let mut command = askbridge(&folder, args);
        let server = Process::spawn(command.env("XDG_CONFIG_HOME", &config).current_dir(&project));
        let http = http(&server, &folder);
        let said = server.expect_stderr("the origins", |text| text.contains("web pages of "));
        assert!(said.contains("web pages of https://dash.example can use that token"), "{said}");
        for (origin, status) in [("https://dash.example", 200), ("https://evil.example", 403)] {
            let origin = format!("Origin: {origin}");
            let reply = http.send("GET", "/v1/questions", &[&origin], "").await;
            assert_eq!(reply.status, status, "{reply:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_server_answers_for_all_bridges() {
    let folder = tempfile::tempdir().unwrap();
    let mut inbox = Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]));
    let http = http(&inbox, &folder);
    let mut listener = http.listen("/v1/events", &[]).await;
    assert_eq!(listener.next().await.event, "snapshot");
    // Two bridges start one after the other while it runs.
    for _ in 0..2 {
        let mut run = Process::spawn(&mut askbridge(
            &folder,
            &["run", "--client-questions", "none", "--", ASKBRIDGE, "mock-agent"],
        ));
        ask(&mut run, "session-1");
        let asked = listener.next().await;
        assert_eq!(
            (&*asked.event, &asked.data["question"]["question"]["sessionId"]),
            ("question.requested", &json!("session-1"))
        );
        let id = asked.data["question"]["id"].as_str().unwrap();
        let path = format!("/v1/sessions/session-1/questions/{}", asked.data["questionId"].as_str().unwrap());
        assert_eq!(http.get(&path).await.is(200).json()["id"], id);
        http.post(&format!("{path}/reply"), r#"{"answers":[["option-b"]]}"#).await.is(204);
        run.expect("the agent's next words", |line| line.contains("You chose: option-b"));
        let resolved = loop {
            let event = listener.next().await;
            // The question changes when the bridge finds that the client cannot show it, and on its way to the agent.
            if event.event != "question.changed" {
                break event;
            }
        };
        assert_eq!((&*resolved.event, &resolved.data["status"]), ("question.resolved", &json!("answered")));
        http.post(&format!("/v1/questions/{id}/reply"), r#"{"answers":[["option-b"]]}"#).await.is(204);
        http.post(&format!("/v1/questions/{id}/reply"), r#"{"answers":[["option-a"]]}"#).await.is(409);
        run.close_stdin();
        run.wait();
    }
    status_over_rpc(&http).await;
    terminate(&mut inbox);
    assert_eq!(inbox.next_line(), None, "nothing is on stdout");
    is_not_in(&http, &inbox);
}

/// The server has an inbox of its own for questions of programs, and a program can withdraw its question.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_asks_where_no_bridge_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut inbox = Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]));
    let http = http(&inbox, &folder);
    let mut listener = http.listen("/v1/events", &[]).await;
    assert_eq!(listener.next().await.event, "snapshot");
    let question = serde_json::to_value(choice("q")).unwrap();
    let params = json!({ "question": question });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "question_ask", "params": params }).to_string();

    let asks = http.clone();
    let body = call.clone();
    let asked = tokio::spawn(async move { asks.post("/rpc", &body).await.is(200).json() });
    let id = listener.next().await.data["question"]["id"].as_str().unwrap().to_owned();
    let mut other = Process::spawn(&mut askbridge(&folder, &["answer", &id, "a"]));
    assert_eq!(other.wait().code(), Some(0), "other commands find it");
    let settlement = soon("an answer", asked).await.unwrap();
    assert_eq!(settlement["result"]["by"]["responder"], "command_line");
    assert_eq!(listener.next().await.event, "question.resolved");

    let asks = http.clone();
    let asked = tokio::spawn(async move { asks.post("/rpc", &call).await });
    assert_eq!(listener.next().await.event, "question.requested");
    asked.abort();
    let withdrawn = listener.next().await;
    let outcome = &withdrawn.data["question"]["settlement"]["outcome"];
    assert_eq!(
        (&*withdrawn.event, outcome),
        ("question.resolved", &json!({ "status": "rejected", "reason": "withdrawn" }))
    );
    terminate(&mut inbox);
    let left = fs::read_dir(folder.path().join("askbridge")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["token"]);
}

/// After an answer, the question is settled for all; the question of a killed bridge is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answered_question_is_settled_for_the_next_request() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]));
    let http = http(&inbox, &folder);
    let mut listener = http.listen("/v1/events", &[]).await;
    assert_eq!(listener.next().await.event, "snapshot");
    let args = ["run", "--client-questions", "none", "--", ASKBRIDGE, "mock-agent"];
    for _ in 0..3 {
        let mut run = Process::spawn(&mut askbridge(&folder, &args));
        ask(&mut run, "session-1");
        let id = listener.requested().await;
        let params = json!({ "id": id, "answer": { "answers": [["option-a"]] } });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "question_answer", "params": params });
        let view = http.post("/rpc", &call.to_string()).await.is(200).json();
        assert_eq!(view["result"]["settlement"]["by"]["responder"], "rpc", "{view}");
        assert_eq!(http.get("/v1/questions").await.is(200).json()["questions"], json!([]));
    }
    let mut run = Process::spawn(&mut askbridge(&folder, &args));
    ask(&mut run, "session-1");
    let id = listener.requested().await;
    // The journal has the question a moment after it has opened.
    soon("the journal", async {
        while !has_noted(&folder, &id) {
            yield_now().await;
        }
    })
    .await;
    drop(run);
    let told = loop {
        let event = listener.next().await;
        if event.event == "question.resolved" && event.data["question"]["id"] == *id {
            break event.data;
        }
    };
    let of_session = format!("sessions/session-1/questions/{}", told["questionId"].as_str().unwrap());
    for path in [format!("questions/{id}"), of_session] {
        http.post(&format!("/v1/{path}/reply"), r#"{"answers":[["option-a"]]}"#).await.is(503);
        assert_eq!(http.get(&format!("/v1/{path}")).await.is(200).json()["state"], "lost");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_came_later_knows_what_a_bridge_remembers() {
    let folder = tempfile::tempdir().unwrap();
    let start = || Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]));
    let first = start();
    let client = http(&first, &folder);
    let mut listener = client.listen("/v1/events", &[]).await;
    let args = ["run", "--client-questions", "none", "--", ASKBRIDGE, "mock-agent"];
    let mut run = Process::spawn(&mut askbridge(&folder, &args));
    ask(&mut run, "session-1");
    let id = listener.requested().await;
    let reply = |value: &str| json!({ "answers": [[value]] }).to_string();
    client.post(&format!("/v1/questions/{id}/reply"), &reply("option-a")).await.is(204);
    drop(first);

    let second = start();
    let client = http(&second, &folder);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "question_get", "params": { "id": id } });
    let found = client.post("/rpc", &call.to_string()).await.is(200).json();
    assert_eq!(found["result"]["settlement"]["by"]["responder"], "http", "{found}");
    for path in [format!("questions/{id}"), format!("sessions/session-1/questions/{id}")] {
        client.get(&format!("/v1/{path}")).await.is(200);
        client.post(&format!("/v1/{path}/reply"), &reply("option-a")).await.is(204);
        client.post(&format!("/v1/{path}/reply"), &reply("option-b")).await.is(409);
    }
    client.get(&format!("/v1/sessions/another/questions/{id}")).await.is(404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_outlives_bridges_and_is_searched() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]));
    let http = http(&inbox, &folder);
    let history = async |query: &str| http.get(&format!("/v1/history{query}")).await.is(200).json();
    assert_eq!(history("").await, json!({ "protocol": 1, "questions": [] }));
    let mut listener = http.listen("/v1/events", &[]).await;
    let args = ["run", "--client-questions", "none", "--", ASKBRIDGE, "mock-agent"];
    let mut ids = Vec::new();
    for value in ["option-a", "option-b"] {
        let mut run = Process::spawn(&mut askbridge(&folder, &args));
        ask(&mut run, "session-1");
        let id = listener.requested().await;
        let answer = json!({ "answers": [[value]] }).to_string();
        http.post(&format!("/v1/questions/{id}/reply"), &answer).await.is(204);
        run.close_stdin();
        run.wait();
        ids.insert(0, id);
    }
    let listed = history("").await["questions"].clone();
    let listed: Vec<_> = listed.as_array().unwrap().iter().map(|it| &it["record"]["id"]).collect();
    assert_eq!(listed, ids.iter().collect::<Vec<_>>());
    let found =
        history(&format!("?search=HTTP%20{}&by=http&since=2020-01-01T00:00:00Z&limit=5", ids[1])).await;
    assert_eq!(found["questions"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["questions"][0]["record"]["settlement"]["outcome"]["status"], "answered");
    for none in
        ["?search=option-c", "?by=page", "?until=2020-01-01T00:00:00Z", "?limit=0", "?project=/nowhere"]
    {
        assert_eq!(history(none).await["questions"], json!([]), "{none}");
    }
    for wrong in ["?since=yesterday", "?limit=many"] {
        assert_eq!(http.get(&format!("/v1/history{wrong}")).await.is(400).json()["name"], "bad_request");
    }
    let typo = http.get("/v1/history?serch=x").await.is(400).json();
    let names = "`search`, `session`, `project`, `by`, `since`, `until`, `limit`";
    assert_eq!(typo["detail"], format!("unknown parameter `serch`, expected one of {names}"));
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "question_history", "params": { "limit": 1 } });
    let reply = http.post("/rpc", &call.to_string()).await.is(200).json();
    assert_eq!(reply["result"]["questions"][0]["record"]["id"], *ids[0], "{reply}");
}

/// What waits takes no place of what is over, in any order in which they were asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_questions_do_not_count_into_the_limit_of_the_history() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]));
    let http = http(&inbox, &folder);
    let mut listener = http.listen("/v1/events", &[]).await;
    let (mut open, mut settled) = (Vec::new(), Vec::new());
    let args = ["run", "--client-questions", "none", "--", ASKBRIDGE, "mock-agent"];
    for is_settled in [false, true, true, false, true, false] {
        let mut run = Process::spawn(&mut askbridge(&folder, &args));
        ask(&mut run, "session-1");
        let id = listener.requested().await;
        if is_settled {
            let answer = json!({ "answers": [["option-a"]] }).to_string();
            http.post(&format!("/v1/questions/{id}/reply"), &answer).await.is(204);
            run.close_stdin();
            run.wait();
            settled.insert(0, id);
        } else {
            open.push(run);
        }
    }
    let ids = |listed: &Value| -> Vec<String> {
        let questions = listed["questions"].as_array().unwrap().iter();
        questions.map(|past| past["record"]["id"].as_str().unwrap().to_owned()).collect()
    };
    for (query, count) in [
        ("", 3),
        ("?limit=0", 0),
        ("?limit=1", 1),
        ("?limit=2", 2),
        ("?limit=3", 3),
        ("?limit=128", 3),
        ("?search=option-a&limit=2", 2),
        ("?since=2020-01-01T00:00:00Z&limit=2", 2),
    ] {
        let listed = http.get(&format!("/v1/history{query}")).await.is(200).json();
        assert_eq!(ids(&listed), settled[..count], "{query}");
        assert_eq!(listed.get("missing"), None, "{query}");
    }
    for (args, is_over, count) in [
        (&["--limit", "1"][..], true, 1),
        (&["--limit", "3"], true, 3),
        (&["--since", "1h"], true, 3),
        (&["--until", "2999-01-01", "--limit", "2"], true, 2),
        // Only the room that is left is for what waits.
        (&["--limit", "5"], false, 5),
        (&[], false, 6),
    ] {
        let args = [&["history", "--json"], args].concat();
        let mut run = Process::spawn(&mut askbridge(&folder, &args));
        let lines: Vec<u8> = std::iter::from_fn(|| run.next_line()).flatten().collect();
        let listed: Value = serde_json::from_slice(&lines).unwrap();
        run.wait();
        let listed = ids(&listed);
        assert_eq!(listed.len(), count, "{args:?}");
        assert!(listed.iter().all(|id| settled.contains(id)) || !is_over, "{args:?}: {listed:?}");
        assert_eq!(listed.iter().filter(|id| settled.contains(id)).count(), count.min(3), "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bridge_serves_itself() {
    let folder = tempfile::tempdir().unwrap();
    let serve = ["run", "--serve", "localhost:0", "--client-questions", "none"];
    let args = [&serve[..], &["--", ASKBRIDGE, "mock-agent"]].concat();
    let mut run = Process::spawn(&mut askbridge(&folder, &args));
    let http = http(&run, &folder);
    let mut listener = http.listen("/event", &[]).await;
    assert_eq!(listener.next().await.data["type"], "server.connected");
    ask(&mut run, "session-1");
    let asked = listener.next().await.data;
    assert_eq!(asked["type"], "question.asked");
    let id = asked["properties"]["id"].as_str().unwrap();
    http.post(&format!("/question/{id}/reply"), r#"{"answers":[["Option A"]]}"#).await.is(200);
    run.expect("the agent's next words", |line| line.contains("You chose: option-a"));
    let metrics = http.get("/metrics").await.body;
    status_over_rpc(&http).await;
    // Three requests of this test, and what came from the agent.
    assert!(metrics.lines().any(|line| line == "askbridge_lines_total{from=\"client\"} 3"), "{metrics}");
    assert!(metrics.contains("askbridge_bytes_total{from=\"agent\"} "), "{metrics}");
    assert!(!metrics.contains("askbridge_bytes_total{from=\"agent\"} 0\n"), "{metrics}");
    run.close_stdin();
    assert_eq!(run.wait().code(), Some(0));
    is_not_in(&http, &run);
}

/// The agent ends as soon as it has the answer, and the bridge with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_confirmed_though_the_agent_ends() {
    let folder = tempfile::tempdir().unwrap();
    let params = json!({ "sessionId": "s", "questionId": "q", "prompt": "Which?", "options": ["a"] });
    let method = "_sandboxagent/session/request_question";
    let request = json!({ "jsonrpc": "2.0", "id": "q", "method": method, "params": params });
    let agent = format!("echo '{request}'; read answer");
    for _ in 0..5 {
        let args = ["run", "--serve=127.0.0.1:0", "--client-questions", "none", "--", "sh", "-c", &agent];
        let mut run = Process::spawn(&mut askbridge(&folder, &args));
        let http = http(&run, &folder);
        let mut listener = http.listen("/v1/events", &[]).await;
        while listener.next().await.data["questionId"] != "q" {}
        http.post("/v1/sessions/s/questions/q/reply", r#"{"answers":[["a"]]}"#).await.is(204);
        assert_eq!(run.wait().code(), Some(0));
    }
}

/// An editor that starts two bridges with the same options still has two.
#[test]
fn a_bridge_that_cannot_listen_still_bridges() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let serve = format!("--serve={}", taken.local_addr().unwrap());
    let mut run = Process::spawn(&mut askbridge(&folder, &["run", &serve, "--", ASKBRIDGE, "mock-agent"]));
    run.expect_stderr("a warning", |text| text.contains("nothing is served over HTTP"));
    ask(&mut run, "session-1");
    run.expect("a question", |line| line.contains("request_permission"));
    run.close_stdin();
    run.wait();
}

#[test]
fn a_server_that_cannot_listen_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut inbox = Process::spawn(&mut askbridge(&folder, &["inbox", "--addr", &address]));
    assert_eq!(inbox.wait().code(), Some(i32::from(askbridge_os::exit::FAILED)));
    let stderr = inbox.whole_stderr();
    assert!(
        stderr.contains(&format!("cannot listen on {address}")) && stderr.contains("choose another"),
        "{stderr}"
    );
    let missing = Path::new("missing/token");
    let args = ["inbox", "--addr", "127.0.0.1:0", "--token-file", missing.to_str().unwrap()];
    let mut inbox = Process::spawn(&mut askbridge(&folder, &args));
    assert_eq!(inbox.wait().code(), Some(i32::from(askbridge_os::exit::FAILED)));
    assert!(inbox.whole_stderr().contains("cannot read or make the token file"));
    // It has no writer.
    let pipe = folder.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    let args = ["inbox", "--addr", "127.0.0.1:0", "--token-file", pipe.to_str().unwrap()];
    let mut inbox = Process::spawn(&mut askbridge(&folder, &args));
    assert_eq!(inbox.wait().code(), Some(i32::from(askbridge_os::exit::FAILED)));
    assert!(inbox.whole_stderr().contains("is no regular file"));
}

fn terminate(process: &mut Process) {
    let pid = rustix::process::Pid::from_raw(process.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    process.wait();
}
