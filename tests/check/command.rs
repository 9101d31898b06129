//! The command line of `askbridge check`: exit codes, selections, what is expected to fail, and documents.

use std::{fs, process::Command};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    check::faults::ASKBRIDGE,
    support::{
        Process,
        running::{eventually, runs},
    },
};

/// A case that the relay passes quickly, and fails under `swallows-exit-code`.
const CASE: &str = "bridge/lifecycle/agent-exit-code";

struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn check(args: &[&str]) -> Run {
    let mut process = Process::spawn(Command::new(ASKBRIDGE).arg("check").args(args));
    process.close_stdin();
    let mut stdout = Vec::new();
    while let Some(line) = process.next_line() {
        stdout.extend(line);
    }
    let code = process.wait().code();
    Run { code, stdout: String::from_utf8(stdout).unwrap(), stderr: process.whole_stderr() }
}

fn check_bridge(args: &[&str], fault: &[&str]) -> Run {
    let relay = [&["--", ASKBRIDGE, "mock", "bridge"], fault, &["--", "{agent}"]].concat();
    check(&[&["bridge"], args, &relay].concat())
}

#[test]
fn what_fails_and_what_was_expected_to_decides_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let expected = folder.path().join("expected");
    fs::write(&expected, format!("# known\n{CASE} # its bug\n")).unwrap();
    let expected = expected.to_str().unwrap();
    let broken = ["--fault", "swallows-exit-code"];
    for (args, fault, code, last) in [
        (&[CASE][..], &[][..], 0, "PASSED  1 passed of 1 case"),
        // A recommendation is a demand with `--strict` alone.
        (&[CASE], &broken, 0, "PASSED  0 passed, 1 warning of 1 case"),
        (&[CASE, "--strict"], &broken, 1, "FAILED  0 passed, 1 failed of 1 case"),
        (
            &[CASE, "--strict", "--expected", expected],
            &broken,
            0,
            "PASSED  0 passed, 1 failed as expected of 1",
        ),
        (&[CASE, "--expected", expected], &[], 1, "FAILED  1 passed of 1 case"),
        // Such a command breaks a rule in its first messages already. That is no reason to run no case.
        (&["questions/asked-once"], &["--fault", "duplicates"], 1, "FAILED  0 passed, 1 failed of 1 case"),
    ] {
        let run = check_bridge(args, fault);
        assert_eq!(run.code, Some(code), "{args:?} {fault:?}\n{}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains(last), "{args:?} {fault:?}\n{}", run.stdout);
    }
}

#[test]
fn a_failure_shows_the_rule_the_step_and_both_lines() {
    let run = check_bridge(&[CASE, "--strict"], &["--fault", "swallows-exit-code"]);
    for text in [
        "FAILED  bridge/lifecycle/agent-exit-code\n",
        "  The exit code of the agent is the exit code of the bridge\n  should: ",
        "  conversation after initialize and session/new\n    agent! exit 7\n    peer! exits 7\n",
        "  the command exited with another status\n",
        "    expected  exit code 7\n",
        "         got  exit code 0\n",
        "        step  bridge/lifecycle/agent-exit-code.txt:8\n",
        "FAILED  0 passed, 1 failed of 1 case in ",
    ] {
        assert!(run.stdout.contains(text), "{text:?} is missing in\n{}", run.stdout);
    }
    // What every case begins with is not shown again for each failure.
    assert!(!run.stdout.contains("client>"), "{}", run.stdout);
    assert_eq!(run.stderr, "  bridge/lifecycle: 0 passed, 1 failed\n");
}

#[test]
fn a_beginning_that_many_cases_share_fails_once() {
    let cases = ["messages/one-response", "questions/asked-once", "permissions/asked-once"];
    let run = check_bridge(&cases, &["--fault", "duplicates"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    // Those of messages and permissions begin with `session`, that of questions with `forms`.
    let details = run.stdout.lines().filter(|line| line.starts_with("FAILED  bridge/"));
    assert_eq!(details.count(), 2, "{}", run.stdout);
    let others = "  1 inconclusive: its beginning failed like `bridge/messages/one-response`\n";
    assert!(run.stdout.contains(others), "{}", run.stdout);
}

#[test]
fn what_is_not_shown_whole_is_said() {
    let run = check_bridge(&["messages", "--timeout", "500ms"], &["--fault", "drops-unknown"]);
    let rest = " more are only named below: `askbridge check bridge CASE` shows one, `--json FILE` all\n";
    assert!(run.stdout.contains(rest), "{}", run.stdout);
}

#[test]
fn a_peer_that_logs_to_stdout_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let [json, junit] = ["json", "xml"].map(|name| folder.path().join(name));
    let noise = ["--", ASKBRIDGE, "mock-agent", "--dialect", "form", "--fault", "noise"];
    let documents = ["--json", json.to_str().unwrap(), "--junit", junit.to_str().unwrap()];
    let all = ["agent", "messages/stdout", "turns/ends-once", "lifecycle/initialize"];
    let run = check(&[&all[..], &documents, &noise].concat());
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    let json: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let verdicts: Vec<_> = json["cases"].as_array().unwrap().iter().map(|case| &case["verdict"]).collect();
    assert_eq!(verdicts, ["passed", "failed", "passed"]);
    assert!(fs::read_to_string(junit).unwrap().contains("agent: ready"));
    // Where its case is not run, the noise is named.
    let run = check(&[&["agent", "turns/ends-once"], &noise[..]].concat());
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let said = "stdout: the agent wrote a line that is not a message of ACP\n";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    let noise = ["--", ASKBRIDGE, "mock", "bridge", "--fault", "noise", "--", "{agent}"];
    let run = check(&[&["bridge", "messages/stdout", "messages/one-response"], &noise[..]].concat());
    assert!(run.code == Some(1) && run.stdout.contains("1 passed, 1 failed of 2 cases"), "{}", run.stdout);
}

#[test]
fn a_line_that_is_too_much_to_read_fails_once() {
    let agent = r#"read -r _; printf '{"jsonrpc":"2.0","id":0,"result":"'; head -c 17000000 /dev/zero | tr '\0' x; echo '"}'; cat"#;
    let cases = ["agent", "messages/stdout", "lifecycle/initialize", "lifecycle/unsupported-version"];
    let run = check(&[&cases[..], &["--", "sh", "-c", agent]].concat());
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    for text in [
        "FAILED  agent/messages/stdout\n",
        "a line of more than 16 MiB",
        "1 failed, 2 inconclusive of 3 cases",
    ] {
        assert!(run.stdout.contains(text), "{text:?} is missing in\n{}", run.stdout);
    }
}

#[test]
fn what_cannot_be_run_is_no_failure() {
    let agent = ["--", "{agent}"];
    let cat = ["bridge", CASE, "--timeout", "200ms", "--", "sh", "-c", "echo words >&2; cat", "{agent}"];
    let silent = ["agent", "--timeout", "200ms", "--", "sleep", "1000"];
    for (args, why) in [
        (&["bridge", CASE, "--", "askbridge-is-not-here", "{agent}"][..], "cannot start "),
        (&cat, "does not take part in a conversation: "),
        (&silent, "does not take part in a conversation: it did not answer `initialize` within 200ms"),
        (&["bridge", CASE, "--", "cat"], "put `{agent}` where a bridge has its command"),
        (&[&["bridge", "no/case"], &agent[..]].concat(), "no case is named `no/case`"),
    ] {
        let run = check(args);
        assert!(run.code == Some(2) && run.stderr.contains(why), "{args:?} {:?} {}", run.code, run.stderr);
    }
}

#[test]
fn what_cannot_be_written_or_read_is_named_and_loses_no_result() {
    let (folder, nowhere) = (tempfile::tempdir().unwrap(), "/proc/askbridge-is-not-here");
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let within = file.join("wire");
    for (option, path, is_shown) in [
        ("--expected", nowhere, false),
        ("--wire", within.to_str().unwrap(), false),
        ("--json", nowhere, true),
        ("--junit", nowhere, true),
    ] {
        let run = check_bridge(&[CASE, option, path], &[]);
        assert_eq!(run.code, Some(2), "{option}: {}", run.stderr);
        assert!(
            run.stderr.contains(path) && !run.stderr.contains("cannot start"),
            "{option}: {}",
            run.stderr
        );
        assert_eq!(run.stdout.contains("PASSED  1 passed of 1 case"), is_shown, "{option}: {}", run.stdout);
    }
}

#[test]
fn the_last_words_of_a_command_that_exits_at_once_are_shown() {
    // The shell is gone before its child writes them.
    let script = "{ sleep 0.3; echo words >&2; } & exit 3";
    let run = check(&["bridge", CASE, "--", "sh", "-c", script, "{agent}"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(
        run.stderr.contains("ended with exit code 3") && run.stderr.contains("its last words: words"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_signal_ends_the_commands_and_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let cases = ["bridge/streams/silent", "bridge/lifecycle/agent-closes-its-output", "--timeout", "1h"];
    let relay = ["--", ASKBRIDGE, "mock", "bridge", "--fault", "keeps-stdout", "--", "{agent}"];
    let mut command = Command::new(ASKBRIDGE);
    command.args(["check", "bridge"]).args(cases).args(relay).env("TMPDIR", folder.path());
    let mut process = Process::spawn(&mut command);
    process.expect_stderr("the end of the first case", |stderr| stderr.contains("bridge/streams: 1 passed"));
    kill_process(Pid::from_raw(process.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(process.wait().code(), Some(128 + Signal::TERM.as_raw()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_case_ends_with_every_process_of_its_command() {
    for (what, script) in [
        (
            "a child that ignores signals",
            "trap '' HUP INT TERM; sleep 1000 & echo $! >>\"$PIDS\"; exec \"$@\"",
        ),
        (
            "a child in a session of its own",
            "setsid sh -c 'echo $$ >>\"$PIDS\"; exec sleep 1000' & exec \"$@\"",
        ),
        ("a stopped command", "exec 3<&0; \"$@\" <&3 & echo $$ >>\"$PIDS\"; kill -STOP $$"),
    ] {
        let pids = tempfile::NamedTempFile::new().unwrap();
        let mut command = Command::new(ASKBRIDGE);
        command.args(["check", "bridge", "bridge/streams/silent", "--", "sh", "-c", script, "sh"]);
        command.args([ASKBRIDGE, "mock", "bridge", "--", "{agent}"]).env("PIDS", pids.path());
        let mut process = Process::spawn(&mut command);
        assert_eq!(process.wait().code(), Some(0), "{what}: {}", process.whole_stderr());
        let pids = fs::read_to_string(pids.path()).unwrap();
        // One in the beginning that every run plays, one in the case.
        assert_eq!(pids.lines().count(), 2, "{what}");
        for pid in pids.lines() {
            eventually(&format!("the end of {what}"), || !runs(pid));
        }
    }
}

#[test]
fn documents_have_each_case() {
    let folder = tempfile::tempdir().unwrap();
    let junit = folder.path().join("junit.xml");
    let wire = folder.path().join("wire");
    let args = [CASE, "lines/invalid-utf8", "--strict", "--json", "-", "--junit", junit.to_str().unwrap()];
    let args = [&args[..], &["--wire", wire.to_str().unwrap()]].concat();
    let run = check_bridge(&args, &["--fault", "swallows-exit-code"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let member = |case: &str, name: &str| {
        let cases = json["cases"].as_array().unwrap();
        cases.iter().find(|it| it["id"] == case).unwrap()[name].clone()
    };
    assert_eq!((&json["kind"], &json["passed"]), (&"bridge".into(), &false.into()));
    assert_eq!(member(CASE, "verdict"), "failed");
    assert_eq!(member(CASE, "failure")["got"], "exit code 0");
    assert_eq!(member("bridge/lines/invalid-utf8", "verdict"), "skipped");
    let xml = fs::read_to_string(junit).unwrap();
    assert!(xml.contains("<testsuites name=\"askbridge check bridge\" tests=\"2\" failures=\"1\""), "{xml}");
    assert!(xml.contains("<failure message=\"the command exited with another status\">"), "{xml}");
    assert!(xml.contains("<skipped message="), "{xml}");
    let wire = fs::read_to_string(wire.join(format!("{CASE}.txt"))).unwrap();
    assert!(wire.lines().any(|line| line.contains("  client> {\"jsonrpc\"")), "{wire}");
}

#[test]
fn cases_are_listed_without_a_command() {
    let run = check(&["bridge", "--list", "lifecycle"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.lines().all(|line| line.contains("bridge/lifecycle/")), "{}", run.stdout);
    assert!(run.stdout.contains("should  bridge/lifecycle/agent-exit-code "), "{}", run.stdout);
}
