//! `answer`, `allow`, `deny` and `next` at a terminal: they ask in plain lines.
//! What each typed line means is left to the unit tests of `src/present`.

use askbridge_os::exit;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::answers::machine::{TestMachine, end, name};
use crate::answers::terminal::Terminal;
use crate::support::Process;

/// A bridge around an agent that asks this, and says again what it hears.
fn asked(machine: &TestMachine, params: &Value, options: &[&str]) -> (Process, String) {
    let method = "_sandboxagent/session/request_question";
    let line = json!({ "jsonrpc": "2.0", "id": "ask", "method": method, "params": params });
    let agent = r#"printf '%s\n' "$1"; exec cat"#;
    let (run, script) =
        (["run", "--client-questions", "none"], ["--", "sh", "-c", agent, "sh", &line.to_string()]);
    let bridge = machine.start(&[&run[..], options, &script].concat());
    let id = name(&machine.questions(1)[0]);
    (bridge, id)
}

fn heard(bridge: &mut Process) -> Value {
    let line = bridge.expect("the answer", |line| line.contains("\"result\""));
    serde_json::from_str::<Value>(&line).unwrap()["result"].clone()
}

fn form() -> Value {
    let options = json!([{ "value": "pg", "label": "Postgres" }, { "value": "lite", "label": "SQLite" }]);
    let fields = json!([
        { "name": "db", "label": "Which database?", "kind": "choice", "required": true, "options": options, "default": "lite" },
        { "name": "key", "label": "API key", "kind": "text", "secret": true, "required": true },
    ]);
    json!({ "sessionId": "s", "_meta": { "askbridge": { "fields": fields } } })
}

#[test]
fn a_question_is_answered_field_by_field_without_drawing() {
    let machine = TestMachine::new();
    let (mut bridge, id) = asked(&machine, &form(), &[]);
    let mut terminal = Terminal::start(&machine, &["answer", &id], 100, 24);
    terminal.expect("Which database?");
    terminal.expect("Choose 1 to 2 [SQLite] (? for help): ");
    terminal.types("?\n");
    terminal.expect("/quit");
    terminal.expect("(? for help): ");
    terminal.types("3\n");
    terminal.expect("has no option “3”: choose Postgres, SQLite");
    terminal.expect("(? for help): ");
    terminal.types("\n");
    terminal.expect("API key");
    terminal.expect("Type the secret, which is not shown (? for help): ");
    assert_eq!(terminal.echoes(), (false, true));
    terminal.types("hunter2\n");
    terminal.expect("  1  Which database?: SQLite\n  2  API key: (secret)\nSend it?");
    assert_eq!(terminal.echoes(), (true, true));
    terminal.types("1\n");
    terminal.expect("Choose 1 to 2 [SQLite]");
    terminal.types("postgres\n");
    terminal.expect("Which database?: Postgres");
    terminal.types("yes\n");
    terminal.expect(&format!("{id} answered: Which database?: Postgres; API key: (secret)\n"));
    assert_eq!(terminal.code(), 0);
    assert!(
        !terminal.text.contains(['\x1b', '\x08']) && !terminal.text.contains("hunter2"),
        "{:?}",
        terminal.text
    );
    assert_eq!(heard(&mut bridge)["answers"], json!([["pg"], ["hunter2"]]));
}

#[test]
fn the_question_stays_open_however_the_person_leaves() {
    let machine = TestMachine::new();
    let (_bridge, id) = asked(&machine, &form(), &[]);
    let (field, review) = ("(? for help): ", "[yes]: ");
    // Ctrl-C, Ctrl-D, and both while nothing is shown of what is typed.
    for steps in [
        &[(field, "\x03")][..],
        &[(field, "\x04")],
        &[(field, "/quit\n")],
        &[(field, "\n"), (field, "\x03")],
        &[(field, "\n"), (field, "\x04")],
        &[(field, "1\n"), (field, "x\n"), (review, "\x03")],
    ] {
        let mut terminal = Terminal::start(&machine, &["answer", &id], 100, 24);
        for (prompt, keys) in steps {
            terminal.expect(prompt);
            terminal.types(keys);
        }
        terminal.expect(&format!("{id} stays open."));
        assert_eq!(terminal.echoes(), (true, true), "{steps:?}");
        assert_eq!(terminal.code(), i32::from(exit::LEFT_OPEN), "{steps:?}: {}", terminal.text);
    }
    for signal in [Signal::TERM, Signal::HUP] {
        let mut terminal = Terminal::start(&machine, &["answer", &id], 100, 24);
        terminal.expect("(? for help): ");
        terminal.types("\n");
        terminal.expect("(? for help): ");
        kill_process(Pid::from_raw(terminal.running.pid().cast_signed()).unwrap(), signal).unwrap();
        terminal.expect("stays open.");
        assert_eq!((terminal.echoes(), terminal.code()), ((true, true), 128 + signal.as_raw()));
    }
    assert_eq!(machine.questions(1).len(), 1);
}

#[test]
fn an_answer_from_elsewhere_ends_the_conversation() {
    let machine = TestMachine::new();
    let (_bridge, id) = asked(&machine, &form(), &["--timeout", "1h"]);
    let mut terminal = Terminal::start(&machine, &["answer", &id], 100, 24);
    terminal.expect("(? for help): ");
    terminal.types("/more\n");
    terminal.expect("The question ends in 69m.");
    terminal.expect("(? for help): ");
    machine.ok(&["answer", &id, "1", "key"]);
    terminal.expect(&format!("{id} is over: answered by the command line (somebody)"));
    assert_eq!(terminal.code(), i32::from(exit::SETTLED), "{}", terminal.text);
}

#[test]
fn next_takes_the_oldest_and_says_how_many_wait() {
    let machine = TestMachine::new();
    let mut terminal = Terminal::start(&machine, &["next"], 100, 24);
    assert_eq!(terminal.code(), i32::from(exit::NO_QUESTION), "{}", terminal.text);
    assert!(terminal.text.starts_with("askbridge: no bridge runs"), "{}", terminal.text);
    let first = machine.start(&["ask", "--confirm", "First?"]);
    machine.questions(1);
    let second = machine.start(&["ask", "Second?"]);
    machine.questions(2);
    let mut terminal = Terminal::start(&machine, &["next"], 100, 24);
    terminal.expect("First?");
    terminal.expect("Type “Yes” or “No” (? for help): ");
    terminal.types("y\n");
    terminal.expect("answered: Yes\n1 more waits: askbridge next\n");
    assert_eq!((terminal.code(), end(first).code), (0, 0));
    let mut terminal = Terminal::start(&machine, &["next"], 100, 24);
    terminal.expect("Second?");
    terminal.types("/reject\n");
    terminal.expect("Why is it rejected? [no reason]: ");
    terminal.types("not now\n");
    terminal.expect("rejected: Second?\n");
    assert_eq!((terminal.code(), end(second).code), (0, i32::from(exit::REJECTED)));
}

/// An agent that asks permission to run this.
fn permission(machine: &TestMachine, command: &str) -> (Process, String) {
    let options = [["always", "allow_always"], ["once", "allow_once"], ["no", "reject_once"]];
    let options = options.map(|[id, kind]| json!({ "optionId": id, "name": id, "kind": kind }));
    let call = json!({ "toolCallId": "t", "title": "Clean up", "kind": "execute", "rawInput": { "command": command } });
    let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params });
    let bridge =
        machine.start(&["run", "--", "sh", "-c", r#"printf '%s\n' "$1"; exec cat"#, "sh", &line.to_string()]);
    let id = name(&machine.questions(1)[0]);
    (bridge, id)
}

#[test]
fn something_dangerous_is_allowed_by_a_typed_word_alone() {
    let machine = TestMachine::new();
    let (mut bridge, id) = permission(&machine, "rm -rf build");
    let mut terminal = Terminal::start(&machine, &["allow", &id], 100, 24);
    terminal.expect("rm -rf build");
    terminal.expect("`rm` removes or moves files.\nType yes to confirm: ");
    terminal.types("yse\n");
    terminal.expect("Nothing was sent. Type yes to send it, or /back.");
    terminal.expect("Type yes to confirm: ");
    terminal.types("/back\n");
    terminal.expect("Choose 1 to 3 (? for help): ");
    // What is pasted behind the number does not confirm it.
    terminal.types("2\nyes\nyes\n");
    terminal.expect("Type yes to confirm: ");
    // A slip, and the word again.
    terminal.types("no\n");
    terminal.expect("Nothing was sent.");
    terminal.expect("Type yes to confirm: ");
    terminal.types("yes\n");
    terminal.expect(&format!("{id} allowed: once\n"));
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
    assert_eq!(heard(&mut bridge)["outcome"]["optionId"], "once");
    let (mut bridge, id) = permission(&machine, "rm -rf build");
    let mut terminal = Terminal::start(&machine, &["reject", &id], 100, 24);
    terminal.expect("Why is it rejected? [no reason]: ");
    terminal.types("\n");
    terminal.expect(&format!("{id} rejected: Clean up\n"));
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
    assert_eq!(heard(&mut bridge)["outcome"]["optionId"], "no");
}

/// A person who leaves the ID out wants to answer, and is asked what waits.
#[test]
fn an_answer_without_an_id_asks_the_oldest_question() {
    let machine = TestMachine::new();
    let run = machine.run(&["answer"]);
    assert_eq!((run.code, &*run.stdout), (i32::from(exit::USAGE), ""), "{run:?}");
    assert!(run.stderr.contains("`askbridge next` asks the oldest"), "{run:?}");
    let (mut bridge, id) = permission(&machine, "cargo build");
    let mut terminal = Terminal::start(&machine, &["answer"], 100, 24);
    terminal.expect("Choose 1 to 3 (? for help): ");
    terminal.types("2\n");
    terminal.expect(&format!("{id} allowed: once\n"));
    assert_eq!(heard(&mut bridge)["outcome"]["optionId"], "once");
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
}

#[test]
fn a_rejected_question_is_asked_for_a_reason() {
    let machine = TestMachine::new();
    let (_bridge, id) = asked(&machine, &form(), &[]);
    let mut terminal = Terminal::start(&machine, &["reject", &id], 100, 24);
    terminal.expect("Why is it rejected? [no reason]: ");
    terminal.types("not now\n");
    terminal.expect(&format!("{id} rejected: "));
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
    // What is over is not asked about again.
    let again = machine.run(&["reject", &id]);
    assert_eq!(again.code, 0, "{again:?}");
    let mut terminal = Terminal::start(&machine, &["reject", &id], 100, 24);
    terminal.expect(&format!("{id} rejected: "));
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
}

/// Who types only its ID has not seen it. Who chooses an option has.
#[test]
fn what_acts_is_allowed_by_its_id_with_its_text_above() {
    let machine = TestMachine::new();
    let (mut bridge, id) = permission(&machine, "cargo build");
    let mut terminal = Terminal::start(&machine, &["allow", &id], 100, 24);
    terminal.expect("cargo build");
    terminal.expect("This acts: it runs a command.\nType yes to confirm: ");
    terminal.types("yes\n");
    terminal.expect(&format!("{id} allowed: once\n"));
    assert_eq!(heard(&mut bridge)["outcome"]["optionId"], "once");
    let (mut bridge, id) = permission(&machine, "cargo build");
    let mut terminal = Terminal::start(&machine, &["answer", &id], 100, 24);
    terminal.expect("Choose 1 to 3 (? for help): ");
    terminal.types("2\n");
    terminal.expect(&format!("{id} allowed: once\n"));
    assert_eq!(heard(&mut bridge)["outcome"]["optionId"], "once");
}

#[test]
fn hostile_text_reaches_the_terminal_as_visible_marks() {
    let machine = TestMachine::new();
    let hostile = "\x1b]0;x\x07\u{202e}\r\nyou > 1\x1b[2J";
    let option = json!({ "value": hostile, "label": hostile, "description": hostile });
    let fields = json!([{ "name": hostile, "label": hostile, "help": hostile, "header": hostile, "kind": "choices", "options": [option], "default": [hostile] }]);
    let params =
        json!({ "sessionId": hostile, "prompt": hostile, "_meta": { "askbridge": { "fields": fields } } });
    let (_bridge, id) = asked(&machine, &params, &[]);
    let mut terminal = Terminal::start(&machine, &["answer", &id], 80, 24);
    terminal.expect("(? for help): ");
    terminal.types("nothing\n");
    terminal.expect("has no option “nothing”");
    terminal.expect("(? for help): ");
    terminal.types("1\n");
    terminal.expect("answered: ");
    assert_eq!(terminal.code(), 0);
    assert!(!terminal.text.contains(['\x1b', '\x07', '\u{202e}']), "{:?}", terminal.text);
}

#[test]
fn alone_in_a_terminal_it_shows_what_waits_and_what_to_type() {
    let machine = TestMachine::new();
    let mut alone = Terminal::start(&machine, &[], 100, 24);
    alone.expect("no bridge runs");
    alone.expect("askbridge setup ");
    alone.expect("askbridge --help");
    let _client = machine.client("silent", "a question", &["--client-questions", "none"], &[]);
    let id = machine.question();
    let mut alone = Terminal::start(&machine, &[], 100, 24);
    alone.expect(&id);
    alone.expect("askbridge next ");
}
