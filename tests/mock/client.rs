//! The mock client as a process, around the mock agent and around scripts, without a bridge between them.
//! The bridge between the two is tested in `tests/demo.rs`.

use std::{fs, process::Command};

use crate::support::Process;

const ASKBRIDGE: &str = env!("CARGO_BIN_EXE_askbridge");

/// The exit code and the output of a run.
pub(crate) struct Run {
    code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    #[track_caller]
    pub(crate) fn said(&self, line: &str) -> &Self {
        assert!(
            self.stdout.lines().any(|said| said == line),
            "no “{line}” in:\n{}{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Checks that the client sent a line with this text, by the trace of `--wire`.
    #[track_caller]
    pub(crate) fn sent(&self, text: &str) -> &Self {
        let sent = |line: &str| line.starts_with("client → agent ") && line.contains(text);
        assert!(self.stdout.lines().any(sent), "{text} was not sent:\n{}{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn ended(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
    }
}

fn client(args: &[&str], agent: &[&str]) -> Run {
    let mut command = Command::new(ASKBRIDGE);
    // Keeps the questions out of the inbox of the user who runs the tests.
    command.env("XDG_RUNTIME_DIR", env!("CARGO_TARGET_TMPDIR")).env("ASKBRIDGE_JOURNAL_ENABLED", "false");
    let mut process =
        Process::spawn(command.arg("mock-client").args(args).arg("--").arg(ASKBRIDGE).args(agent));
    let mut stdout = Vec::new();
    while let Some(line) = process.next_line() {
        stdout.extend(line);
    }
    let stdout = String::from_utf8(stdout).unwrap();
    Run { code: process.wait().code(), stdout, stderr: process.whole_stderr() }
}

/// Runs a client around an agent that asks in this dialect.
pub(crate) fn asked(dialect: &str, args: &[&str]) -> Run {
    client(args, &["mock-agent", "--dialect", dialect])
}

/// Runs a client around an agent that plays these lines in a turn and then ends it.
pub(crate) fn scripted(lines: &str, args: &[&str]) -> Run {
    let script = tempfile::NamedTempFile::new().unwrap();
    let text = format!(
        "agent< {{\"method\":\"initialize\"}}\nagent> {{\"id\":$id,\"result\":{{}}}}\n\
         agent< {{\"method\":\"session/new\"}}\nagent> {{\"id\":$id,\"result\":{{\"sessionId\":\"s\"}}}}\n\
         agent< {{\"method\":\"session/prompt\"}}\n{lines}\nagent> {{\"id\":$id,\"result\":{{\"stopReason\":\"end_turn\"}}}}\n"
    );
    fs::write(script.path(), text).unwrap();
    client(args, &["mock-agent", "--script", script.path().to_str().unwrap()])
}

#[test]
fn each_client_kind_answers_the_dialects_that_it_knows() {
    for (tier, dialect, said) in [
        ("native", "sandboxagent", "You chose: option-b"),
        ("forms", "claude", "You chose: Option B"),
        ("forms", "codex", "You chose: Option B"),
        ("forms", "codex-async", "You chose: Option B"),
        ("forms", "kimi", "You chose: Option B"),
        ("forms", "oh-my-pi", "You chose: Option B"),
        ("forms", "devin", "You chose: Option B"),
        ("forms", "form", "You chose: option-b"),
        ("permission", "kimi", "You chose: Option B"),
        ("permission", "pi", "You chose: Option B"),
        ("silent", "pi", "You chose: Option B"),
        ("native", "qwen", "The question was declined"),
    ] {
        let run = asked(dialect, &["--tier", tier, "--answer", "2"]);
        run.said(&format!("agent │ {said}")).said(" done │ end_turn").ended(0);
    }
}

#[test]
fn the_first_option_is_the_default_answer() {
    asked("sandboxagent", &["--tier", "native"]).said("agent │ You chose: option-a").ended(0);
    asked("claude", &["--tier", "forms"]).said("agent │ You chose: Option A").ended(0);
    let free = ["--tier", "native", "--prompt", "a free question"];
    asked("sandboxagent", &free).said("agent │ You wrote: text").ended(0);
    let fields = "agent │ You answered: Name: text; E-mail: nothing; Port: 1; Ratio: 1; Debug: true; Colour: red; \
                  Database: pg; Tags: new; Features: auth";
    asked("form", &["--tier", "forms", "--prompt", "a question with fields"]).said(fields).ended(0);
}

#[test]
fn answers_are_used_for_the_fields_in_turn() {
    let note = ["--tier", "forms", "--answer", "Option A", "--answer", "only today"];
    asked("claude", &note).said("agent │ You chose: Option A (note: only today)").ended(0);
    let many = ["--tier", "forms", "--prompt", "many questions", "--answer", "1,Billing"];
    asked("kimi", &many).said("agent │ You chose: Auth, Billing").ended(0);
    let wrong = asked("claude", &["--tier", "forms", "--answer", "Option C"]);
    assert!(wrong.stderr.contains("--answer: “Option C” is not an option"), "{}", wrong.stderr);
    wrong.ended(1);
}

#[test]
fn reject_uses_the_rejection_of_each_method() {
    for (tier, dialect, said) in [
        ("native", "sandboxagent", "The question was rejected"),
        ("forms", "form", "The question was declined"),
        ("permission", "kimi", "The question was skipped (dismissed)"),
        ("permission", "pi", "The question was cancelled"),
        ("permission", "qwen", "The question was declined"),
    ] {
        let run = asked(dialect, &["--tier", tier, "--reject"]);
        run.said(&format!("agent │ {said}")).ended(0);
    }
}

#[test]
fn each_client_kind_advertises_its_capabilities() {
    for (tier, capabilities) in [
        ("native", r#"{"_meta":{"sandboxagent.dev":{"extensions":{"sessionRequestQuestion":true}}}}"#),
        ("forms", r#"{"elicitation":{"form":{}}}"#),
        ("permission", "{}"),
        ("silent", "{}"),
        ("approve", "{}"),
    ] {
        let run = asked("sandboxagent", &["--tier", tier, "--prompt", "hello", "--wire"]);
        run.sent(&format!(r#""clientCapabilities":{capabilities}"#)).said("agent │ hello").ended(0);
    }
}

#[test]
fn an_unknown_method_gets_an_error_or_no_reply() {
    for tier in ["native", "forms", "permission", "approve"] {
        let run = asked("grok", &["--tier", tier]);
        run.said("      │ _x.ai/ask_user_question is not known here: error -32601.");
        run.said("agent │ The question failed: -32601 method not found: _x.ai/ask_user_question").ended(0);
    }
    let run = asked("grok", &["--tier", "silent", "--timeout", "3s"]);
    run.said("      │ _x.ai/ask_user_question is not known here: no reply.").ended(3);
    assert_eq!(run.stderr, "askbridge mock-client: the turn did not end in time\n");
}

#[test]
fn an_agent_that_outlives_its_stdin_is_terminated_after_the_timeout() {
    let run = asked("sandboxagent", &["--tier", "native", "--prompt", "outlive forever", "--timeout", "3s"]);
    run.said("agent │ I do as I am told.").ended(3);
}

#[test]
fn an_approving_client_approves_at_once() {
    let run = asked("pi", &["--tier", "approve"]);
    run.said("      │ Approved: Choose one option").said("agent │ You chose: Option A").ended(0);
    let request = r#"agent> {"id":"x","method":"session/request_permission","params":{"toolCall":{"toolCallId":"t"},"options":[{"optionId":"no","name":"No","kind":"reject_once"},{"optionId":"yes","name":"Yes","kind":"allow_always"}]}}
agent< {"id":"x","result":{}}"#;
    let run = scripted(request, &["--tier", "approve", "--wire"]);
    run.sent(r#""id":"x","result":{"outcome":"#).sent(r#""optionId":"yes""#).ended(0);
}

#[test]
fn several_options_are_chosen_in_rounds() {
    let round = |id: u32, auth: &str, search: &str| {
        let option =
            |id: &str, name: &str| format!(r#"{{"optionId":"{id}","name":"{name}","kind":"allow_once"}}"#);
        let options = [
            option("e", "Answer elsewhere"),
            option("a", &format!("{auth} Auth")),
            option("s", &format!("{search} Search")),
            option("d", "Done"),
        ];
        format!(
            "agent> {{\"id\":{id},\"method\":\"session/request_permission\",\"params\":{{\"toolCall\":{{\"toolCallId\":\"t\",\"title\":\"Which?\"}},\"options\":[{}]}}}}\nagent< {{\"id\":{id},\"result\":{{}}}}",
            options.join(",")
        )
    };
    // `$id` in a script is the ID of the last request that was read, the prompt; so these IDs are literal.
    let lines = [round(10, "☐", "☐"), round(11, "☑", "☐"), round(12, "☑", "☑")].join("\n");
    let run = scripted(&lines, &["--tier", "permission", "--answer", "Auth,Search", "--wire"]);
    for (id, option) in [(10, "a"), (11, "s"), (12, "d")] {
        run.sent(&format!(r#""id":{id},"result":{{"outcome":"#)).sent(&format!(r#""optionId":"{option}""#));
    }
    run.ended(0);
}

#[test]
fn a_withdrawn_question_is_cancelled_as_its_method_asks() {
    for (tier, dialect, said) in [
        ("native", "sandboxagent", "The question failed: -32800 request cancelled"),
        ("forms", "claude", "The question was cancelled (tool use aborted)"),
        ("permission", "kimi-permission", "The question was cancelled (dismissed)"),
    ] {
        let run = asked(dialect, &["--tier", tier, "--leave-open", "--prompt", "withdraw a question"]);
        run.said("      │ The question was withdrawn, or answered elsewhere.");
        run.said(&format!("agent │ {said}")).ended(0);
    }
    asked("sandboxagent", &["--tier", "native", "--leave-open", "--timeout", "200ms"]).ended(3);
}

#[test]
fn an_agent_that_fails_or_breaks_the_protocol_is_an_error() {
    let exits = asked("sandboxagent", &["--tier", "native", "--prompt", "exit 5"]);
    assert!(
        exits.stderr.contains("the agent ended before the turn did, with exit code 5"),
        "{}",
        exits.stderr
    );
    exits.ended(1);
    for (line, wrong) in [
        ("agent> {oops", "an invalid line"),
        (
            r#"agent> {"id":1,"method":"elicitation/create","params":{"mode":"url"}}"#,
            "elicitation/create: only forms are shown: url",
        ),
        (
            r#"agent> {"id":1,"method":"session/request_permission","params":{"options":[]}}"#,
            "session/request_permission: the question was not understood",
        ),
    ] {
        let run = scripted(line, &["--tier", "forms"]);
        assert!(run.stderr.contains(&format!("the agent broke the protocol: {wrong}")), "{}", run.stderr);
        run.said(" done │ end_turn").ended(1);
    }
}

#[test]
fn control_characters_never_reach_the_terminal() {
    let update = r#"agent> {"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\u001b]0;x\u0007\u202e"}}}}"#;
    let hostile = r#"agent> {"id":1,"method":"\u001b[2J/x","params":{}}"#;
    let run = scripted(&format!("{update}\n{hostile}\nagent< *"), &["--tier", "permission"]);
    assert!(!run.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{:?}", run.stdout);
    run.said("agent │ ␛]0;x␇\\u{202e}").ended(0);
}
