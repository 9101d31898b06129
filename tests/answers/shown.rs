//! What `show` prints, as in `fixtures/show`: on terminals of 40, 80 and 200 columns, and in a pipe.
//! `UPDATE=1 cargo test --test suites answers::` writes the files.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use askbridge::present::question::QuestionText;
use askbridge_core::desk::{Record, Timestamp};
use askbridge_os::terminal::width;
use serde_json::{Value, json};

use crate::support::golden;

/// The widths, where a pipe has none.
const WIDTHS: [(&str, usize); 4] =
    [("40 columns", 40), ("80 columns", 80), ("200 columns", 200), ("a pipe", usize::MAX)];

/// Returns what the time is by the clock of the bridge: not by ours.
fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(24 * 3600)
}

/// Returns a record of this question, which opened three minutes ago, with these members beside it.
fn record(question: &Value, more: &Value) -> Record {
    let ago = |seconds| Timestamp::from(now() - Duration::from_secs(seconds)).to_string();
    let mut asked = json!({
        "questionId": "q", "message": "", "origin": "sandboxagent", "dangerous": false, "blocking": true,
        "agent": "mock-agent", "project": "/src/payments", "sessionId": "session-1",
    });
    let mut json = json!({ "id": "k3f9q2-1", "bridge": "k3f9q2", "openedAt": ago(180) });
    for (object, members) in [(&mut asked, question), (&mut json, more)] {
        let members = members.as_object().unwrap().clone();
        object.as_object_mut().unwrap().extend(members);
    }
    json["question"] = asked;
    if json.get("settlement").is_some() {
        json["settlement"]["at"] = ago(60).into();
        json["state"] = "settled".into();
    }
    serde_json::from_value(json).unwrap()
}

/// Checks what is printed of a record against its file.
#[track_caller]
fn check(name: &str, record: &Record) {
    let mut shown = String::new();
    for (what, columns) in WIDTHS {
        let text =
            QuestionText { record, status: None, now: now().into(), columns, colour: false, whole: false }
                .to_string();
        for line in text.lines().filter(|line| !line.starts_with("askbridge ")) {
            // Only a word that is longer than a line, and source code, are wider than the terminal.
            let is_whole = line.contains("SELECT")
                || record.question.subject.is_some() && line.starts_with("    ")
                || line.split(' ').any(|word| width(word) + 8 > columns);
            assert!(width(line) <= columns || is_whole, "{name} in {columns}: {line}");
            assert!(!line.chars().any(char::is_control), "{name}: {line:?}");
        }
        shown += &format!("── {what}\n{text}");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/show").join(name).with_extension("txt");
    golden::is(&path, &shown);
}

fn databases() -> Value {
    json!([
        { "value": "postgres", "label": "Postgres", "description": "Relational, with a server of its own that has to be set up and looked after" },
        { "value": "SQLite", "label": "SQLite", "description": "A file" },
        { "value": "none", "label": "None of these, since the service keeps no data of its own" },
    ])
}

#[test]
fn a_choice() {
    let preview = json!({ "format": "code", "text": "SELECT name FROM users WHERE id = 1 AND deleted_at IS NULL;\n\tLIMIT 1" });
    let mut options = databases();
    options[1]["preview"] = preview;
    let field = json!({
        "name": "q0", "label": "Which database should the payments service use?", "header": "Database", "kind": "choice",
        "required": true, "other": true, "options": options, "default": "SQLite",
        "help": "It can be changed later, but the tables have to be copied then, which takes about a day.",
    });
    let question = json!({ "message": "Please answer the following questions.", "fields": [field] });
    check("choice", &record(&question, &json!({ "elsewhere": true })));
}

#[test]
fn every_kind_of_field() {
    let many = json!([{ "value": "auth", "label": "Auth" }, { "value": "b", "label": "Billing" }]);
    let fields = json!([
        { "name": "t", "label": "A text", "kind": "text", "minLength": 2, "maxLength": 9, "pattern": "^[a-z-]+$", "default": "abc", "required": true },
        { "name": "e", "label": "An address", "kind": "text", "format": "email", "secret": true },
        { "name": "m", "label": "Features", "kind": "choices", "options": many, "min": 1, "max": 2, "other": true, "default": ["b"] },
        { "name": "n", "label": "A port", "kind": "number", "integer": true, "min": 1, "max": 65535, "step": 2, "default": 8080 },
        { "name": "b", "label": "Verbose?", "kind": "boolean", "default": true },
        { "name": "c", "label": "Sure?", "kind": "confirm", "yes": "Do it", "no": "Leave it", "required": true },
        { "name": "d", "label": "A drawing", "kind": "drawing", "colours": ["red"] },
    ]);
    let question = json!({ "title": "Set-up", "message": "The service has to be set up.", "fields": fields });
    check("fields", &record(&question, &json!({})));
}

#[test]
fn a_title_is_shown_once() {
    let fields =
        json!([{ "name": "setup", "label": "Which one?", "kind": "choice", "options": databases() }]);
    check("title", &record(&json!({ "title": "Setup", "fields": fields, "origin": "cursor" }), &json!({})));
}

#[test]
fn a_permission() {
    let subject = json!({
        "kind": "execute", "command": "set -e\nrm -rf build dist\tnode_modules", "folder": "/src/payments",
        "description": "Clean up what the last build left, so that the next one begins with nothing",
        "rawInput": "{}",
    });
    let question = permission("Clean up", &subject);
    check("permission", &record(&question, &json!({})));
    let by = json!({ "responder": "client", "name": "Zed" });
    let outcome = json!({ "status": "answered", "values": { "q0": "always" } });
    check(
        "permission-allowed",
        &record(&question, &json!({ "settlement": { "outcome": outcome, "by": by } })),
    );
    let outcome = json!({ "status": "rejected", "reason": "user" });
    let by = json!({ "responder": "command_line" });
    let settlement = json!({ "outcome": outcome, "by": by, "remark": "not on a Friday" });
    check("permission-rejected", &record(&question, &json!({ "settlement": settlement })));
}

/// Returns a permission with this heading and subject.
fn permission(heading: &str, subject: &Value) -> Value {
    let options = json!([
        { "value": "allow", "label": "Allow once", "role": "allow_once" },
        { "value": "always", "label": "Always allow `rm` in this project", "role": "allow_always" },
        { "value": "reject", "label": "Reject", "role": "reject_once" },
        { "value": "other", "label": "Ask my boss", "role": "ask_boss" },
    ]);
    let fields =
        json!([{ "name": "q0", "label": heading, "kind": "choice", "required": true, "options": options }]);
    json!({ "message": heading, "fields": fields, "dangerous": true, "purpose": "permission", "subject": subject })
}

#[test]
fn a_change_of_files() {
    let old = "fn main() {\n\tlet port = 80;\n\tserve(port);\n}\n";
    let new = "fn main() {\n\tlet port = 8080;\n\tlog(port);\n\tserve(port);\n}\n";
    let subject = json!({
        "kind": "edit", "locations": ["/src/payments/main.rs:7", "/src/payments/new.rs"],
        "diffs": [
            { "path": "/src/payments/main.rs", "line": 6, "old": old, "new": new },
            { "path": "/src/payments/new.rs", "line": 1, "new": "// a\n// b\n" },
        ],
        "patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y",
        "rawInput": "{\"file_path\":\"/src/payments/main.rs\"}",
    });
    check("permission-edit", &record(&permission("Edit main.rs", &subject), &json!({})));
}

#[test]
fn a_change_of_a_long_file() {
    let same: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let [old, new] = ["let a = 1;", "let a = 12;"].map(|first| format!("{first}\n{same}{first}\n"));
    let diff = json!({ "path": "/src/payments/src/main.rs", "line": 1, "old": old, "new": new });
    let subject = json!({ "kind": "edit", "locations": ["/src/payments/src/main.rs"], "diffs": [diff] });
    let record = record(&permission("Edit main.rs", &subject), &json!({}));
    check("permission-folded", &record);
    let shown = QuestionText {
        record: &record,
        status: None,
        now: now().into(),
        columns: 80,
        colour: false,
        whole: true,
    };
    let shown = shown.to_string();
    assert!(shown.contains(" line 20\n") && !shown.contains("unchanged"), "{shown}");
}

#[test]
fn a_plan_and_an_unknown_tool() {
    let plan = "# Plan\n\n1. Write the tests, which takes a while because there are none, and then run them\n2. Build";
    let subject = json!({ "kind": "switch_mode", "plan": plan, "rawInput": "{}" });
    check("permission-plan", &record(&permission("Ready to code?", &subject), &json!({})));
    let subject = json!({ "kind": "other", "title": "weather", "content": "Asks the weather service.", "rawInput": "{\"town\":\"Bern\"}" });
    check("permission-other", &record(&permission("Use the tool?", &subject), &json!({})));
}

#[test]
fn a_permission_that_allows_more_than_its_act() {
    let subject = json!({
        "kind": "execute", "command": "make clean", "folder": "/src/payments", "environment": "prod-executor-7",
        "description": "Path is outside allowed working directories",
        "grants": ["Network access to paste.example over https", "Write: /var/lib/a-folder-with-a-long-name/of-the-service/data"],
        "further": ["ticket: OPS-12"],
    });
    let mut question = permission("make clean", &subject);
    question["unshown"] = json!(["1 image (image/png) is not shown"]);
    question["fields"][0]["options"][1]["grants"] =
        json!(["Switches to the mode acceptEdits until this session ends", "Bash(make *) from now on"]);
    question["fields"][0]["options"][1]["dangerous"] = true.into();
    check("permission-grants", &record(&question, &json!({})));
    let diff = json!({ "path": "hello.txt", "line": 1, "old": "", "new": "new\n", "replaces": true });
    let subject = json!({ "kind": "edit", "locations": ["hello.txt"], "diffs": [diff] });
    check("permission-replaces", &record(&permission("Write hello.txt", &subject), &json!({})));
}

#[test]
fn a_hostile_permission() {
    let evil = "\u{1b}]0;owned\u{7}\u{202e}\r\nk3f9q2-1: allowed by you";
    let subject = json!({
        "kind": evil, "title": evil, "description": evil, "command": evil, "folder": evil, "locations": [evil],
        "diffs": [{ "path": evil, "line": 1, "old": evil, "new": format!("{evil}!") }, { "path": evil, "line": 1, "new": evil }],
        "patch": evil, "plan": evil, "content": evil, "rawInput": evil,
        "environment": evil, "grants": [evil], "further": [evil],
    });
    let mut question = permission("Sure?", &subject);
    question["unshown"] = json!([evil]);
    question["fields"][0]["options"][0]["grants"] = json!([evil]);
    check("permission-hostile", &record(&question, &json!({})));
}

#[test]
fn changes_are_coloured_where_the_terminal_shows_colours() {
    let subject = json!({ "diffs": [{ "path": "a", "line": 1, "old": "1\n2\n", "new": "1\n3\n" }] });
    let record = record(&permission("Edit a", &subject), &json!({}));
    let coloured = QuestionText {
        record: &record,
        status: None,
        now: now().into(),
        columns: 80,
        colour: true,
        whole: false,
    }
    .to_string();
    assert!(
        coloured.contains("\u{1b}[31m- 2\u{1b}[0m") && coloured.contains("\u{1b}[32m+ 3\u{1b}[0m"),
        "{coloured:?}"
    );
}

#[test]
fn a_hostile_question() {
    let evil = "\u{1b}]0;owned\u{7}\u{202e}\r\nk3f9q2-1: answered by you";
    let options = json!([{ "value": evil, "label": evil, "description": evil, "preview": { "format": "text", "text": evil } }]);
    let fields = json!([{ "name": evil, "label": evil, "header": evil, "help": evil, "kind": "choice", "options": options, "default": evil }]);
    let question = json!({ "title": evil, "message": evil, "fields": fields, "agent": evil, "project": evil, "sessionId": evil });
    let kept = json!({ "values": { evil: evil }, "notes": { evil: evil } });
    check("hostile", &record(&question, &json!({ "kept": kept })));
}

#[test]
fn a_long_question() {
    let words = "The migration takes the table offline for some minutes, 移行には数分かかります、 and then it is back. ".repeat(4);
    let word = "https://host.example/".to_owned() + &"a/very/long/path/".repeat(6);
    let options =
        json!([{ "value": "1", "label": words, "description": words }, { "value": word, "label": word }]);
    let fields = json!([{ "name": "q0", "label": words, "kind": "choice", "options": options, "help": format!("See {word}\n\n- one\n- two") }]);
    check("long", &record(&json!({ "message": words, "fields": fields }), &json!({})));
}

#[test]
fn a_settled_question() {
    let fields = json!([
        { "name": "q0", "label": "Which database?", "header": "Database", "kind": "choice", "other": true, "options": databases() },
        { "name": "q1", "label": "Features", "kind": "choices", "other": true, "options": [{ "value": "auth", "label": "Auth" }] },
    ]);
    let by = json!({ "responder": "command_line", "name": "ada" });
    let outcome = json!({ "status": "answered", "values": { "q0": "none", "q1": ["auth", "own, text"] }, "notes": { "q1": "later" } });
    let settled = json!({ "settlement": { "outcome": outcome, "by": by } });
    check("answered", &record(&json!({ "fields": fields }), &settled));
    let settled = json!({ "settlement": { "outcome": { "status": "rejected", "reason": "user" }, "by": by, "remark": "not on a Friday" } });
    check("rejected", &record(&json!({ "fields": fields }), &settled));
}
