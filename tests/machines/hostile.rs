//! Another machine that is hostile: this side stays up, within its memory, and shows nothing that is not the machine's
//! own. The same of one bridge is left to `answers/hostile.rs`.

use std::sync::{Arc, Mutex};

use askbridge::limits;
use askbridge_os::exit;
use serde_json::{Value, json};

use super::{
    played::{GREETING, PlayedMachine, Wire, record, settled, snapshot, status},
    world::{World, ask, ids},
};
use crate::support::procfs::peak_kib;

/// MiB that an inbox without machines has at the most. A debug build takes more than a release.
const ALONE: usize = 64;
/// MiB that the inbox has at the most, whatever one machine sends.
const MOST: usize = ALONE + limits::remote::HELD / (1024 * 1024);

fn playing(machine: PlayedMachine) -> World {
    World::played(move |mut wire: Wire| wire.play(&machine))
}

/// Starts the inbox of the person, and waits until the machine was asked so often.
fn inbox(world: &mut World, connections: usize) -> u32 {
    world.inbox_alone();
    world.launcher.until("the connections", |seen| seen.connections >= connections);
    world.inbox_id()
}

/// Asks here, and checks that this is listed and answered while the other machine does what it does.
fn is_up(world: &World, most_mib: usize) {
    let (agent, here) = ask(&world.person.machine, "Here?");
    let listed = world.run(&["list", "--json"]);
    assert!(ids(&listed.stdout).contains(&here), "{listed:?}");
    world.ok(&["answer", &here, "a"]);
    assert_eq!(agent.end().0, 1);
    let peak = peak_kib(world.inbox_id()) / 1024;
    assert!(peak < most_mib, "the inbox has taken {peak} MiB");
}

#[test]
fn what_is_no_greeting_is_no_machine() {
    let texts: [&[u8]; 6] = [
        b"\x00\x01\x02\xff\xfe",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"askbridge-dial\naskbridge-dial \n",
        b"askbridge-dial 1 0.1.0\nnot json\n",
        b"askbridge-dial 1 \x1b[2J\n{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"result\":7}\n",
        b"askbridge-dial 1 0.1.0\n{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"result\":[{}]}\n",
    ];
    for text in texts {
        let mut world = World::played(move |mut wire: Wire| {
            wire.write(text);
        });
        let listed = world.run(&["list"]);
        assert_eq!(listed.code, i32::from(exit::BRIDGE_GONE), "{listed:?}");
        assert!(!listed.stderr.contains('\x1b'), "{listed:?}");
        world.inbox_alone();
        let problem = world.until_problem("");
        assert!(!problem.contains('\x1b'), "{problem:?}");
    }
}

/// Sends bytes without an end of a line, until nobody reads, and up to 4 GiB.
fn endless(mut wire: Wire, greets: bool) {
    if greets {
        wire.line(GREETING);
    }
    let bytes = vec![b'x'; 1 << 20];
    for _ in 0..4096 {
        if !wire.write(&bytes) {
            return;
        }
    }
    panic!("4 GiB were read");
}

#[test]
fn a_frame_of_gigabytes_is_not_read() {
    for greets in [false, true] {
        let mut world = World::played(move |wire| endless(wire, greets));
        inbox(&mut world, 2);
        is_up(&world, MOST);
    }
}

#[test]
fn a_subscription_that_sends_faster_than_it_is_read_takes_bounded_memory() {
    let large = |number: usize| record(&format!("k3-{number}"), &"x".repeat(15_000));
    let questions: Vec<_> = (0..60).map(large).collect();
    let mut world = World::played(move |mut wire: Wire| {
        let machine = PlayedMachine::with(&questions[..1]);
        wire.line(GREETING);
        for _ in 0..3 {
            let Some(call) = wire.call() else { return };
            let result = if call["method"] == "bridge_status" { json!(machine.statuses) } else { json!(7) };
            wire.reply(&call, json!({ "result": result }));
        }
        wire.changed(&machine.first[0]);
        let delta = json!({ "revision": 8, "questions": questions });
        for _ in 0..300 {
            if !wire.changed(&delta) {
                return;
            }
        }
        // What is asked meanwhile is never answered.
        while wire.call().is_some() {}
    });
    inbox(&mut world, 1);
    world.until_listed("a question", |ids, _| ids.iter().any(|id| id.starts_with("box/k3-")));
    is_up(&world, MOST);
}

#[test]
fn more_questions_than_are_allowed_are_refused_within_bounds() {
    let mut world = World::played(|mut wire: Wire| {
        wire.line(GREETING);
        for _ in 0..3 {
            let Some(call) = wire.call() else { return };
            let result =
                if call["method"] == "bridge_status" { json!([status("k3", "x")]) } else { json!(7) };
            wire.reply(&call, json!({ "result": result }));
        }
        for chunk in 0..100 {
            let questions: Vec<_> =
                (0..1000).map(|n| record(&format!("k3-{}", chunk * 1000 + n), "x")).collect();
            let mut delta = snapshot(&questions);
            delta["more"] = json!(chunk < 99);
            if !wire.changed(&delta) {
                return;
            }
        }
        while wire.call().is_some() {}
    });
    inbox(&mut world, 2);
    is_up(&world, MOST);
    let listed = world.run(&["list", "--json"]);
    assert!(ids(&listed.stdout).len() <= limits::LISTED, "{}", ids(&listed.stdout).len());
    world.until_problem("exceeds a limit");
}

#[test]
fn nothing_is_shown_that_is_not_the_machines_own() {
    let mut claimed = record("k3-4", "claimed");
    claimed["bridge"] = json!("other/k3");
    let mut machine =
        PlayedMachine::with(&[record("k3-1", "own"), record("other/k3-2", "of another"), claimed]);
    machine.statuses.push(status("other/k3", "of another"));
    machine.statuses.push(status("box/k3", "of itself"));
    let hidden = json!({ "id": "other/k3-9", "bridge": "other/k3", "state": "open", "question": "a hum" });
    machine.first.push(json!({ "revision": 8, "questions": [hidden] }));
    let elsewhere = json!({ "result": record("other/k3-2", "of another") });
    machine.replies.insert("question_get", elsewhere);
    let mut world = playing(machine);
    world.inbox();
    let listed = world.until_listed("the question", |ids, _| !ids.is_empty());
    assert_eq!(listed, ["box/k3-1"]);
    for command in [&["list", "--json"][..], &["status"], &["status", "--json"]] {
        let shown = world.run(command);
        let all = shown.stdout.clone() + &shown.stderr;
        assert!(
            !all.contains("other/k3") && !all.contains("of another") && !all.contains("of itself"),
            "{all}"
        );
    }
    for id in ["box/k3-5", "other/k3-2", "k3-4", "box/other/k3-2"] {
        let shown = world.run(&["show", id]);
        assert!(shown.code != 0 && !shown.stdout.contains("of another"), "{id}: {shown:?}");
    }
}

/// The other machine gives its questions the IDs of one of this machine, and hides others under them.
#[test]
fn the_ids_of_this_machine_mean_its_own_questions() {
    let claims = Arc::new(Mutex::new(String::new()));
    let claimed = Arc::clone(&claims);
    let mut world = World::played(move |mut wire: Wire| {
        let id = claimed.lock().unwrap().clone();
        let (bridge, _) = id.rsplit_once('-').unwrap();
        let hidden =
            json!({ "id": format!("{bridge}-2"), "bridge": bridge, "state": "open", "question": "a hum" });
        let also = json!({ "id": id, "bridge": bridge, "state": "open", "question": "a hum" });
        let ambiguous = json!({ "name": "ambiguous", "ids": [format!("{bridge}-1"), "other/k3-1"] });
        let error = json!({ "code": 300, "message": "no", "data": ambiguous });
        let mut machine = PlayedMachine::with(&[hidden, also]);
        machine.replies.insert("question_get", json!({ "error": error }));
        wire.play(&machine);
    });
    let (agent, here) = ask(&world.person.machine, "Here?");
    claims.lock().unwrap().clone_from(&here);
    inbox(&mut world, 1);
    world.until_listed("that two are unreadable", |_, text| {
        text.contains("\"unreadable\":2") || text.contains("\"unreadable\": 2")
    });
    let (bridge, _) = here.rsplit_once('-').unwrap();
    for id in [&here, bridge, &bridge[..3]] {
        let shown = world.run(&["show", id]);
        assert!(shown.stdout.contains("Here?") && !shown.stderr.contains("other/k3"), "{id}: {shown:?}");
    }
    world.run(&["answer", &here, "a"]);
    assert_eq!(agent.end().0, 1);
}

#[test]
fn a_verdict_about_another_question_is_not_taken_for_one() {
    let other = settled(record("k3-2", "Another?"));
    let mut of_other = settled(record("k3-1", "Another?"));
    of_other["bridge"] = json!("other/k3");
    // It is still open, so that it was not answered.
    let open = record("k3-1", "Which?");
    for about in [other, of_other, open] {
        for conflict in [false, true] {
            let mut machine = PlayedMachine::with(&[record("k3-1", "Which?")]);
            let refused =
                json!({ "code": 409, "message": "no", "data": { "name": "conflict", "question": about } });
            let reply: Value =
                if conflict { json!({ "error": refused }) } else { json!({ "result": about }) };
            machine.replies.insert("question_answer", reply);
            let mut world = playing(machine);
            world.inbox();
            world.until_listed("the question", |ids, _| ids == ["box/k3-1"]);
            let answered = world.run(&["answer", "box/k3-1", "a"]);
            let all = answered.stdout.clone() + &answered.stderr;
            assert!(!all.contains("Another?") && !all.contains("other/k3") && !all.contains("k3-2"), "{all}");
            assert_eq!(answered.code, i32::from(exit::BRIDGE_GONE), "{answered:?}");
            assert!(answered.stderr.contains("not known whether the agent got this"), "{answered:?}");
        }
    }
}

#[test]
fn no_text_of_a_machine_acts_on_the_terminal() {
    let evil = "x\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}y\r\nz";
    let mut machine = PlayedMachine::with(&[record("k3-1", evil)]);
    machine.statuses = vec![status("k3", evil)];
    let error = |name: &str| json!({ "error": { "code": 502, "message": evil, "data": { "name": name } } });
    machine.replies.insert("question_answer", error(evil));
    machine.replies.insert("question_reject", error("other"));
    let mut world = World::played(move |mut wire: Wire| {
        wire.line(&format!("{evil} a banner"));
        wire.play(&machine);
    });
    world.inbox();
    world.until_listed("the question", |ids, _| ids == ["box/k3-1"]);
    let commands: [&[&str]; 6] = [
        &["list"],
        &["status"],
        &["show", "box/k3-1"],
        &["answer", "box/k3-1", "1"],
        &["reject", "box/k3-1", "--reason", "no"],
        &["extend", "box/k3-1", "5m"],
    ];
    for command in commands {
        let run = world.run(command);
        let all = run.stdout.clone() + &run.stderr;
        let acts = |char: char| (char.is_control() && char != '\n') || char == '\u{202e}';
        assert!(!all.contains(acts), "{command:?}: {run:?}");
    }
}
