//! Rules over the real programs: they answer by themselves, with their name, and only what they name.

use std::{fs, io::Write};

use serde_json::{Value, json};

use crate::{
    answers::{machine::name, person::Person},
    support::Process,
};

/// Returns a person with these rules.
fn person_with(rules: &str) -> Person {
    let person = Person::new();
    person.sets(rules);
    person
}

impl Person {
    /// Starts a bridge around an agent that asks this at once, each of `later` for a line in its pipe `go`, and says on
    /// stderr what it is told.
    fn bridge(&self, first: &[Value], later: &[Value]) -> Process {
        // Opened before the last writer has closed it, the pipe has nothing, and is opened again.
        let script = "mkfifo go; exec 3<&0; n=$1; shift; while [ $n -gt 0 ]; do printf '%s\\n' \"$1\"; shift; n=$((n-1)); done; \
                      (while IFS= read -r line; do printf 'got %s\\n' \"$line\" >&2; done) <&3 & \
                      for line; do until read -r _ < go; do :; done; printf '%s\\n' \"$line\"; done; wait";
        let mut command = self.command(&["run", "--", "sh", "-c", script, "sh"]);
        command.arg(first.len().to_string()).args(first.iter().chain(later).map(Value::to_string));
        Process::spawn(&mut command)
    }

    /// Lets the agent ask the next of its later questions.
    fn go(&self) {
        let mut pipe = fs::OpenOptions::new().write(true).open(self.project().join("go")).unwrap();
        pipe.write_all(b"\n").unwrap();
    }

    /// Waits until a question is settled, and returns its record.
    fn settled(&self, id: &str) -> Value {
        let mut shown = self.shown(id);
        while shown["settlement"].is_null() {
            // Every change prints the list again.
            let mut watch = self.machine.watch();
            watch.until("the question is gone", |open| open.iter().all(|question| name(question) != id));
            shown = self.shown(id);
        }
        shown
    }

    fn shown(&self, id: &str) -> Value {
        serde_json::from_str(&self.ok(&["show", "--json", id])).unwrap()
    }
}

/// A question with two options.
fn question(id: u32) -> Value {
    let params = json!({ "prompt": "Which database?", "options": ["SQLite", "Postgres"] });
    json!({ "jsonrpc": "2.0", "id": id, "method": "_sandboxagent/session/request_question", "params": params })
}

/// A permission to run a command.
fn permission(id: u32, command: &str) -> Value {
    let options =
        [["allow", "Allow", "allow_once"], ["always", "Always", "allow_always"], ["no", "No", "reject_once"]];
    let options = options.map(|[id, name, kind]| json!({ "optionId": id, "name": name, "kind": kind }));
    let call = json!({ "toolCallId": format!("t{id}"), "title": "Run it", "kind": "execute", "rawInput": { "command": command } });
    let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
    json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params })
}

const DATABASE: &str =
    "[[rule]]\nname = 'database'\noptions = ['SQLite', 'Postgres']\nthen = 'answer'\nanswer = 'SQLite'\n";
const TESTS: &str = "[[rule]]\nname = 'tests'\ncommand = 'cargo test *'\ndangerous = true\nthen = 'allow'\n";

/// Returns the ID of another question of the same bridge.
fn sibling(id: &str, number: u32) -> String {
    format!("{}-{number}", id.rsplit_once('-').unwrap().0)
}

#[test]
fn rule_answers_by_itself_and_is_named() {
    let person = person_with(&format!("{DATABASE}{TESTS}"));
    // The last one is open, so that the name of the bridge is known.
    let bridge =
        person.bridge(&[question(1), permission(2, "cargo test --lib"), permission(3, "rm -rf a")], &[]);
    bridge.expect_stderr("the answer", |text| text.contains("got") && text.contains("SQLite"));
    bridge.expect_stderr("the permission", |text| text.contains(r#""optionId":"allow""#));
    let open = person.machine.question();
    let shown = person.settled(&sibling(&open, 1));
    assert_eq!(shown["settlement"]["by"], json!({ "responder": "rule", "name": "database" }));
    let allowed = person.ok(&["show", &sibling(&open, 2)]);
    assert!(allowed.contains(": allowed by rule \"tests\", "), "{allowed}");
    assert_eq!(open, sibling(&open, 3), "the permission that no rule names is open");
    let tried = person.ok(&["rules", "try", &open]);
    assert!(
        tried.contains("  tests does not apply: its command is `rm -rf a`, and not \"cargo test *\"\n"),
        "{tried}"
    );
    assert!(tried.ends_with("  no rule applies: you decide\n"), "{tried}");
    let again = person.ok(&["rules", "try", &sibling(&open, 1)]);
    assert!(again.contains("  database applies: it would be answered"), "{again}");
}

#[test]
fn rule_answers_a_form_of_the_mock_agent_field_by_field() {
    let person = person_with(
        "[[rule]]\nname = 'form'\nagent = 'Mock *'\nthen = 'answer'\n\
         answer = { q0 = 'SQLite', q1 = ['Auth', 'Search'], q2 = 'as usual' }\n",
    );
    let askbridge = env!("CARGO_BIN_EXE_askbridge");
    let client = ["mock-client", "--tier", "silent", "--leave-open", "--prompt", "a question with fields"];
    let run = ["--", askbridge, "run", "--client-questions", "none", "--", askbridge, "mock-agent"];
    let mut client = Process::spawn(&mut person.command(&[&client[..], &run].concat()));
    client.expect("the answer", |line| line.contains("SQLite") && line.contains("as usual"));
    assert_eq!(client.wait().code(), Some(0));
}

#[test]
fn what_is_broken_or_of_a_project_or_does_not_say_dangerous_allows_nothing() {
    let careless = "[[rule]]\nname = 'careless'\ncommand = 'cargo publish'\nthen = 'allow'\n";
    let broken = "[[rule]]\nname = 'broken'\ncommnd = 'cargo *'\ndangerous = true\ntool = 'execute'\nthen = 'reject'\n";
    let person = person_with(&format!("{broken}{careless}{DATABASE}"));
    fs::write(person.project().join(".askbridge.toml"), TESTS).unwrap();
    let bridge = person.bridge(&[permission(1, "cargo publish"), question(2)], &[]);
    bridge.expect_stderr("the broken rule", |text| {
        text.contains("config.toml:3:1: there is no `commnd` of a rule; did you mean `command`?")
    });
    bridge.expect_stderr("the project's rule", |text| {
        text.contains(".askbridge.toml:1:1: only your own file may have rules")
    });
    bridge.expect_stderr("the others hold", |text| text.contains("got") && text.contains("SQLite"));
    let open = person.machine.question();
    assert_eq!(open, sibling(&open, 1));
    let run = person.run(&["rules", "try", &open]);
    let why = "careless does not apply: it is dangerous (`cargo publish` publishes, or speaks for you), and the rule does not say \
               `dangerous = true`";
    assert!(run.stdout.contains(why) && run.stderr.contains("config.toml:3:1:"), "{run:?}");
    let check = person.run(&["rules", "check"]);
    assert_eq!((check.code, &*check.stdout), (1, "2 rules hold, 2 mistakes\n"), "{check:?}");
    assert!(
        check.stderr.contains("config.toml:3:1:") && check.stderr.contains(".askbridge.toml:1:1:"),
        "{check:?}"
    );
    let list = person.run(&["rules", "list"]);
    assert!(
        list.stdout.starts_with("1. careless: command = \"cargo publish\", then = \"allow\"  # "),
        "{list:?}"
    );
    assert!(list.stdout.contains("\n2. database: "), "{list:?}");
    let apply = person.run(&["rules", "apply", "--yes"]);
    assert!(apply.code == 0 && apply.stderr.ends_with("no rule decides an open question\n"), "{apply:?}");
}

#[test]
fn a_new_rule_is_for_later_questions_and_is_applied_to_open_ones_when_that_is_typed() {
    let person = Person::new();
    let bridge = person.bridge(
        &[permission(1, "cargo test a")],
        &[permission(2, "cargo test b"), permission(3, "cargo test c")],
    );
    let first = person.machine.question();
    assert!(person.run(&["rules", "list"]).stderr.contains("there are no rules: "));
    person.sets(TESTS);
    assert_eq!(person.ok(&["rules", "check"]), "1 rule holds, 0 mistakes\n");
    person.go();
    bridge.expect_stderr("the second is allowed", |text| text.contains(r#""optionId":"allow""#));
    let second = person.settled(&sibling(&first, 2));
    assert_eq!(second["settlement"]["by"]["name"], "tests");
    assert_eq!(person.machine.question(), first, "what was open stays open");

    // The rules are read again by a bridge that has some already.
    person.sets(&TESTS.replace("'allow'", "'reject'").replace("tests", "no tests"));
    person.go();
    bridge.expect_stderr("the third is rejected", |text| text.contains(r#""optionId":"no""#));
    let third = person.settled(&sibling(&first, 3));
    assert_eq!(third["settlement"]["by"]["name"], "no tests");
    assert_eq!(person.machine.question(), first);

    person.sets(TESTS);
    let asked = person.run(&["rules", "apply"]);
    assert_eq!(asked.code, 1, "{asked:?}");
    assert!(asked.stdout.starts_with(&format!("{first} by tests: it would be allowed: Allow")), "{asked:?}");
    assert!(asked.stderr.contains("nothing was done: give --yes"), "{asked:?}");
    assert_eq!(person.machine.question(), first);
    let applied = person.ok(&["rules", "apply", &first, "--yes"]);
    assert!(applied.ends_with(&format!("{first} allowed: Allow\n")), "{applied}");
    let shown = person.shown(&first);
    assert_eq!(shown["settlement"]["by"], json!({ "responder": "rule", "name": "tests" }));
    let late = person.run(&["rules", "apply", &first, "--yes"]);
    assert_eq!(late.code, 4, "{late:?}");
}

#[cfg(feature = "journal")]
#[test]
fn what_rules_would_have_decided_is_said_of_the_journal() {
    let person = Person::new();
    assert!(person.run(&["rules", "try", "--history"]).stderr.contains("there are no rules: "));
    let mut bridge = person.bridge(&[question(1), permission(2, "cargo test a"), permission(3, "rm a")], &[]);
    let open = person.machine.questions(3);
    let [database, tests, other] = [0, 1, 2].map(|place| name(&open[place]));
    assert_eq!(person.machine.does(&["answer", &database, "Postgres"]), format!("{database} answered"));
    assert_eq!(person.machine.does(&["reject", &tests]), format!("{tests} rejected"));
    assert_eq!(person.machine.does(&["allow", &other, "--yes"]), format!("{other} allowed"));
    bridge.close_stdin();
    bridge.wait();
    let hold = "[[rule]]\nname = 'mine'\ncommand = 'rm *'\nthen = 'hold'\n[[rule]]\nname = 'none'\nagent = 'x'\nthen = 'hold'\n";
    person.sets(&format!("{DATABASE}{TESTS}{hold}"));
    let answered = format!("{database} by database: Which database?: it would be answered: SQLite\n");
    let tried = |since: &[&str]| person.ok(&[&["rules", "try", "--history"], since].concat());
    // The latest comes first, whatever a person decided then.
    let all = tried(&[]);
    let lines: Vec<_> = all.lines().collect();
    assert!(lines[0].starts_with(&format!("{other} by mine: ")), "{all}");
    assert!(lines[0].ends_with(": you decide, and later rules are skipped"), "{all}");
    assert!(lines[1].starts_with(&format!("{tests} by tests: ")), "{all}");
    assert!(lines[1].ends_with(": it would be allowed: Allow"), "{all}");
    assert!(all.contains(&answered), "{all}");
    let counts = "of 3 questions, 3 would have been decided by rules\n  database: 1\n  mine: 1\n  none: 0\n  tests: 1\n";
    assert!(all.ends_with(counts), "{all}");
    // Two hours pass for the first.
    let file = person.machine.path().join("state/askbridge/journal.db");
    let earlier = "UPDATE settlement SET at = at - 7200000 WHERE id = ?1";
    assert_eq!(rusqlite::Connection::open(file).unwrap().execute(earlier, [&database]), Ok(1));
    let recent = tried(&["--since", "1h"]);
    assert!(!recent.contains(&database) && recent.contains("of 2 questions, 2 would"), "{recent}");
    assert_eq!(tried(&["--since", "3h"]), all);
    // A dry run decides nothing.
    assert!(person.ok(&["history", "show", &database]).contains("Postgres"));
}

#[test]
fn the_examples_of_the_page_are_rules() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/rules.md")).unwrap();
    let examples: Vec<_> =
        page.split("```toml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect();
    assert!(examples.len() >= 5, "{}", examples.len());
    for example in &examples {
        let person = person_with(example);
        let check = person.run(&["rules", "check"]);
        assert_eq!((check.code, &*check.stderr), (0, ""), "{example}");
        assert!(!check.stdout.starts_with("0 "), "{example}");
    }
    for key in askbridge_settings::rule::keys::KEYS {
        assert!(page.contains(&format!("| `{}` | {} |\n", key.name, key.about)), "{}", key.name);
    }
}
