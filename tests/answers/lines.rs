//! `answer`, `allow`, `deny` and `next` at a terminal: they ask in plain lines.
//! What each typed line means is left to the unit tests of `src/present`.

use std::process::Command;

use askbridge_os::exit;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde_json::{Value, json};

use crate::answers::machine::{ASKBRIDGE, TestMachine, end, name};
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

/// Returns all that was shown, without what asks the terminal to mark pastes.
fn plain(terminal: &Terminal) -> String {
    terminal.text.replace(MARK, "").replace(NO_MARK, "")
}

const MARK: &str = "\x1b[?2004h";
const NO_MARK: &str = "\x1b[?2004l";

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
    terminal.types("hunter2\n");
    terminal.expect("  1  Which database?: SQLite\n  2  API key: (secret)\nSend it?");
    terminal.types("1\n");
    terminal.expect("Choose 1 to 2 [SQLite]");
    terminal.types("postgres\n");
    terminal.expect("Which database?: Postgres");
    terminal.expect("[yes]: ");
    terminal.types("yes\n");
    terminal.expect(&format!("{id} answered: Which database?: Postgres; API key: (secret)\n"));
    assert_eq!(terminal.code(), 0);
    assert_eq!(terminal.echoes(), (true, true));
    let drawn = plain(&terminal);
    assert!(!drawn.contains(['\x1b', '\x08']) && !drawn.contains("hunter2"), "{drawn:?}");
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
        assert_eq!(terminal.code(), i32::from(exit::LEFT_OPEN), "{steps:?}: {}", terminal.text);
        assert_eq!(terminal.echoes(), (true, true), "{steps:?}");
    }
    for signal in [Signal::TERM, Signal::HUP] {
        let mut terminal = Terminal::start(&machine, &["answer", &id], 100, 24);
        terminal.expect("(? for help): ");
        terminal.types("\n");
        terminal.expect("(? for help): ");
        kill_process(Pid::from_raw(terminal.running.pid().cast_signed()).unwrap(), signal).unwrap();
        terminal.expect("stays open.");
        assert_eq!((terminal.code(), terminal.echoes()), (128 + signal.as_raw(), (true, true)));
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
    terminal.expect("answered: Yes\n");
    terminal.expect("1 more waits: askbridge next\n");
    assert_eq!((terminal.code(), end(first).code), (0, 0));
    let mut terminal = Terminal::start(&machine, &["next"], 100, 24);
    terminal.expect("Second?");
    terminal.expect("(? for help): ");
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
    terminal.expect("`rm` removes or moves files.\nAllow `rm -rf build`?\nType yes to confirm: ");
    terminal.types("yse\n");
    terminal.expect("Nothing was sent. Type yes to send it, or /back.");
    terminal.expect("Type yes to confirm: ");
    terminal.types("/back\n");
    terminal.expect("Choose 1 to 3 (? for help): ");
    // What is pasted behind the number does not confirm it, and the number does not choose.
    terminal.types("2\nyes\nyes\n");
    terminal.expect("Nothing of it was taken: 3 lines came at once");
    terminal.expect("(? for help): ");
    terminal.types("2\n");
    terminal.expect("Type yes to confirm: ");
    terminal.types("\x1b[200~yes\r\x1b[201~\r");
    terminal.expect("Nothing was sent: a paste does not confirm.");
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
    assert!(run.stderr.contains("`askbridge next` asks the first"), "{run:?}");
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
    terminal.expect("This acts: it runs a command.\nAllow `cargo build`?\nType yes to confirm: ");
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
    assert!(!plain(&terminal).contains(['\x1b', '\x07', '\u{202e}']), "{:?}", terminal.text);
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

/// A field for a text, for which its agent wants one.
fn text() -> Value {
    let field = json!({ "name": "config", "label": "Your configuration", "kind": "text", "required": true });
    json!({ "sessionId": "s", "_meta": { "askbridge": { "fields": [field] } } })
}

#[test]
fn a_pasted_text_keeps_its_line_breaks() {
    let machine = TestMachine::new();
    let lines = json!([["use:\n  - a: 1\n  - b: 2"]]);
    // Marked by the terminal, and by arriving together.
    for (pasted, term) in
        [("\x1b[200~use:\r  - a: 1\r  - b: 2\r\x1b[201~", "xterm"), ("use:\r  - a: 1\r  - b: 2\r", "dumb")]
    {
        let (mut bridge, id) = asked(&machine, &text(), &[]);
        let mut terminal = Terminal::start_in(&machine, &["answer", &id], &[("TERM", term)], 100, 24);
        terminal.expect("(? for help): ");
        terminal.types(pasted);
        terminal.expect("use:\n  - a: 1\n  - b: 2");
        terminal.types("\r");
        terminal.expect(&format!("{id} answered: "));
        assert_eq!((terminal.code(), terminal.echoes()), (0, (true, true)), "{}", terminal.text);
        assert_eq!(terminal.text.matches(MARK).count(), usize::from(term == "xterm"), "{:?}", terminal.text);
        assert_eq!(heard(&mut bridge)["answers"], lines);
    }
}

#[test]
fn what_was_typed_before_the_prompt_answers_nothing() {
    let machine = TestMachine::new();
    let (mut bridge, id) = permission(&machine, "cargo build");
    for command in [&["next"][..], &["answer", &id], &["allow", &id], &["reject", &id]] {
        let mut terminal = Terminal::start(&machine, command, 100, 24);
        terminal.types("2\nyes\n2\n\n");
        terminal.expect("cargo build");
        terminal.types("yes\n");
        terminal.expect(": ");
        terminal.types("\x03");
        terminal.expect("stays open.");
        assert_eq!(terminal.code(), i32::from(exit::LEFT_OPEN), "{command:?}: {}", terminal.text);
    }
    let mut terminal = Terminal::start(&machine, &["answer", &id], 100, 24);
    terminal.expect("Choose 1 to 3 (? for help): ");
    terminal.types("2\n");
    terminal.expect(&format!("{id} allowed: once\n"));
    assert_eq!(heard(&mut bridge)["outcome"]["optionId"], "once");
}

#[test]
fn nothing_of_what_was_typed_reaches_the_shell() {
    let machine = TestMachine::new();
    let shell = |args: &[&str]| {
        let script = r#""$@"; printf 'shell> '; read -r line; printf 'left: %s.\n' "$line""#;
        let mut command = Command::new("setsid");
        command.args(["--ctty", "sh", "-c", script, "sh", ASKBRIDGE]).args(args);
        command.env("XDG_RUNTIME_DIR", machine.path()).env("XDG_STATE_HOME", machine.path().join("state"));
        command.env("TERM", "xterm");
        Terminal::spawn(command, 100, 24)
    };
    let (_bridge, id) = asked(&machine, &text(), &[]);
    let mut typed = shell(&["answer", &id]);
    typed.expect("(? for help): ");
    typed.types("rm -rf");
    typed.expect("rm -rf");
    machine.ok(&["answer", &id, "x"]);
    typed.expect("is over");
    // And where nothing is asked at all.
    let mut unasked = shell(&["next"]);
    unasked.types("rm -rf x\nrm");
    for terminal in [&mut typed, &mut unasked] {
        terminal.expect("shell> ");
        terminal.types("ls\n");
        terminal.expect("left: ls.");
        assert_eq!((terminal.code(), terminal.echoes()), (0, (true, true)), "{:?}", terminal.text);
    }
}

#[test]
fn a_stopped_conversation_gives_the_terminal_back_and_shows_what_was_typed_again() {
    let machine = TestMachine::new();
    let (mut bridge, id) = asked(&machine, &text(), &[]);
    let mut terminal = Terminal::start(&machine, &["answer", &id], 100, 24);
    terminal.expect("(? for help): ");
    assert_eq!(terminal.echoes(), (false, false));
    terminal.types("half");
    terminal.expect("half");
    let pid = Pid::from_raw(terminal.running.pid().cast_signed()).unwrap();
    kill_process(pid, Signal::TSTP).unwrap();
    terminal.expect(NO_MARK);
    waitpid(Some(pid), WaitOptions::UNTRACED).unwrap();
    assert_eq!(terminal.echoes(), (true, true));
    kill_process(pid, Signal::CONT).unwrap();
    terminal.expect(MARK);
    terminal.expect("(? for help): half");
    terminal.types(" of it\n");
    terminal.expect(&format!("{id} answered: "));
    assert_eq!(heard(&mut bridge)["answers"], json!([["half of it"]]));
    assert_eq!((terminal.code(), terminal.echoes()), (0, (true, true)));
}

#[test]
fn an_empty_answer_is_sent_by_a_word_alone() {
    let machine = TestMachine::new();
    let options = json!([{ "value": "pg", "label": "Postgres" }]);
    let field = json!({ "name": "db", "label": "Which database?", "kind": "choice", "required": false, "other": true, "options": options });
    let params = json!({ "sessionId": "s", "_meta": { "askbridge": { "fields": [field] } } });
    let (mut bridge, id) = asked(&machine, &params, &[]);
    let mut terminal = Terminal::start(&machine, &["answer", &id], 100, 24);
    terminal.expect("[leave out] (? for help): ");
    terminal.types("\n");
    for _ in 0..2 {
        terminal.expect("Nothing is chosen or typed.\nSend it empty? Type yes");
        terminal.expect("fill it in: ");
        terminal.types("\n");
    }
    terminal.expect("fill it in: ");
    terminal.types("yes\n");
    terminal.expect("answered: every field is left out\n");
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
    assert_eq!(heard(&mut bridge)["answers"], json!([[]]));
}

/// A script cannot see what it allows.
#[test]
fn what_is_dangerous_is_allowed_without_a_terminal_if_that_is_said() {
    let machine = TestMachine::new();
    let script = "echo one\n".repeat(61) + "rm -rf build";
    let (mut bridge, id) = permission(&machine, &script);
    let run = machine.run(&["allow", &id]);
    assert_eq!((run.code, &*run.stdout), (i32::from(exit::USAGE), ""), "{run:?}");
    let told = "line 62: `rm` removes or moves files: rm -rf build.";
    assert!(run.stderr.contains(told) && run.stderr.contains("--yes"), "{run:?}");
    let mut terminal = Terminal::start(&machine, &["allow", &id], 100, 24);
    terminal.expect("line 62: `rm` removes or moves files: rm -rf build.\nAllow `echo one` and 61 more lines?\nType yes to confirm: ");
    terminal.types("\x03");
    terminal.expect("stays open.");
    assert!(machine.ok(&["allow", &id, "--yes"]).contains("allowed: once"));
    assert_eq!(heard(&mut bridge)["outcome"]["optionId"], "once");
    // What acts is allowed as before.
    let (_bridge, id) = permission(&machine, "cargo build");
    assert!(machine.ok(&["allow", &id]).contains("allowed: once"));
    // What is allowed from now on is confirmed at a terminal, whatever it is.
    let (_bridge, id) = permission(&machine, "true");
    let mut terminal = Terminal::start(&machine, &["allow", &id, "--always"], 100, 24);
    terminal.expect("Type yes to confirm: ");
    terminal.types("yes\n");
    terminal.expect("allowed from now on: always");
}

#[test]
fn a_command_without_an_id_says_where_ids_are() {
    let machine = TestMachine::new();
    for command in
        [&["allow"][..], &["reject"], &["show"], &["extend"], &["extend", "10m"], &["allow", "--always"]]
    {
        let run = machine.run(command);
        assert_eq!((run.code, &*run.stdout), (i32::from(exit::USAGE), ""), "{command:?}: {run:?}");
        assert!(run.stderr.contains("`askbridge list` shows the IDs of all"), "{command:?}: {run:?}");
    }
    let run = machine.run(&["extend", "k3f9q2-1"]);
    assert!(run.code == i32::from(exit::USAGE) && run.stderr.contains("how much more time?"), "{run:?}");
}
