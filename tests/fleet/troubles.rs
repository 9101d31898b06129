//! The broker, a machine or the network fails: what is answered here goes on, what cannot be is said at once, and no answer
//! is given twice.

use std::{
    collections::BTreeSet,
    fs, thread,
    time::{Duration, Instant},
};

use askbridge_os::exit;
use async_nats::{Client, ConnectOptions, HeaderMap};
use futures::StreamExt;
use rustix::process::{Signal, kill_process};
use tokio::time::timeout;

use crate::{
    answers::machine::end,
    support::{DEADLINE, Process},
    world::{Asked, World},
};

/// An answer that cannot be given is refused after this at the latest.
const AT_ONCE: Duration = Duration::from_secs(8);

#[test]
fn a_machine_that_was_killed_gets_no_answer_and_its_entry_runs_out() {
    let world = World::new();
    let Asked { mut far, person, machine, agent, own, id } = world.asked("box", "ana");
    far.kill();
    // It is in the directory still, and nothing says that it is gone but the broker.
    let begun = Instant::now();
    let refused = person.run(&["answer", &id, "a"]);
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    assert_eq!(refused.code, i32::from(exit::BRIDGE_GONE), "{refused:?}");
    assert!(refused.stderr.contains("it does not listen at the broker"), "{refused:?}");
    assert!(!refused.stderr.contains("not known"), "it is known that it was not given: {refused:?}");
    // What is answered there goes on.
    far.ok(&["answer", &own, "b"]);
    agent.has_heard("b");
    let begun = Instant::now();
    while person.ok(&["machine", "list"]).contains(&machine) {
        assert!(begun.elapsed() < DEADLINE, "its entry does not run out");
        thread::yield_now();
    }
    // The next process has the same name, and no session of the one before.
    let next = far.gateway();
    assert_eq!(next, machine);
    let (agent, own) = far.asks("And now?");
    person.until_listed("the question", |ids| ids == [format!("{next}/{own}")]);
    person.ok(&["answer", &format!("{next}/{own}"), "a"]);
    assert_eq!(agent.end().0, 1);
}

#[test]
fn without_the_broker_local_answers_go_on_and_others_are_refused_until_it_is_back() {
    let mut world = World::new();
    let (mut far, mut person) = (world.member("box"), world.member("ana"));
    person.inbox();
    let machine = far.gateway();
    let (first, own) = far.asks("First?");
    let (second, other) = far.asks("Second?");
    let on_machine = |own: &str| format!("{machine}/{own}");
    person.until_listed("both", |ids| ids.len() == 2);
    world.server.kill();
    person.until_said(&["machine", "list"], "not connected");
    let begun = Instant::now();
    let refused = person.run(&["answer", &on_machine(&own), "a"]);
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    assert_eq!(refused.code, i32::from(exit::BRIDGE_GONE), "{refused:?}");
    far.ok(&["answer", &own, "b"]);
    first.has_heard("b");
    world.server.run();
    person.until_listed("the question that is left", |ids| ids == [on_machine(&other)]);
    person.until_said(&["answer", &on_machine(&other), "a"], "answered");
    let (answers, heard) = second.end();
    assert!(answers == 1 && heard.contains(r#"[["a"]]"#), "the refused one was not kept anywhere: {heard}");
}

#[test]
fn an_answer_that_the_network_holds_up_is_given_once() {
    let world = World::new();
    let mut person = world.member("ana");
    let (mut far, link) = world.linked("box");
    person.inbox();
    let machine = far.gateway();
    for (round, is_cut) in [false, true].into_iter().enumerate() {
        let (agent, own) = far.asks("Which?");
        let id = format!("{machine}/{own}");
        person.until_listed("the question", |ids| ids.contains(&id));
        link.freeze(true);
        let answering = Process::spawn(&mut person.command(&["answer", &id, "a"]));
        // It is noticed that there is no reply, and the person's end begins another session.
        let log = |said: &str| said.matches("did not reply while an answer waited").count() > round;
        let inbox = person.serving();
        inbox.expect_stderr("that it did not reply", log);
        match is_cut {
            false => link.freeze(false),
            // What was on its way is lost, or not: the connection is reset.
            true => link.cut(),
        }
        let answered = end(answering);
        assert_eq!(answered.code, 0, "{answered:?}");
        let (answers, heard) = agent.end();
        assert!(answers == 1 && heard.matches("\"id\":\"ask\"").count() == 1, "{heard}");
    }
}

#[test]
fn a_machine_that_is_cut_off_goes_on_and_is_there_again_afterwards() {
    let world = World::new();
    let mut person = world.member("ana");
    let (mut far, link) = world.linked("box");
    person.inbox();
    let machine = far.gateway();
    let (first, own) = far.asks("First?");
    person.until_listed("the question", |ids| ids.len() == 1);
    link.down();
    let refused = person.until_said(&["answer", &format!("{machine}/{own}"), "a"], "does not listen");
    assert_eq!(refused.code, i32::from(exit::BRIDGE_GONE), "{refused:?}");
    far.ok(&["answer", &own, "b"]);
    assert_eq!(first.end().0, 1);
    let (second, own) = far.asks("Second?");
    link.up();
    person.until_listed("what is open now", |ids| ids == [format!("{machine}/{own}")]);
    person.ok(&["answer", &format!("{machine}/{own}"), "a"]);
    assert_eq!(second.end().0, 1);
}

/// Without an answer on its way, no side has a reason to send anything.
#[test]
fn a_question_after_a_cut_is_shown_before_the_next_heartbeat() {
    let world = World::new();
    let mut person = world.member("ana");
    let (mut far, link) = world.linked("box");
    person.inbox();
    let machine = far.gateway();
    let (_first, own) = far.asks("First?");
    let mut open = vec![format!("{machine}/{own}")];
    person.until_listed("the question", |ids| ids == open);
    let mut agents = Vec::new();
    for _ in 0..3 {
        link.cut();
        let begun = Instant::now();
        let (agent, own) = far.asks("And now?");
        agents.push(agent);
        open.push(format!("{machine}/{own}"));
        person.until_listed("all questions", |ids| ids.len() == open.len());
        assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    }
}

#[test]
fn a_gateway_that_ends_while_a_question_waits_is_started_again() {
    let world = World::new();
    let (mut far, mut person) = (world.member("box"), world.member("ana"));
    person.inbox();
    // That of its inbox first, which leaves the place to that of a bridge.
    let inbox = far.inbox();
    let (agent, own) = far.asks("Which?");
    person.until_listed("the question", |ids| ids == [format!("{inbox}/{own}")]);
    far.kill();
    let id = format!("{inbox}/{own}");
    let mut gateway = None;
    for _ in 0..2 {
        let next = far.started_gateway(gateway);
        assert_eq!(far.until_served(), inbox, "the machine keeps its name");
        person.until_listed("the question under its ID, once", |ids| ids == [id.clone()]);
        kill_process(next, Signal::KILL).unwrap();
        gateway = Some(next);
    }
    far.started_gateway(gateway);
    person.until_said(&["answer", &id, "a"], "answered");
    assert_eq!(agent.end().0, 1);
}

/// The IDs that were listed before stay those of the questions, and nothing is listed twice meanwhile.
#[test]
fn a_gateway_that_is_killed_again_and_again_keeps_the_ids_of_its_questions() {
    let world = World::new();
    let Asked { mut far, person, machine, agent, id, .. } = world.asked("box", "ana");
    for round in 0..5 {
        far.kill();
        assert_eq!(far.gateway(), machine);
        let (_other, more) = far.asks(&format!("Round {round}?"));
        let both = [id.clone(), format!("{machine}/{more}")];
        let begun = Instant::now();
        person.until_listed("both, once", |ids| {
            assert!(ids.iter().collect::<BTreeSet<_>>().len() == ids.len(), "{ids:?}");
            both.iter().all(|id| ids.contains(id))
        });
        assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
        let unknown = person.run(&["show", &id]);
        assert_eq!(unknown.code, 0, "{unknown:?}");
    }
    person.ok(&["answer", &id, "a"]);
    assert_eq!(agent.end().0, 1);
}

/// A broker that is frozen: the person is told in time, and what was sent counts once.
#[test]
fn an_answer_over_a_frozen_broker_is_not_known_within_twelve_seconds() {
    let world = World::new();
    let Asked { far: _far, person, agent, id, .. } = world.asked("box", "ana");
    world.server.signal(Signal::STOP);
    let begun = Instant::now();
    let told = person.run(&["answer", &id, "a"]);
    let took = begun.elapsed();
    world.server.signal(Signal::CONT);
    assert_eq!(told.code, i32::from(exit::BRIDGE_GONE), "{told:?}");
    assert!(told.stderr.contains("not known whether the agent got this"), "{told:?}");
    assert!(took < Duration::from_secs(14), "{took:?}");
    person.until_said(&["answer", &id, "a"], "answered");
    let (answers, heard) = agent.end();
    assert!(answers == 1 && heard.matches("\"id\":\"ask\"").count() == 1, "{heard}");
}

#[test]
fn a_list_that_is_kept_up_to_date_finds_each_machine_and_says_when_the_broker_is_gone() {
    let mut world = World::new();
    let mut person = world.member("ana");
    let (mut far, mut other) = (world.member("box"), world.member("other"));
    person.ok(&["list"]);
    let first = far.gateway();
    // One connects by itself, and one uses the connections of the inbox.
    for has_inbox in [false, true] {
        if has_inbox {
            person.inbox();
        }
        let (_first, own) = far.asks("First?");
        let mut watch = Process::spawn(&mut person.command(&["list", "--watch"]));
        watch.expect("a question", |line| line.contains(&format!("opened {first}/{own}")));
        let later = other.gateway();
        let (_second, own) = other.asks("Second?");
        watch.expect("one of a machine that came later", |line| line.contains(&format!("{later}/{own}")));
        other.kill();
        world.server.kill();
        watch.expect_stderr("that the broker is gone", |said| {
            said.contains(
                "questions may be missing: the fleet is not connected: the broker cannot be reached",
            )
        });
        world.server.run();
        let (_third, own) = far.asks("Third?");
        watch.expect("a question after the restart", |line| line.contains(&format!("opened {first}/{own}")));
        if has_inbox {
            person.kill();
            let (_fourth, own) = far.asks("Fourth?");
            watch.expect("one without the inbox", |line| line.contains(&format!("opened {first}/{own}")));
        }
    }
}

#[test]
fn a_wrong_address_can_be_corrected_while_a_question_waits() {
    let world = World::new();
    let (far, person) = (world.member("box"), world.member("ana"));
    far.sets(&world.users.file("box"), "nats://127.0.0.1:1");
    let (_agent, own) = far.asks("Which?");
    far.until_served();
    far.sets(&world.users.file("box"), &world.server.url());
    person.until_listed("the question", |ids| ids.len() == 1 && ids[0].ends_with(&own));
}

#[test]
fn a_person_whose_process_is_stopped_holds_up_nobody() {
    let world = World::new();
    let (mut ana, mut bob) = (world.member("ana"), world.member("bob"));
    let mut far = world.member("box");
    ana.inbox();
    bob.inbox();
    let machine = far.gateway();
    let (first, own) = far.asks("First?");
    let id = |own: &str| format!("{machine}/{own}");
    ana.until_listed("the question", |ids| ids == [id(&own)]);
    ana.serving().signal(Signal::STOP);
    // More than all windows and buffers have room for.
    let long: Vec<_> = (0..10).map(|number| number.to_string() + &"x".repeat(3900)).collect();
    let options: Vec<_> = long.iter().flat_map(|text| ["--option", text]).collect();
    let asking: Vec<_> = (0..60)
        .map(|number| {
            let question = format!("{number}?");
            Process::spawn(&mut far.command(&[&["ask", &question][..], &options].concat()))
        })
        .collect();
    bob.until_listed("all", |ids| ids.len() == 61);
    let begun = Instant::now();
    bob.ok(&["answer", &id(&own), "a"]);
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    assert_eq!(first.end().0, 1);
    ana.serving().signal(Signal::CONT);
    ana.until_listed("what is open now", |ids| ids.len() == 60);
    drop(asking);
}

/// A person's connection to the broker that keeps to no rule.
async fn stranger(world: &World, user: &str) -> Client {
    let password = world.users.password(user);
    let options = ConnectOptions::with_user_and_password(user.to_owned(), password);
    options.connect(world.server.url()).await.unwrap()
}

/// Sends a message of a session.
async fn sends(client: &Client, place: &str, user: &str, session: &str, number: u32, payload: String) {
    let mut headers = HeaderMap::new();
    headers.insert("Askbridge-Number", number.to_string());
    let (subject, reply) =
        (format!("{place}.call.{user}"), format!("{place}.reply.{user}.{session}.{number}"));
    client.publish_with_reply_and_headers(subject, reply, headers, payload.into()).await.unwrap();
}

/// What a machine's subjects begin with.
fn place(machine: &str) -> String {
    format!("askbridge.v1.box.{}", machine.trim_start_matches("box."))
}

const CALL: &str = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"question_list\"}\n";

#[test]
fn a_flood_of_calls_is_bounded_and_holds_up_nobody() {
    let world = World::new();
    let Asked { far, person: bob, machine, agent, id, .. } = world.asked("box", "bob");
    let gateway = far.serving().id();
    let before = resident(gateway);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let client = stranger(&world, "ana").await;
        // The longest that a session may send.
        let long = format!("{CALL}{:>1$}", "", 64 * 1024 - CALL.len());
        // Twice as much as the gateway may take for it.
        for session in 0..400 {
            for number in 0..20 {
                let payload = if number == 0 { String::new() } else { long.clone() };
                sends(&client, &place(&machine), "ana", &format!("t{session}"), number, payload).await;
            }
        }
        client.flush().await.unwrap();
    });
    let begun = Instant::now();
    bob.until_said(&["answer", &id, "a"], "answered");
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    let grown = resident(gateway).saturating_sub(before);
    assert!(grown < 256 * 1024, "the gateway has grown by {grown} KiB");
    assert_eq!(agent.end().0, 1);
}

/// The calls of all persons come to a machine in one queue. It is stopped for a while, so that it gets all at once.
#[test]
fn a_flood_of_calls_pushes_out_no_call_of_another_person() {
    let world = World::new();
    let Asked { far, machine, id: _, .. } = world.asked("box", "bob");
    let place = place(&machine);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let (ana, bob) = (stranger(&world, "ana").await, stranger(&world, "bob").await);
        let mut replies = bob.subscribe(format!("{place}.reply.bob.mine.*")).await.unwrap();
        let mut until = async |what: &str| {
            let waiting = async {
                while let Some(reply) = replies.next().await {
                    if String::from_utf8_lossy(&reply.payload).contains(what) {
                        return;
                    }
                }
            };
            timeout(DEADLINE, waiting).await.unwrap_or_else(|_| panic!("no {what:?} in time"));
        };
        sends(&bob, &place, "bob", "mine", 0, String::new()).await;
        until("askbridge").await;
        far.serving().signal(Signal::STOP);
        for number in 0..20_000 {
            sends(&ana, &place, "ana", &format!("t{}", number / 20), number % 20, CALL.to_owned()).await;
        }
        ana.flush().await.unwrap();
        // The server has taken the flood by now, and gives this to the machine behind it.
        sends(&bob, &place, "bob", "mine", 1, CALL.to_owned()).await;
        bob.flush().await.unwrap();
        far.serving().signal(Signal::CONT);
        until("\"id\":7").await;
    });
}

/// Returns the most memory that a process has had, in KiB.
fn resident(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
