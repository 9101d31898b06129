//! What is over on another machine, as the inbox tells the page of it.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    slice,
    time::Instant,
};

use serde_json::{Value, json};

use super::world::{World, ask, on_box};
use crate::support::DEADLINE;

/// Calls a method of the inbox over HTTP, as the page does over its WebSocket.
fn call(world: &World, method: &str, params: &Value) -> Value {
    let address = world.address();
    let token = fs::read_to_string(world.person.machine.sockets().join("token")).unwrap();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let head = format!(
        "POST /rpc HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        token.trim(),
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let (_, body) = reply.split_once("\r\n\r\n").expect("a response");
    serde_json::from_str::<Value>(body).unwrap_or_else(|error| panic!("{error}: {reply}"))["result"].take()
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
    assert_eq!((first.end().0, second.end().0), (1, 1));
}
