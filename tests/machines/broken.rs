//! Connections that break, stall or are never there: what the person is told is true, the agent gets an answer once, and
//! nothing else waits.

use std::{
    fs::{self, DirBuilder},
    os::unix::fs::DirBuilderExt,
    time::Duration,
};

use askbridge::limits::remote as limit;
use askbridge_os::exit;

use super::world::{World, ask, on_box, timed};
use crate::answers::machine::{Run, end};

/// What a command may take on a busy machine that does not wait for anything.
const SOON: Duration = Duration::from_secs(2);

fn asked(world: &mut World) -> (super::world::Agent, String, String) {
    world.inbox();
    let (agent, own) = world.asks("Which?");
    let id = on_box(&own);
    world.until_listed("the question", |ids, _| ids == [id.clone()]);
    (agent, own, id)
}

#[test]
fn an_answer_whose_reply_is_lost_is_resolved_by_the_same_answer_again() {
    let mut world = World::new();
    let (agent, _, id) = asked(&mut world);
    world.launcher.set(|faults| faults.loses = Some("question_answer"));
    let answered = world.ok(&["answer", &id, "b"]);
    assert!(answered.contains("answered") && answered.starts_with(&id), "{answered}");
    let seen = world.launcher.until("it", |_| true);
    assert_eq!(seen.called.iter().filter(|method| *method == "question_answer").count(), 2, "{seen:?}");
    assert_eq!((seen.withheld, seen.connections), (1, 2), "{seen:?}");
    let (answers, heard) = agent.end();
    assert!(answers == 1 && heard.contains(r#"[["b"]]"#), "{heard}");
}

#[test]
fn an_answer_that_never_arrived_is_sent_again() {
    let mut world = World::new();
    let (agent, _, id) = asked(&mut world);
    world.launcher.set(|faults| faults.swallows = Some("question_answer"));
    let answered = world.ok(&["answer", &id, "b"]);
    assert!(answered.contains("answered"), "{answered}");
    assert_eq!(agent.end().0, 1);
}

#[test]
fn another_answer_that_came_meanwhile_is_a_conflict() {
    let mut world = World::new();
    let (agent, own, id) = asked(&mut world);
    world.launcher.set(|faults| faults.swallows = Some("question_answer"));
    world.launcher.fails(Some("ssh: connect to host box port 22: No route to host\n"));
    let answers = world.start(&["answer", &id, "b"]);
    world.launcher.until("that the answer is gone", |seen| seen.withheld == 1 && seen.alive == 0);
    world.far.ok(&["answer", &own, "a"]);
    world.launcher.fails(None);
    let refused = end(answers);
    assert_eq!(refused.code, i32::from(exit::SETTLED), "{refused:?}");
    assert!(refused.stderr.contains('a'), "it says how it ended: {refused:?}");
    let (answers, heard) = agent.end();
    assert!(answers == 1 && heard.contains(r#"[["a"]]"#), "{heard}");
}

/// Answers, loses the reply, and lets the agent and its bridge end before the machine is connected again.
fn answer_whose_reply_and_bridge_are_lost(world: &mut World) -> Run {
    let (agent, _, id) = asked(world);
    world.launcher.set(|faults| faults.loses = Some("question_answer"));
    world.launcher.fails(Some("No route to host\n"));
    let answers = world.start(&["answer", &id, "b"]);
    world.launcher.until("that the reply is lost", |seen| seen.withheld == 1 && seen.alive == 0);
    assert_eq!(agent.end().0, 1);
    world.launcher.fails(None);
    end(answers)
}

#[test]
fn an_answer_is_known_from_the_journal_if_its_bridge_is_gone_by_then() {
    let answered = answer_whose_reply_and_bridge_are_lost(&mut World::new());
    assert_eq!(answered.code, i32::from(exit::OK), "{answered:?}");
    assert!(answered.stdout.contains("answered: b"), "{answered:?}");
}

#[test]
fn an_answer_is_not_known_if_its_bridge_is_gone_by_then_and_there_is_no_journal() {
    let mut world = World::new();
    let settings = world.far.path().join("askbridge");
    // The sockets are in the same directory.
    DirBuilder::new().mode(0o700).create(&settings).unwrap();
    fs::write(settings.join("config.toml"), "[journal]\nenabled = false\n").unwrap();
    let refused = answer_whose_reply_and_bridge_are_lost(&mut world);
    assert_eq!(refused.code, i32::from(exit::BRIDGE_GONE), "{refused:?}");
    assert!(!refused.stderr.contains("nothing was sent"), "{refused:?}");
}

#[test]
fn an_answer_to_a_machine_that_is_not_connected_is_not_sent() {
    let mut world = World::new();
    let (agent, _, id) = asked(&mut world);
    world.launcher.fails(Some("ssh: connect to host box port 22: No route to host\n"));
    world.launcher.cut();
    world.launcher.until("that it is cut", |seen| seen.alive == 0);
    let refused = world.run(&["answer", &id, "b"]);
    assert_eq!(refused.code, i32::from(exit::BRIDGE_GONE), "{refused:?}");
    assert!(
        refused.stderr.contains("nothing was sent") && refused.stderr.contains("no route to the host"),
        "{refused:?}"
    );
    assert_eq!(agent.end().0, 0);
}

#[test]
fn a_machine_that_is_frozen_while_an_answer_waits_is_noticed_within_five_seconds() {
    let mut world = World::new();
    let (agent, _, id) = asked(&mut world);
    world.launcher.freeze();
    // Several wait, and none of them ends the connection that comes next.
    let (first, second) = (world.start(&["answer", &id, "b"]), world.start(&["answer", &id, "b"]));
    world.launcher.until("that the answers are sent", |seen| {
        seen.called.iter().filter(|method| *method == "question_answer").count() >= 2
    });
    let (seen, took) = timed(|| world.launcher.until("another connection", |seen| seen.connections > 1));
    // The first pause before another try is a second at most.
    assert!(took < Duration::from_secs(5) + SOON, "{took:?}: {seen:?}");
    for answered in [end(first), end(second)] {
        assert_eq!((answered.code, answered.stderr.as_str()), (0, ""), "{answered:?}");
    }
    assert_eq!(world.launcher.until("it", |_| true).connections, 2, "no other connection ended");
    assert_eq!(agent.end().0, 1);
}

#[test]
fn an_answer_whose_reply_comes_late_is_waited_for() {
    let mut world = World::new();
    let (agent, _, id) = asked(&mut world);
    world.launcher.set(|faults| faults.holds = Some("question_answer"));
    let answers = world.start(&["answer", &id, "b"]);
    world.launcher.until("that it is held", |seen| seen.withheld == 1);
    // It is settled for all others, while the reply waits.
    world.until_listed("that nothing is open", |ids, _| ids.is_empty());
    world.launcher.set(|faults| faults.holds = None);
    assert_eq!(end(answers).code, 0);
    let seen = world.launcher.until("it", |_| true);
    assert_eq!(seen.connections, 1, "{seen:?}");
    assert_eq!(agent.end().0, 1);
}

#[test]
fn questions_stay_listed_while_their_machine_is_connected_again() {
    let mut world = World::new();
    let (first, own, id) = asked(&mut world);
    let (second, other) = world.asks("Other?");
    let both = |ids: &[String]| ids.len() == 2;
    let mut follower = world.watch();
    follower.until("both", both, |_| false);
    for _ in 0..3 {
        let before = world.launcher.until("it", |_| true).connections;
        world.launcher.cut();
        world.launcher.until("another connection", |seen| seen.connections > before && seen.alive == 1);
    }
    // The last change is heard after all that came before it.
    world.ok(&["answer", &on_box(&other), "a"]);
    follower.until("the answer", |ids| ids == [id.clone()], |ids| ids.len() != 2);
    // What was settled while it was away is settled here once it is back.
    world.launcher.fails(Some("No route to host\n"));
    world.launcher.cut();
    world.launcher.until("that it is cut", |seen| seen.alive == 0);
    world.far.ok(&["answer", &own, "b"]);
    world.until_listed("the question", |ids, _| ids == [id.clone()]);
    world.launcher.fails(None);
    follower.until("the settlement", |ids| ids.is_empty(), |ids| ids.len() != 1);
    let again = world.run(&["answer", &id, "a"]);
    assert_eq!(again.code, i32::from(exit::SETTLED), "{again:?}");
    assert_eq!((first.end().0, second.end().0), (1, 1));
}

/// What the last line of a list advises.
#[test]
fn a_list_of_one_machine_tries_it_again_where_the_inbox_pauses() {
    let mut world = World::new();
    let (agent, _, id) = asked(&mut world);
    world.launcher.fails(Some("ssh: connect to host box port 22: No route to host\n"));
    world.launcher.cut();
    world.until_problem("no route to the host");
    // The pauses grow, so that nothing but this list makes the inbox try within its deadline.
    for _ in 0..4 {
        let listed = world.run(&["list", "--host", "box"]);
        assert_eq!(listed.code, i32::from(exit::BRIDGE_GONE), "{listed:?}");
    }
    world.launcher.fails(None);
    let listed = world.run(&["list", "--host", "box"]);
    assert!(listed.code == 0 && listed.stdout.contains(&id), "{listed:?}");
    world.ok(&["answer", &id, "a"]);
    assert_eq!(agent.end().0, 1);
}

#[test]
fn machines_that_are_dead_or_stalled_delay_no_listing() {
    let mut world = World::new();
    world.sets(&[("stalled", &["sleep", "1000"]), ("dead", &["false"]), ("none", &["/does/not/exist"])]);
    world.inbox_alone();
    let (agent, own) = world.asks("Which?");
    let id = on_box(&own);
    world.until_listed("the question", |ids, _| ids == [id.clone()]);
    let (mine, here) = ask(&world.person.machine, "Here?");
    let (listed, took) = timed(|| world.run(&["list"]));
    assert!(listed.stdout.contains(&id) && listed.stdout.contains(&here), "{listed:?}");
    assert_eq!(listed.code, i32::from(exit::BRIDGE_GONE), "it says that it is not complete: {listed:?}");
    assert!(took < SOON, "{took:?}");
    // The one that has just been asked stalls.
    world.launcher.set(|faults| faults.is_stalled = true);
    let (listed, took) = timed(|| world.run(&["list"]));
    assert!(
        listed.stdout.contains(&id) && listed.stdout.contains(&here) && took < SOON,
        "{took:?}: {listed:?}"
    );
    let (answered, took) = timed(|| world.run(&["answer", &here, "a"]));
    assert!(answered.code == 0 && took < SOON, "{took:?}: {answered:?}");
    world.launcher.set(|faults| faults.is_stalled = false);
    world.ok(&["answer", &id, "a"]);
    assert_eq!((agent.end().0, mine.end().0), (1, 1));
}

/// Without an inbox, a command connects by itself.
#[test]
fn a_machine_that_stalls_delays_the_others_only_for_a_short_time() {
    let world = World::new();
    world.sets(&[("stalled", &["sleep", "1000"])]);
    let (agent, own) = world.asks("Which?");
    let id = on_box(&own);
    world.until_listed("the question", |ids, _| ids == [id.clone()]);
    let (listed, took) = timed(|| world.run(&["list"]));
    assert!(listed.stdout.contains(&id) && listed.code == i32::from(exit::BRIDGE_GONE), "{listed:?}");
    let said = "stalled has not replied yet: `askbridge list --host stalled` waits for it";
    assert!(listed.stderr.contains(said), "{listed:?}");
    assert!(took < limit::PATIENCE + SOON, "{took:?}");
    // Who follows the questions sees them as they come, and is not told of what only takes its time.
    let mut follower = world.watch();
    follower.until("the question", |ids| ids == [id.clone()], |_| false);
    assert_eq!(agent.end().0, 0);
}

#[test]
fn a_machine_that_was_named_is_waited_for() {
    let world = World::new();
    let (agent, own) = world.asks("Which?");
    world.launcher.set(|faults| faults.is_stalled = true);
    let mut named = world.start(&["list", "--host", super::world::BOX]);
    named.close_stdin();
    world.launcher.until("that it is asked", |seen| seen.connections == 1);
    // As long as a list of all waits, and longer.
    let (_, took) = timed(|| world.run(&["list"]));
    assert!(took >= limit::PATIENCE, "{took:?}");
    world.launcher.set(|faults| faults.is_stalled = false);
    let listed = end(named);
    assert!(listed.code == 0 && listed.stdout.contains(&on_box(&own)), "{listed:?}");
    assert_eq!(agent.end().0, 0);
}

#[test]
fn an_inbox_that_begins_warns_of_nothing() {
    let mut world = World::new();
    world.launcher.set(|faults| faults.is_stalled = true);
    world.inbox_alone();
    world.launcher.until("that it is asked", |seen| seen.connections == 1);
    world.launcher.set(|faults| faults.is_stalled = false);
    world.until_listed("box connected", |_, list| list.contains("\"complete\": true"));
    let said = world.said();
    assert!(!said.contains("connected") && !said.contains("replied"), "{said}");
    // What is wrong is still said.
    world.launcher.fails(Some("No route to host\n"));
    world.launcher.cut();
    world.until_said("box is not connected: no route to the host");
}

#[test]
fn banners_before_the_greeting_are_skipped_up_to_a_limit() {
    let banners: [&[u8]; 4] = [
        b"Welcome to box\nLast login: today\n",
        b"\xff\xfe no text\n{\"jsonrpc\":\"2.0\"}\n\n",
        b"\x1b]0;the title of a window\x07",
        &b"a line of many\n".repeat(900),
    ];
    for banner in banners {
        let world = World::new();
        world.launcher.set(|faults| faults.banner = banner.to_owned());
        let (_agent, own) = world.asks("Which?");
        let listed = world.ok(&["list"]);
        assert!(listed.contains(&on_box(&own)), "{}: {listed}", String::from_utf8_lossy(banner));
    }
    let mut world = World::new();
    world.launcher.set(|faults| faults.banner = b"a line of many\n".repeat(2000));
    assert_eq!(world.run(&["list"]).code, i32::from(exit::BRIDGE_GONE));
    world.inbox_alone();
    world.until_problem("1000 lines is the greeting of askbridge");
}
