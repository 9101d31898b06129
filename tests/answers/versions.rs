//! Versions mix (I11): a bridge of the future with these commands, a command of the future with this bridge, and bridges
//! that say what they should not.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    thread,
};

use askbridge_os::exit;
use serde_json::{Value, json};

use crate::answers::machine::{Run, TestMachine, end};
use crate::answers::played::{PlayedBridge, listen};

/// A question of a program, which waits in an inbox of this version.
const DEPLOY: [&str; 5] = ["ask", "--question", "Deploy?", "--option", "yes"];
const NEWER: &str = "askbridge: 1 question needs a newer askbridge\n";

fn status(name: &str) -> Value {
    json!({
        "protocol": 99, "bridge": name, "pid": 1, "version": "99.0.0", "agent": "agent of the future",
        "folder": "/", "startedAt": "2026-11-21T12:00:00.000Z", "open": 3, "mood": { "calm": true },
    })
}

/// A record with names and members that no version knows.
fn strange() -> Value {
    let preview = json!({ "format": "hologram", "text": "shown in the air", "depth": 3 });
    let options = json!([{ "value": "a", "label": "Option A", "preview": preview, "icon": "x" }]);
    let fields = json!([
        { "name": "c", "label": "Which?", "required": true, "kind": "choice", "options": options, "glow": 1 },
        { "name": "s", "label": "How much?", "kind": "slider", "from": 0, "to": [9, 8] },
    ]);
    json!({
        "id": "future-1", "bridge": "future", "state": "pondering", "openedAt": "2026-11-21T12:00:00.000Z",
        "elsewhere": true, "stars": 5,
        "question": {
            "questionId": "q", "message": "Of the future?", "fields": fields, "origin": "telepathy",
            "purpose": "forecast", "dangerous": false, "blocking": true, "weather": "fine",
        },
    })
}

fn plain(id: &str, label: &str) -> Value {
    let (bridge, _) = id.rsplit_once('-').unwrap();
    let fields = json!([{ "name": "q0", "label": label, "required": true, "kind": "text" }]);
    json!({
        "id": id, "bridge": bridge, "state": "open", "openedAt": "2026-11-21T12:00:01.000Z",
        "question": {
            "questionId": "q", "message": label, "fields": fields, "origin": "sandboxagent",
            "dangerous": false, "blocking": true,
        },
    })
}

/// A bridge of the future: one strange question, one that cannot be read at all, and a plain one.
fn future(machine: &TestMachine) -> PlayedBridge {
    let unreadable = json!({ "id": "future-2", "bridge": "future", "state": "open", "question": "a hum" });
    let (strange, plain) = (strange(), plain("future-3", "A plain one?"));
    // The snapshot comes in two messages.
    let first = vec![
        json!({ "protocol": 99, "revision": 7, "snapshot": true, "more": true, "questions": [strange, unreadable] }),
        json!({ "protocol": 99, "revision": 7, "snapshot": true, "questions": [plain], "tide": "high" }),
    ];
    let bridge = PlayedBridge::start(machine, "future", status("future"), first);
    bridge.reply("question_get", "future-2", json!({ "result": unreadable }));
    bridge
}

#[track_caller]
fn is(run: &Run, code: u8, stdout: &str, stderr: &str) {
    assert_eq!((run.code, &*run.stdout, &*run.stderr), (i32::from(code), stdout, stderr));
}

#[test]
fn questions_of_a_newer_bridge_are_listed_and_shown() {
    let machine = TestMachine::new();
    let _bridge = future(&machine);
    let run = machine.run(&["list"]);
    assert_eq!((run.code, &*run.stderr), (i32::from(exit::BRIDGE_GONE), NEWER), "{run:?}");
    let ids: Vec<_> = run.stdout.lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(ids, ["future-1", "future-3"], "{run:?}");

    let run = machine.run(&["list", "--json"]);
    assert_eq!((run.code, &*run.stderr), (i32::from(exit::BRIDGE_GONE), NEWER), "{run:?}");
    let listing: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&listing["complete"], &listing["unreadable"]), (&json!(false), &json!(1)));
    assert_eq!(listing["questions"].as_array().unwrap().len(), 2);
    let question = &listing["questions"][0];
    assert_eq!(
        (&question["state"], &question["question"]["origin"]),
        (&json!("pondering"), &json!("telepathy"))
    );
    assert_eq!(question["question"]["purpose"], "forecast");
    let fields = &question["question"]["fields"];
    assert_eq!(fields[0]["options"][0]["preview"]["format"], "hologram");
    assert_eq!((&fields[1]["kind"], &fields[1]["to"]), (&json!("slider"), &json!([9, 8])), "it survives");

    let run = machine.run(&["status"]);
    assert_eq!((run.code, &*run.stderr), (0, ""), "{run:?}");
    for part in ["99.0.0", "\nfuture-2 needs a newer askbridge\n"] {
        assert!(run.stdout.contains(part), "no {part}: {run:?}");
    }

    let run = machine.run(&["show", "future-1"]);
    assert_eq!((run.code, &*run.stderr), (0, NEWER), "{run:?}");
    for part in ["agent of the future", "Which?", "shown in the air", "needs a newer askbridge"] {
        assert!(run.stdout.contains(part), "no {part}: {run:?}");
    }
    for command in [&["show", "future-2"][..], &["answer", "future-2", "x"], &["reject", "future-2"]] {
        let stderr = "askbridge: future-2: the question needs a newer askbridge\n";
        is(&machine.run(command), exit::BRIDGE_GONE, "", stderr);
    }
    let run = machine.run(&["show", "future"]);
    assert_eq!((run.code, run.stdout.as_str()), (i32::from(exit::NO_QUESTION), ""), "{run:?}");
    assert!(run.stderr.contains("the ID is ambiguous"), "{run:?}");
}

#[test]
fn an_answer_that_a_newer_bridge_accepted_is_reported_as_accepted() {
    let machine = TestMachine::new();
    let bridge = future(&machine);
    let accepted = json!({ "result": { "receipt": "of next year" } });
    bridge.reply("question_answer", "future-1", accepted.clone());
    bridge.reply("question_extend", "future-3", accepted);
    is(&machine.run(&["answer", "future-1", "a"]), exit::OK, "future-1 answered: Which?: Option A\n", "");
    is(&machine.run(&["extend", "future-3", "1h"]), exit::OK, "future-3 extended: A plain one?\n", "");
    let answer = &bridge.calls("question_answer")[0]["params"]["answer"];
    assert_eq!(answer["values"], json!({ "c": "a" }), "the field of the future is left out");

    let error = json!({ "code": 777, "message": "later", "data": { "name": "needs_a_seance" } });
    bridge.reply("question_reject", "future-3", json!({ "error": error }));
    let run = machine.run(&["reject", "future-3"]);
    let stderr = "askbridge: future-3: the bridge refused it as \"needs_a_seance\", which this version does not know: it needs a newer askbridge\n";
    is(&run, exit::FAILED, "", stderr);
}

#[test]
fn what_happens_in_a_newer_bridge_is_followed() {
    let machine = TestMachine::new();
    let bridge = future(&machine);
    let mut watch = machine.start(&["list", "--watch"]);
    watch.expect("the strange question", |line| line.starts_with("opened future-1 "));
    watch.expect("the plain question", |line| line.starts_with("opened future-3 "));
    watch.expect_stderr("what is left out", |text| text == NEWER);

    let mut settled = strange();
    settled["state"] = json!("settled");
    let outcome = json!({ "status": "escalated", "to": ["the board"] });
    let by = json!({ "responder": "drone", "name": "d7", "badge": 3 });
    settled["settlement"] = json!({ "outcome": outcome, "by": by, "at": "2026-11-21T12:00:02.000Z" });
    bridge.send(&json!({ "protocol": 99, "revision": 8, "questions": [settled] }));
    watch.expect("an outcome of the future", |line| line == "settled future-1  escalated by drone (d7)");

    let mut settled = plain("future-3", "A plain one?");
    settled["state"] = json!("settled");
    let outcome = json!({ "status": "rejected", "reason": "eclipse" });
    let by = json!({ "responder": "client" });
    settled["settlement"] = json!({ "outcome": outcome, "by": by, "at": "2026-11-21T12:00:02.000Z" });
    bridge.send(&json!({ "protocol": 99, "revision": 9, "questions": [settled] }));
    watch
        .expect("a reason of the future", |line| line == "settled future-3  rejected by the client, eclipse");

    // The question that could not be read is over, and another one comes.
    let over = json!({ "id": "future-2", "state": "settled", "question": 7 });
    bridge.send(&json!({ "revision": 10, "questions": [over, { "id": "future-4" }, { "id": "future-5" }] }));
    watch.expect_stderr("that there are two", |text| text.contains("2 questions need a newer askbridge"));
}

#[test]
fn an_older_bridge_is_named_by_its_socket() {
    let machine = TestMachine::new();
    let listener = listen(&machine, "old");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            drop(BufReader::new(stream.try_clone().unwrap()).read_line(&mut line));
            drop(stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"));
        }
    });
    let run = machine.run(&["list"]);
    assert_eq!(run.code, i32::from(exit::BRIDGE_GONE), "{run:?}");
    assert!(run.stdout.starts_with("no bridge replied (looked in "), "{run:?}");
    let line = "old.sock speaks an older protocol: restart the agent that it wraps\n";
    assert!(run.stderr.ends_with(line) && run.stderr.lines().count() == 1, "{run:?}");
    let run = machine.run(&["answer", "old-1", "a"]);
    assert_eq!(run.code, i32::from(exit::BRIDGE_GONE), "{run:?}");
    assert!(run.stderr.ends_with(line) && run.stderr.lines().count() == 1, "{run:?}");
}

#[test]
fn a_rogue_socket_changes_no_question_of_another_bridge() {
    let machine = TestMachine::new();
    let asks = machine.start(&DEPLOY);
    let id = machine.question();
    let forged = plain(&id, "Continue?");
    let hostile = json!({ "id": "\u{1b}[2J-1", "bridge": "\u{1b}[2J", "question": 7 });
    let own = plain("rogue-1", "Its own?");
    let first = json!({ "revision": 1, "snapshot": true, "questions": [forged, own, hostile] });
    let _bridge = PlayedBridge::start(&machine, "rogue", status("rogue"), vec![first]);
    let run = machine.run(&["list"]);
    assert_eq!((run.code, &*run.stderr), (i32::from(exit::BRIDGE_GONE), NEWER), "{run:?}");
    assert!(!run.stdout.contains("Continue?") && run.stdout.contains("Its own?"), "{run:?}");
    assert!(machine.ok(&["show", &id]).contains("Deploy?"));
    machine.ok(&["answer", &id, "yes"]);
    assert_eq!(end(asks).stdout, "yes\n");
}

/// Calls a method over a connection, and returns the response.
fn call(stream: &mut BufReader<UnixStream>, message: &Value) -> Value {
    stream.get_mut().write_all(format!("{message}\n").as_bytes()).unwrap();
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn a_command_of_the_future_is_served() {
    let machine = TestMachine::new();
    let asks = machine.start(&DEPLOY);
    let id = machine.question();
    let (bridge, _) = id.split_once('-').unwrap();
    let stream = UnixStream::connect(machine.sockets().join(format!("{bridge}.sock"))).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(120))).unwrap();
    let mut stream = BufReader::new(stream);
    let mut call = |method: &str, params: Value| {
        call(
            &mut stream,
            &json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params, "hop": 3 }),
        )
    };
    let status = call("bridge_status", json!({ "protocol": 99, "language": "of the future" }));
    assert_eq!(
        (&status["result"][0]["protocol"], &status["result"][0]["bridge"]),
        (&json!(1), &json!(bridge))
    );
    let unknown = call("question_levitate", json!({ "id": id, "metres": 3 }));
    assert_eq!((&unknown["error"]["code"], &unknown["id"]), (&json!(-32601), &json!("question_levitate")));
    let listing = call("question_list", json!({ "session": null, "sort": "age" }));
    assert_eq!(listing["result"]["questions"][0]["id"], json!(id), "{listing}");
    let record = call("question_get", json!({ "id": id, "fields": ["question"] }));
    assert_eq!(record["result"]["state"], "open", "{record}");
    let by = json!({ "responder": "drone", "name": "d7", "badge": 3 });
    let answer = json!({ "values": { "q0": "yes" } });
    let answered = call("question_answer", json!({ "id": id, "answer": answer, "by": by, "urgent": true }));
    assert_eq!(answered["result"]["state"], "settled", "{answered}");
    let by = &answered["result"]["settlement"]["by"];
    assert_eq!(*by, json!({ "responder": "drone", "name": "d7" }), "{answered}");
    assert_eq!(end(asks).stdout, "yes\n");
}

#[test]
fn a_frozen_bridge_does_not_delay_commands_that_name_another() {
    let machine = TestMachine::new();
    let asks = machine.start(&DEPLOY);
    let id = machine.question();
    let frozen = listen(&machine, "frozen");
    assert!(machine.ok(&["show", &id]).starts_with(&id));
    assert_eq!(machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
    assert_eq!(end(asks).stdout, "yes\n");
    frozen.set_nonblocking(true).unwrap();
    assert!(frozen.accept().is_err(), "it was connected to");
}
