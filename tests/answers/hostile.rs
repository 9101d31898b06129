//! Hostile connections to the socket of a bridge: its memory stays bounded (I6), and ordinary traffic passes (I7),
//! whatever they send and do not read. The same over HTTP is left to `tests/http/bounds.rs`. And a hostile permission:
//! what is shown of it is bounded, and does not act on a terminal.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use askbridge::limits;
use serde_json::{Value, json};

use crate::answers::machine::TestMachine;
use crate::support::Process;
use crate::support::procfs::peak_kib;

/// Within this, whatever is waited for has to happen.
const DEADLINE: Duration = Duration::from_secs(120);
/// MiB that the program has at the most, whatever one hostile connection does.
const ONE: usize = 40;
/// Connections whose whole replies would be more than [`ONE`]. They are few, since a debug build is slow to write them.
const CONNECTIONS: usize = 24;

/// Starts a bridge whose agent asks these questions, and then sends back what it is sent.
fn start(machine: &TestMachine, questions: &[Value]) -> Process {
    let request = |(id, params): (usize, &Value)| {
        let method = "_sandboxagent/session/request_question";
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string() + "\n"
    };
    let path = machine.path().join("questions");
    fs::write(&path, questions.iter().enumerate().map(request).collect::<String>()).unwrap();
    let agent = format!("cat '{}'; exec cat", path.display());
    machine.start(&["run", "--client-questions", "none", "--", "sh", "-c", &agent])
}

/// As many large questions as may be open, more than 2 MiB of them.
fn large() -> Vec<Value> {
    let options: Vec<_> =
        (0..limits::OPTIONS).map(|number| format!("{number}{}", "x".repeat(3800))).collect();
    let question = |number| json!({ "sessionId": "s", "questionId": format!("q-{number}"), "prompt": "?", "options": options });
    (0..16).map(question).collect()
}

fn connect(machine: &TestMachine) -> BufReader<UnixStream> {
    let [socket] = &machine.names()[..] else { panic!("there is one bridge") };
    let stream = UnixStream::connect(machine.sockets().join(socket)).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    BufReader::new(stream)
}

/// Waits until the large questions are open.
fn opened(machine: &TestMachine) {
    let deadline = Instant::now() + DEADLINE;
    // A socket has another name until it listens.
    let listens = || matches!(&machine.names()[..], [name] if name.ends_with(".sock"));
    while !listens() || listed(machine) < 2 * 1024 * 1024 {
        assert!(Instant::now() < deadline, "the questions are not open: {:?}", machine.names());
        thread::yield_now();
    }
}

/// Returns the length of a listing.
fn listed(machine: &TestMachine) -> usize {
    let mut stream = connect(machine);
    flood(&stream, &call("question_list", &json!({})), 1);
    // A debug build is slow to parse so much.
    let mut line = Vec::new();
    stream.read_until(b'\n', &mut line).unwrap()
}

/// Sends as much as the bridge takes without being read.
fn flood(stream: &BufReader<UnixStream>, call: &str, count: usize) {
    stream.get_ref().set_nonblocking(true).unwrap();
    // That it blocks is what back-pressure means.
    drop(stream.get_ref().write_all(call.repeat(count).as_bytes()));
    stream.get_ref().set_nonblocking(false).unwrap();
}

fn call(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string() + "\n"
}

fn reply(stream: &mut BufReader<UnixStream>) -> Value {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

/// Waits until the bridge has had its turn with all connections: it answers so many others.
fn settle(machine: &TestMachine) {
    for _ in 0..20 {
        let mut stream = connect(machine);
        flood(&stream, &call("bridge_status", &json!({})), 1);
        assert!(reply(&mut stream)["result"].is_array());
    }
}

/// Returns the most MiB that a process had.
fn peak(process: &Process) -> usize {
    peak_kib(process.id()) / 1024
}

/// Returns the time that a thread has had on a CPU, in clock ticks.
fn ticks(thread: &Path) -> u64 {
    let stat = fs::read_to_string(thread.join("stat")).unwrap();
    // Behind the name, which may have blanks: the state, ten numbers, and the times in and below user space.
    let (_, numbers) = stat.rsplit_once(')').unwrap();
    let numbers: Vec<_> = numbers.split_whitespace().collect();
    numbers[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

/// Returns a permission request whose texts are all this one, and which is as long as a line may be to be read.
fn permission(evil: &str) -> String {
    let line = |more: usize| {
        let option =
            |id: &str, kind: &str| json!({ "optionId": id, "name": format!("{id} {evil}"), "kind": kind });
        let diff = json!({ "type": "diff", "path": evil, "oldText": format!("{evil}\n"), "newText": evil });
        let params = json!({
            "sessionId": "s",
            "toolCall": {
                "toolCallId": "t", "title": evil, "kind": "execute", "content": [diff],
                "locations": [{ "path": evil, "line": 1 }],
                "rawInput": { "command": evil, "cwd": evil, "more": format!("{evil}{}", "x".repeat(more)) },
            },
            "options": [option("yes", "allow_once"), option("no", "reject_once")],
        });
        let method = "session/request_permission";
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string() + "\n"
    };
    line(limits::HOLD - line(0).len())
}

#[test]
fn a_hostile_permission_of_a_mebibyte_is_cut_and_does_not_act_on_a_terminal() {
    const EVIL: &str = "\x1b]0;title\x07\x1b[2J\u{202e}evil\r\u{9b}31m\u{200b}\u{2028}\x08\x7f\u{e0041}";
    let machine = TestMachine::new();
    let path = machine.path().join("permission");
    let line = permission(EVIL);
    assert_eq!(line.len(), limits::HOLD);
    fs::write(&path, &line).unwrap();
    let agent = format!("cat '{}'; exec cat", path.display());
    let mut client = machine.start(&["run", "--", "sh", "-c", &agent]);
    client.expect("the permission, as it is", |got| got.trim_end() == line.trim_end());
    let id = machine.question();
    let refused = machine.run(&["answer", &id, "neither"]).stderr;
    let json = machine.ok(&["show", "--json", &id]);
    let view: Value = serde_json::from_str(&json).unwrap();
    let subject = &view["question"]["subject"];
    assert_eq!(
        (&subject["command"], &subject["diffs"][0]["new"]),
        (&json!(EVIL), &json!(EVIL)),
        "they are told whole"
    );
    let raw = subject["rawInput"].as_str().unwrap();
    assert!(
        raw.ends_with(" more bytes are not shown") && raw.len() <= limits::SUBJECT_TEXT,
        "{} bytes",
        raw.len()
    );
    let shown =
        [machine.ok(&["list"]), machine.ok(&["list", "--json"]), machine.ok(&["show", &id]), refused, json];
    machine.ok(&["answer", &id, "no"]);
    let after = [machine.run(&["answer", &id, "yes"]).stderr, machine.ok(&["show", &id])];
    for text in shown.into_iter().chain(after) {
        let bad = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{200b}\u{2028}\u{e0041}".contains(c);
        assert!(!text.contains(bad), "{text:?}");
        assert!(!text.is_empty() && text.len() < 4 * limits::SUBJECT_TEXT, "{} bytes", text.len());
    }
}

#[test]
fn calls_whose_replies_are_not_read_take_little_memory() {
    let machine = TestMachine::new();
    let bridge = start(&machine, &large());
    opened(&machine);
    let hostile: Vec<_> = (0..CONNECTIONS).map(|_| connect(&machine)).collect();
    for stream in &hostile {
        flood(stream, &call("question_list", &json!({})), 4);
    }
    settle(&machine);
    assert!(peak(&bridge) <= ONE, "{} MiB", peak(&bridge));
}

#[test]
fn subscriptions_that_are_not_read_take_little_memory() {
    let machine = TestMachine::new();
    let bridge = start(&machine, &large());
    opened(&machine);
    let hostile: Vec<_> = (0..4).map(|_| connect(&machine)).collect();
    for stream in &hostile {
        let subscribe = call("question_subscribe", &json!({}));
        flood(stream, &subscribe, limits::SUBSCRIPTIONS_PER_CONNECTION);
    }
    settle(&machine);
    assert!(peak(&bridge) <= ONE, "{} MiB", peak(&bridge));
}

/// A machine on which an agent builds is the ordinary case: the person's half has its turn there as all else has.
#[test]
fn the_inbox_has_the_priority_of_the_bridge() {
    let machine = TestMachine::new();
    let bridge = start(&machine, &large());
    opened(&machine);
    let nice = |thread: &Path| {
        let stat = fs::read_to_string(thread.join("stat")).unwrap();
        let (_, numbers) = stat.rsplit_once(')').unwrap();
        numbers.split_whitespace().nth(16).unwrap().parse::<i32>().unwrap()
    };
    let threads = fs::read_dir(format!("/proc/{}/task", bridge.id())).unwrap();
    let threads: Vec<_> = threads.map(|thread| thread.unwrap().path()).collect();
    let names: Vec<_> =
        threads.iter().map(|thread| fs::read_to_string(thread.join("comm")).unwrap()).collect();
    assert!(names.iter().any(|name| name == "inbox\n"), "{names:?}");
    let own = nice(Path::new("/proc/thread-self"));
    assert!(threads.iter().all(|thread| nice(thread.as_path()) == own), "{names:?}");
}

/// A pattern takes milliseconds on a text that nearly matches. How long traffic waits for that is not measured here,
/// because a busy machine decides it, but the time that the thread of the traffic spends.
#[test]
fn costly_answers_are_checked_beside_the_traffic() {
    const ANSWERS: usize = 10;
    let machine = TestMachine::new();
    let field = json!({ "type": "string", "title": "Which?", "pattern": "(?:a?){40}a{40}b$" });
    let schema = json!({ "type": "object", "properties": { "q": field }, "required": ["q"] });
    let params = json!({ "sessionId": "s", "mode": "form", "message": "Which?", "requestedSchema": schema });
    let asks = json!({ "jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params });
    let agent = format!("echo '{asks}'; exec cat");
    let mut bridge = machine.start(&["run", "--client-questions", "none", "--", "sh", "-c", &agent]);
    let id = machine.question();
    let mut stream = connect(&machine);
    let answer = json!({ "values": { "q": "a".repeat(3990) } });
    flood(&stream, &call("question_answer", &json!({ "id": id, "answer": answer })), ANSWERS);
    bridge.send(r#"{"jsonrpc":"2.0","method":"ping"}"#);
    bridge.expect("the ping", |line| line.contains("ping"));
    for _ in 0..ANSWERS {
        let refused = reply(&mut stream);
        assert_eq!(refused["error"]["data"]["name"], "does_not_fit", "{refused}");
    }
    let threads = fs::read_dir(format!("/proc/{}/task", bridge.id())).unwrap();
    let threads = threads.map(|thread| thread.unwrap().path());
    let (traffic, others): (Vec<_>, Vec<_>) =
        threads.partition(|thread| thread.ends_with(bridge.id().to_string()));
    let [traffic, others] =
        [traffic, others].map(|threads| threads.iter().map(|thread| ticks(thread)).sum::<u64>());
    assert!(others > 4 * traffic, "the traffic's thread ran for {traffic} ticks, the others for {others}");
}
