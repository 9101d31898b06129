//! The commands, with a machine that behaves: with the inbox in the background, and without.

use std::{path::Path, thread, time::Instant};

use askbridge_os::exit;
use serde_json::json;

use super::world::{BOX, World, ask, on_box};
use crate::support::{DEADLINE, Process};

/// Lists, shows, extends, rejects and answers questions of the other machine.
fn everything_is_done_to_questions_of(world: &World) {
    let (agent, own) = world.asks("Which database?");
    let id = on_box(&own);
    world.until_listed("the question", |ids, _| ids == [id.clone()]);
    assert!(world.ok(&["list"]).contains(&id));
    let shown = world.ok(&["show", &id]);
    assert!(shown.contains("Which database?") && shown.contains(&id), "{shown}");
    assert_eq!(world.ok(&["show", "--context", &id]), "I wonder: Which database?\n");
    let refused = world.run(&["extend", &id, "5m"]);
    assert_eq!(refused.code, i32::from(exit::DOES_NOT_FIT), "it has no deadline: {refused:?}");
    let unfit = world.run(&["answer", &id, "zzz"]);
    assert_eq!(unfit.code, i32::from(exit::DOES_NOT_FIT), "{unfit:?}");
    let answered = world.ok(&["answer", &id, "b"]);
    assert!(answered.starts_with(&id), "{answered}");
    // The same again is accepted, and another is refused, also over a connection that never saw the question open.
    assert!(world.ok(&["answer", &id, "b"]).starts_with(&id));
    let other = world.run(&["answer", &id, "a"]);
    assert_eq!(other.code, i32::from(exit::SETTLED), "{other:?}");
    let (answers, heard) = agent.end();
    assert!(answers == 1 && heard.contains(r#"[["b"]]"#), "{heard}");

    let (agent, own) = world.asks("Really?");
    // Without the name of the machine it is found as well, and so is its beginning with the name.
    world.until_listed("the question", |ids, _| ids.contains(&on_box(&own)));
    assert!(world.ok(&["show", &own]).contains("Really?"));
    let short = format!("{BOX}/{}", &own[..4]);
    assert!(world.ok(&["show", &short]).contains("Really?"));
    assert!(world.ok(&["reject", &own, "--reason", "no"]).starts_with(&on_box(&own)));
    let (answers, heard) = agent.end();
    assert!(answers == 0 && heard.contains("\"result\""), "{heard}");
}

#[test]
fn everything_is_done_through_the_inbox_over_one_connection() {
    let mut world = World::new();
    world.inbox();
    everything_is_done_to_questions_of(&world);
    assert_eq!(world.launcher.until("it", |_| true).connections, 1);
}

#[test]
fn everything_is_done_without_an_inbox() {
    let world = World::new();
    everything_is_done_to_questions_of(&world);
    world.launcher.until("that no connection is left", |seen| seen.alive == 0);
}

#[test]
fn a_deadline_is_extended_there() {
    let mut world = World::new();
    let mut asks = world.far.start(&["ask", "Which?", "--option", "a", "--timeout", "10m"]);
    let own = world.far.question();
    world.inbox();
    world.until_listed("the question", |ids, _| ids == [on_box(&own)]);
    let extended = world.ok(&["extend", &on_box(&own), "2h"]);
    assert!(extended.contains("extended: ends in 2 h") || extended.contains("2h"), "{extended}");
    world.ok(&["answer", &on_box(&own), "a"]);
    asks.expect("the answer", |line| line == "a");
}

#[test]
fn followers_hear_what_opens_and_what_is_settled_there() {
    let mut world = World::new();
    world.inbox();
    let mut follower = world.watch();
    follower.until("nothing", |ids| ids.is_empty(), |_| false);
    let (agent, own) = world.asks("Which?");
    let id = on_box(&own);
    follower.until("the question", |ids| ids == [id.clone()], |_| false);
    world.far.ok(&["answer", &own, "a"]);
    follower.until("its settlement", |ids| ids.is_empty(), |_| false);
    assert_eq!(agent.end().0, 1);
}

#[test]
fn one_machine_is_asked_by_its_name_or_by_a_command() {
    let world = World::new();
    let (mine, here) = ask(&world.person.machine, "Here?");
    let (agent, own) = world.asks("There?");
    let id = on_box(&own);
    world.until_listed("both", |ids, _| ids.contains(&here) && ids.contains(&id));
    let there = world.ok(&["list", "--host", BOX]);
    assert!(there.contains(&id) && !there.contains("Here?"), "{there}");
    let words: Vec<_> = world.launcher.words().iter().map(|word| format!("'{word}'")).collect();
    let via = words.join(" ");
    let there = world.ok(&["list", "--via", &via]);
    assert!(there.contains(&format!("via/{own}")) && !there.contains("Here?"), "{there}");
    // An ID of this machine is not found on the other.
    let missing = world.run(&["show", "--host", BOX, &here]);
    assert_eq!(missing.code, i32::from(exit::NO_QUESTION), "{missing:?}");
    world.ok(&["answer", "--via", &via, &own, "a"]);
    assert_eq!(agent.end().0, 1);
    assert_eq!(mine.end().0, 0);
    let unknown = world.run(&["list", "--host=-oProxyCommand=true"]);
    assert_eq!(unknown.code, i32::from(exit::USAGE), "{unknown:?}");
}

#[test]
fn an_answer_asks_the_machine_of_its_question_alone() {
    let world = World::new();
    let (agent, own) = world.asks("Which?");
    world.until_listed("the question", |ids, _| ids == [on_box(&own)]);
    let asked = world.person.machine.path().join("asked");
    world.sets(&[("other", &["touch", asked.to_str().unwrap()])]);
    world.ok(&["answer", &on_box(&own), "a"]);
    assert!(!asked.exists(), "the other machine was connected to");
    assert_eq!(agent.end().0, 1);
    world.run(&["list"]);
    assert!(asked.exists(), "a list asks all machines");
}

#[test]
fn a_read_only_connection_shows_and_refuses() {
    let mut world = World::dialing(&["dial", "--read-only"]);
    world.inbox();
    let (agent, own) = world.asks("Which?");
    let id = on_box(&own);
    world.until_listed("the question", |ids, _| ids == [id.clone()]);
    for command in [&["answer", &id, "a"][..], &["reject", &id, "--reason", "no"], &["extend", &id, "5m"]] {
        let refused = world.run(command);
        assert!(
            refused.code == i32::from(exit::FAILED) && refused.stderr.contains("read-only"),
            "{refused:?}"
        );
    }
    assert_eq!(agent.end().0, 0);
}

/// Both machines give a question the same ID: this machine is meant, and the other by its name.
#[test]
fn an_id_that_both_machines_have_means_this_machine() {
    let mut world = World::new();
    world.inbox();
    let (mine, here) = ask(&world.person.machine, "Here?");
    let (bridge, _) = here.split_once('-').unwrap();
    // The bridge of the other machine gets the name of the one here: its file says so.
    let (agent, own) = world.asks("There?");
    world.until_listed("both", |ids, _| ids.contains(&here) && ids.contains(&on_box(&own)));
    // The same beginning is on both machines once it is short enough: none at all is shorter than a character.
    let common: String =
        bridge.chars().zip(own.chars()).take_while(|(one, other)| one == other).map(|(one, _)| one).collect();
    if !common.is_empty() {
        assert!(world.ok(&["show", &common]).contains("Here?"));
    }
    assert!(world.ok(&["show", &here]).contains("Here?"));
    world.ok(&["answer", &here, "a"]);
    assert_eq!((mine.end().0, agent.end().0), (1, 0));
}

#[test]
fn a_question_is_told_on_the_machine_of_the_person_alone() {
    let mut world = World::new();
    let (here, there) = (world.person.machine.path().join("told"), world.far.path().join("told"));
    let tells = |file: &Path| json!(["touch", file]).to_string();
    let machine = format!("[machine.{BOX}]\ncommand = {}\n", json!(world.launcher.words()));
    let notify = format!("[notify]\ndelay = '2s'\n[notify.command]\ncommand = {}\n", tells(&here));
    world.person.sets(&(machine + &notify));
    world.inbox();
    // The bridge starts only now, so nothing could be said to it when the connection began.
    let mut ask = world.far.command(&["ask", "Which?", "--option", "a", "--option", "b"]);
    ask.env("ASKBRIDGE_NOTIFY_DELAY", "500ms").env("ASKBRIDGE_NOTIFY_COMMAND_COMMAND", tells(&there));
    let asking = Process::spawn(&mut ask);
    let deadline = Instant::now() + DEADLINE;
    while !here.exists() {
        assert!(Instant::now() < deadline, "the person was not told: {:?}", world.run(&["list"]));
        thread::yield_now();
    }
    assert!(!there.exists(), "it was told there as well");
    drop(asking);
}
