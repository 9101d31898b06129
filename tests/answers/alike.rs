//! Permissions that are decided together, and rules that are made from one: the real commands, and the user's own file.

use std::fs;

use serde_json::{Value, json};

use crate::answers::{machine::name, person::Person, terminal::Terminal};
use crate::support::Process;

/// A permission to run a command in the project.
fn runs(id: usize, command: &str) -> Value {
    let options =
        [["once", "Allow", "allow_once"], ["always", "Always", "allow_always"], ["no", "No", "reject_once"]];
    let options = options.map(|[id, name, kind]| json!({ "optionId": id, "name": name, "kind": kind }));
    let call = json!({ "toolCallId": format!("t{id}"), "title": "Run it", "kind": "execute", "rawInput": { "command": command } });
    let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
    json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params })
}

/// A person, and an agent that asks to run these commands.
pub(super) struct Asked {
    pub(super) person: Person,
    bridge: Process,
    ids: Vec<String>,
}

impl Asked {
    pub(super) fn new(commands: &[&str]) -> Self {
        let person = Person::new();
        let script = "read -r _; echo '{\"jsonrpc\":\"2.0\",\"id\":\"new\",\"result\":{\"sessionId\":\"s\"}}'; printf '%s\\n' \"$@\"; cat";
        let mut command = person.command(&["run", "--", "sh", "-c", script, "sh"]);
        command.args(commands.iter().enumerate().map(|(id, command)| runs(id, command).to_string()));
        let mut bridge = Process::spawn(&mut command);
        let folder = person.project().canonicalize().unwrap();
        let params = json!({ "cwd": folder, "mcpServers": [] });
        bridge.send(
            &json!({ "jsonrpc": "2.0", "id": "new", "method": "session/new", "params": params }).to_string(),
        );
        let mut ids: Vec<_> = person.machine.questions(commands.len()).iter().map(name).collect();
        ids.sort_by_key(|id| id.rsplit('-').next().unwrap().parse::<u32>().unwrap());
        Asked { person, bridge, ids }
    }

    /// Returns how the permission to run this command was settled.
    pub(super) fn ended(&self, number: usize) -> Value {
        let shown = self.person.ok(&["show", "--json", &self.ids[number]]);
        let mut record: Value = serde_json::from_str(&shown).unwrap();
        record["settlement"]["outcome"]["values"].take()
    }
}

#[test]
fn like_permissions_are_listed_and_allowed_together() {
    let asked = Asked::new(&[
        "cargo test a",
        "cargo test b",
        "cargo tests b",
        "cargo test b; rm -rf src",
        "cargo test --config b",
        "rm -rf a",
        "cargo test 'b c'",
    ]);
    let Asked { person, ids, .. } = &asked;
    // Without a terminal, nothing is allowed before all of it was seen.
    let run = person.run(&["allow", "--like", &ids[0]]);
    let list =
        format!("{}  $ cargo test a\n{}  $ cargo test b\n{}  $ cargo test 'b c'\n", ids[0], ids[1], ids[6]);
    assert_eq!((run.code, &*run.stdout), (2, &*list));
    assert!(
        run.stderr.contains(&format!("`askbridge allow --like {} --yes` allows all 3", ids[0])),
        "{}",
        run.stderr
    );
    assert_eq!(person.machine.questions(7).len(), 7, "nothing was settled");

    let run = person.ok(&["allow", "--like", &ids[0], "--yes"]);
    assert_eq!(run, format!("{list}allowed 3\n"));
    let open: Vec<_> = person.machine.questions(4).iter().map(name).collect();
    assert!([2, 3, 4, 5].iter().all(|number: &usize| open.contains(&ids[*number])), "{open:?}");
    for number in [0, 1, 6] {
        assert!(asked.ended(number).to_string().contains("\"once\""), "{number}");
    }
    // What can do harm is allowed one by one.
    let run = person.run(&["allow", "--like", &ids[5], "--yes"]);
    assert_eq!((run.code, run.stderr.contains("it is dangerous")), (2, true), "{}", run.stderr);
    let run = person.run(&["allow", "--like", &ids[0], "--yes"]);
    assert_eq!(run.code, 4, "it is settled: {}", run.stderr);
    drop(asked.bridge);
}

#[test]
fn a_person_at_a_terminal_says_yes_to_what_is_listed() {
    let asked = Asked::new(&["cargo test a", "cargo test b"]);
    let Asked { person, ids, .. } = &asked;
    let mut terminal = Terminal::start(&person.machine, &["allow", "--like", &ids[1]], 100, 24);
    terminal.expect(&format!("{}  $ cargo test b", ids[1]));
    terminal.expect(&format!("{}  $ cargo test a", ids[0]));
    terminal.expect("Allow all 2? [y/N] ");
    terminal.types("\r");
    terminal.expect("nothing was allowed");
    assert_eq!(terminal.code(), 130);
    let mut terminal = Terminal::start(&person.machine, &["allow", "--like", &ids[1]], 100, 24);
    terminal.expect("[y/N] ");
    // One of them is decided meanwhile: it is left out, and the other is allowed.
    person.ok(&["reject", &ids[0]]);
    terminal.types("y\r");
    terminal.expect(&format!("left out: {}", ids[0]));
    terminal.expect("allowed 1 of 2");
    assert_eq!(terminal.code(), 4);
    assert!(asked.ended(1).to_string().contains("\"once\""));
}

#[test]
fn a_rule_is_made_from_a_permission_and_written_below_what_is_there() {
    const MINE: &str = "# my own\n[notify]\ndelay = \"1m\" # not at once\n";
    let asked = Asked::new(&["cargo test a", "rm -rf a", "cargo test --lib b"]);
    let Asked { person, ids, .. } = &asked;
    person.sets(MINE);
    let project = person.project().canonicalize().unwrap();
    let rule = format!(
        "[[rule]]\nname = \"cargo test * in shop\"\nproject = \"{}\"\ncommand = \"cargo test *\"\nthen = \"allow\"\n",
        project.display()
    );
    let shown = person.ok(&["rules", "from", &ids[0]]);
    assert!(shown.starts_with(&rule), "{shown}");
    assert_eq!(fs::read_to_string(person.file()).unwrap(), MINE, "it is only shown");
    let shown = person.ok(&["rules", "from", &ids[0], "--write"]);
    assert!(shown.contains(&format!("written to {}", person.file().display())), "{shown}");
    assert_eq!(fs::read_to_string(person.file()).unwrap(), format!("{MINE}\n{rule}"));
    assert_eq!(person.ok(&["rules", "check"]), "1 rule holds, 0 mistakes\n");
    // The same again would never decide: the first rule that applies does.
    let run = person.run(&["rules", "from", &ids[0], "--write"]);
    assert!(
        run.code == 125 && run.stderr.contains("the rule cargo test * in shop comes before it"),
        "{}",
        run.stderr
    );
    let run = person.run(&["rules", "from", &ids[1], "--write"]);
    assert!(
        run.code == 1 && run.stderr.contains("no rule can be made from it: it is dangerous"),
        "{}",
        run.stderr
    );
    // What is open is decided once the user says so.
    person.ok(&["rules", "apply", "--yes"]);
    assert!(asked.ended(2).to_string().contains("\"once\""));
    assert_eq!(person.machine.questions(1).iter().map(name).collect::<Vec<_>>(), [ids[1].clone()]);
}

#[test]
#[cfg(feature = "journal")]
fn a_rule_says_what_it_would_have_decided_before() {
    let asked = Asked::new(&["cargo test a", "cargo test b", "cargo build", "cargo test c"]);
    let Asked { person, ids, .. } = &asked;
    person.ok(&["allow", &ids[0]]);
    person.ok(&["reject", &ids[1]]);
    person.ok(&["allow", &ids[2]]);
    let shown = person.ok(&["rules", "from", &ids[3]]);
    let expected = [
        // The open one is in the journal as well.
        "would have allowed 3:\n",
        &format!("  {}  $ cargo test b  (rejected by the command line", ids[1]),
        &format!("  {}  $ cargo test a  (", ids[0]),
        "1 of them: rejected then.\n",
        &format!("`askbridge rules from {} --write` writes it\n", ids[3]),
    ];
    let mut rest = &*shown;
    for part in expected {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part}: {shown}"));
        rest = &rest[at + part.len()..];
    }
    // What was rejected becomes a rule that rejects.
    let shown = person.ok(&["rules", "from", &ids[1]]);
    assert!(shown.contains("command = [\"cargo\", \"test\", \"b\"]\nthen = \"reject\"\n"), "{shown}");
}

#[test]
fn the_person_at_a_terminal_decides_whether_a_rule_is_written() {
    let asked = Asked::new(&["cargo test a"]);
    let Asked { person, ids, .. } = &asked;
    for (key, code, is_written) in [("\r", 1, false), ("y\r", 0, true)] {
        let mut command = std::process::Command::new("setsid");
        command.arg("--ctty").arg(env!("CARGO_BIN_EXE_askbridge")).args(["rules", "from", &ids[0]]);
        let like = person.command(&[]);
        command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(person.project()).env("TERM", "xterm-256color");
        let mut terminal = Terminal::spawn(command, 200, 24);
        terminal.expect("command = \"cargo test *\"");
        terminal.expect("[y/N] ");
        terminal.types(key);
        assert_eq!(terminal.code(), code, "{}", terminal.text);
        assert_eq!(person.file().exists(), is_written);
    }
}
