//! The payloads of released versions, from a hook's stdin to what it prints.

use serde_json::{Value as Json, json};

use super::{HookCall, HookReply};
use crate::question::{
    Answer, Kind, Outcome, Purpose, Question, Reason, Role, Value, form::options_with_role,
};

const QUESTIONS: &str = r#"{"session_id":"0623b82d","transcript_path":"/t.jsonl","cwd":"/src/project","permission_mode":"auto","hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which database should we use?","header":"Database","options":[{"label":"Postgres","description":"Relational"},{"label":"SQLite","description":"Embedded","preview":"`x`"}],"multiSelect":false},{"question":"Which \"parts\"?","header":"Parts","options":[{"label":"Auth"},{"label":"Search, and more"}],"multiSelect":true}],"metadata":{"source":1.50}}}"#;

fn read(stdin: &str) -> Option<(Question, HookReply)> {
    HookCall::read(stdin.as_bytes())?.question("q")
}

fn permission(tool: &str, input: &Json, suggestions: &Json) -> Option<(Question, HookReply)> {
    let stdin = json!({
        "session_id": "s", "cwd": "/p", "hook_event_name": "PermissionRequest",
        "tool_name": tool, "tool_input": input, "permission_suggestions": suggestions,
    });
    read(&stdin.to_string())
}

fn values(values: &[(&str, Value)]) -> Outcome {
    let values = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Outcome::Answered(Answer { values, ..Answer::default() })
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn decision(output: &str) -> Json {
    let output: Json = serde_json::from_str(output).expect("JSON");
    let output = &output["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "PermissionRequest");
    output["decision"].clone()
}

#[test]
fn questions_are_read_with_all_that_they_say() {
    let (question, _) = read(QUESTIONS).expect("a question");
    assert_eq!(
        (question.session.as_deref(), question.project.as_deref()),
        (Some("0623b82d"), Some("/src/project"))
    );
    assert_eq!((question.origin.name(), question.purpose), ("claude", Purpose::Question));
    assert_eq!(question.fields[0].label, "Which database should we use?");
    assert_eq!(question.fields[0].header.as_deref(), Some("Database"));
    assert!(
        matches!(&question.fields[0].kind, Kind::Choice { options, other: true, .. } if options.len() == 2)
    );
    assert!(
        matches!(&question.fields[1].kind, Kind::Choices { options, other: true, .. } if options.len() == 2)
    );
}

#[test]
fn an_answer_repeats_the_input_byte_for_byte() {
    let (question, reply) = read(QUESTIONS).expect("a question");
    let Outcome::Answered(mut answer) = values(&[
        ("q0", text("DuckDB, in memory")),
        ("q1", Value::Many(vec!["Auth".to_owned(), "Search, and more".to_owned()])),
    ]) else {
        panic!("an answer")
    };
    answer.notes.insert("q0".to_owned(), "in WAL mode".to_owned());
    let output = reply.write(&question, &Outcome::Answered(answer), None).expect("an output");
    assert!(output.contains("1.50"), "{output}");
    let decision = decision(&output);
    assert_eq!(decision["behavior"], "allow");
    let input: Json = serde_json::from_str(QUESTIONS).expect("JSON");
    let updated = &decision["updatedInput"];
    assert_eq!(updated["questions"], input["tool_input"]["questions"]);
    assert_eq!(
        updated["answers"],
        json!({ "Which database should we use?": "DuckDB, in memory", "Which \"parts\"?": "Auth, \"Search, and more\"" })
    );
    assert_eq!(
        updated["annotations"],
        json!({ "Which database should we use?": { "notes": "in WAL mode" } })
    );
}

#[test]
fn a_question_without_a_value_is_left_out() {
    let (question, reply) = read(QUESTIONS).expect("a question");
    let output = reply.write(&question, &values(&[("q0", text("SQLite"))]), None).expect("an output");
    let answers = &decision(&output)["updatedInput"]["answers"];
    assert_eq!(answers, &json!({ "Which database should we use?": "SQLite" }));
}

#[test]
fn a_rejection_has_the_reason_in_the_persons_words() {
    let (question, reply) = read(QUESTIONS).expect("a question");
    let rejected = Outcome::Rejected(Reason::User);
    let with = |remark| decision(&reply.write(&question, &rejected, remark).expect("an output"));
    assert_eq!(with(Some("Ask Grace")), json!({ "behavior": "deny", "message": "Ask Grace" }));
    assert_eq!(with(None)["message"], "The person did not want to answer.");
    for reason in [Reason::Timeout, Reason::Shutdown, Reason::Withdrawn, Reason::AgentGone, Reason::Cancelled]
    {
        assert_eq!(reply.write(&question, &Outcome::Rejected(reason), None), None, "{reason:?}");
    }
}

#[test]
fn a_command_is_allowed_once_or_from_now_on_or_denied() {
    let input = json!({ "command": "touch x && ls", "description": "Touch a file" });
    let suggestions = json!([
        { "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": "touch x *" }], "behavior": "allow", "destination": "localSettings" },
        { "type": "addRules", "rules": [{ "toolName": "Bash" }], "behavior": "deny", "destination": "session" },
        { "type": "setMode", "mode": "acceptEdits", "destination": "session" },
        { "type": "ofNextYear" },
    ]);
    let (question, reply) = permission("Bash", &input, &suggestions).expect("a permission");
    let subject = question.subject.as_ref().expect("a subject");
    assert_eq!(
        (subject.command.as_deref(), subject.kind.as_deref()),
        (Some("touch x && ls"), Some("execute"))
    );
    assert_eq!(subject.description.as_deref(), Some("Touch a file"));
    assert_eq!(question.purpose, Purpose::Permission);
    let labels: Vec<_> =
        options_with_role(&question, Role::AllowAlways).map(|option| option.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "Allow Bash(touch x *) from now on, for you in this project",
            "Allow, and switch to the mode acceptEdits until this session ends"
        ]
    );
    let given = |value: &str| {
        decision(&reply.write(&question, &values(&[("q0", text(value))]), None).expect("an output"))
    };
    assert_eq!(given("allow"), json!({ "behavior": "allow", "updatedInput": input }));
    let allowed = r#""updatedInput":{"command":"touch x && ls","seconds":1.50}"#;
    let stdin = allowed.replace("updatedInput", "tool_input");
    let stdin =
        format!(r#"{{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash",{stdin}}}"#);
    let (once, as_it_came) = read(&stdin).expect("a permission");
    let output = as_it_came.write(&once, &values(&[("q0", text("allow"))]), None).expect("an output");
    assert!(output.contains(allowed), "{output}");
    assert_eq!(given("always-1")["updatedPermissions"], json!([suggestions[0]]));
    assert_eq!(given("always-2")["updatedPermissions"], json!([suggestions[2]]));
    assert_eq!(given("deny"), json!({ "behavior": "deny", "message": "The person rejected this." }));
}

#[test]
fn an_edit_has_its_diff_and_an_mcp_tool_its_server() {
    let edit = json!({ "file_path": "/p/a.rs", "old_string": "one\n", "new_string": "two\n" });
    let (question, _) = permission("Edit", &edit, &json!([])).expect("a permission");
    let subject = question.subject.expect("a subject");
    assert_eq!((subject.diffs[0].old.as_deref(), subject.diffs[0].new.as_str()), (Some("one\n"), "two\n"));
    assert_eq!(question.message, "Edit /p/a.rs");
    let (question, _) =
        permission("mcp__github__create_issue", &json!({ "title": "x" }), &json!([])).expect("one");
    assert_eq!(question.message, "create_issue, of the MCP server github");
}

#[test]
fn a_plan_is_approved_with_its_input_and_one_without_a_plan_is_left_to_the_dialog() {
    let input = json!({ "plan": "1. Do it", "planFilePath": "/p/plan.md" });
    let (question, reply) = permission("ExitPlanMode", &input, &json!([])).expect("a permission");
    assert_eq!(question.subject.as_ref().and_then(|subject| subject.plan.as_deref()), Some("1. Do it"));
    let output = reply.write(&question, &values(&[("q0", text("allow"))]), None).expect("an output");
    assert_eq!(decision(&output)["updatedInput"], input);
    for empty in [json!({}), json!({ "plan": " " }), json!({ "plan": 5 })] {
        assert!(permission("ExitPlanMode", &empty, &json!([])).is_none(), "{empty}");
    }
}

#[test]
fn a_form_of_an_mcp_server_is_accepted_or_declined() {
    let stdin = r#"{"session_id":"s","hook_event_name":"Elicitation","mcp_server_name":"ask","message":"Which database?","mode":"form","requested_schema":{"type":"object","properties":{"db":{"type":"string","enum":["Postgres","SQLite"]}},"required":["db"]}}"#;
    let (question, reply) = read(stdin).expect("a question");
    assert_eq!(question.title.as_deref(), Some("The MCP server ask asks"));
    let output = reply.write(&question, &values(&[("db", text("SQLite"))]), None).expect("an output");
    assert_eq!(
        serde_json::from_str::<Json>(&output).expect("JSON"),
        json!({ "hookSpecificOutput": { "hookEventName": "Elicitation", "action": "accept", "content": { "db": "SQLite" } } })
    );
    let declined = reply.write(&question, &Outcome::Rejected(Reason::User), None).expect("an output");
    assert!(declined.contains(r#""action":"decline""#));
    let kept = reply.write(&question, &Outcome::Rejected(Reason::Timeout), None);
    assert!(kept.is_none(), "the dialog asks where nobody answered in time");
    assert!(read(&stdin.replace(r#""mode":"form""#, r#""mode":"url","url":"https://x""#)).is_none());
}

#[test]
fn the_fields_of_a_form_have_the_order_of_its_schema() {
    let stdin = r#"{"session_id":"s","hook_event_name":"Elicitation","message":"?","requested_schema":{"type":"object","properties":{"port":{"type":"integer"},"name":{"type":"string"},"at":{"type":"object","properties":{"zone":{"type":"string"},"host":{"type":"string"}}}}}}"#;
    let (question, _) = read(stdin).expect("a question");
    let names: Vec<_> = question.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["port", "name", "at.zone", "at.host"]);
}

#[test]
fn what_is_not_understood_is_left_to_the_dialog() {
    let twice = r#"{"questions":[{"question":"Why?"},{"question":"Why?"}]}"#;
    for (tool, input) in [
        ("AskUserQuestion", "{}"),
        ("AskUserQuestion", r#"{"questions":[]}"#),
        ("AskUserQuestion", r#"{"questions":"all"}"#),
        ("AskUserQuestion", twice),
    ] {
        let stdin = format!(
            r#"{{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"{tool}","tool_input":{input}}}"#
        );
        assert!(read(&stdin).is_none(), "{input}");
    }
    for stdin in ["", "{", "[]", "null", r#"{"session_id":"s","hook_event_name":"OfNextYear"}"#] {
        assert!(read(stdin).is_none(), "{stdin}");
    }
    let many: Vec<_> = (0..99).map(|n| json!({ "label": "x".repeat(n + 1) })).collect();
    let input = json!({ "questions": [{ "question": "Why?", "options": many }] });
    assert!(permission("AskUserQuestion", &input, &json!([])).is_none(), "beyond the limits");
}
