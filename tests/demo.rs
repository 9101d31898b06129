//! `askbridge demo` as a process without a terminal: the mock client, the bridge and the mock agent together.

use std::process::Command;

use crate::support::Process;

const ASKED: &str = "\
agent ? Choose one option
      │   1  Option A  option-a
      │   2  Option B  option-b
  you > 1-2 (Enter rejects): ";

fn start(args: &[&str]) -> Process {
    // Keeps the questions out of the inbox of the user who runs the tests.
    let runtime = env!("CARGO_TARGET_TMPDIR");
    let mut command = Command::new(env!("CARGO_BIN_EXE_askbridge"));
    Process::spawn(
        command
            .arg("demo")
            .args(args)
            .env("XDG_RUNTIME_DIR", runtime)
            .env("XDG_STATE_HOME", runtime)
            .env("ASKBRIDGE_JOURNAL_ENABLED", "false"),
    )
}

/// Runs the demo with this stdin. Returns its exit code and its stdout.
fn run(args: &[&str], stdin: &str) -> (i32, String) {
    let mut demo = start(args);
    demo.send_bytes(stdin.as_bytes());
    demo.close_stdin();
    end(demo)
}

fn end(mut demo: Process) -> (i32, String) {
    let code = demo.wait().code().unwrap();
    let mut stdout = Vec::new();
    while let Some(line) = demo.next_line() {
        stdout.extend(line);
    }
    (code, String::from_utf8(stdout).unwrap())
}

#[test]
fn the_demo_shows_the_prompt_the_question_the_answer_and_the_end() {
    let expected = format!(
        "  you │ Please ask me a question.\nagent │ I have a question.\n{ASKED}1\n\
             agent │ You chose: option-a\n done │ end_turn\n"
    );
    assert_eq!(run(&["--answer", "1"], ""), (0, expected.clone()));
    assert_eq!(run(&[], "1\n"), (0, expected));
}

#[test]
fn an_answer_is_a_number_a_value_or_a_label() {
    for answer in ["2", "option-b", "Option B"] {
        let (code, shown) = run(&["--answer", answer], "");
        assert!(code == 0 && shown.contains("You chose: option-b"), "{shown}");
    }
}

#[test]
fn an_answer_that_does_not_fit_is_requested_again_or_is_an_error() {
    let (code, shown) = run(&[], "9\n2\n");
    assert!(
        code == 0 && shown.contains("“9” is not an option") && shown.contains("You chose: option-b"),
        "{shown}"
    );
    let mut demo = start(&["--answer", "9"]);
    assert_eq!(demo.wait().code(), Some(1));
    demo.expect_stderr("the error", |text| text.contains("askbridge demo: --answer: “9” is not an option"));
}

#[test]
fn an_empty_line_skip_and_the_end_of_stdin_reject_the_question() {
    for (stdin, reason) in [("\n", ""), ("skip\n", ""), ("", "stdin has ended")] {
        let (code, shown) = run(&[], stdin);
        assert!(shown.contains("agent │ The question was rejected\n") && shown.contains(reason), "{shown}");
        assert_eq!(code, 0);
    }
}

#[test]
fn a_required_field_is_asked_again_and_an_optional_one_may_be_left_out() {
    let args = ["--dialect", "kimi", "--tier", "forms", "--prompt", "a question with fields"];
    let (code, shown) = run(&args, "\n1\n\nskip\n");
    assert!(shown.contains("an answer is required here; skip rejects the question"), "{shown}");
    let hints: Vec<_> = shown.lines().filter(|line| line.starts_with("  you >")).collect();
    assert!(hints[0].contains("1-2 (skip rejects all)"), "{shown}");
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn fields_are_asked_one_after_the_other() {
    let (code, shown) = run(&["--prompt", "a question with fields"], "sqlite\n1,3\n\n");
    assert!(
        shown.contains("You answered: Database: SQLite; Features: Auth, Billing; Notes: nothing"),
        "{shown}"
    );
    assert!(shown.contains("agent ? Features: Which features do you want? (2 of 3)\n"), "{shown}");
    assert_eq!(code, 0);
    let given = ["--answer", "1", "--answer", "2,3", "--answer", "hello"];
    let (_, shown) = run(&[&["--prompt", "a question with fields"], &given[..]].concat(), "");
    assert!(shown.contains("Database: Postgres; Features: Search, Billing; Notes: hello"), "{shown}");
}

#[test]
fn several_questions_and_a_question_after_the_turn_are_all_asked() {
    let (code, shown) = run(&["--prompt", "several questions", "--answer", "1"], "");
    let reports = ["[q-1] You chose: option-a", "[q-2] You chose: option-a", "[q-3] You chose: option-a"];
    assert!(code == 0 && reports.iter().all(|report| shown.contains(report)), "{shown}");
    let (code, shown) = run(&["--prompt", "a question, later", "--answer", "2"], "");
    assert!(code == 0 && shown.ends_with("agent │ You chose: option-b\n done │ end_turn\n"), "{shown}");
}

#[test]
fn a_withdrawn_question_is_no_longer_asked() {
    let demo = start(&["--prompt", "withdraw a question"]);
    let (code, shown) = end(demo);
    assert!(shown.contains("The question was withdrawn"), "{shown}");
    assert!(shown.contains("agent │ The question failed: -32800"), "{shown}");
    assert_eq!(code, 0);
}

#[test]
fn the_demo_ends_when_the_bridge_ends() {
    for (prompt, ending) in [("a question and exit 5", "exit code 5"), ("crash", "exit code 137")] {
        let mut demo = start(&["--prompt", prompt]);
        assert_eq!(demo.wait().code(), Some(1));
        let error = format!("the bridge ended before the turn did, with {ending}");
        demo.expect_stderr(&error, |text| text.contains(&error));
    }
}

#[test]
fn wire_shows_the_lines_of_the_client() {
    let mut demo = start(&["--wire", "--answer", "1"]);
    demo.expect("a request", |line| line.starts_with("client → bridge {\"jsonrpc\":\"2.0\",\"id\":0,"));
    demo.expect("the question", |line| {
        line.starts_with("bridge → client ") && line.contains("request_question")
    });
    demo.expect("the answer", |line| line.starts_with("client → bridge ") && line.contains("\"answered\""));
    assert_eq!(demo.wait().code(), Some(0));
}

#[test]
fn wire_shows_the_lines_of_the_agent_before_those_of_the_client() {
    let mut demo = start(&["--wire", "--answer", "1"]);
    let asks = |line: &str| line.contains("request_question\"");
    demo.expect("the question at the agent", |line| line.starts_with("agent → bridge ") && asks(line));
    demo.expect("the question at the client", |line| line.starts_with("bridge → client ") && asks(line));
    demo.expect("the answer at the agent", |line| {
        line.starts_with("bridge → agent ") && line.contains("\"answered\"")
    });
    assert_eq!(demo.wait().code(), Some(0));
}

#[test]
fn a_form_is_asked_field_by_field() {
    let (code, shown) = run(&["--dialect", "claude", "--tier", "forms"], "2\nonly today\n");
    for line in [
        " form │ Choose one option",
        "agent ? Choice (1 of 2)",
        "      │   2  Option B  The second",
        "agent │ You chose: Option B (note: only today)",
    ] {
        assert!(shown.lines().any(|said| said == line), "no “{line}” in:\n{shown}");
    }
    assert_eq!(code, 0);
    let (code, shown) = run(&["--dialect", "claude", "--tier", "forms"], "skip\n");
    assert!(code == 0 && shown.contains("The question was declined"), "{shown}");
}

#[test]
fn a_permission_is_shown_with_its_command_and_folder() {
    let folder = std::env::current_dir().unwrap();
    let expected = format!(
        "  you │ Please ask me for a dangerous permission.\n\
             agent │ I need your permission.\n\
             agent ? $ rm -rf build\n      \
             │ in {}\n      \
             │ Remove the build folder\n      \
             │   1  Allow once\n      \
             │   2  Allow always\n      \
             │   3  Reject\n  \
             you > Choose 1 to 3 (? for help): 1\n      \
             │ This is dangerous: `rm` removes or moves files.\n      \
             │ Allow `rm -rf build`?\n  \
             you > Type yes to confirm: yes\n\
             agent │ Permission: selected allow-once\n \
             done │ end_turn\n",
        folder.display()
    );
    assert_eq!(run(&["--permission"], "1\nyes\n"), (0, expected));
    let rejected = "selected reject-once";
    for (stdin, said) in [
        ("3\n\n", rejected),
        ("/reject\nnot now\n", rejected),
        ("", rejected),
        // A number alone does not allow it, and neither does anything but the word.
        ("1\n", rejected),
        ("1\ny\n1\n", rejected),
        ("1\nyse\nyes\n", "selected allow-once"),
        ("1\n/back\n2\nyes\n", "selected allow-always"),
    ] {
        let (code, shown) = run(&["--permission"], stdin);
        assert!(code == 0 && shown.contains(&format!("agent │ Permission: {said}\n")), "{shown}");
    }
}

#[test]
fn a_permission_shows_a_change_as_a_diff_and_a_plan_as_text() {
    // Codex and Kimi say what they do only in an update before the request.
    for (dialect, option) in [("sandboxagent", "allow-once"), ("codex", "allow_once"), ("form", "allow-once")]
    {
        let (code, shown) = run(&["--dialect", dialect, "--prompt", "edit"], "1\n");
        let change = "      │ -     serve(80);\n      │ +     serve(8080);\n";
        assert!(code == 0 && shown.contains(change), "{dialect}: {shown}");
        assert!(shown.contains(&format!("Permission: selected {option}\n")), "{dialect}: {shown}");
    }
    for dialect in ["claude", "codex", "kimi", "qwen", "grok"] {
        let (code, shown) = run(&["--dialect", dialect, "--prompt", "plan"], "1\n");
        let steps = ["│ 1. Change the port in src/main.rs\n", "│ 2. Run the tests\n"];
        assert!(code == 0 && steps.iter().all(|step| shown.contains(step)), "{dialect}: {shown}");
        assert_eq!(shown.matches("2. Run the tests").count(), 1, "{dialect}: {shown}");
    }
    let (_, shown) = run(&["--dialect", "kimi", "--prompt", "dangerous"], "1\nyes\n");
    assert!(shown.contains("agent ? $ rm -rf build\n"), "{shown}");
}

#[test]
fn every_dialect_reaches_every_kind_of_client() {
    for (dialect, tier, prompt, answer, said) in [
        ("sandboxagent", "forms", "a question", "Option B", "You chose: option-b"),
        ("sandboxagent", "permission", "many questions", "Auth,Billing", "You chose: Auth, Billing"),
        ("claude", "native", "a question", "Option B", "You chose: Option B"),
        ("claude", "permission", "a question", "Option B", "You chose: Option B"),
        ("qwen", "forms", "many questions", "1,2", "You chose: Auth, Search"),
        ("cursor", "native", "a question", "Option B", "You chose: option-b"),
        ("kiro", "forms", "a free question", "my-branch", "You wrote: my-branch"),
    ] {
        let args = ["--dialect", dialect, "--tier", tier, "--prompt", prompt, "--answer", answer];
        let (code, shown) = run(&args, "");
        let line = format!("agent │ {said}");
        assert!(shown.lines().any(|said| said == line), "{dialect} to {tier}:\n{shown}");
        assert_eq!(code, 0);
    }
}
