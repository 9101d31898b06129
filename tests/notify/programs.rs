//! Commands that tell: what they get, what they may do, and what becomes of those that hang or fail.

use std::{fs, os::unix::fs::PermissionsExt};

use askbridge_os::exit;
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::Value;

use crate::answers::machine::end;
use crate::notify::stage::{Stage, askbridge, notifiers, permission, question, script, wait, wait_for_line};

const HOSTILE: &str = "Go? $(touch pwned) `id` '; touch pwned #\u{1b}]0;x\u{7}\u{2028}\u{2029}";

/// Returns whether a process has ended, even if its parent has not looked yet.
fn is_gone(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

#[test]
fn a_command_gets_the_question_in_a_private_file_that_is_removed() {
    let stage = Stage::new();
    let out = stage.file("told");
    let text = format!(
        "{{ stat -c %a \"$1\"; cat \"$QUESTION_FILE\"; echo; echo \"$QUESTION_ID $1\"; cat; }} >'{0}.new'; mv '{0}.new' '{0}'",
        out.display()
    );
    let stage = stage.with("ASKBRIDGE_NOTIFY_COMMAND_COMMAND", &script(&text));
    let (mut bridge, id) = stage.asking(&question(HOSTILE));
    let told = wait_for_line(&out, |line| line.contains("Go?"));
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines[0], "600");
    // Some programs end a line at these.
    assert!(!lines[1].contains(['\u{2028}', '\u{2029}']), "{told}");
    let record: Value = serde_json::from_str(lines[1]).unwrap();
    assert_eq!(
        (&record["id"], &record["question"]["fields"][0]["label"]),
        (&id.as_str().into(), &HOSTILE.into())
    );
    let (named, file) = lines[2].split_once(' ').unwrap();
    assert_eq!(named, id);
    assert!(lines[3].starts_with("A question waits"), "{told}");
    assert!(!lines[3..].join("").contains('\u{1b}'), "{told}");
    wait("the end of the file", || (!fs::exists(file).unwrap()).then_some(()));
    assert!(!fs::exists(stage.file("pwned")).unwrap());
    assert_eq!(stage.machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
    bridge.expect("the answer", |line| line.contains("heard") && line.contains("yes"));
    wait("the end of the notifier", || notifiers(bridge.id()).is_empty().then_some(()));
}

#[test]
fn what_a_notifier_starts_may_answer_and_the_agent_may_not() {
    let stage = Stage::new();
    // It waits until the test has seen the question.
    let go = stage.file("go");
    mkfifoat(CWD, &go, Mode::RUSR | Mode::WUSR).unwrap();
    let allow = format!("read -r _ <'{}'; {}", go.display(), askbridge("allow \"$QUESTION_ID\""));
    let stage = stage.with("ASKBRIDGE_NOTIFY_COMMAND_COMMAND", &script(&allow));
    let (mut bridge, id) = stage.asking(&permission("read"));
    fs::write(&go, "\n").unwrap();
    bridge.expect("the answer", |line| line.contains("heard") && line.contains("once"));
    let shown: Value = serde_json::from_str(&stage.machine.ok(&["show", &id, "--json"])).unwrap();
    assert_eq!(shown["settlement"]["by"]["responder"], "command_line");
}

#[test]
fn a_notifier_that_the_agent_starts_answers_nothing() {
    let stage = Stage::new().with("ASKBRIDGE_NOTIFY_DELAY", "1h");
    let (mut bridge, id) = stage.asking(&permission("read"));
    let answer = askbridge("allow \"$QUESTION_ID\"; echo code $? >&3");
    let command = script(&answer).replace('\'', r"'\''");
    let notify = askbridge(&format!("notify --now {id}"));
    bridge
        .send(&format!("run exec 3>&1; ASKBRIDGE_NOTIFY_COMMAND_COMMAND='{command}' {notify} 2>/dev/null &"));
    bridge.expect("the code", |line| line == format!("code {}", exit::OWN_AGENT));
    assert_eq!(stage.machine.question(), id);
}

#[test]
fn a_command_that_fails_is_logged_once_and_stops_nothing() {
    let stage = Stage::new();
    let out = stage.file("beats");
    let stage = stage
        .with("ASKBRIDGE_NOTIFY_COMMAND_COMMAND", &script("exit 3"))
        .with("ASKBRIDGE_NOTIFY_SOUND_COMMAND", &script(&format!("echo played >>'{}'", out.display())));
    let mut bridge = stage.bridge();
    for number in 1..=2 {
        bridge.send(&format!("ask {}", question(&format!("Number {number}?"))));
        let id = stage.machine.question();
        wait("the sound", || (fs::read_to_string(&out).ok()?.lines().count() == number).then_some(()));
        assert_eq!(stage.machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
        bridge.expect("the answer", |line| line.contains("heard"));
        wait("the end of the notifier", || notifiers(bridge.id()).is_empty().then_some(()));
    }
    bridge.close_stdin();
    let bridge = end(bridge);
    let logged = bridge.stderr.lines().filter(|line| line.contains("sh ended with exit code 3")).count();
    assert_eq!((bridge.code, logged), (0, 1), "{}", bridge.stderr);
}

#[test]
fn a_notifier_neither_holds_the_bridge_nor_outlives_it() {
    let stage = Stage::new();
    let pid = stage.file("pid");
    let hang = format!("echo $$ >'{}'; exec sleep 600", pid.display());
    let stage = stage.with("ASKBRIDGE_NOTIFY_COMMAND_COMMAND", &script(&hang));
    let (mut bridge, _) = stage.asking(&question("Go?"));
    let hanging: u32 = wait_for_line(&pid, |line| !line.is_empty()).trim().parse().unwrap();
    let notifier = wait("the notifier", || notifiers(bridge.id()).first().copied());
    bridge.close_stdin();
    // Its stdout and stderr end with it.
    assert_eq!(end(bridge).code, 0);
    wait("the end of the notifier", || is_gone(notifier).then_some(()));
    wait("the end of the command", || is_gone(hanging).then_some(()));
}

#[test]
fn the_heartbeat_runs_while_the_question_waits() {
    let stage = Stage::new();
    let out = stage.file("beats");
    let stage = stage
        .with("ASKBRIDGE_NOTIFY_HEARTBEAT_EVERY", "1s")
        .with("ASKBRIDGE_NOTIFY_HEARTBEAT_COMMAND", &script(&format!("echo beat >>'{}'", out.display())));
    let (mut bridge, id) = stage.asking(&question("Go?"));
    wait("three beats", || (fs::read_to_string(&out).ok()?.lines().count() >= 3).then_some(()));
    assert_eq!(stage.machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
    bridge.expect("the answer", |line| line.contains("heard"));
    wait("the end of the notifier", || notifiers(bridge.id()).is_empty().then_some(()));
}

#[test]
fn heartbeat_that_hangs_ends_with_its_question() {
    let stage = Stage::new().with("ASKBRIDGE_NOTIFY_DELAY", "1h");
    let (_bridge, id) = stage.asking(&question("Go?"));
    let pid = stage.file("pid");
    let hang = format!("echo $$ >'{}'; exec sleep 600", pid.display());
    let stage = stage.with("ASKBRIDGE_NOTIFY_HEARTBEAT_COMMAND", &script(&hang));
    let mut told = stage.start(&["notify", &id, "--now"]);
    let hanging: u32 = wait_for_line(&pid, |line| !line.is_empty()).trim().parse().unwrap();
    assert_eq!(stage.machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
    // The wait has a shorter deadline than that of what a notifier winds up.
    assert!(told.wait().code().is_some());
    wait("the end of the command", || is_gone(hanging).then_some(()));
}

#[test]
fn by_hand_it_says_what_it_did() {
    let stage = Stage::new().with("ASKBRIDGE_NOTIFY_DELAY", "1h");
    let (bridge, id) = stage.asking(&question("Go?"));
    let none = end(stage.start(&["notify", &id]));
    assert_eq!(none.code, 0);
    assert!(none.stderr.contains("no notifier is set up"), "{}", none.stderr);
    let stage = stage.with("ASKBRIDGE_NOTIFY_SOUND_COMMAND", &script("exit 0"));
    let told = end(stage.start(&["notify", &id, "--now"]));
    assert_eq!((told.code, told.stderr.lines().next()), (0, Some("askbridge: notified by sound")));
    let stage = stage.with("ASKBRIDGE_NOTIFY_SOUND_COMMAND", &script("exit 4"));
    let failed = end(stage.start(&["notify", &id, "--now"]));
    assert_eq!(failed.code, i32::from(exit::FAILED));
    assert!(failed.stderr.contains("sound: sh ended with exit code 4"), "{}", failed.stderr);
    assert!(notifiers(bridge.id()).is_empty());
    assert_eq!(end(stage.start(&["notify", "nowhere-1"])).code, i32::from(exit::NO_QUESTION));
}

#[test]
fn the_doctor_tries_out_each_way() {
    let stage = Stage::new();
    let out = stage.file("told");
    let keep = format!("cat \"$1\" >'{}'", out.display());
    let stage = stage
        .with("ASKBRIDGE_NOTIFY_COMMAND_COMMAND", &script(&keep))
        .with("ASKBRIDGE_NOTIFY_SOUND_COMMAND", &script("exit 7"));
    let report: Value =
        serde_json::from_str(&end(stage.start(&["doctor", "--notify", "--json"])).stdout).unwrap();
    let findings: Vec<_> =
        report["findings"].as_array().unwrap().iter().filter(|it| it["area"] == "notifiers").collect();
    assert_eq!(findings[0]["text"], "sound: sh ended with exit code 7");
    assert_eq!((&findings[0]["level"], &findings[1]["level"]), (&"problem".into(), &"ok".into()));
    let record: Value = serde_json::from_str(&fs::read_to_string(out).unwrap()).unwrap();
    assert_eq!(record["question"]["agent"], Value::Null);
    assert_eq!(fs::metadata(stage.machine.sockets()).unwrap().permissions().mode() & 0o777, 0o700);
}
