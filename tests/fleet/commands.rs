//! What persons see and do, while everything works.

use std::{fs, thread, time::Instant};

use askbridge_os::exit;
use rustix::process::{Signal, kill_process};

use crate::{
    answers::machine::ASKBRIDGE,
    support::DEADLINE,
    world::{Asked, Member, World},
};

/// Lists, shows, rejects and answers questions of the machine.
fn everything_is_done(person: &Member, far: &Member, machine: &str) {
    let (agent, own) = far.asks("Which database?");
    let id = format!("{machine}/{own}");
    person.until_listed("the question", |ids| ids == [id.clone()]);
    let shown = person.ok(&["show", &id]);
    assert!(shown.contains("Which database?") && shown.contains(&id), "{shown}");
    let unfit = person.run(&["answer", &id, "zzz"]);
    assert_eq!(unfit.code, i32::from(exit::DOES_NOT_FIT), "{unfit:?}");
    assert!(person.ok(&["answer", &id, "b"]).starts_with(&id));
    // The same again is accepted, and another is refused.
    assert!(person.ok(&["answer", &id, "b"]).starts_with(&id));
    let other = person.run(&["answer", &id, "a"]);
    assert_eq!(other.code, i32::from(exit::SETTLED), "{other:?}");
    assert!(other.stderr.contains("ana over the fleet"), "{other:?}");
    agent.has_heard("b");
    let kept = far.ok(&["history"]);
    assert!(kept.contains("answered by ana over the fleet"), "{kept}");

    let (agent, own) = far.asks("Really?");
    person.until_listed("the question", |ids| ids.contains(&format!("{machine}/{own}")));
    // Without the name of the machine it is found as well.
    assert!(person.ok(&["show", &own]).contains("Really?"));
    person.ok(&["reject", &own, "--reason", "no"]);
    let (answers, heard) = agent.end();
    assert!(answers == 0 && heard.contains("\"result\""), "{heard}");
}

#[test]
fn everything_is_done_through_the_inbox() {
    let world = World::new();
    let (mut far, mut person) = (world.member("box"), world.member("ana"));
    let own = person.inbox();
    let machine = far.gateway();
    assert!(machine.starts_with("box") && machine != own, "{machine} {own}");
    everything_is_done(&person, &far, &machine);
    let machines = person.ok(&["machine", "list"]);
    assert!(machines.contains(&machine) && machines.contains("the fleet"), "{machines}");
    assert!(!machines.contains(&own), "this machine is no other: {machines}");
    let status = person.ok(&["status"]);
    let broker = format!("fleet: {} as ana, account askbridge, replies in ", world.server.url());
    // The person's own machine is one of the two.
    assert!(status.contains(&broker) && status.contains(" ms, 2 machines"), "{status}");
    let status = far.ok(&["status"]);
    assert!(status.contains(" as box, account askbridge, replies in "), "{status}");
}

#[test]
fn everything_is_done_without_an_inbox() {
    let world = World::new();
    let (mut far, person) = (world.member("box"), world.member("ana"));
    let machine = far.gateway();
    everything_is_done(&person, &far, &machine);
}

#[test]
fn a_machine_without_an_inbox_is_in_the_fleet_while_its_agents_ask() {
    let world = World::new();
    let (far, mut person) = (world.member("box"), world.member("ana"));
    person.inbox();
    let (agent, own) = far.asks("Which?");
    let ids = person.until_listed("the question", |ids| ids.len() == 1);
    assert!(ids[0].ends_with(&format!("/{own}")), "{ids:?}");
    person.ok(&["answer", &ids[0], "a"]);
    assert_eq!(agent.end().0, 1);
    let gateway = far.started_gateway(None);
    kill_process(gateway, Signal::TERM).unwrap();
    until_no_machine(&person);
}

/// Waits until no machine of the fleet is listed, before an entry could run out: the machine has said that it ends.
fn until_no_machine(person: &Member) {
    let begun = Instant::now();
    while person.ok(&["machine", "list"]).contains("the fleet") {
        assert!(begun.elapsed() < DEADLINE, "it is still listed");
        thread::yield_now();
    }
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn an_inbox_that_ends_or_leaves_the_fleet_says_so() {
    let world = World::new();
    let (mut far, mut person) = (world.member("box"), world.member("ana"));
    person.inbox();
    for ends in [true, false] {
        let machine = far.inbox();
        person.until_said(&["machine", "list"], &machine);
        match ends {
            true => far.serving().signal(Signal::TERM),
            false => far.person.sets(""),
        }
        until_no_machine(&person);
    }
}

#[test]
fn what_is_wrong_with_the_settings_is_said() {
    let world = World::new();
    let person = world.member("ana");
    let said = |member: &Member| member.run(&["status"]).stdout;
    person.sets(&world.users.folder().join("creds/nobody.json"), &world.server.url());
    assert!(said(&person).contains("nobody.json: No such file"), "{}", said(&person));
    let copy = world.users.folder().join("wrong.json");
    let text = fs::read_to_string(world.users.file("ana")).unwrap();
    let mode = fs::metadata(world.users.file("ana")).unwrap().permissions();
    fs::write(&copy, text.replace("\"password\": \"", "\"password\": \"x")).unwrap();
    fs::set_permissions(&copy, mode).unwrap();
    person.sets(&copy, &world.server.url());
    assert!(said(&person).contains("does not accept the user ana or its password"), "{}", said(&person));
    person.sets(&world.users.file("ana"), "nats://127.0.0.1:1");
    let unreached = "not connected: the broker cannot be reached";
    assert!(said(&person).contains(unreached), "{}", said(&person));
    let listed = person.run(&["list"]);
    assert_eq!(listed.code, i32::from(exit::BRIDGE_GONE), "{listed:?}");
    assert!(listed.stderr.contains("questions may be missing: the fleet is "), "{listed:?}");
    assert!(listed.stderr.contains(unreached) && listed.stdout.contains("; the fleet is not"), "{listed:?}");
}

#[test]
fn a_change_of_settings_keeps_the_machines_that_they_still_name() {
    let world = World::new();
    let (mut far, mut person) = (world.member("box"), world.member("ana"));
    let own = world.member("other");
    // Its questions are not in the fleet as well.
    own.person.sets("");
    person.inbox();
    let machine = far.gateway();
    let (agent, question) = far.asks("Which?");
    let id = format!("{machine}/{question}");
    person.until_listed("the question of the fleet", |ids| ids == [id.clone()]);
    let (_other, question) = own.asks("Here?");
    let place = own.person.machine.path();
    let dial = format!(
        "[machine.mine]\ncommand = [\"env\", \"XDG_RUNTIME_DIR={}\", {ASKBRIDGE:?}, \"dial\"]\n",
        place.display()
    );
    let fleet = fs::read_to_string(person.person.file()).unwrap();
    let since = |name: &str| {
        let listed = person.ok(&["machine", "list", "--json"]);
        let machines: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let all = machines["machines"].as_array().unwrap_or_else(|| panic!("{listed}")).clone();
        let of_name = all.into_iter().find(|machine| machine["name"] == name);
        of_name.unwrap_or_else(|| panic!("no {name}: {listed}"))["connected_at"].to_string()
    };
    let before = since(&machine);
    let mine = format!("mine/{question}");
    person.person.sets(&format!("{fleet}{dial}"));
    person.until_listed("both", |ids| ids.len() == 2 && ids.contains(&id) && ids.contains(&mine));
    assert_eq!(since(&machine), before, "it was connected again");
    let before = since("mine");
    // Without the fleet, the user's own machine stays.
    person.person.sets(&dial);
    person.until_listed("that of the settings", |ids| ids == [mine.clone()]);
    assert_eq!(since("mine"), before, "it was connected again");
    person.person.sets(&fleet);
    person.until_listed("the question of the fleet again", |ids| ids == [id.clone()]);
    person.ok(&["answer", &id, "a"]);
    assert_eq!(agent.end().0, 1);
}

/// Programs read the same list as the commands do.
#[test]
fn a_program_sees_the_machine_of_a_question_and_who_answered_it() {
    let world = World::new();
    let Asked { far: _far, person, machine, agent, id, .. } = world.asked("box", "ana");
    let expected = format!("\"id\":\"{id}\",\"bridge\":\"{machine}/");
    person.until_served_with(&expected);
    let path = format!("/v1/questions/{}", id.replace('/', "%2F"));
    let answered = person.rest("POST", &format!("{path}/reply"), r#"{"answers":[["b"]]}"#);
    assert!(answered.starts_with("HTTP/1.1 204 "), "{answered}");
    let settled = person.rest("GET", &path, "");
    assert!(settled.contains(r#""responder":"fleet","name":"ana""#), "{settled}");
    agent.has_heard("b");
}

/// Each call takes one round trip between the two machines.
#[test]
fn an_answer_is_one_call_of_the_far_machine() {
    let world = World::new();
    let mut far = world.member("box");
    let (mut person, link) = world.linked("ana");
    person.inbox();
    let machine = far.gateway();
    let calls = (0..9).map(|_| {
        let (agent, own) = far.asks("Which?");
        let id = format!("{machine}/{own}");
        person.until_listed("the question", |ids| ids == [id.clone()]);
        let before = link.calls();
        person.ok(&["answer", &id, "a"]);
        let calls = link.calls() - before;
        assert_eq!(agent.end().0, 1);
        calls
    });
    // A heartbeat, or what is asked of a new bridge, can only add to it.
    assert_eq!(calls.min(), Some(1));
}
