//! Three nodes: the leader of the directory is killed, then two of three.

use std::{net::TcpListener, time::Instant};

use rustix::process::Signal;

use crate::{
    server::{Server, Users},
    support::DEADLINE,
    world::Member,
};

/// Starts three nodes whose routes are on free ports.
fn cluster(users: &Users) -> Vec<Server> {
    let listeners: Vec<_> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let ports: Vec<_> = listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
    drop(listeners);
    let routes: Vec<_> = ports.iter().map(|port| format!("\"nats-route://127.0.0.1:{port}\"")).collect();
    let node = |(number, port): (usize, &u16)| {
        let more = format!(
            "cluster {{ name: fleet, listen: \"127.0.0.1:{port}\", routes: [{}] }}",
            routes.join(", ")
        );
        Server::start(users, &format!("node{number}"), &more)
    };
    ports.iter().enumerate().map(node).collect()
}

/// Returns a member that may use each node.
fn member(users: &Users, user: &str, nodes: &[Server]) -> Member {
    let member = Member::new(users, user, &nodes[0].url());
    let urls: Vec<_> = nodes.iter().map(Server::url).collect();
    let file = users.file(user);
    member.person.sets(&format!("[fleet]\nurl = {urls:?}\ncredentials = {file:?}\n"));
    member
}

#[test]
fn nodes_that_are_killed_lose_no_question_and_no_answer() {
    let users = Users::new();
    let mut nodes = cluster(&users);
    nodes[0].create(&users);
    let (mut far, mut person) = (member(&users, "box", &nodes), member(&users, "ana", &nodes));
    person.inbox();
    let machine = far.gateway();
    let mut open = Vec::new();
    for round in 0..3 {
        let (agent, own) = far.asks(&format!("Round {round}?"));
        let id = format!("{machine}/{own}");
        person.until_listed("the question", |ids| ids.contains(&id));
        open.push((agent, id));
    }
    // One node after the other is killed, the leader of the bucket among them, until one is left: it has no quorum.
    for (agent, id) in open.drain(..2) {
        nodes.remove(0).kill();
        let begun = Instant::now();
        person.until_said(&["answer", &id, "a"], "answered");
        let (answers, heard) = agent.end();
        assert!(answers == 1, "{heard}");
        assert!(begun.elapsed() < DEADLINE, "{:?}", begun.elapsed());
    }
    // The directory of one node cannot be written. Those who listen hear the entries all the same.
    let (agent, own) = far.asks("Without a quorum?");
    let id = format!("{machine}/{own}");
    person.until_listed("the question", |ids| ids.contains(&id));
    person.until_said(&["answer", &id, "a"], "answered");
    assert_eq!(agent.end().0, 1);
    let mut late = member(&users, "bob", &nodes);
    late.inbox();
    late.until_listed("what is open, where a person comes late", |ids| ids.len() == 1);
    // A node that is frozen is noticed.
    nodes[0].signal(Signal::STOP);
    person.until_said(&["machine", "list"], "not connected");
    nodes[0].signal(Signal::CONT);
    let (agent, id) = open.remove(0);
    person.until_said(&["answer", &id, "a"], "answered");
    assert_eq!(agent.end().0, 1);
}
