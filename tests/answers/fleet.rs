//! What each screen says while the broker of a fleet is out of reach: the same words, the same exit code, and nothing
//! that is not known. With a real broker, `tests/fleet` tries the rest.

use askbridge_os::exit;
use serde_json::Value;

use crate::answers::{person::Person, terminal::Terminal};

/// Why the broker of these settings cannot be reached, and what to do about it.
const WHY: &str = "the fleet is not connected: the broker cannot be reached: Connection refused (os error 111): look \
                   whether it runs, and at `fleet.url`";

/// Returns a person whose broker does not run.
fn person() -> Person {
    let person = Person::new();
    let folder = person.machine.path().join("creds");
    let made = person.run(&["fleet", "credentials", folder.to_str().unwrap(), "--person", "ana"]);
    assert_eq!(made.code, 0, "{made:?}");
    let credentials = folder.join("ana.json");
    person.sets(&format!("[fleet]\nurl = \"nats://127.0.0.1:1\"\ncredentials = {credentials:?}\n"));
    person
}

fn terminal(person: &Person, args: &[&str], columns: u16) -> Terminal {
    let folder = person.machine.path();
    let (home, config) = (folder.to_str().unwrap(), folder.join("config"));
    let variables = [("HOME", home), ("XDG_CONFIG_HOME", config.to_str().unwrap())];
    Terminal::start_in(&person.machine, args, &variables, columns, 24)
}

#[test]
fn every_command_says_that_questions_may_be_missing() {
    let person = person();
    let missing = format!("askbridge: questions may be missing: {WHY}\n");
    let said = person.run(&["list"]);
    assert_eq!((said.code, &said.stderr), (i32::from(exit::BRIDGE_GONE), &missing), "{said:?}");
    assert!(said.stdout.contains("; the fleet is not connected\n"), "{said:?}");
    let listed = person.run(&["list", "--json"]);
    let list: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!((list["complete"].as_bool(), list["fleet"].as_str()), (Some(false), Some(WHY)), "{listed:?}");
    let line = format!(" as ana: not connected: {}", WHY.trim_start_matches("the fleet is not connected: "));
    let status = person.run(&["status"]);
    assert_eq!(status.code, i32::from(exit::BRIDGE_GONE), "{status:?}");
    assert!(status.stdout.contains(&line), "{status:?}");
    let machines = person.ok(&["machine", "list"]);
    assert!(machines.contains(&line), "{machines}");
    let answer = person.run(&["answer", "box-k3f9q2/m4b7xa-1", "a"]);
    assert_eq!(answer.code, i32::from(exit::BRIDGE_GONE), "{answer:?}");
    assert!(answer.stderr.contains(WHY), "{answer:?}");
}

#[test]
fn what_follows_the_questions_says_that_some_may_be_missing() {
    let person = person();
    let watch = crate::support::Process::spawn(&mut person.command(&["list", "--watch"]));
    watch.expect_stderr("why", |said| said.contains(WHY));
    for columns in [80, 200] {
        // Nobody asked for a list by the program's name alone, so that an incomplete one is no failure.
        for (args, code) in [(&["next"][..], exit::BRIDGE_GONE), (&[], exit::OK)] {
            let mut once = terminal(&person, args, columns);
            once.expect("questions may be missing: the fleet is not connected: ");
            assert_eq!(once.code(), i32::from(code), "{}", once.text);
        }
        let mut watch = terminal(&person, &["list", "--watch"], columns);
        // The lines are wrapped, so that the advice is seen on a narrow terminal as well.
        watch.screen("whether it runs, and");
        watch.types("\x03");
        watch.code();
    }
}

#[cfg(feature = "tui")]
#[test]
fn the_full_screen_inbox_says_that_questions_may_be_missing() {
    let person = person();
    for columns in [80, 200] {
        let mut tui = terminal(&person, &["tui"], columns);
        tui.screen("Nothing waits in the inboxes that replied.");
        tui.screen("questions may be missing: the fleet is not connect");
        tui.screen("whether it runs, and");
        tui.types("q");
        assert_eq!(tui.code(), 0, "{}", tui.text);
    }
}
