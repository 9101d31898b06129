//! `askbridge tui` on a real terminal: keys in, screens out, and the terminal as it was at the end.
//! What is drawn in detail is left to `screens.rs`.

use askbridge_os::exit;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde_json::{Value, json};

use crate::answers::machine::{TestMachine, end, name};
use crate::answers::terminal::Terminal;
use crate::support::Process;

pub(super) fn pid(terminal: &Terminal) -> Pid {
    Pid::from_raw(terminal.running.pid().cast_signed()).unwrap()
}

/// An agent that asks this, and says again what it hears.
pub(super) fn agent(machine: &TestMachine, method: &str, params: &Value) -> (Process, String) {
    let line = json!({ "jsonrpc": "2.0", "id": "ask", "method": method, "params": params }).to_string();
    let script = r#"printf '%s\n' "$1"; exec cat"#;
    let bridge = machine.start(&["run", "--client-questions", "none", "--", "sh", "-c", script, "sh", &line]);
    let id = name(&machine.questions(1)[0]);
    (bridge, id)
}

pub(super) fn form() -> Value {
    let options = json!([{ "value": "pg", "label": "Postgres" }, { "value": "lite", "label": "SQLite" }]);
    let fields = json!([
        { "name": "db", "label": "Which database?", "kind": "choice", "required": true, "options": options },
        { "name": "why", "label": "Why this one?", "kind": "text", "multiline": true },
    ]);
    json!({ "sessionId": "s", "_meta": { "askbridge": { "fields": fields } } })
}

pub(super) const ASK: &str = "_sandboxagent/session/request_question";

pub(super) fn heard(bridge: &mut Process) -> Value {
    let line = bridge.expect("the answer", |line| line.contains("\"result\""));
    serde_json::from_str::<Value>(&line).unwrap()["result"].clone()
}

#[test]
fn questions_are_answered_one_after_the_other_by_keys_alone() {
    let machine = TestMachine::new();
    let (mut bridge, id) = agent(&machine, ASK, &form());
    let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
    terminal.list("1 question waits");
    terminal.types("\r");
    terminal.screen("( ) 2  SQLite");
    terminal.types("2");
    terminal.screen("(*) 2  SQLite");
    terminal.types("\r");
    terminal.screen("a text, optional");
    // A text of several lines takes Enter, and a paste.
    terminal.types("small\rand quick");
    terminal.screen("and quick");
    terminal.types("\t");
    terminal.screen("2  Why this one?: small␊and quick");
    // Another question arrives meanwhile: the bell rings, and the title says so.
    let second = machine.start(&["ask", "--confirm", "Second?"]);
    terminal.screen("2 questions wait");
    terminal.expect("\x1b]2;(2) askbridge\x07");
    assert!(terminal.bells() > 0, "{:?}", terminal.text);
    terminal.types("\x13");
    terminal.screen(&format!("{id} answered by the terminal (somebody)"));
    assert_eq!(heard(&mut bridge)["answers"], json!([["lite"], ["small\nand quick"]]));
    terminal.list("1 question waits");
    // A key that follows at once would do nothing: the other question has only just appeared.
    terminal.screen(">  ");
    // Neither do keys that arrive all at once, as a paste does.
    terminal.types("\r1\r");
    terminal.screen("open a question first");
    terminal.types("\r");
    terminal.screen("( ) 1  Yes");
    terminal.types("1");
    terminal.screen("(*) 1  Yes");
    terminal.types("\r");
    terminal.screen("nothing waits");
    assert_eq!(end(second).code, 0);
    terminal.types("q");
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
    assert_eq!((terminal.echoes(), terminal.is_alternate()), ((true, true), false));
}

#[test]
fn keys_that_come_all_at_once_are_all_taken() {
    let machine = TestMachine::new();
    let (mut bridge, _) = agent(&machine, ASK, &form());
    let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
    terminal.list("1 question waits");
    // More than are taken before a screen is drawn, with a paste behind them, and a signal among them.
    terminal.types("\r");
    terminal.screen("( ) 2  SQLite");
    terminal.types("2");
    terminal.screen("(*) 2  SQLite");
    terminal.types("\r");
    terminal.screen("a text, optional");
    let (first, second) = ("a".repeat(700), "b".repeat(300));
    terminal.types(&first);
    kill_process(pid(&terminal), Signal::WINCH).unwrap();
    terminal.types(&format!("{second}\x1b[200~pasted\x1b[201~end"));
    terminal.screen("bbbpastedend");
    terminal.types("\t");
    terminal.screen("2  Why this one?:");
    terminal.types("\x13");
    let why = heard(&mut bridge)["answers"][1][0].clone();
    assert_eq!(why, json!(format!("{first}{second}pastedend")));
    // While the answer is on its way, keys do nothing.
    terminal.screen("nothing waits");
    terminal.types("q");
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
}

#[test]
fn the_terminal_is_as_it_was_however_it_ends() {
    let machine = TestMachine::new();
    let (_bridge, _) = agent(&machine, ASK, &form());
    for (signal, code) in
        [(None, 0), (Some(Signal::TERM), 143), (Some(Signal::HUP), 129), (Some(Signal::INT), 130)]
    {
        let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
        terminal.list("1 question waits");
        assert_eq!((terminal.echoes(), terminal.is_alternate()), ((false, false), true));
        match signal {
            Some(signal) => kill_process(pid(&terminal), signal).unwrap(),
            None => terminal.types("\x03"),
        }
        assert_eq!(terminal.code(), code, "{}", terminal.text);
        assert_eq!((terminal.echoes(), terminal.is_alternate()), ((true, true), false), "{signal:?}");
        assert!(terminal.text.contains("\x1b[?25h") && terminal.text.contains("\x1b[?2004l"), "{signal:?}");
    }
}

/// A permission, and the keys that lead to allowing it, each with what is shown before it.
fn dangerous() -> (Value, [(&'static [&'static str], &'static str); 5]) {
    let call = json!({ "toolCallId": "t", "title": "Clean up", "kind": "execute", "rawInput": { "command": "rm -rf build" } });
    let options = json!([{ "optionId": "once", "name": "Allow", "kind": "allow_once" }, { "optionId": "no", "name": "No", "kind": "reject_once" }]);
    let steps = [
        (&[">! sh"][..], "\r"),
        (&["( ) 1  Allow"], "1"),
        // A key decides once it is named.
        (&["(*) 1  Allow", "Enter decide"], "\r"),
        (&["Are you sure?"], "ye"),
        (&["> ye"], "s"),
    ];
    (json!({ "sessionId": "s", "toolCall": call, "options": options }), steps)
}

#[test]
fn the_terminal_is_given_back_from_each_view() {
    let machine = TestMachine::new();
    let (asked, steps) = dangerous();
    let (_bridge, id) = agent(&machine, "session/request_permission", &asked);
    // After the last step the word is typed and not sent; the help is shown last.
    let walks = (0..=steps.len()).map(|count| steps[..count].to_vec());
    let help = vec![(&["1 question waits"][..], "?"), (&["Esc"], "j")];
    for (walk, signal) in walks.chain([help]).zip([Signal::TERM, Signal::HUP].into_iter().cycle()) {
        let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
        for (shown, keys) in &walk {
            terminal.screens(shown);
            terminal.types(keys);
        }
        // The last keys have their effect, or not: the terminal is given back either way.
        terminal.screen("askbrid");
        kill_process(pid(&terminal), signal).unwrap();
        assert_eq!(terminal.code(), 128 + signal.as_raw(), "{walk:?}: {}", terminal.text);
        assert_eq!((terminal.echoes(), terminal.is_alternate()), ((true, true), false), "{walk:?}");
        assert_eq!(machine.questions(1).len(), 1, "{walk:?}");
    }
    machine.ok(&["reject", &id]);
}

#[test]
fn each_terminal_is_told_in_its_own_way() {
    let machine = TestMachine::new();
    let (_bridge, _) = agent(&machine, ASK, &form());
    for (variables, told) in [
        (&[("TERM_PROGRAM", "iTerm.app")][..], "\x1b]9;askbridge: "),
        (&[("TERM_PROGRAM", "WezTerm")], "\x1b]777;notify;askbridge;"),
        (&[("TERM", "xterm-kitty")], "\x1b]99;;askbridge: "),
        (&[("TERM", "xterm-kitty"), ("TMUX", "tmux,1,0")], ""),
        (&[("TERM", "linux")], ""),
    ] {
        let mut terminal = Terminal::start_in(&machine, &["tui"], variables, 80, 24);
        terminal.list("1 question waits");
        let asked = machine.start(&["ask", "--confirm", "Ship \x1b]0;it\x07?"]);
        terminal.screen("2 questions wait");
        terminal.types("q");
        assert_eq!(terminal.code(), 0);
        let text = &terminal.text;
        assert_eq!(
            terminal.bells(),
            1 + usize::from(told.contains(";askbridge") && !told.contains("99")),
            "{text:?}"
        );
        match told {
            "" => assert!(
                !["\x1b]9;", "\x1b]777;", "\x1b]99;"].iter().any(|osc| text.contains(osc)),
                "{text:?}"
            ),
            told => assert!(text.contains(told) && text.contains("asks: Ship ␛]0,it␇?"), "{text:?}"),
        }
        let is_titled = text.contains("\x1b]2;(2) askbridge\x07") && text.contains("\x1b[23;2t");
        assert_eq!(is_titled, !variables.contains(&("TERM", "linux")), "{text:?}");
        drop(asked);
        machine.questions(1);
    }
}

#[test]
fn what_was_settled_before_is_listed() {
    let machine = TestMachine::new();
    let (_bridge, id) = agent(&machine, ASK, &form());
    machine.ok(&["answer", &id, "2", "small and quick"]);
    let mut terminal = Terminal::start(&machine, &["tui"], 120, 40);
    terminal.screen("Settled lately");
    terminal.screen("Which database? (and 1 more): answe");
    terminal.types("\x1b[B");
    terminal.screen(">  Which database?");
    terminal.types("\r");
    terminal.screen("Esc list");
    terminal.screen("Answered by the command line (somebody): Which database?: SQLite");
    terminal.types("q");
    assert_eq!(terminal.code(), 0);
}

#[test]
fn a_stopped_inbox_gives_the_terminal_back_and_draws_again() {
    let machine = TestMachine::new();
    let (_bridge, _) = agent(&machine, ASK, &form());
    let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
    terminal.list("1 question waits");
    kill_process(pid(&terminal), Signal::TSTP).unwrap();
    terminal.expect("\x1b[?1049l");
    waitpid(Some(pid(&terminal)), WaitOptions::UNTRACED).unwrap();
    kill_process(pid(&terminal), Signal::CONT).unwrap();
    terminal.expect("\x1b[?1049h");
    terminal.list("1 question waits");
    terminal.resize(40, 12);
    kill_process(pid(&terminal), Signal::WINCH).unwrap();
    terminal.screen("Which database?");
    terminal.types("q");
    assert_eq!(terminal.code(), 0);
}

#[test]
fn the_question_stays_open_wherever_the_inbox_is_killed() {
    let machine = TestMachine::new();
    let (asked, steps) = dangerous();
    let (mut bridge, id) = agent(&machine, "session/request_permission", &asked);
    for killed_at in 0..=steps.len() {
        let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
        for (shown, keys) in &steps[..killed_at] {
            terminal.screens(shown);
            terminal.types(keys);
        }
        kill_process(pid(&terminal), Signal::KILL).unwrap();
        terminal.end();
        assert_eq!(machine.questions(1).len(), 1, "{killed_at}");
    }
    let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
    for (shown, keys) in steps {
        terminal.screens(shown);
        terminal.types(keys);
    }
    terminal.screens(&["> yes", "Enter confirms it"]);
    terminal.types("\r");
    terminal.screen(&format!("{id} allowed by the terminal (somebody): Allow"));
    assert_eq!(heard(&mut bridge)["outcome"]["optionId"], "once");
    terminal.types("q");
    assert_eq!(terminal.code(), 0);
}

/// A slip in the word leaves the step open: the word that is typed again would act on the question.
#[test]
fn a_slip_in_the_word_and_the_word_again_allow_it() {
    let machine = TestMachine::new();
    let (asked, steps) = dangerous();
    let (mut bridge, id) = agent(&machine, "session/request_permission", &asked);
    let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
    for (shown, keys) in &steps[..3] {
        terminal.screens(shown);
        terminal.types(keys);
    }
    terminal.screen("Are you sure?");
    // A paste confirms nothing, and neither does what arrives like one.
    terminal.types("yes\r");
    terminal.screen("a paste does not confirm");
    terminal.types("yse");
    terminal.screens(&["> yse", "Only yes confirms it"]);
    terminal.types("\r");
    terminal.screen("Nothing was sent: type yes");
    terminal.types("yes");
    terminal.screens(&["> yes", "Enter confirms it"]);
    terminal.types("\r");
    terminal.screen(&format!("{id} allowed by the terminal (somebody): Allow"));
    assert_eq!(heard(&mut bridge)["outcome"]["optionId"], "once");
    terminal.types("q");
    assert_eq!(terminal.code(), 0);
}

#[test]
fn what_is_typed_ahead_confirms_nothing() {
    let machine = TestMachine::new();
    let options = json!([{ "value": "y", "label": "Go" }]);
    let field = json!({ "name": "go", "label": "Delete all?", "kind": "choice", "required": true, "options": options });
    let question = json!({ "fields": [field], "dangerous": true });
    let (mut bridge, id) =
        agent(&machine, ASK, &json!({ "sessionId": "s", "_meta": { "askbridge": question } }));
    let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
    terminal.list("1 question waits");
    terminal.types("\r");
    terminal.screen("( ) 1  Go");
    terminal.types("1");
    terminal.screen("(*) 1  Go");
    terminal.types("\ryes\r");
    terminal.screen("Nothing was pasted: choose an option");
    terminal.types("\r");
    terminal.screen("Are you sure?");
    terminal.types("yes");
    terminal.screens(&["> yes", "Enter confirms it"]);
    terminal.types("\r");
    terminal.screen(&format!("{id} answered by the terminal (somebody): Go"));
    assert_eq!(heard(&mut bridge)["answers"], json!([["y"]]));
    terminal.types("q");
    assert_eq!(terminal.code(), 0);
}

/// A line that is typed for another window, key by key, and one that is pasted into a terminal that marks no pastes.
#[test]
fn a_line_for_the_shell_neither_rejects_nor_reaches_it() {
    let machine = TestMachine::new();
    let (asked, _) = dangerous();
    let (_bridge, id) = agent(&machine, "session/request_permission", &asked);
    let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
    terminal.list("1 question waits");
    terminal.types("\r");
    terminal.screens(&["( ) 1  Allow", "Enter decide"]);
    terminal.types("rm x");
    terminal.screen("> m x");
    terminal.types("\r");
    terminal.screen("Press Enter once more to reject it");
    terminal.types("\x1b");
    terminal.screens(&["( ) 1  Allow", "Enter decide"]);
    // However its keys arrive, together or in pieces.
    terminal.types("clear; askbridge list\r");
    terminal.screen("Nothing was ");
    terminal.types("\x03");
    assert_eq!(terminal.code(), 0);
    assert_eq!(name(&machine.questions(1)[0]), id);
}

/// How that looks in a terminal that counts them otherwise is tested beside the code, in `repaint.rs`.
#[test]
fn rows_with_characters_of_an_unsure_width_are_painted_from_an_empty_line() {
    let machine = TestMachine::new();
    let _asked = machine.start(&["ask", "--confirm", "❤\u{fe0f} क्षेत्र?"]);
    machine.questions(1);
    let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
    terminal.expect("\x1b[2K");
    terminal.list("❤\u{fe0f} क्षेत्र?");
    terminal.types("q");
    assert_eq!(terminal.code(), 0);
    assert!(terminal.text.contains("\x1b[?7l") && terminal.text.contains("\x1b[?7h"), "{}", terminal.text);
}

#[test]
fn an_answer_from_elsewhere_is_seen_at_once() {
    let machine = TestMachine::new();
    let (_bridge, id) = agent(&machine, ASK, &form());
    let mut terminal = Terminal::start(&machine, &["tui"], 120, 40);
    terminal.list("1 question waits");
    terminal.types("\r");
    terminal.screen("1-9 choose");
    terminal.types("1");
    terminal.screen("(*) 1  Postgres");
    machine.ok(&["answer", &id, "2", "because"]);
    terminal.screen("is over: answered by the command line (somebody)");
    terminal.screen("Your draft, which was not sent:");
    terminal.types("\x03");
    assert_eq!(terminal.code(), 0);
}

/// The inbox in the background is a bridge without an agent: somebody who reads that one runs would wait for nothing.
#[test]
fn an_inbox_alone_is_no_agent() {
    let machine = TestMachine::new();
    let inbox = machine.start(&["inbox", "--addr", "127.0.0.1:0"]);
    inbox.expect_stderr("the address", |text| text.contains("listening on http://"));
    let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
    terminal.screen("No agent is connected: `askbridge setup` connects yours.");
    terminal.types("q");
    assert_eq!(terminal.code(), 0);
    let _client = machine.client("native", "a question", &[], &[]);
    let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
    terminal.list("1 question waits");
    terminal.types("q");
    assert_eq!(terminal.code(), 0);
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let run = TestMachine::new().run(&["tui"]);
    assert_eq!((run.code, &*run.stdout), (i32::from(exit::USAGE), ""), "{run:?}");
    assert!(run.stderr.contains("needs a terminal"), "{run:?}");
}
