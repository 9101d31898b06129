//! What a person, a rule and a command may do with a permission that changes while it is open, or that allows more than
//! its act. The agent echoes what its client says, so that a test says what the agent shall say.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::answers::machine::name;
use crate::answers::person::Person;
use crate::support::Process;

/// A person, and a bridge around an agent that is an echo.
struct Echo {
    person: Person,
    bridge: Process,
    /// The number of the last request.
    last: u32,
}

impl Echo {
    fn of(person: Person) -> Self {
        let bridge = Process::spawn(&mut person.command(&["run", "--", "cat"]));
        Echo { person, bridge, last: 0 }
    }

    /// Lets the agent ask for permission, with these parameters. Returns the ID of its question.
    fn asks(&mut self, params: &Value) -> String {
        self.last += 1;
        let request = json!({ "id": self.last, "method": "session/request_permission", "params": params });
        self.bridge.send(&request.to_string());
        let ending = format!("-{}", self.last);
        let open =
            self.person.machine.watch().until("the permission", |open| {
                open.iter().any(|question| name(question).ends_with(&ending))
            });
        name(open.iter().find(|question| name(question).ends_with(&ending)).unwrap())
    }

    /// Lets the agent ask for permission to run a command, by a tool call of its own.
    fn asks_to_run(&mut self, command: &str) -> String {
        let options = json!([
            { "optionId": "y", "name": "Allow", "kind": "allow_once" },
            { "optionId": "n", "name": "Reject", "kind": "reject_once" },
        ]);
        let call = json!({ "toolCallId": format!("t{}", self.last + 1), "title": "Build", "kind": "execute", "rawInput": { "command": command } });
        self.asks(&json!({ "sessionId": "s", "toolCall": call, "options": options }))
    }

    /// Lets the agent say another input of the last call, and waits until that is shown.
    fn says(&mut self, input: &Value, edition: u64) {
        let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": format!("t{}", self.last), "rawInput": input });
        let params = json!({ "sessionId": "s", "update": update });
        self.bridge.send(&json!({ "method": "session/update", "params": params }).to_string());
        let ending = format!("-{}", self.last);
        self.person.machine.watch().until("the change", |open| {
            open.iter().any(|question| name(question).ends_with(&ending) && question["edition"] == edition)
        });
    }

    /// Waits until the agent was told that it may do what it asked for with this request.
    fn is_allowed(&mut self, request: u32) {
        self.bridge.expect("the approval", |line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let chosen = &line["result"]["outcome"]["optionId"];
            if !chosen.is_null() {
                assert_eq!((&line["id"], chosen), (&json!(request), &json!("y")), "another approval");
            }
            !chosen.is_null()
        });
    }

    fn is_open(&self, id: &str) -> bool {
        let shown: Value = serde_json::from_str(&self.person.ok(&["show", "--json", id])).unwrap();
        shown["settlement"].is_null()
    }
}

#[test]
fn a_command_allows_only_the_text_that_it_names() {
    let mut echo = Echo::of(Person::new());
    let id = echo.asks_to_run("make");
    echo.says(&json!({ "command": "make", "description": "Build it" }), 1);
    echo.says(&json!({ "command": "make", "description": "Build all of it" }), 2);
    for args in [
        &["allow", "ID"][..],
        &["allow", "ID", "--yes"],
        &["allow", "ID", "--seen", "0"],
        &["allow", "ID", "--seen", "1"],
        &["allow", "ID", "--seen", "1", "--yes"],
        &["allow", "ID", "--seen", "3"],
        &["answer", "ID", "Allow"],
        &["answer", "ID", "Allow", "--seen", "1"],
    ] {
        let args = args.iter().map(|word| if *word == "ID" { &*id } else { word }).collect::<Vec<_>>();
        let run = echo.person.run(&args);
        assert_eq!((run.code, &*run.stdout), (4, ""), "{args:?}: {run:?}");
        assert!(run.stderr.contains("has changed") && run.stderr.contains(&id), "{args:?}: {run:?}");
        assert!(echo.is_open(&id), "{args:?}");
    }
    assert_eq!(echo.person.ok(&["allow", &id, "--seen", "2"]), format!("{id} allowed: Allow\n"));
    echo.is_allowed(1);

    // Another command than at first is dangerous.
    let id = echo.asks_to_run("make");
    echo.says(&json!({ "command": "make all" }), 1);
    let run = echo.person.run(&["allow", &id, "--seen", "1"]);
    assert!(run.code == 2 && run.stderr.contains("was at first: make"), "{run:?}");
    assert!(echo.is_open(&id));
    echo.person.ok(&["allow", &id, "--seen", "1", "--yes"]);
    echo.is_allowed(2);
}

const MAKE: &str = "[[rule]]\nname = 'make'\ncommand = 'make'\ndangerous = true\nthen = 'allow'\n";

/// Each is a command, what the agent says of it later, and whether a rule for `make` allows it then.
fn changes() -> [(&'static str, Option<Value>, bool); 6] {
    [
        ("make", None, true),
        ("make", Some(json!({ "command": "make", "description": "Build it" })), true),
        ("make", Some(json!({ "command": "make all" })), false),
        ("make all", Some(json!({ "command": "make" })), false),
        ("make", Some(json!({ "command": "make", "args": ["all"] })), false),
        ("make", Some(json!({ "command": "make", "sandbox": false })), false),
    ]
}

#[test]
fn a_rule_judges_what_is_open_and_not_what_was_open() {
    for (first, later, is_allowed) in changes() {
        let mut echo = Echo::of(Person::new());
        let id = echo.asks_to_run(first);
        if let Some(input) = &later {
            echo.says(input, 1);
        }
        // From now on, the rule could decide.
        echo.person.sets(MAKE);
        let tried = echo.person.run(&["rules", "apply", &id, "--yes"]);
        assert_eq!(echo.is_open(&id), !is_allowed, "{first}, {later:?}: {tried:?}");
        if is_allowed {
            echo.is_allowed(1);
        }
    }
}

#[test]
fn a_rule_that_is_there_judges_each_change() {
    let person = Person::new();
    person.sets(MAKE);
    let mut echo = Echo::of(person);
    for (first, later, _) in changes().into_iter().filter(|(first, ..)| *first != "make") {
        let id = echo.asks_to_run(first);
        echo.says(&later.expect("a change"), 1);
        // What comes behind it has been judged.
        echo.last += 1;
        let call = json!({ "toolCallId": "other", "title": "Build", "kind": "execute", "rawInput": { "command": "make" } });
        let options = json!([{ "optionId": "y", "name": "Allow", "kind": "allow_once" }]);
        let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
        let request = json!({ "id": echo.last, "method": "session/request_permission", "params": params });
        echo.bridge.send(&request.to_string());
        echo.is_allowed(echo.last);
        assert!(echo.is_open(&id), "{first}");
    }
}

/// A permission of `fixtures/grants`, and what its list and `show` say of what it allows.
struct Granting {
    params: Value,
    listed: String,
    /// What makes it dangerous, if that is what it also allows.
    dangerous: Option<String>,
    grants: Vec<String>,
}

fn granting() -> Vec<Granting> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/grants/acp.txt");
    let text = fs::read_to_string(path).unwrap();
    let mut found = Vec::new();
    for case in text.split("\n> request ").skip(1) {
        let mut lines = case.lines();
        let mut line = || lines.next().unwrap_or_default();
        let (request, listed, risk) = (line(), line(), line());
        // Some have an earlier update.
        let Ok(params) = serde_json::from_str::<Value>(request) else { continue };
        let listed = listed.strip_prefix("list: ").unwrap().to_owned();
        let dangerous = risk.strip_prefix("risk: dangerous: it also allows: ").map(str::to_owned);
        let case: Vec<_> = case.lines().take_while(|line| !line.starts_with("## ")).collect();
        let of_option = case.iter().filter_map(|line| line.trim().strip_prefix("! also allows: "));
        let section = case.iter().skip_while(|line| line.trim() != "It also allows").skip(1);
        let of_all = section.take_while(|line| !line.is_empty()).map(|line| line.trim());
        let grants = of_option.chain(of_all).map(str::to_owned).collect();
        found.push(Granting { params, listed, dangerous, grants });
    }
    found
}

/// Returns a text without the breaks of its lines.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_an_approval_allows_is_said_wherever_it_is_decided() {
    let mut echo = Echo::of(Person::new());
    let (mut shown, mut refused) = (0, 0);
    for Granting { params, listed, dangerous, grants } in granting() {
        let id = echo.asks(&params);
        if grants.is_empty() {
            continue;
        }
        let list = echo.person.ok(&["list"]);
        let row = list.lines().find(|row| row.starts_with(&id)).unwrap_or_else(|| panic!("{id}: {list}"));
        assert!(flat(row).ends_with(&flat(&listed)), "{listed}\n{row}");
        let text = flat(&echo.person.ok(&["show", &id]));
        for grant in &grants {
            assert!(text.contains(&flat(grant)), "{grant}\n{text}");
            shown += 1;
        }
        let Some(why) = dangerous else { continue };
        let run = echo.person.run(&["allow", &id]);
        assert_eq!((run.code, &*run.stdout), (2, ""), "{run:?}");
        assert!(flat(&run.stderr).contains(&format!("it also allows: {why}")), "{why}: {run:?}");
        assert!(echo.is_open(&id));
        refused += 1;
    }
    assert!(shown > 10 && refused >= 2, "{shown} {refused}");
}
