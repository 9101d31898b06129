//! `askbridge machine` on a machine that reaches another by a command: what it writes, what it finds, what it says.

use std::fs;

use askbridge_os::exit;
use serde_json::Value;

use crate::answers::machine::{ASKBRIDGE, TestMachine};
use crate::answers::person::Person;

/// The command that reaches a machine.
fn dial(there: &TestMachine) -> [String; 4] {
    let folder = there.path().to_str().unwrap();
    ["env".to_owned(), format!("XDG_RUNTIME_DIR={folder}"), ASKBRIDGE.to_owned(), "dial".to_owned()]
}

fn text(here: &Person) -> String {
    fs::read_to_string(here.file()).unwrap_or_default()
}

#[test]
fn a_machine_is_added_listed_and_taken_out() {
    let (here, there) = (Person::new(), TestMachine::new());
    let _asks = there.start(&["ask", "Which?", "--option", "a"]);
    there.question();
    let mine = "# mine\n[bridge]\ntimeout = \"1h\" # long\n";
    here.sets(mine);
    let command = dial(&there);
    let add = ["machine", "add", "box", "--"].into_iter().chain(command.iter().map(|word| &**word));
    let added = here.ok(&add.collect::<Vec<_>>());
    for part in [
        "+ [machine.box]\n+ command = [\"env\", ",
        "written to ",
        "1 bridge, 1 open question\n",
        "inbox --detach",
    ] {
        assert!(added.contains(part), "no {part}: {added}");
    }
    let written = text(&here);
    assert!(written.starts_with(mine) && written.contains("\n\n[machine.box]\ncommand = ["), "{written}");

    let listed = here.ok(&["machine", "list"]);
    assert!(listed.contains("not connected: no inbox runs here"), "{listed}");
    let json: Value = serde_json::from_str(&here.ok(&["machine", "list", "--json"])).unwrap();
    assert_eq!((&json["machines"][0]["name"], &json["hasInbox"]), (&"box".into(), &false.into()), "{json}");
    assert!(here.ok(&["list"]).contains("box/"), "its question is listed");
    for words in [["machine", "connect", ""], ["machine", "remove", "b"], ["list", "--host", "b"]] {
        let offered = here.ok(&[&["complete", "--"], &words[..]].concat());
        assert_eq!(offered.lines().next(), Some("box\t"), "{words:?}: {offered}");
    }
    assert!(here.ok(&["machine", "connect", "box"]).contains("1 bridge, 1 open question"));

    let removed = here.ok(&["machine", "remove", "box"]);
    assert!(removed.starts_with("- [machine.box]\n- command = ["), "{removed}");
    assert_eq!(text(&here), mine);
    assert!(here.ok(&["machine", "list"]).contains("no machine is set up"));
}

#[test]
fn a_machine_that_is_not_reached_is_added_and_says_why() {
    let here = Person::new();
    let script = "echo welcome; echo \"sh: exec: askbridge: not found\" >&2; exit 127";
    let added = here.run(&["machine", "add", "box", "--", "sh", "-c", script]);
    assert_eq!(added.code, i32::from(exit::BRIDGE_GONE), "{added:?}");
    let missing = "askbridge: box is not connected: askbridge is not installed there, or not on its PATH: \
                   https://github.com/askbridge/askbridge says how\n";
    assert_eq!(added.stderr, missing);
    assert!(text(&here).starts_with("[machine.box]\n"));
    let connected = here.run(&["machine", "connect", "box"]);
    assert_eq!((connected.code, &*connected.stderr), (i32::from(exit::BRIDGE_GONE), missing));
}

#[test]
fn mistakes_change_nothing() {
    let here = Person::new();
    let text_before = "[machine.box]\nssh = \"box\"\n\n[machine.old]\nssh = 5\n";
    here.sets(text_before);
    for (args, said) in [
        (&["add", "box"][..], "there is a machine box already"),
        (&["add", "-", "--ssh", "x"], "cannot be the name of a machine"),
        (&["add", "dev", "--ssh", "a b"], "is not a host"),
        (&["add", "dev", "--", ""], "is not a list of the program"),
        (&["add", "old"], "duplicate key"),
        (&["connect", "bxo"], "there is no machine \"bxo\"; did you mean \"box\"?"),
        (&["remove", "other"], "there is no machine \"other\": `askbridge machine list` shows all"),
    ] {
        let run = here.run(&[&["machine"], args].concat());
        assert!(run.code != 0 && run.stdout.is_empty(), "{args:?}: {run:?}");
        assert!(run.stderr.lines().any(|line| line.contains(said)), "{args:?}: {run:?}");
        assert_eq!(text(&here), text_before, "{args:?}");
    }
    // A table with a mistake can be taken out as well.
    let removed = here.run(&["machine", "remove", "old"]);
    assert_eq!((removed.code, &*text(&here)), (0, "[machine.box]\nssh = \"box\"\n"), "{removed:?}");
}
