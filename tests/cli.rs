//! The command line: help texts and errors as in `fixtures/cli`, and the exit codes.
//! `UPDATE=1 cargo test --test suites cli::` writes the files.

use std::{collections::BTreeSet, fs, iter, path::Path, process::Command};

use askbridge::command::cli::Cli;
use askbridge_os::exit;
use clap::CommandFactory;

use crate::support::{Process, golden};

/// The exit code and the output of a run.
struct Run {
    code: u8,
    stdout: String,
    stderr: String,
}

/// Runs the program with `COLUMNS=100` and an empty stdin.
#[must_use]
fn run(args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_askbridge"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let command = command.args(args).env_clear().env("PATH", path).env("COLUMNS", "100");
    let mut process = Process::spawn(
        command.env("XDG_RUNTIME_DIR", env!("CARGO_TARGET_TMPDIR")).env("ASKBRIDGE_JOURNAL_ENABLED", "false"),
    );
    process.close_stdin();
    let mut stdout = Vec::new();
    while let Some(line) = process.next_line() {
        stdout.extend(line);
    }
    let code = process.wait().code().unwrap().try_into().unwrap();
    Run { code, stdout: String::from_utf8(stdout).unwrap(), stderr: process.whole_stderr() }
}

fn source(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Runs the program and compares its output with a file.
#[track_caller]
fn check(name: &str, args: &[&str]) -> Run {
    let (run, difference) = compare(name, args);
    assert!(difference.is_none(), "{}", difference.unwrap());
    run
}

/// Runs the program and compares its output with a file, apart from spaces at the end of a line. Returns the difference.
fn compare(name: &str, args: &[&str]) -> (Run, Option<String>) {
    let run = run(args);
    let mut shown = format!("$ askbridge {}\n", args.join(" "));
    for (prefix, text) in [("", &run.stdout), ("stderr: ", &run.stderr)] {
        text.lines().for_each(|line| shown.push_str(&format!("{}\n", format!("{prefix}{line}").trim_end())));
    }
    shown.push_str(&format!("exit code {}\n", run.code));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cli").join(name).with_extension("txt");
    (run, golden::difference(&path, &shown))
}

/// Returns the words of each command that a help text shows, and the name of the file of its own help text.
fn helps() -> Vec<(String, Vec<String>)> {
    let mut command = Cli::command();
    // The arguments of a command are described only once they are needed.
    command.build();
    let name = |words: &[String]| [&["help".to_owned()], words].concat().join("-");
    commands(&command).into_iter().map(|words| (name(&words), words)).collect()
}

fn commands(command: &clap::Command) -> Vec<Vec<String>> {
    let shown = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    let below = shown.flat_map(|below| {
        commands(below).into_iter().map(|words| [vec![below.get_name().to_owned()], words].concat())
    });
    iter::once(Vec::new()).chain(below).collect()
}

#[test]
fn each_command_is_in_a_group_of_the_help() {
    let help = run(&["--help"]).stdout;
    let words: Vec<_> = help.split_whitespace().collect();
    for command in Cli::command().get_subcommands() {
        let name = command.get_name();
        assert!(
            words.contains(&name) != command.is_hide_set(),
            "{name}: add it to a group of `src/command/help.rs`, or hide it"
        );
    }
    assert!(help.lines().count() <= 30, "{help}");
}

/// The inbox in the background is another process: an option that does not reach it does nothing, silently.
#[test]
fn each_option_of_the_inbox_is_passed_on_to_the_background() {
    let mut command = Cli::command();
    command.build();
    let inbox = command.find_subcommand("inbox").expect("the command");
    let options = inbox.get_arguments().filter(|option| !option.is_global_set() && !option.is_hide_set());
    let passed = source("src/command/background.rs");
    let missing: Vec<_> = options
        .filter_map(clap::Arg::get_long)
        .filter(|name| !["detach", "stop", "help"].contains(name))
        .filter(|name| !passed.contains(&format!("\"--{name}\"")))
        .collect();
    assert_eq!(missing, [""; 0], "pass them on in `spawn` of `src/command/background.rs`");
}

#[test]
fn help_is_printed_on_stdout() {
    check("help-short", &["-h"]);
    let mut differences = Vec::new();
    for (name, words) in helps() {
        let args: Vec<_> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let (run, difference) = compare(&name, &args);
        differences.extend(difference);
        assert_eq!((run.code, run.stderr.as_str()), (exit::OK, ""), "{name}");
        assert!(
            run.stdout.lines().all(|line| line.chars().count() <= 100),
            "{name} is wider than a terminal"
        );
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn version_is_the_version_of_the_package() {
    let run = run(&["--version"]);
    assert_eq!(run.stdout, format!("askbridge {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!((run.code, run.stderr.as_str()), (exit::OK, ""));
}

#[test]
fn a_usage_error_is_printed_on_stderr() {
    for (name, args) in [
        ("no-arguments", &[][..]),
        ("unknown-option", &["--colour", "run", "--", "cat"]),
        ("unknown-command", &["bridge"]),
        ("unknown-log-level", &["run", "--log", "loud", "--", "cat"]),
        ("run-without-agent", &["run"]),
        ("run-without-dashes", &["run", "cat"]),
        ("unknown-dialect", &["mock-agent", "--dialect", "klingon"]),
        ("unknown-tier", &["mock-client", "--tier", "psychic", "--", "cat"]),
        ("answer-and-reject", &["mock-client", "--tier", "forms", "--answer", "1", "--reject", "--", "cat"]),
        ("bad-timeout", &["run", "--timeout", "soon", "--", "cat"]),
        ("ask-without-question", &["ask", "--option", "a"]),
        ("ask-with-form-and-question", &["ask", "--question", "a", "--form", "-"]),
        ("answer-with-unknown-option", &["answer", "k3-1", "-5", "--feild", "n=-5"]),
        ("next-without-terminal", &["next"]),
        ("tui-without-terminal", &["tui"]),
        ("answer-with-dash", &["answer", "k3-1", "- one thing"]),
        ("no-time-to-answer", &["run", "--timeout", "0s", "--", "cat"]),
        ("no-more-time", &["extend", "k3-1", "0s"]),
        ("ask-with-empty-option", &["ask", "a", "--option", ""]),
        ("ask-with-option-twice", &["ask", "a", "--option", "b", "--option=b"]),
        ("unknown-shell", &["completions", "tcl"]),
        ("bad-grace", &["run", "--grace", "-1s", "--", "cat"]),
        ("proxy-with-agent", &["proxy", "--", "cat"]),
        ("bad-address", &["inbox", "--addr", "box.local:8421"]),
        ("detach-and-stop", &["inbox", "--detach", "--stop"]),
        ("no-such-machine", &["machine", "connect", "box"]),
        ("bad-machine-name", &["machine", "add", "a/b"]),
        ("bad-machine-host", &["machine", "add", "box", "--ssh=-box"]),
        ("bad-fleet-user", &["fleet", "credentials", "fleet", "--person", "a.b"]),
        ("bad-serve", &["run", "--serve", "box.local:8421", "--", "cat"]),
    ] {
        let run = check(name, args);
        assert_eq!((run.code, run.stdout.as_str()), (exit::USAGE, ""), "{name}");
    }
}

#[test]
fn a_hook_that_cannot_be_read_is_no_decision() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing/log").to_str().unwrap().to_owned();
    for args in [
        &["hook"][..],
        &["hook", "gemini"],
        &["hook", "claude", "more"],
        &["hook", "claude", "--event", "Stop"],
        &["hook", "claude", "--confirm=maybe"],
        &["hook", "claude", "--confirm", "--confirm"],
        &["hook", "claude", "--", "-x"],
        &["hook", "--no-such"],
        &["hook", ""],
        &["--no-such", "hook", "claude"],
        &["--no-such=1", "value", "hook", "claude"],
        &["--log", "loud", "hook", "claude"],
        &["--log", "hook", "hook", "claude"],
        &["hook", "claude", "--log"],
        &["hook", "claude", "--log-file", &missing],
    ] {
        let run = run(args);
        assert_eq!((run.code, run.stdout.as_str()), (exit::OK, ""), "{args:?}: {}", run.stderr);
        assert_ne!(run.stderr, "", "{args:?}: the cause is for those who look for it");
    }
    // These are no hooks.
    for args in [
        &["list", "hook", "--no-such"][..],
        &["--log-file", "hook", "list", "--no-such"],
        &["run", "--", "hook", "--no-such"],
        &["--", "hook", "--no-such"],
        &["help", "hook", "--no-such"],
    ] {
        assert_ne!(run(args).code, exit::OK, "{args:?}");
    }
    assert!(run(&["hook", "--help"]).stdout.contains("askbridge hook"));
}

#[test]
fn a_failure_is_one_line_on_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent");
    fs::write(&file, "not a program").unwrap();
    let (folder, file) = (folder.path().to_str().unwrap(), file.to_str().unwrap());
    let missing = format!("{folder}/missing/log");
    for (code, args) in [
        (exit::NOT_FOUND, &["run", "--", "askbridge-no-such-agent"][..]),
        (exit::NOT_FOUND, &["run", "--", &missing]),
        (exit::NOT_EXECUTABLE, &["run", "--", file]),
        (exit::NOT_EXECUTABLE, &["run", "--", folder]),
        (exit::FAILED, &["--log-file", &missing, "run", "--", "cat"]),
        (exit::FAILED, &["run", "--log-file", folder, "--", "cat"]),
    ] {
        let run = run(args);
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{args:?}: {}", run.stderr);
        let lines: Vec<_> = run.stderr.lines().collect();
        let [line] = lines[..] else { panic!("{args:?}: not one line: {}", run.stderr) };
        let error = line.strip_prefix("askbridge: ").unwrap_or_else(|| panic!("{args:?}: {line}"));
        assert!(error.starts_with(char::is_lowercase) && !error.ends_with('.'), "{args:?}: {line}");
    }
}

#[test]
fn a_failure_names_its_cause() {
    check("agent-not-found", &["run", "--", "askbridge-no-such-agent"]);
    check("agent-not-executable", &["run", "--", "/"]);
    check("log-file-not-opened", &["--log-file", "/", "run", "--", "cat"]);
}

#[test]
fn the_exit_code_of_the_agent_is_passed_on() {
    for (code, script) in [(0, "exit 0"), (7, "exit 7"), (128 + 15, "kill -TERM $$")] {
        assert_eq!(run(&["run", "--", "sh", "-c", script]).code, code, "{script}");
    }
}

#[test]
fn every_exit_code_is_in_the_help() {
    let commands = ["run", "list", "answer", "ask", "inbox", "config", "mock-agent", "mock-client", "demo"];
    let helps = commands.map(|command| vec![command, "--help"]).into_iter().chain([vec!["--help"]]);
    let helps: String = helps.map(|args| run(&args).stdout).collect();
    let told = |code: &str| helps.lines().any(|line| line.split_whitespace().next() == Some(code));
    let source = source("crates/os/src/exit.rs");
    let codes = source.lines().filter_map(|line| line.strip_prefix("pub const ")?.split_once(": u8 = "));
    let codes: Vec<_> = codes.map(|(name, code)| (name, code.trim_end_matches(';'))).collect();
    assert!(codes.len() >= 5, "crates/os/src/exit.rs has only {codes:?}");
    for (name, code) in codes {
        assert!(told(code), "no help says what exit code {code} means ({name})");
    }
}

#[test]
fn every_fixture_belongs_to_a_test() {
    let here = source("tests/cli.rs");
    let helps: BTreeSet<_> = helps().into_iter().map(|(name, _)| name).collect();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cli")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_named = helps.contains(name) || here.contains(&format!("\"{name}\""));
        assert!(is_named, "no test writes {}", path.display());
    }
}
