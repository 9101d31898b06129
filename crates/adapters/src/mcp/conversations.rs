//! Conversations with the server, line by line, under a virtual clock.

use std::time::Duration;

use askbridge_core::desk::Refusal;
use futures::FutureExt;
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use super::{
    McpOptions,
    stage::{TestClient, answer, which},
};

fn text(reply: &Json) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {reply}"))
}

fn status(reply: &Json) -> &str {
    reply["result"]["structuredContent"]["status"].as_str().unwrap_or_else(|| panic!("no status: {reply}"))
}

async fn client() -> TestClient {
    TestClient::initialized(McpOptions::default(), "test").await
}

#[tokio::test(start_paused = true)]
async fn responder_is_told_once_the_agent_has_the_answer() {
    let mut client = client().await;
    let id = client.ask(1, None).await;
    let inbox = client.inbox();
    let mut told = Box::pin(answer(&inbox, &id, "SQLite"));
    // The client does not read, and the reply is longer than what waits in the pipe.
    for _ in 0..100 {
        assert!(told.as_mut().now_or_never().is_none(), "told before the agent has the answer");
        tokio::task::yield_now().await;
    }
    let reply = client.reply().await;
    assert_eq!(reply["id"], 1);
    assert_eq!(text(&reply), "The person answered.\n1. Which?\n   Answer: SQLite");
    assert_eq!(told.await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn call_without_progress_returns_a_ticket_before_its_client_gives_up() {
    let mut client = client().await;
    let began = Instant::now();
    let id = client.ask(1, None).await;
    let reply = client.message().await.expect("a reply");
    assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
    assert_eq!(
        (status(&reply), &reply["result"]["structuredContent"]["ticket"]),
        ("waiting", &json!(id.to_string()))
    );
    // The answer comes while the agent has only the ticket.
    assert_eq!(answer(&client.inbox(), &id, "Postgres").await, Ok(()));
    for call in [2, 3] {
        client.call(call, "wait_for_answer", json!({ "ticket": id.to_string() }), None).await;
        let reply = client.reply().await;
        assert!(text(&reply).ends_with("Answer: Postgres"), "{reply}");
    }
}

#[tokio::test(start_paused = true)]
async fn progress_is_reported_until_the_ticket_and_while_the_ticket_waits() {
    let mut client = client().await;
    let began = Instant::now();
    let id = client.ask(1, Some("t")).await;
    let (mut last, mut reports, mut before) = (began, 0, -1.0);
    let reply = loop {
        let message = client.message().await.expect("a message");
        if message.get("id").is_some() {
            break message;
        }
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], "t");
        let progress = message["params"]["progress"].as_f64().expect("a number");
        assert!(progress > before, "progress must grow");
        assert!(last.elapsed() <= Duration::from_secs(10), "{:?} without progress", last.elapsed());
        (last, reports, before) = (Instant::now(), reports + 1, progress);
    };
    assert!(reports > 10, "{reports} reports");
    assert_eq!(status(&reply), "waiting");
    assert!(began.elapsed() < Duration::from_secs(225), "Claude Desktop gives up after about 240 s");
    client.call(2, "wait_for_answer", json!({ "ticket": id.to_string() }), Some("u")).await;
    let message = client.message().await.expect("a message");
    assert_eq!(message["params"]["progressToken"], "u");
    let inbox = client.inbox();
    let (told, reply) = tokio::join!(answer(&inbox, &id, "SQLite"), client.reply());
    assert_eq!((told, status(&reply)), (Ok(()), "answered"));
}

#[tokio::test(start_paused = true)]
async fn wait_that_the_person_has_set_holds() {
    let options = McpOptions { wait: Some(Duration::from_secs(7)) };
    let mut client = TestClient::initialized(options, "claude-code").await;
    let began = Instant::now();
    client.ask(1, Some("t")).await;
    assert_eq!(status(&client.reply().await), "waiting");
    assert_eq!(began.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn cancelled_call_withdraws_its_question_and_gets_no_reply() {
    let mut client = client().await;
    let id = client.ask(1, None).await;
    client.cancel(1).await;
    client.request(2, "ping", json!({})).await;
    assert_eq!(client.reply().await["id"], 2);
    assert!(client.open().is_empty());
    let told = answer(&client.inbox(), &id, "SQLite").await;
    assert!(matches!(told, Err(Refusal::Gone(_))), "{told:?}");
    client.call(3, "wait_for_answer", json!({ "ticket": id.to_string() }), None).await;
    let reply = client.reply().await;
    assert_eq!(
        (&reply["id"], &reply["result"]["structuredContent"]["reason"]),
        (&json!(3), &json!("cancelled"))
    );
}

#[tokio::test(start_paused = true)]
async fn cancellation_after_the_reply_changes_nothing() {
    let mut client = client().await;
    let id = client.ask(1, None).await;
    let inbox = client.inbox();
    let (told, reply) = tokio::join!(answer(&inbox, &id, "SQLite"), client.reply());
    assert_eq!((told, status(&reply)), (Ok(()), "answered"));
    client.cancel(1).await;
    client.call(2, "wait_for_answer", json!({ "ticket": id.to_string() }), None).await;
    assert_eq!(status(&client.reply().await), "answered");
}

#[tokio::test(start_paused = true)]
async fn one_of_two_waiting_calls_may_be_cancelled() {
    let mut client = client().await;
    let id = client.ask(1, None).await;
    client.call(2, "wait_for_answer", json!({ "ticket": id.to_string() }), Some("t")).await;
    client.message().await.expect("progress of the second call");
    client.cancel(2).await;
    let inbox = client.inbox();
    let (told, reply) = tokio::join!(answer(&inbox, &id, "SQLite"), client.reply());
    assert_eq!((told, &reply["id"]), (Ok(()), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn answer_that_a_cancelled_call_cannot_take_is_reported_as_lost() {
    let mut client = client().await;
    // The replies to these fill the pipe, so that the answer after them is not written.
    let id = client.ask(1, None).await;
    for ping in 10..20 {
        client.request(ping, "ping", json!({})).await;
    }
    client.cancel(1).await;
    let inbox = client.inbox();
    // Accepted before the server has read the cancellation.
    let told = answer(&inbox, &id, "SQLite");
    let pings = async {
        for _ in 10..20 {
            assert_ne!(client.reply().await["id"], 1, "a request that was cancelled has a reply");
        }
    };
    let (told, ()) = tokio::join!(told, pings);
    assert!(told.is_err(), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn end_of_stdin_withdraws_every_question_at_once() {
    let mut client = client().await;
    let first = client.ask(1, None).await;
    let second = client.ask(2, Some("t")).await;
    let (inbox, began) = (client.inbox(), Instant::now());
    client.close_stdin();
    while !client.open().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
    let reply = client.reply().await;
    assert_eq!(
        (status(&reply), &reply["result"]["structuredContent"]["reason"]),
        ("rejected", &json!("cancelled"))
    );
    // The client does not read the other reply.
    client.end().await;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    for id in [first, second] {
        let told = answer(&inbox, &id, "SQLite").await;
        assert!(matches!(told, Err(Refusal::Gone(_))), "{told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn end_of_stdin_reports_an_answer_that_was_not_written_as_lost() {
    let mut client = client().await;
    let id = client.ask(1, None).await;
    let inbox = client.inbox();
    let mut told = Box::pin(answer(&inbox, &id, "SQLite"));
    for _ in 0..100 {
        assert!(told.as_mut().now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    // The client reads nothing any more.
    client.end().await;
    assert_eq!(told.await, Err(Refusal::Unavailable));
}

#[tokio::test(start_paused = true)]
async fn several_questions_wait_at_once_and_each_gets_its_own_answer() {
    let mut client = client().await;
    let mut asked = Vec::new();
    for call in 1..=5 {
        asked.push((call, client.ask(call, None).await));
    }
    let inbox = client.inbox();
    for (call, id) in asked.into_iter().rev() {
        let words = format!("Answer of {call}");
        let (told, reply) = tokio::join!(answer(&inbox, &id, &words), client.reply());
        assert_eq!((told, &reply["id"]), (Ok(()), &json!(call)));
        assert!(text(&reply).ends_with(&format!("In their own words: {words}")), "{reply}");
    }
}

#[tokio::test(start_paused = true)]
async fn limit_on_open_questions_is_said_and_leaves_room_to_cancel() {
    let mut client = client().await;
    for call in 1..=64 {
        client.ask(call, None).await;
    }
    client.call(100, "ask_user_question", which(), None).await;
    let reply = client.reply().await;
    assert_eq!((&reply["id"], &reply["result"]["isError"]), (&json!(100), &json!(true)));
    client.cancel(1).await;
    while client.open().len() == 64 {
        tokio::task::yield_now().await;
    }
    client.ask(101, None).await;
}

#[tokio::test(start_paused = true)]
async fn bad_input_is_an_error_that_says_how_to_call() {
    let mut client = client().await;
    for arguments in [
        json!({}),
        json!({ "questions": [] }),
        json!({ "questions": "Which?" }),
        json!("Which?"),
        json!(null),
    ] {
        client.call(1, "ask_user_question", arguments.clone(), None).await;
        let reply = client.reply().await;
        assert_eq!(
            (&reply["id"], &reply["result"]["isError"]),
            (&json!(1), &json!(true)),
            "{arguments}: {reply}"
        );
        assert!(text(&reply).starts_with("The question was not asked: "), "{reply}");
        assert!(text(&reply).contains(r#"{"questions":[{"question":"#), "{reply}");
    }
    client.call(2, "wait_for_answer", json!({ "ticket": "x" }), None).await;
    let reply = client.reply().await;
    assert!(text(&reply).contains("There is no ticket \"x\""), "{reply}");
    client.call(3, "other", json!({}), None).await;
    assert_eq!(client.reply().await["error"]["code"], -32602);
    client.request(4, "nothing/known", json!({})).await;
    assert_eq!(client.reply().await["error"]["code"], -32601);
}

#[tokio::test(start_paused = true)]
async fn client_without_initialize_is_served() {
    let mut client = TestClient::start(McpOptions::default());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "next", "title": "The Next", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 7,
    });
    client.request(1, "server/discover", json!({ "_meta": meta })).await;
    let reply = client.reply().await;
    assert!(
        reply["result"]["supportedVersions"].as_array().is_some_and(|all| all.contains(&json!("2026-07-28"))),
        "{reply}"
    );
    client.request(2, "tools/list", json!({ "_meta": meta })).await;
    let reply = client.reply().await;
    assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
    assert_eq!(reply["result"]["tools"][0]["name"], "ask_user_question");
    let params = json!({ "name": "ask_user_question", "arguments": which(), "_meta": meta });
    client.request(3, "tools/call", params).await;
    let progress = client.message().await.expect("progress");
    assert_eq!(progress["params"]["progressToken"], 7, "{progress}");
    let [id] = &*client.open() else { panic!("one question") };
    let inbox = client.inbox();
    let (told, reply) = tokio::join!(answer(&inbox, id, "SQLite"), client.reply());
    assert_eq!((told, status(&reply)), (Ok(()), "answered"));
    assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
    assert_eq!(client.who().agent, "The Next");
    // Without its metadata, a request says nothing of its client.
    client.request(4, "tools/list", json!({})).await;
    assert_eq!(client.reply().await["error"]["code"], -32602);
}

#[tokio::test(start_paused = true)]
async fn messages_before_the_first_request_end_nothing() {
    let mut client = TestClient::start(McpOptions::default());
    client.request(1, "server/discover", json!({})).await;
    assert_eq!(client.reply().await["id"], 1);
    client.cancel(1).await;
    client.notify("notifications/initialized", json!({})).await;
    client.send(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} })).await;
    client.request(2, "ping", json!({})).await;
    assert_eq!(client.reply().await["id"], 2);
    // Without its metadata, this does not begin anything either.
    client.request(3, "tools/list", json!({})).await;
    assert_eq!(client.reply().await["error"]["code"], -32602);
    client.cancel(3).await;
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    client.request(4, "initialize", params).await;
    assert_eq!(client.reply().await["result"]["protocolVersion"], "2025-06-18");
    client.ask(5, None).await;
    client.cancel(5).await;
    while !client.open().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn newest_version_with_initialize_is_agreed_on() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut client = TestClient::start(McpOptions::default());
        let info = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": info });
        client.request(1, "initialize", params).await;
        let reply = client.reply().await;
        assert_eq!(reply["result"]["protocolVersion"], agreed, "{reply}");
        assert_eq!(reply["result"]["serverInfo"]["name"], "askbridge");
        client.request(2, "tools/list", json!({})).await;
        let reply = client.reply().await;
        assert_eq!(reply["result"]["tools"].as_array().map(Vec::len), Some(2), "{reply}");
        assert!(reply["result"].get("resultType").is_none(), "older clients know no such member: {reply}");
    }
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_no_messages_end_nothing() {
    let mut client = client().await;
    for line in ["", "{", "[]", "5", "\u{1b}[2J", r#"{"jsonrpc":"2.0","method":"unknown"}"#] {
        client.send_line(line).await;
    }
    client.request(9, "ping", json!({})).await;
    while client.reply().await["id"] != 9 {}
}

#[tokio::test(start_paused = true)]
async fn folder_that_the_client_names_is_shown() {
    let mut client = TestClient::start(McpOptions::default());
    let info = json!({ "name": "claude-code", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": { "roots": {} }, "clientInfo": info });
    client.request(0, "initialize", params).await;
    client.reply().await;
    client.call(1, "ask_user_question", which(), None).await;
    let asked = client.message().await.expect("a request");
    assert_eq!(asked["method"], "roots/list");
    let roots = json!([{ "uri": "file:///some%20where" }, { "uri": "file:///else" }]);
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": roots } })).await;
    assert_eq!(status(&client.reply().await), "waiting");
    let who = client.who();
    assert_eq!((&*who.agent, who.folder.to_str()), ("Claude Code", Some("/some where")));
    assert_eq!(who.pid, Some(std::os::unix::process::parent_id()));
}
