//! What led to a question, over the real bridge and the real commands: shown by request, and kept nowhere else.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::answers::machine::TestMachine;
#[cfg(feature = "tui")]
use crate::answers::terminal::Terminal;
use crate::support::Process;

/// A word that stands nowhere else.
const WORD: &str = "Quetzalcoatlus";

/// Starts a bridge around an agent that says what its client says.
fn echo(machine: &TestMachine) -> Process {
    machine.start(&["run", "--client-questions", "none", "--", "cat"])
}

fn update(members: &Value) -> String {
    let params = json!({ "sessionId": "s", "update": members });
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }).to_string()
}

fn says(text: &str) -> String {
    let content = json!({ "type": "text", "text": text });
    update(&json!({ "sessionUpdate": "agent_message_chunk", "content": content }))
}

/// Lets the agent say something, call a tool, and ask. Returns the question's ID.
fn asks(machine: &TestMachine, bridge: &mut Process) -> String {
    bridge.send(&says("The parser is "));
    bridge.send(&says(&format!("named {WORD}.\u{1b}[31m")));
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "cargo test", "kind": "execute", "status": "failed" });
    bridge.send(&update(&call));
    bridge.send(&question());
    machine.question()
}

fn question() -> String {
    let options = json!([["a", "Keep it"], ["b", "Replace it"]]);
    let params = json!({ "sessionId": "s", "questionId": "q", "prompt": "Which?", "options": options });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "_sandboxagent/session/request_question", "params": params });
    request.to_string()
}

/// Returns the files below a folder that have a text.
fn having(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(having(&path, text));
        } else if kind.is_file() && memchr::memmem::find(&fs::read(&path).unwrap(), text.as_bytes()).is_some()
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn what_led_to_a_question_is_shown_by_request_and_written_nowhere() {
    let machine = TestMachine::new();
    let mut bridge = echo(&machine);
    let id = asks(&machine, &mut bridge);
    let text = machine.ok(&["show", &id]);
    assert!(text.contains(&format!("What led to it: askbridge show --context {id}")), "{text}");
    for args in [&["show", &id][..], &["show", "--json", &id], &["list", "--json"], &["list"]] {
        assert!(!machine.ok(args).contains(WORD), "{args:?}");
    }
    let shown = machine.ok(&["show", "--context", &id]);
    assert_eq!(
        shown,
        format!("The parser is named {WORD}.␛[31m\n\nIts last tool call:\n  failed  cargo test\n")
    );
    let json: Value = serde_json::from_str(&machine.ok(&["show", "--context", "--json", &id])).unwrap();
    let words = format!("The parser is named {WORD}.\u{1b}[31m");
    let call = json!({ "title": "cargo test", "kind": "execute", "status": "failed" });
    assert_eq!(json, json!({ "words": words, "calls": [call] }));

    // It stays as it was, also once the question is over.
    bridge.send(&says("Later."));
    bridge.expect("the later words", |line| line.contains("Later."));
    machine.ok(&["answer", &id, "a"]);
    assert_eq!(machine.ok(&["show", "--context", &id]), shown);

    // With its bridge it is gone: the journal does not have it.
    bridge.close_stdin();
    assert!(bridge.wait().success());
    #[cfg(feature = "journal")]
    {
        let text = machine.ok(&["show", &id]);
        assert!(text.contains("answered") && !text.contains("What led to it"), "{text}");
        let gone = machine.ok(&["show", "--context", &id]);
        assert_eq!(gone, "It is not known what led to this question.\n");
        assert!(!having(machine.path(), "Which?").is_empty(), "the journal has the question");
    }
    assert_eq!(having(machine.path(), WORD), [""; 0]);
}

/// With the setting, the journal keeps it: of a question that was answered, and of one that was lost with its bridge. It
/// is shown of that question alone. Without texts, the setting keeps nothing.
#[cfg(feature = "journal")]
#[test]
fn what_led_to_a_question_is_in_the_journal_where_a_setting_says_so() {
    for (texts, answers) in [("true", true), ("true", false), ("false", true)] {
        let machine = TestMachine::new();
        let mut command = machine.command(&["run", "--client-questions", "none", "--", "cat"]);
        command.env("ASKBRIDGE_JOURNAL_CONTEXT", "true").env("ASKBRIDGE_JOURNAL_TEXTS", texts);
        let mut bridge = Process::spawn(&mut command);
        let id = asks(&machine, &mut bridge);
        if answers {
            machine.ok(&["answer", &id, "a"]);
        }
        bridge.close_stdin();
        bridge.wait();
        let shown = machine.ok(&["history", "show", &id]);
        let json: Value = serde_json::from_str(&machine.ok(&["history", "show", "--json", &id])).unwrap();
        let export = machine.ok(&["history", "export"]);
        if texts == "false" {
            assert!(!shown.contains("What led to it") && json.get("context").is_none(), "{shown}");
            assert_eq!(having(machine.path(), WORD), [""; 0]);
            continue;
        }
        let led = format!(
            "What led to it:\n\nThe parser is named {WORD}.␛[31m\n\nIts last tool call:\n  failed  cargo test\n"
        );
        assert!(shown.ends_with(&led), "{shown}");
        assert_eq!(json["context"]["calls"][0]["title"], "cargo test");
        assert!(export.contains(WORD), "{export}");
        // It is part of no list, and no search finds its words.
        for args in [&["history", "--json"][..], &["history"]] {
            assert!(!machine.ok(args).contains(WORD), "{args:?}");
        }
        assert_eq!(machine.run(&["history", "--search", WORD]).stdout, "");
        assert!(machine.ok(&["history", "verify"]).contains("none changed or missing"));
    }
}

#[test]
fn a_question_without_a_past_says_so() {
    let machine = TestMachine::new();
    let mut bridge = echo(&machine);
    bridge.send(&question());
    let id = machine.question();
    assert!(!machine.ok(&["show", &id]).contains("What led to it"));
    assert_eq!(machine.ok(&["show", "--context", &id]), "It is not known what led to this question.\n");
}

#[cfg(feature = "tui")]
#[test]
fn a_key_of_the_full_screen_inbox_unfolds_it() {
    let machine = TestMachine::new();
    let mut bridge = echo(&machine);
    asks(&machine, &mut bridge);
    let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
    terminal.list("1 question waits");
    terminal.types("\r");
    terminal.screen("w shows what led to this");
    terminal.types("w");
    terminal.screens(&["What led to this", &format!("The parser is named {WORD}."), "failed  cargo test"]);
    terminal.types("\u{1b}");
    terminal.until("the question alone", |screen| !screen.contents().contains(WORD));
    // A `q` right behind other letters could belong to a word.
    terminal.types("\u{3}");
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
}
