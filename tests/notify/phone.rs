//! The phone: messages by an ntfy server, and taps that come in time, twice, late, from a stranger, or forged.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::answers::machine::end;
use crate::notify::server::{Manner, Server};
use crate::notify::stage::{Stage, notifiers, permission, question};

fn stage(server: &Server, text: &str) -> Stage {
    Stage::new()
        .with("ASKBRIDGE_NOTIFY_NTFY_SERVER", &server.url)
        .with("ASKBRIDGE_NOTIFY_NTFY_TOPIC", "my-phone")
        .with("ASKBRIDGE_NOTIFY_NTFY_TOKEN", "tk_secret")
        .with("ASKBRIDGE_NOTIFY_NTFY_TEXT", text)
}

fn labels(message: &Value) -> Vec<&str> {
    message["actions"].as_array().unwrap().iter().map(|action| action["label"].as_str().unwrap()).collect()
}

/// Taps the button at this place of a message.
fn tap(server: &Server, message: &Value, place: usize) {
    let action = &message["actions"][place];
    assert_eq!((&action["action"], &action["method"]), (&"http".into(), &"POST".into()));
    server.tap(action["url"].as_str().unwrap(), action["body"].as_str().unwrap());
}

#[test]
fn a_tap_answers_and_the_message_is_replaced() {
    let server = Server::start(Manner::Ntfy);
    let stage = stage(&server, "all");
    let (mut bridge, id) = stage.asking(&question("Deploy?"));
    let message = server.published("the message", |json| json["topic"] == "my-phone");
    assert_eq!(message["title"].as_str().unwrap().split(" in ").next(), Some("A question waits"));
    assert!(message["message"].as_str().unwrap().starts_with("Deploy?"));
    assert_eq!((labels(&message), &message["markdown"]), (vec!["yes", "no"], &Value::Null));
    let head = server.request("the message", 1, |request| request.path == "/").head;
    assert!(head.contains("authorization: bearer tk_secret"), "{head}");
    assert!(!message.to_string().contains("tk_secret"), "a reader of the topic must not have the token");
    assert!(server.listener().head.contains("authorization: bearer tk_secret"));
    tap(&server, &message, 1);
    bridge.expect("the answer", |line| line.contains("heard") && line.contains("no"));
    let shown: Value = serde_json::from_str(&stage.machine.ok(&["show", &id, "--json"])).unwrap();
    assert_eq!(shown["settlement"]["by"]["responder"], "notification");
    assert_eq!(shown["settlement"]["by"]["name"], "ntfy");
    let update = server.published("the update", |json| json["actions"].is_null());
    assert_eq!(update["sequence_id"], message["sequence_id"]);
    assert_eq!((&update["message"], &update["priority"]), (&"It was answered".into(), &1.into()));
    // The same tap again changes nothing, and is not told anything.
    tap(&server, &message, 1);
    tap(&server, &message, 0);
    let late = server.published("the late tap", |json| json["sequence_id"].is_null());
    assert_eq!(late["message"], "Too late: the question was answered already");
    assert_eq!(server.count(), 3);
}

/// An agent says that its tool call is about another file as well.
fn another_file() -> Value {
    let update = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "t", "locations": [{ "path": "/src/b.rs" }],
    });
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": update } })
}

#[test]
fn a_tap_counts_only_for_the_text_above_it() {
    let server = Server::start(Manner::Ntfy);
    let stage = stage(&server, "all");
    let (mut bridge, _) = stage.asking(&permission("read"));
    let first = server.published("the message", |json| json.to_string().contains("/src/a.rs"));
    let allow = |message: &Value| labels(message).iter().position(|label| *label == "Allow").unwrap();
    bridge.send(&format!("ask {}", another_file()));
    let second = server.published("the present text", |json| json.to_string().contains("/src/b.rs"));
    assert!(!first.to_string().contains("/src/b.rs"), "{first}");
    let over = server.published("the end of the first", |json| {
        json["sequence_id"] == first["sequence_id"] && json["actions"].is_null()
    });
    assert_eq!(over["message"], "It has changed since");
    tap(&server, &first, allow(&first));
    let told = server.published("the refusal", |json| json["sequence_id"].is_null());
    assert_eq!(told["message"], "Not sent: the question has changed, look at it again");
    tap(&server, &second, allow(&second));
    bridge.expect("the approval", |line| line.contains("heard") && line.contains("\"once\""));
}

#[test]
fn a_notifier_that_starts_after_a_change_shows_the_present_text() {
    let server = Server::start(Manner::Ntfy);
    let stage = stage(&server, "all");
    let (mut bridge, id) = stage.asking(&permission("read"));
    server.published("the message", |json| json.to_string().contains("/src/a.rs"));
    for pid in notifiers(bridge.id()) {
        let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
    }
    bridge.send(&format!("ask {}", another_file()));
    stage.machine.watch().until("the change", |open| open.iter().any(|question| question["edition"] == 1));
    let again = stage.start(&["notify", &id]);
    let message = server.published("the present text", |json| json.to_string().contains("/src/b.rs"));
    let allow = labels(&message).iter().position(|label| *label == "Allow").unwrap();
    tap(&server, &message, allow);
    bridge.expect("the approval", |line| line.contains("heard") && line.contains("\"once\""));
    assert_eq!(end(again).code, 0);
}

#[test]
#[cfg(feature = "journal")]
fn a_tap_that_ends_the_bridge_is_in_the_journal() {
    let server = Server::start(Manner::Ntfy);
    let stage = stage(&server, "all");
    // The agent asks, and ends with its answer.
    let agent = r#"printf '%s\n' "$1"; IFS= read -r line"#;
    let asked = question("Deploy?").to_string();
    let mut bridge =
        stage.start(&["run", "--client-questions", "none", "--", "sh", "-c", agent, "sh", &asked]);
    let message = server.published("the message", |json| json["topic"] == "my-phone");
    server.listener();
    tap(&server, &message, 0);
    assert_eq!(bridge.wait().code(), Some(0));
    let history: Value = serde_json::from_str(&stage.machine.ok(&["history", "--json"])).unwrap();
    let [past] = &history["questions"].as_array().unwrap()[..] else { panic!("{history}") };
    let settlement = &past["record"]["settlement"];
    assert_eq!(
        (&settlement["outcome"]["status"], &settlement["by"]["name"]),
        (&"answered".into(), &"ntfy".into())
    );
    let listed: Value = serde_json::from_str(&stage.machine.ok(&["list", "--json"])).unwrap();
    assert_eq!((&listed["questions"], &listed["lost"]), (&Value::Array(vec![]), &Value::Array(vec![])));
}

#[test]
fn strangers_and_forgeries_answer_nothing() {
    let server = Server::start(Manner::Ntfy);
    let stage = stage(&server, "all");
    let (mut bridge, id) = stage.asking(&question("Deploy?"));
    let first = server.published("the message", |json| json["topic"] == "my-phone");
    server.listener();
    // A second question has values of its own: those of the first are of no use for it.
    let (mut other, _) = {
        let mut other = stage.bridge();
        other.send(&format!("ask {}", question("Drop it?")));
        (other, stage.machine.questions(2))
    };
    let second = server.published("the other message", |json| json.to_string().contains("Drop it?"));
    let (reply, value) = (&second["actions"][0]["url"], &second["actions"][0]["body"]);
    assert_ne!(reply, &first["actions"][0]["url"]);
    assert_ne!(value, &first["actions"][0]["body"]);
    let url = first["actions"][0]["url"].as_str().unwrap();
    for forged in ["yes", "0", "", value.as_str().unwrap(), &"0".repeat(32)] {
        server.tap(url, forged);
    }
    server.tap(&format!("{}/my-phone", server.url), first["actions"][0]["body"].as_str().unwrap());
    // What comes behind them is heard.
    tap(&server, &first, 1);
    bridge.expect("the answer", |line| line.contains("heard") && line.contains("no"));
    other.send("ping");
    other.expect("no answer before the echo", |line| {
        assert!(!line.contains("\"result\""), "{line}");
        line == "heard ping"
    });
    assert_ne!(stage.machine.question(), id);
}

#[test]
fn a_late_tap_is_told_that_it_was_late_by_an_old_server_too() {
    let server = Server::start(Manner::OldNtfy);
    let stage = stage(&server, "all");
    let (mut bridge, id) = stage.asking(&question("Deploy?"));
    let message = server.published("the message", |json| json["topic"] == "my-phone");
    server.listener();
    assert_eq!(stage.machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
    bridge.expect("the answer", |line| line.contains("heard"));
    tap(&server, &message, 1);
    let late = server.published("the late tap", |json| json["sequence_id"].is_null());
    assert_eq!(late["message"], "Too late: the question was answered already");
    assert_eq!(server.count(), 2, "an old server would show an update as a new message");
}

#[test]
fn a_permission_that_acts_has_no_allow_button() {
    const DENY: &[&str] = &["Deny"];
    for (kind, expected) in
        [("execute", DENY), ("Execute", DENY), ("other", DENY), ("", DENY), ("read", &["Allow", "Deny"])]
    {
        let server = Server::start(Manner::Ntfy);
        let stage = stage(&server, "all");
        let (mut bridge, _) = stage.asking(&permission(kind));
        let message = server.published("the message", |json| json["topic"] == "my-phone");
        assert_eq!(labels(&message), expected, "{kind}");
        server.listener();
        tap(&server, &message, expected.len() - 1);
        bridge.expect("the answer", |line| line.contains("heard") && line.contains("never"));
    }
}

#[test]
fn by_default_only_the_project_leaves_the_machine() {
    let server = Server::start(Manner::Ntfy);
    let stage = Stage::new()
        .with("ASKBRIDGE_NOTIFY_NTFY_SERVER", &server.url)
        .with("ASKBRIDGE_NOTIFY_NTFY_TOPIC", "my-phone");
    let (_bridge, _) = stage.asking(&question("Delete the database?"));
    let message = server.published("the message", |json| json["topic"] == "my-phone");
    assert!(message["actions"].as_array().is_none_or(Vec::is_empty), "{message}");
    assert!(!message.to_string().contains("database"), "{message}");
    assert!(message["message"].as_str().unwrap().starts_with("A question waits in "), "{message}");
}

#[test]
fn a_question_that_is_answered_within_the_delay_starts_nothing() {
    let server = Server::start(Manner::Ntfy);
    let stage =
        stage(&server, "all").with("ASKBRIDGE_NOTIFY_DELAY", "1h").with("ASKBRIDGE_NOTIFY_NTFY_DELAY", "1h");
    let (mut bridge, id) = stage.asking(&question("Deploy?"));
    assert_eq!(stage.machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
    bridge.expect("the answer", |line| line.contains("heard"));
    assert_eq!((crate::notify::stage::notifiers(bridge.id()).len(), server.count()), (0, 0));
}

#[test]
fn tap_between_two_streams_is_heard_and_none_is_heard_twice() {
    let server = Server::start(Manner::Breaks);
    let stage = stage(&server, "all");
    let (mut bridge, id) = stage.asking(&question("Deploy?"));
    let message = server.published("the message", |json| json["topic"] == "my-phone");
    server.listener();
    server.tap(message["actions"][0]["url"].as_str().unwrap(), "of a stranger");
    // The server ends each stream after what it has by then. The second one begins after the pause.
    let second = server.request("the second stream", 2, |request| request.path.contains("/json?since="));
    assert!(second.path.ends_with("since=all"), "{second:?}");
    tap(&server, &message, 1);
    let third = server.request("the third stream", 3, |request| request.path.contains("/json?since="));
    assert!(third.path.ends_with("since=m1"), "the stranger's message was read: {third:?}");
    bridge.expect("the answer", |line| line.contains("heard") && line.contains("no"));
    assert!(stage.machine.ok(&["show", &id]).contains("answered"));
}

#[test]
fn no_secret_is_logged_at_any_level() {
    let server = Server::start(Manner::Redirects);
    let stage = stage(&server, "all").with("ASKBRIDGE_LOG_LEVEL", "trace");
    let (bridge, id) = stage.asking(&question("Deploy?"));
    let said = bridge.expect_stderr("the failure", |text| text.contains("ntfy: the server redirects"));
    let by_hand = end(stage.start(&["notify", "--now", &id]));
    assert!(by_hand.stderr.contains("ntfy: the server redirects"), "{}", by_hand.stderr);
    for text in [&said, &by_hand.stderr] {
        assert!(!text.contains("tk_secret") && !text.contains("my-phone"), "{text}");
    }
}
