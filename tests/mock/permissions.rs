//! Permissions between the mock agent and the mock client: the requests in each dialect with one file each in
//! `fixtures/dialects`, the reports on every outcome, and the ends of a turn with an open permission.
//! `UPDATE=1 cargo test --test suites mock::` writes the files.

use serde_json::{Value, json};

use crate::mock::client::{asked, scripted};
use crate::mock::dialects::{Case, NOT_FOUND, PERMISSION_CANCELLED, check, nothing};
use crate::mock::peer::Client;

/// Every dialect with permissions of its own, and the IDs of an option that allows a fetch, of one that rejects a
/// command, of one that allows a plan and of one that allows an edit.
const DIALECTS: [(&str, [&str; 4]); 13] = [
    ("claude", ["allow-with-updates", "reject", "exit-plan-auto", "allow-once"]),
    ("codex", ["allow_permissions_session", "cancel", "implement_plan", "allow_for_session"]),
    ("kimi", ["approve_always", "reject", "plan_approve", "approve_once"]),
    ("gemini", ["proceed_always", "cancel", "proceed_once", "proceed_always"]),
    ("qwen", ["proceed_always_user", "cancel", "restore_previous", "proceed_once"]),
    ("opencode", ["always", "reject", "once", "once"]),
    ("cursor", ["allow-always", "reject-once", "allow-once", "allow-once"]),
    ("grok", ["allow-once", "reject-always-command", "allow-once", "allow-once"]),
    ("pi", ["yes", "no", "yes", "yes"]),
    ("oh-my-pi", ["allow_always", "reject_always", "allow_once", "allow_once"]),
    ("form", ["allow-always", "reject-once", "allow-once", "allow-once"]),
    ("devin", ["allow-always", "reject-once", "allow-once", "allow-once"]),
    ("sandboxagent", ["allow-always", "reject-once", "allow-once", "allow-once"]),
];

fn version_2() -> Value {
    json!({ "protocolVersion": 2, "capabilities": {} })
}

fn selected(option: &str) -> String {
    format!(r#""result":{{"outcome":{{"outcome":"selected","optionId":"{option}"}}}}"#)
}

#[track_caller]
fn check_permissions(name: &str, dialect: &str, initialize: &Value) {
    let found = DIALECTS.iter().find(|(name, _)| *name == dialect).unwrap();
    let [fetch, command, plan, edit] = found.1.map(selected);
    let unknown = selected("nothing-of-the-kind");
    let outcomes = [fetch.as_str(), PERMISSION_CANCELLED, NOT_FOUND, &unknown, r#""result":{}"#];
    let cases: [Case<'_>; 4] = [
        ("ask for permission", &outcomes),
        ("something dangerous", &[&command]),
        ("a plan", &[&plan]),
        ("an edit", &[&edit]),
    ];
    check(name, dialect, initialize, &cases);
}

#[test]
fn every_dialect_asks_in_the_shape_of_its_agent() {
    for (name, dialect) in [
        ("permission-claude", "claude"),
        ("permission-codex", "codex"),
        ("permission-kimi", "kimi"),
        ("permission-gemini", "gemini"),
        ("permission-qwen", "qwen"),
        ("permission-opencode", "opencode"),
        ("permission-cursor", "cursor"),
        ("permission-grok", "grok"),
        ("permission-pi", "pi"),
        ("permission-oh-my-pi", "oh-my-pi"),
        ("permission-by-id", "form"),
        ("permission-standard", "sandboxagent"),
    ] {
        check_permissions(name, dialect, &nothing());
    }
}

#[test]
fn version_2_has_a_title_and_a_subject() {
    for (name, dialect) in [
        ("permission-2-claude", "claude"),
        ("permission-2-codex", "codex"),
        ("permission-2-standard", "sandboxagent"),
    ] {
        check_permissions(name, dialect, &version_2());
    }
}

/// Waits for a permission and returns its ID and its parameters.
fn permission(client: &mut Client) -> (u64, Value) {
    let request = client.next("a permission", |message| message["method"] == "session/request_permission");
    (request["id"].as_u64().unwrap(), request["params"].clone())
}

fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

#[test]
fn an_answer_ends_the_tool_call_before_the_agent_says_it() {
    for (option, status) in [("allow-once", "completed"), ("reject-once", "failed"), ("x", "failed")] {
        let mut client = Client::advertising(&[], &nothing());
        client.prompt("p", "edit");
        let (id, params) = permission(&mut client);
        client.answer(id, &json!({ "outcome": { "outcome": "selected", "optionId": option } }));
        let update = client
            .next("the end", |message| message["params"]["update"]["sessionUpdate"] == "tool_call_update");
        let tool_call = &params["toolCall"]["toolCallId"];
        let expected =
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": tool_call, "status": status });
        assert_eq!(update["params"]["update"], expected);
        assert!(client.said.concat().ends_with("permission."), "{:?}", client.said);
        assert_eq!(client.turn_end("p").0, "end_turn");
    }
}

#[test]
fn several_permissions_and_a_question_are_asked_at_once() {
    let mut client = Client::in_session(true);
    client.prompt("p", "a question, something dangerous and an edit");
    assert_eq!(client.question().0, 0);
    let ids = [permission(&mut client).0, permission(&mut client).0];
    assert_eq!(ids, [1, 2]);
    client.answer(2, &json!({ "outcome": { "outcome": "selected", "optionId": "allow-once" } }));
    client.answer(0, &json!({ "status": "rejected" }));
    client.answer(1, &cancelled());
    let (_, said) = client.turn_end("p");
    let report =
        "[call-3] Permission: selected allow-once\nThe question was rejected[call-2] Permission: cancelled\n";
    assert!(said.ends_with(report), "{said}");

    client.prompt("p", "several permission");
    for _ in 0..3 {
        let (id, _) = permission(&mut client);
        client.answer(id, &cancelled());
    }
    assert_eq!(client.turn_end("p").1.matches("Permission: cancelled").count(), 3);
}

#[test]
fn a_cancelled_turn_treats_its_permission_as_the_real_agent_does() {
    for (dialect, withdraws, waits) in [
        ("claude", true, false),
        ("codex", true, false),
        ("qwen", false, false),
        ("oh-my-pi", false, false),
        ("kimi", false, true),
        ("gemini", false, true),
        ("opencode", false, true),
        ("sandboxagent", false, true),
    ] {
        let mut client = Client::advertising(&["--dialect", dialect], &nothing());
        client.prompt("p", "something dangerous");
        let (id, _) = permission(&mut client);
        client.notify("session/cancel", &json!({ "sessionId": "session-1" }));
        if withdraws {
            let withdrawn = client.next("the withdrawal", |message| message["method"] == "$/cancel_request");
            assert_eq!(withdrawn["params"], json!({ "requestId": id }), "{dialect}");
        }
        if waits {
            // The list comes after all that the agent says without an answer.
            client.request("list", "session/list", &json!({}));
            client.next("the list", |message| {
                assert_ne!(message["id"], "p", "{dialect} did not wait");
                message["id"] == "list"
            });
            client.answer(id, &cancelled());
        }
        let (reason, said) = client.turn_end("p");
        assert_eq!(reason, "cancelled", "{dialect}");
        assert_eq!(said.contains("Permission: cancelled"), waits, "{dialect}: {said}");
        if !waits {
            client.answer(id, &cancelled());
            client.call("list", "session/list", &json!({}));
            assert_eq!(client.said, [""; 0], "{dialect} drops a late answer");
        }
        client.process.close_stdin();
        assert_eq!(client.process.whole_stderr(), "", "{dialect}");
    }
}

#[test]
fn a_permission_can_be_withdrawn_asked_later_or_left_by_an_exit() {
    let mut client = Client::advertising(&[], &nothing());
    client.prompt("p", "withdraw permission");
    let (id, _) = permission(&mut client);
    client.next("the withdrawal", |message| message["method"] == "$/cancel_request");
    client.answer(id, &cancelled());
    assert!(client.turn_end("p").1.ends_with("Permission: cancelled"));
    client.prompt("p", "edit, later");
    assert_eq!(client.turn_end("p").0, "end_turn");
    permission(&mut client);
    client.prompt("p", "edit, and exit 3");
    permission(&mut client);
    assert_eq!(client.process.wait().code(), Some(3));
}

#[test]
fn an_agent_without_questions_still_asks_for_permission() {
    for dialect in ["gemini", "opencode"] {
        let mut client = Client::advertising(&["--dialect", dialect], &nothing());
        client.prompt("p", "a question");
        assert_eq!(client.turn_end("p").1, "I have a question.I ask no questions over ACP.");
    }
}

#[test]
fn the_client_answers_each_dialect_by_the_kind_of_its_options() {
    for (dialect, _) in DIALECTS {
        let once = asked(dialect, &["--tier", "permission", "--prompt", "edit", "--permission", "allow"]);
        assert!(once.stdout.contains("agent │ Permission: selected "), "{dialect}: {}", once.stdout);
        once.said(" done │ end_turn").ended(0);
        let reject = asked(dialect, &["--tier", "permission", "--prompt", "edit", "--permission", "reject"]);
        reject.said(" done │ end_turn").ended(0);
    }
    for (answer, said) in [
        ("allow", "selected allow-once"),
        ("always", "selected allow-with-updates"),
        ("reject", "selected reject"),
        ("cancel", "cancelled"),
        ("allow-with-updates", "selected allow-with-updates"),
        ("id:reject", "selected reject"),
    ] {
        let args = ["--tier", "forms", "--prompt", "edit", "--permission", answer];
        asked("claude", &args).said(&format!("agent │ Permission: {said}")).ended(0);
    }
    let cancel = ["--tier", "forms", "--prompt", "edit", "--permission", "id:cancel"];
    asked("codex", &cancel).said("agent │ Permission: selected cancel").ended(0);
}

#[test]
fn an_answer_that_was_not_offered_is_an_error() {
    for (answer, prompt, why) in [
        ("always", "dangerous", "there is no option that allows always"),
        ("later", "edit", "there is no option “later”"),
    ] {
        let run = asked("claude", &["--tier", "forms", "--prompt", prompt, "--permission", answer]);
        assert_eq!(run.stderr, format!("askbridge mock-client: --permission: {why}\n"));
        run.ended(1);
    }
}

#[test]
fn a_permission_is_approved_ignored_or_left_open() {
    let approve = asked("grok", &["--tier", "approve", "--prompt", "dangerous"]);
    // An approver that takes the first option that allows gives Grok everything.
    approve.said("agent │ Permission: selected enable-always-approve").ended(0);
    let ignore = ["--tier", "permission", "--permission", "ignore", "--prompt"];
    let withdrawn = asked("claude", &[&ignore[..], &["withdraw permission", "--timeout", "3s"]].concat());
    withdrawn.said("  you │ (no reply)").ended(3);
    let open = ["--tier", "permission", "--leave-open", "--prompt", "withdraw permission"];
    asked("claude", &open).said("agent │ Permission: cancelled").ended(0);
}

#[test]
fn questions_are_answered_as_before_beside_an_answer_to_permissions() {
    let args =
        ["--tier", "native", "--answer", "2", "--permission", "reject", "--prompt", "a question, an edit"];
    let run = asked("sandboxagent", &args);
    run.said("agent │ You chose: option-b").said("agent │ Permission: selected reject-once").ended(0);
    let prompt = r#"agent> {"id":"x","method":"session/request_permission","params":{"toolCall":{"toolCallId":"t","title":"Which?"},"options":[{"optionId":"e","name":"Answer elsewhere","kind":"allow_once"},{"optionId":"a","name":"A","kind":"allow_once"}]}}
agent< {"id":"x","result":{}}"#;
    let run = scripted(prompt, &["--tier", "permission", "--permission", "cancel", "--wire"]);
    run.sent(r#""id":"x","result":{"outcome":"#).sent(r#""optionId":"a""#).ended(0);
}
