//! When a person is told: settings that change while a bridge runs, single projects, quiet hours, and a person that
//! looks at the questions already.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
};

use serde_json::{Value, json};

use crate::notify::stage::{Stage, notifiers, question, script, wait, wait_for_line};
use crate::support::Process;

/// Returns a setting that writes what is told into a file, a line for each question.
fn told_into(path: &Path) -> String {
    script(&format!("printf '%s\\n' \"$QUESTION_TITLE\" >>'{}'", path.display()))
}

/// Lets the agent ask, under an ID of its own.
fn ask(bridge: &mut Process, id: u32, prompt: &str) {
    let mut request = question(prompt);
    request["id"] = id.into();
    bridge.send(&format!("ask {request}"));
}

/// Starts a bridge in a folder of the machine, with one more variable.
fn bridge_in(stage: &Stage, folder: &str, variable: (&str, &str)) -> Process {
    let folder = stage.file(folder);
    fs::create_dir_all(&folder).unwrap();
    let mut command = stage.bridge_command();
    Process::spawn(command.current_dir(folder).env(variable.0, variable.1))
}

#[test]
fn bridge_that_started_without_a_notifier_tells_the_next_question() {
    // With a journal, each question starts what follows them.
    let stage = Stage::new().with("ASKBRIDGE_LOG_LEVEL", "debug").with("ASKBRIDGE_JOURNAL_ENABLED", "false");
    let (first, second) = (stage.file("first"), stage.file("second"));
    // No command looks at the bridge in this test: a connection to its socket starts what follows the questions.
    let mut bridge = stage.bridge();
    ask(&mut bridge, 1, "Before?");
    bridge.expect_stderr("the first look", |text| text.contains("no service needs the questions yet"));
    let text = |path| format!("[notify.sound]\ncommand = {}\n", told_into(path));
    stage.set(&format!("[notify]\npurposes = [\"permission\"]\n{}", text(&first)));
    ask(&mut bridge, 2, "Left out?");
    bridge.expect_stderr("the service", |text| text.contains("a service starts"));
    // An edit counts for the next question, however soon it comes.
    stage.set(&text(&first));
    ask(&mut bridge, 3, "With a sound?");
    wait_for_line(&first, |line| line == "With a sound?");
    stage.set(&text(&second));
    ask(&mut bridge, 4, "With another?");
    wait_for_line(&second, |line| line == "With another?");
    assert!(!fs::read_to_string(&first).unwrap().contains("another"));
}

#[test]
fn project_of_the_session_or_else_of_the_bridge_decides_what_is_told() {
    let stage = Stage::new();
    let (told, loud) = (stage.file("told"), stage.file("loud"));
    stage.set(&format!(
        "[notify]\nquiet = [\"00:00-24:00\"]\n[notify.sound]\ncommand = {}\n\
         [[notify.project]]\nfolder = {}\nquiet = []\n",
        told_into(&told),
        json!(loud),
    ));
    let mut silent = bridge_in(&stage, "silent", ("X", ""));
    ask(&mut silent, 1, "Elsewhere?");
    stage.machine.question();
    let mut bridge = bridge_in(&stage, "loud/web", ("X", ""));
    ask(&mut bridge, 1, "By the folder of the bridge?");
    wait_for_line(&told, |line| line == "By the folder of the bridge?");
    // The session has a folder of its own.
    let params = json!({ "cwd": loud, "mcpServers": [] });
    silent.send(&json!({ "jsonrpc": "2.0", "id": 5, "method": "session/new", "params": params }).to_string());
    silent.send(r#"run printf '%s\n' '{"jsonrpc":"2.0","id":5,"result":{"sessionId":"loud"}}'"#);
    silent.expect("the session", |line| line.contains("\"sessionId\""));
    let mut request = question("By the folder of the session?");
    (request["id"], request["params"]["sessionId"]) = (2.into(), "loud".into());
    silent.send(&format!("ask {request}"));
    let lines = wait_for_line(&told, |line| line == "By the folder of the session?");
    assert_eq!(lines.lines().count(), 2, "{lines}");
}

#[test]
fn nothing_is_told_in_quiet_hours() {
    let now = jiff::Zoned::now();
    let clock = |minutes: i64| {
        let time = now.time().wrapping_add(jiff::Span::new().minutes(minutes));
        format!("{:02}:{:02}", time.hour(), time.minute())
    };
    let (quiet, loud) = (format!("{}-{}", clock(-60), clock(60)), format!("{}-{}", clock(60), clock(-60)));
    let stage = Stage::new();
    let told = stage.file("told");
    let stage = stage.with("ASKBRIDGE_NOTIFY_SOUND_COMMAND", &told_into(&told));
    let mut silent = bridge_in(&stage, "silent", ("ASKBRIDGE_NOTIFY_QUIET", &quiet));
    ask(&mut silent, 1, "At night?");
    stage.machine.question();
    let mut other = bridge_in(&stage, "other", ("ASKBRIDGE_NOTIFY_QUIET", &loud));
    ask(&mut other, 1, "By day?");
    let lines = wait_for_line(&told, |line| line == "By day?");
    assert_eq!(lines.lines().count(), 1, "{lines}");
    assert!(notifiers(silent.id()).is_empty());
}

/// Calls a method of a bridge without parameters, and returns the response.
fn call(socket: &Path, method: &str) -> Value {
    let mut stream = UnixStream::connect(socket).unwrap();
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method });
    stream.write_all(format!("{request}\n").as_bytes()).unwrap();
    let mut response = String::new();
    BufReader::new(stream).read_line(&mut response).unwrap();
    serde_json::from_str(&response).unwrap()
}

#[test]
fn nothing_is_told_while_a_person_looks_at_the_questions() {
    let stage = Stage::new().with("ASKBRIDGE_NOTIFY_DELAY", "1s");
    let told = stage.file("told");
    let stage = stage.with("ASKBRIDGE_NOTIFY_SOUND_COMMAND", &told_into(&told));
    let mut watched = stage.bridge();
    let socket = wait("the socket", || {
        let names = stage.machine.names().into_iter().find(|name| name.ends_with(".sock"));
        names.map(|name| stage.machine.sockets().join(name))
    });
    assert_eq!(call(&socket, "question_watch")["result"], Value::Null);
    assert_eq!(call(&socket, "bridge_status")["result"][0]["watched"], true);
    ask(&mut watched, 1, "Seen?");
    stage.machine.question();
    // Questions that wait equally long are told where the person says that presence does not count, and where no
    // person looks. How long a person counts as present is left to the tests of `control`.
    let mut anyway = bridge_in(&stage, "anyway", ("ASKBRIDGE_NOTIFY_PRESENCE", "false"));
    let sockets = |name: &String| name.ends_with(".sock") && !socket.ends_with(name);
    let name = wait("the socket", || stage.machine.names().into_iter().find(sockets));
    assert_eq!(call(&stage.machine.sockets().join(name), "question_watch")["result"], Value::Null);
    let mut unseen = stage.bridge();
    ask(&mut anyway, 1, "Anyway?");
    ask(&mut unseen, 1, "Unseen?");
    wait_for_line(&told, |line| line == "Anyway?");
    let lines = wait_for_line(&told, |line| line == "Unseen?");
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(notifiers(watched.id()).is_empty());
}

#[test]
fn way_with_a_longer_delay_is_held_when_a_person_comes_to_look() {
    let stage = Stage::new();
    let (told, later) = (stage.file("told"), stage.file("later"));
    let stage = stage
        .with("ASKBRIDGE_NOTIFY_SOUND_COMMAND", &told_into(&told))
        .with("ASKBRIDGE_NOTIFY_COMMAND_COMMAND", &told_into(&later))
        // Before that is over, a person has come.
        .with("ASKBRIDGE_NOTIFY_COMMAND_DELAY", "10s");
    let mut watched = stage.bridge();
    ask(&mut watched, 1, "Seen?");
    wait_for_line(&told, |line| line == "Seen?");
    let socket = stage.machine.names().into_iter().find(|name| name.ends_with(".sock")).unwrap();
    assert_eq!(call(&stage.machine.sockets().join(socket), "question_watch")["result"], Value::Null);
    let mut unseen = stage.bridge();
    ask(&mut unseen, 1, "Unseen?");
    let lines = wait_for_line(&later, |line| line == "Unseen?");
    assert!(lines.lines().all(|line| line != "Seen?"), "{lines}");
    assert_eq!(notifiers(watched.id()).len(), 1, "it waits until the person is gone");
}

#[test]
fn nothing_is_told_of_what_is_set_aside_until_it_is_back() {
    let stage = Stage::new();
    let (told, ended) = (stage.file("told"), stage.file("ended"));
    // The first way tells at once, and the second one after the person has set the question aside.
    let stage = stage
        .with("ASKBRIDGE_NOTIFY_SOUND_COMMAND", &told_into(&told))
        .with("ASKBRIDGE_NOTIFY_COMMAND_COMMAND", &told_into(&ended))
        .with("ASKBRIDGE_NOTIFY_COMMAND_DELAY", "2s");
    let mut bridge = stage.bridge();
    ask(&mut bridge, 1, "Aside?");
    let id = stage.machine.question();
    wait_for_line(&told, |line| line == "Aside?");
    stage.machine.ok(&["later", &id, "1h"]);
    wait("the end of the notifier", || notifiers(bridge.id()).is_empty().then_some(()));
    // One that is asked after it is told in both ways by then, and with it the other would be.
    ask(&mut bridge, 2, "Other?");
    let lines = wait_for_line(&ended, |line| line == "Other?");
    assert_eq!(lines, "Other?\n");
    assert_eq!(fs::read_to_string(&told).unwrap(), "Aside?\nOther?\n");
    // It is back, and is told as one that is new.
    stage.machine.ok(&["later", &id, "now"]);
    wait_for_line(&ended, |line| line == "Aside?");
    assert_eq!(fs::read_to_string(&told).unwrap(), "Aside?\nOther?\nAside?\n");
}

#[test]
fn a_rule_tells_by_the_ways_that_it_names_and_by_no_other() {
    let stage = Stage::new();
    let (sound, command) = (stage.file("sound"), stage.file("command"));
    stage.set(&format!(
        "[notify.sound]\ncommand = {}\n[notify.command]\ncommand = {}\n[[rule]]\nname = 'quiet'\n\
         options = ['yes', 'no']\nthen = 'notify'\nby = ['command']\n",
        told_into(&sound),
        told_into(&command)
    ));
    let mut bridge = stage.bridge();
    ask(&mut bridge, 1, "Ruled?");
    wait_for_line(&command, |line| line == "Ruled?");
    let id = stage.machine.question();
    assert_eq!(stage.machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
    wait("the end of the notifier", || notifiers(bridge.id()).is_empty().then_some(()));
    assert!(!fs::exists(&sound).unwrap(), "the rule does not name the sound");
    // What the rule does not match is told in all ways.
    let mut other = question("Other?");
    other["params"]["options"] = json!(["a", "b"]);
    bridge.send(&format!("ask {other}"));
    wait_for_line(&sound, |line| line == "Other?");
    wait_for_line(&command, |line| line == "Other?");
    assert!(!fs::read_to_string(&sound).unwrap().contains("Ruled?"));
}
