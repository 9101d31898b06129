//! What is over on another machine, as the inbox tells the page of it.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    slice,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::world::{World, ask, on_box, timed};
use crate::support::DEADLINE;

/// Sends a request to the inbox over HTTP, and returns the body of the response.
fn request(world: &World, line: &str, body: &str) -> Value {
    let address = world.address();
    let token = fs::read_to_string(world.person.machine.sockets().join("token")).unwrap();
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let head = format!(
        "{line} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        token.trim(),
        body.len()
    );
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let (_, body) = reply.split_once("\r\n\r\n").expect("a response");
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {reply}"))
}

/// Calls a method of the inbox over HTTP, as the page does over its WebSocket.
fn call(world: &World, method: &str, params: &Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    request(world, "POST /rpc", &body)["result"].take()
}

fn history(world: &World) -> Value {
    request(world, "GET /v1/history", "")
}

fn question(world: &World, id: &str) -> Value {
    request(world, &format!("GET /v1/questions/{}", id.replace('/', "%2F")), "")
}

fn past(world: &World, params: &Value) -> Vec<String> {
    let listed = call(world, "question_history", params);
    let questions = listed["questions"].as_array().cloned().unwrap_or_default();
    questions.iter().map(|past| past["record"]["id"].as_str().unwrap().to_owned()).collect()
}

/// Waits until these questions are over, latest first: what a journal notes, it writes a moment later.
fn until_past(world: &World, ids: &[&String]) {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let past = past(world, &json!({}));
        if past.iter().eq(ids.iter().copied()) {
            return;
        }
        assert!(Instant::now() < deadline, "{past:?} instead of {ids:?}");
    }
}

#[test]
fn the_history_of_the_page_has_the_questions_of_connected_machines() {
    let mut world = World::new();
    world.inbox();
    let (first, own) = world.asks("Which?");
    let there = on_box(&own);
    world.until_listed("the question", |ids, _| ids == [there.clone()]);
    world.ok(&["answer", &there, "b"]);
    let (second, here) = ask(&world.person.machine, "Here?");
    world.ok(&["answer", &here, "a"]);
    until_past(&world, &[&here, &there]);
    assert_eq!(past(&world, &json!({ "limit": 1 })), slice::from_ref(&here));
    assert_eq!(past(&world, &json!({ "search": "which" })), slice::from_ref(&there));
    // Nobody waits for a machine that is away.
    world.launcher.fails(Some("No route to host\n"));
    world.launcher.cut();
    world.until_problem("no route to the host");
    world.until_listed("that it is away", |_, text| text.contains("no route to the host"));
    until_past(&world, &[&here]);
    assert_eq!(history(&world)["missing"], json!([{ "machine": "box", "problem": "no route to the host" }]));
    assert_eq!((first.end().0, second.end().0), (1, 1));
}

#[test]
fn a_machine_whose_history_does_not_come_holds_no_other_and_is_named() {
    let mut world = World::new();
    world.inbox();
    let (here, own) = ask(&world.person.machine, "Here?");
    world.ok(&["answer", &own, "a"]);
    until_past(&world, &[&own]);
    assert_eq!(history(&world)["missing"], Value::Null);
    world.launcher.set(|faults| faults.holds = Some("question_history"));
    let (listed, taken) = timed(|| history(&world));
    assert_eq!(listed["questions"][0]["record"]["id"], *own, "{listed}");
    let silent = json!([{ "machine": "box", "problem": "it did not reply within 2 s" }]);
    assert_eq!(listed["missing"], silent, "{listed}");
    assert!(taken >= Duration::from_secs(2) && taken < DEADLINE / 2, "{taken:?}");
    world.launcher.set(|faults| faults.holds = None);
    assert_eq!(here.end().0, 1);
}

#[test]
fn how_a_question_ended_without_a_connection_is_known_after_its_bridge_has_ended() {
    let mut world = World::new();
    world.inbox();
    let (answered, own) = world.asks("Answered?");
    let (killed, lost) = world.asks("Killed?");
    let ids = [on_box(&own), on_box(&lost)];
    world.until_listed("both", |listed, _| listed.len() == 2);
    world.launcher.fails(Some("No route to host\n"));
    world.launcher.cut();
    world.until_problem("no route to the host");
    world.far.ok(&["answer", &own, "b"]);
    assert_eq!(answered.end().0, 1);
    killed.bridge.signal(Signal::KILL);
    drop(killed);
    world.launcher.fails(None);
    world.until_listed("none", |listed, text| listed.is_empty() && text.contains("\"complete\": true"));
    let outcome = json!({ "status": "answered", "values": { "q0": "b" } });
    assert_eq!(question(&world, &ids[0])["settlement"]["outcome"], outcome);
    assert_eq!(question(&world, &ids[1])["state"], "lost");
    // Nor does it matter that the inbox did not see either of them.
    world.restart();
    assert_eq!(question(&world, &ids[0])["settlement"]["outcome"], outcome);
    assert_eq!(question(&world, &ids[1])["state"], "lost");
    assert_eq!(question(&world, "box/nobody-1")["name"], "not_found");
}
