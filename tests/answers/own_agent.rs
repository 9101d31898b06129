//! I12: no process that an agent started answers, rejects or extends what this agent asked. Any other process may.

use std::process::Command;

use askbridge_os::exit;
use serde_json::{Value, json};

use crate::answers::machine::{ASKBRIDGE, TestMachine, end};
use crate::support::Process;

/// An agent that asks, and then does what its client says, line by line, and says what it hears of its question.
const AGENT: &str = r#"printf '%s\n' "$1"
while read -r line; do case $line in "{"*) echo "heard $line" ;; *) eval "$line" </dev/null ;; esac; done"#;

/// Says whose child this shell is, and submits.
const SUBMIT: &str = r#"read -r _ _ _ parent _ < /proc/$$/stat; "$@" 2>&1; echo "code $? parent $parent""#;

/// Waits until the process that started it has ended, and submits. Only that process holds the pipe open; it closes the
/// pipe a moment before the kernel gives its children another parent.
const SUBMIT_AS_ORPHAN: &str = r#"read -r _ < "$1"; shift; parent=$PPID
while [ "$parent" = "$PPID" ]; do read -r _ _ _ parent _ < /proc/$$/stat; done
"$@" 2>&1; echo "code $? parent $parent""#;

fn question() -> String {
    let params = json!({ "sessionId": "s", "prompt": "?", "options": ["a", "b"] });
    let method = "_sandboxagent/session/request_question";
    json!({ "jsonrpc": "2.0", "id": "ask", "method": method, "params": params }).to_string()
}

fn permission() -> String {
    let options = json!([
        { "optionId": "a", "name": "Allow", "kind": "allow_once" },
        { "optionId": "always", "name": "Always", "kind": "allow_always" },
    ]);
    let call = json!({ "toolCallId": "t", "title": "rm -rf /", "kind": "execute" });
    let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
    json!({ "jsonrpc": "2.0", "id": "ask", "method": "session/request_permission", "params": params })
        .to_string()
}

/// Starts a bridge around an agent that asks a question, and returns it with the ID of the question.
fn asking(machine: &TestMachine) -> (Process, String) {
    asking_for(machine, &question())
}

fn asking_for(machine: &TestMachine, request: &str) -> (Process, String) {
    let known: Vec<Value> = machine.watch().until("the questions before", |_| true);
    let mut bridge =
        machine.start(&["run", "--client-questions", "native", "--", "sh", "-c", AGENT, "agent", request]);
    bridge.expect("the question", |line| line.contains("\"ask\""));
    let open = machine.questions(known.len() + 1);
    let new = open.iter().find(|question| !known.iter().any(|other| other["id"] == question["id"]));
    (bridge, new.unwrap()["id"].as_str().unwrap().to_owned())
}

/// Quotes words for a shell.
fn quoted(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    quoted.join(" ").replace('\n', "; ")
}

/// The client makes the agent run this. Returns the exit code of the submission, the parent of the shell that made it,
/// and what was said before.
fn code(bridge: &mut Process, line: &str) -> (i32, u32) {
    bridge.send(line);
    let said = bridge.expect(&format!("the code of {line}"), |said| said.starts_with("code "));
    let words: Vec<_> = said.split(' ').collect();
    (words[1].parse().unwrap(), words[3].parse().unwrap())
}

#[track_caller]
fn assert_open(machine: &TestMachine, id: &str) {
    assert_eq!(machine.question(), id, "the question is open");
}

/// A person answers in a shell that has the same parent as the bridge.
#[track_caller]
fn assert_answered_by_a_sibling(machine: &TestMachine, bridge: &mut Process, id: &str) {
    assert_eq!(machine.does(&["answer", id, "a"]), format!("{id} answered"));
    bridge.expect("the answer", |line| line.starts_with("heard ") && line.contains(r#"[["a"]]"#));
}

#[test]
fn an_agent_cannot_allow_itself() {
    let machine = TestMachine::new();
    let (mut bridge, id) = asking_for(&machine, &permission());
    for submission in [
        &["allow", &id, "--yes"][..],
        &["allow", &id, "--always", "--yes"],
        &["reject", &id],
        &["answer", &id, "a", "--yes"],
    ] {
        let submission = [&["sh", "-c", SUBMIT, "sh", ASKBRIDGE], submission].concat();
        assert_eq!(code(&mut bridge, &quoted(&submission)).0, i32::from(exit::OWN_AGENT), "{submission:?}");
        assert_open(&machine, &id);
    }
    assert_eq!(machine.does(&["allow", &id, "--yes"]), format!("{id} allowed"));
    bridge.expect("the answer", |line| line.starts_with("heard ") && line.contains(r#""optionId":"a""#));
}

#[test]
fn processes_of_the_agents_tree_are_refused() {
    let machine = TestMachine::new();
    let (mut bridge, id) = asking(&machine);
    let pipe = machine.path().join("pipe").display().to_string();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for submission in [&["answer", &id, "a"][..], &["reject", &id], &["extend", &id, "1h"]] {
        let submission = [&[ASKBRIDGE], submission].concat();
        let child = quoted(&[&["sh", "-c", SUBMIT, "sh"], &submission[..]].concat());
        let orphan = quoted(&[&["sh", "-c", SUBMIT_AS_ORPHAN, "sh", &pipe], &submission[..]].concat());
        for (line, is_orphan) in [
            (child.clone(), false),
            (format!("sh -c {}", quoted(&[&format!("{child}; :")])), false),
            (format!("setsid {child}"), false),
            (format!("nohup {child} &"), false),
            (format!("( {orphan} & exec 3> {pipe} )"), true),
            (format!("( setsid {orphan} & exec 3> {pipe} )"), true),
            (format!("( nohup {orphan} & exec 3> {pipe} )"), true),
            (format!("( nohup setsid {orphan} & exec 3> {pipe} )"), true),
        ] {
            let (code, parent) = code(&mut bridge, &line);
            assert_eq!((code, parent == bridge.id()), (i32::from(exit::OWN_AGENT), is_orphan), "{line}");
        }
    }
    assert_open(&machine, &id);
    assert_answered_by_a_sibling(&machine, &mut bridge, &id);
}

#[test]
fn the_agent_itself_is_refused_and_told_what_to_do() {
    let machine = TestMachine::new();
    let (mut bridge, id) = asking(&machine);
    let run = quoted(&[ASKBRIDGE, "answer", &id, "a"]);
    bridge.send(&format!("exec {run} 2>&1"));
    let said = bridge.expect("the refusal", |line| line.contains(&id));
    let expected =
        "the agent that asked cannot answer itself: answer in a terminal that the agent did not start";
    assert_eq!(said, format!("askbridge: {id}: {expected}"));
    assert_eq!(bridge.wait().code(), Some(i32::from(exit::OWN_AGENT)));
}

#[test]
fn a_server_that_the_agent_started_is_refused() {
    let machine = TestMachine::new();
    let (mut bridge, id) = asking(&machine);
    // If the test fails, nothing else ends the server.
    bridge.send(&format!("timeout --foreground 60 {ASKBRIDGE} inbox --addr 127.0.0.1:0 2>&1 &"));
    let said = bridge.expect("the address", |line| line.contains("http://"));
    let address = said.split("http://").nth(1).unwrap().split([' ', '/', ',']).next().unwrap();
    let token = std::fs::read_to_string(machine.sockets().join("token")).unwrap();
    let curl = Command::new("curl")
        .args(["-s", "--max-time", "30", "-H", &format!("Authorization: Bearer {}", token.trim())])
        .args(["-X", "POST", "-H", "Content-Type: application/json", "-d", "{}"])
        .arg(format!("http://{address}/v1/questions/{id}/reject"))
        .output()
        .unwrap();
    assert!(curl.status.success(), "{address}: {curl:?}");
    let problem: Value = serde_json::from_slice(&curl.stdout).unwrap();
    assert_eq!((&problem["status"], &problem["name"]), (&json!(403), &json!("own_agent")), "{problem}");
    assert_open(&machine, &id);
    bridge.close_stdin();
    bridge.wait();
}

#[test]
fn a_process_older_than_the_bridge_answers() {
    let machine = TestMachine::new();
    let mut older = machine.command(&[]);
    let mut older =
        Process::spawn(Command::new("sh").args(["-c", SUBMIT_LATER, ASKBRIDGE]).envs(envs(&mut older)));
    let (mut bridge, id) = asking(&machine);
    older.send(&id);
    assert_eq!(end(older).code, 0);
    bridge.expect("the answer", |line| line.starts_with("heard "));
}

/// Reads the ID of a question, and answers.
const SUBMIT_LATER: &str = r#"read -r id; exec "$0" answer "$id" a"#;

fn envs(command: &mut Command) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    let envs = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    envs.collect()
}

/// Starts a shell with the environment of a machine. Its arguments are the program, an agent, and what it asks.
fn shell(machine: &TestMachine, script: &str) -> Process {
    let envs = envs(&mut machine.command(&[]));
    let args = ["-c", script, ASKBRIDGE, AGENT, &question()];
    Process::spawn(Command::new("sh").args(args).current_dir(machine.path()).envs(envs))
}

#[test]
fn the_parent_of_the_bridge_answers() {
    let machine = TestMachine::new();
    let script = r#"mkfifo in; "$0" run -- sh -c "$1" agent "$2" < in > /dev/null & exec 3> in
        read -r id; exec "$0" answer "$id" a"#;
    let mut parent = shell(&machine, script);
    parent.send(&machine.question());
    assert_eq!(end(parent).code, 0);
}

#[test]
fn a_process_that_became_a_child_of_the_bridge_before_the_agent_answers() {
    let machine = TestMachine::new();
    // The shell replaces itself by the bridge, as the entry points of containers do.
    let script = r#"mkfifo id; { read -r id < id; "$0" answer "$id" a; echo "code $?"; } >&2 &
        exec "$0" run -- sh -c "$1" agent "$2""#;
    let mut bridge = shell(&machine, script);
    let id = machine.question();
    std::fs::write(machine.path().join("id"), format!("{id}\n")).unwrap();
    bridge.expect_stderr("the code", |text| text.contains("code 0"));
    bridge.expect("the answer", |line| line.starts_with("heard "));
}

#[test]
fn the_agent_of_another_bridge_answers() {
    let machine = TestMachine::new();
    let (mut bridge, id) = asking(&machine);
    let (mut other, other_id) = asking(&machine);
    let submit = |id: &str| quoted(&["sh", "-c", SUBMIT, "sh", ASKBRIDGE, "answer", id, "a"]);
    assert_eq!(code(&mut other, &submit(&other_id)).0, i32::from(exit::OWN_AGENT));
    assert_eq!(code(&mut other, &submit(&id)).0, 0);
    bridge.expect("the answer", |line| line.starts_with("heard "));
    assert_open(&machine, &other_id);
}

/// Connects, forks, and ends. The child submits over the connection that it inherited, once its parent is gone.
const CONNECT_AND_FORK: &str = r#"alarm 30; my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die; $| = 1;
    sub call { $s->print("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$_[0]\",\"params\":$_[1]}\n"); scalar <$s> }
    call("bridge_status", "[]") =~ /result/ or die; my $parent = $$;
    if ($ARGV[2] eq "stays") { print call("question_reject", "{\"id\":\"$ARGV[1]\"}"); exit }
    exit if fork; 1 while getppid == $parent;
    print call("question_reject", "{\"id\":\"$ARGV[1]\"}");"#;

#[test]
fn a_connection_whose_process_has_ended_is_refused() {
    let machine = TestMachine::new();
    let (mut bridge, id) = asking(&machine);
    let socket = machine.sockets().join(format!("{}.sock", id.split_once('-').unwrap().0));
    let perl = |mode| {
        ["perl", "-MIO::Socket::UNIX", "-e", CONNECT_AND_FORK, socket.to_str().unwrap(), &id, mode]
            .map(str::to_owned)
    };
    let refused = |reply: &str| {
        let reply: Value = serde_json::from_str(reply).unwrap();
        (reply["error"]["code"].clone(), reply["error"]["data"]["name"].clone())
    };
    let own_agent = (json!(403), json!("own_agent"));
    let ends = perl("ends");
    bridge.send(&quoted(&ends.each_ref().map(String::as_str)));
    let reply = bridge.expect("the reply", |line| line.contains("jsonrpc") && line.contains("\"id\":1"));
    assert_eq!(refused(&reply), own_agent, "in the agent's tree");
    // The process that connected is a zombie; and here, its parent has reaped it.
    for script in [r#"exec "$@""#, r#""$@"; cat > /dev/null"#] {
        let mut outside = Process::spawn(Command::new("sh").args(["-c", script, "sh"]).args(&ends));
        let reply = outside.expect("a reply", |line| line.contains("jsonrpc"));
        assert_eq!(refused(&reply), own_agent, "{script}");
    }
    assert_open(&machine, &id);
    let stays = perl("stays");
    let mut outside = Process::spawn(Command::new(&stays[0]).args(&stays[1..]));
    outside.expect("that it is done", |line| line.contains("result"));
    bridge.expect("the rejection", |line| line.starts_with("heard ") && line.contains("rejected"));
}
