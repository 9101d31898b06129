//! `allow` and `reject`, and what else a person does with a permission at the command line.

use std::{fs, os::unix::fs::symlink};

use serde_json::{Value, json};

use crate::answers::machine::{TestMachine, end, name};
use crate::answers::person::Person;
use crate::support::Process;

const CLAUDE: [[&str; 3]; 3] = [
    ["allow_always", "Always Allow", "allow_always"],
    ["allow", "Allow", "allow_once"],
    ["reject", "Reject", "reject_once"],
];

/// Returns the request of an agent for permission to run a command.
fn request(id: u32, options: &[[&str; 3]]) -> Value {
    let options: Vec<_> = options
        .iter()
        .map(|[id, name, kind]| json!({ "optionId": id, "name": name, "kind": kind }))
        .collect();
    let input = json!({ "command": "rm -rf build", "description": "Clean up" });
    let call =
        json!({ "toolCallId": "t", "title": "Clean up the build", "kind": "execute", "rawInput": input });
    let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
    json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params })
}

/// An agent that has asked these, and keeps what it is told in a file.
struct Agent {
    machine: TestMachine,
    bridge: Process,
    ids: Vec<String>,
}

impl Agent {
    fn asks(requests: &[Value]) -> Self {
        Agent::with(&[], requests)
    }

    fn with(options: &[&str], requests: &[Value]) -> Self {
        let machine = TestMachine::new();
        let script = "printf '%s\\n' \"$@\"; cat > told";
        let lines: Vec<_> = requests.iter().map(Value::to_string).collect();
        let mut command = machine.command(&["run"]);
        command.args(options).args(["--", "sh", "-c", script, "sh"]).args(&lines).current_dir(machine.path());
        let mut bridge = Process::spawn(&mut command);
        for line in &lines {
            bridge.expect("the agent's own request at the client", |shown| shown == line);
        }
        let ids = match options {
            [] => machine.questions(requests.len()).iter().map(name).collect(),
            _ => Vec::new(),
        };
        Agent { machine, bridge, ids }
    }

    /// Returns the results that the agent got, in their order.
    fn told(mut self) -> Vec<Value> {
        self.bridge.close_stdin();
        end(self.bridge);
        let told = fs::read_to_string(self.machine.path().join("told")).unwrap();
        told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["result"].take()).collect()
    }
}

fn selected(option: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

#[test]
fn a_permission_is_allowed_and_denied_by_what_its_options_do() {
    let mut agent = Agent::asks(&[1, 2, 3].map(|id| request(id, &CLAUDE)));
    let [once, always, deny] = &*agent.ids.clone() else { panic!("{:?}", agent.ids) };
    // What is not confirmed is refused, with the command that allows the same.
    for (args, again) in [
        (&["allow", once][..], format!("`askbridge allow {once} --yes`")),
        (&["allow", always, "--always"], format!("`askbridge allow {always} --always --yes`")),
    ] {
        let run = agent.machine.run(args);
        assert!(run.code == 2 && run.stderr.contains(&again), "{args:?}: {run:?}");
    }
    assert_eq!(agent.machine.ok(&["allow", once, "--yes"]), format!("{once} allowed: Allow\n"));
    assert_eq!(
        agent.machine.ok(&["allow", always, "--always", "--yes"]),
        format!("{always} allowed from now on: Always Allow\n")
    );
    assert_eq!(
        agent.machine.ok(&["reject", deny, "--reason", "not on a Friday"]),
        format!("{deny} rejected: Clean up the build\n")
    );
    for id in 1..=3 {
        let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": id } });
        let cancel = cancel.to_string();
        agent.bridge.expect("the prompt is taken back", |line| line == cancel);
    }
    let again = agent.machine.run(&["reject", once]);
    assert_eq!(again.code, 4, "{again:?}");
    assert!(again.stderr.contains("it was allowed by the command line (somebody): Allow"), "{again:?}");
    let mut told = agent.told();
    assert_eq!(told[..2], [selected("allow"), selected("allow_always")]);
    assert_eq!(
        told[2]["_meta"].take(),
        json!({ "askbridge": { "reason": "user", "remark": "not on a Friday" } })
    );
    assert_eq!(told[2]["outcome"], selected("reject")["outcome"]);
}

#[test]
fn what_the_agent_does_not_offer_is_not_chosen() {
    let modes = [
        ["edits", "Accept edits", "allow_once"],
        ["ask", "Ask each time", "allow_once"],
        ["no", "No", "reject_once"],
    ];
    let agent = Agent::asks(&[request(1, &modes), request(2, &[["no", "No", "reject_once"]])]);
    let [plan, hopeless] = &*agent.ids.clone() else { panic!("{:?}", agent.ids) };
    for (args, why) in [
        (
            &["allow", plan][..],
            "the agent has 2 options for that: `askbridge answer` chooses one: Accept edits, Ask each time, No",
        ),
        (
            &["allow", plan, "--always"],
            "the agent has no option that allows it from now on: leave out --always",
        ),
        (&["allow", hopeless], "the agent has no option that allows it this time: No"),
    ] {
        let run = agent.machine.run(args);
        assert_eq!((run.code, &*run.stdout), (5, ""), "{run:?}");
        assert!(run.stderr.contains(why), "{run:?}");
    }
    let unconfirmed = agent.machine.run(&["answer", plan, "2"]);
    assert_eq!((unconfirmed.code, &*unconfirmed.stdout), (2, ""), "{unconfirmed:?}");
    assert!(unconfirmed.stderr.contains(&format!("`askbridge answer {plan} … --yes`")), "{unconfirmed:?}");
    assert_eq!(agent.machine.ok(&["answer", plan, "2", "--yes"]), format!("{plan} allowed: Ask each time\n"));
    assert_eq!(agent.machine.ok(&["answer", hopeless, "no"]), format!("{hopeless} rejected: No\n"));
    assert_eq!(agent.told(), [selected("ask"), selected("no")]);
}

#[test]
fn change_through_a_link_out_of_the_folder_acts() {
    let (machine, elsewhere) = (TestMachine::new(), tempfile::tempdir().unwrap());
    let folder = machine.path().join("shop");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("notes.md"), "a").unwrap();
    fs::write(elsewhere.path().join("profile"), "a").unwrap();
    symlink(elsewhere.path().join("profile"), folder.join("link.md")).unwrap();
    let changes = ["notes.md", "link.md"].map(|file| {
        let path = folder.join(file);
        let change = json!([{ "type": "diff", "path": path, "oldText": "a", "newText": "b" }]);
        let call = json!({ "toolCallId": file, "title": "Change", "kind": "edit", "content": change });
        let options = json!([{ "optionId": "once", "name": "Allow", "kind": "allow_once" }]);
        let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
        json!({ "jsonrpc": "2.0", "id": file, "method": "session/request_permission", "params": params })
            .to_string()
    });
    // The agent works in the folder of its session.
    let script =
        r#"read -r new; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}' "$@"; exec cat"#;
    let mut bridge = machine
        .start(&[&["run", "--", "sh", "-c", script, "sh"][..], &changes.each_ref().map(|it| &**it)].concat());
    let new = json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": { "cwd": folder, "mcpServers": [] } });
    bridge.send(&new.to_string());
    let risks: Vec<_> = machine
        .questions(2)
        .iter()
        .map(|it| {
            let question = &it["question"];
            (question["risk"].clone(), question["riskReason"].as_str().unwrap_or_default().to_owned())
        })
        .collect();
    assert_eq!(risks[0], (json!("plain"), String::new()));
    assert_eq!(risks[1].0, json!("acts"));
    assert!(risks[1].1.ends_with("link.md, which leads out of the agent's folder"), "{risks:?}");
}

#[test]
fn person_may_want_a_second_step_for_all_that_acts() {
    for (settings, takes_step) in [("", false), ("[permission]\nconfirm = \"acts\"\n", true)] {
        let person = Person::new();
        person.sets(settings);
        let mut build = request(1, &CLAUDE);
        build["params"]["toolCall"]["rawInput"]["command"] = "cargo build".into();
        let script = "printf '%s\\n' \"$1\"; exec cat";
        let _bridge =
            Process::spawn(&mut person.command(&["run", "--", "sh", "-c", script, "sh", &build.to_string()]));
        let asked = person.machine.questions(1)[0]["question"].clone();
        assert_eq!(
            (&asked["risk"], asked["confirm"] == json!(true)),
            (&json!("acts"), takes_step),
            "{asked}"
        );
    }
}

/// Returns a person with these settings, and a bridge around an agent that asks to run a command in the project.
fn running(settings: &str, command: &str) -> (Person, Process) {
    let person = Person::new();
    person.sets(settings);
    let mut asks = request(1, &CLAUDE);
    asks["params"]["toolCall"]["rawInput"]["command"] = command.into();
    let new = json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": { "cwd": person.project(), "mcpServers": [] } });
    let script =
        r#"read -r new; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}' "$1"; exec cat"#;
    let mut bridge =
        Process::spawn(&mut person.command(&["run", "--", "sh", "-c", script, "sh", &asks.to_string()]));
    bridge.send(&new.to_string());
    (person, bridge)
}

#[test]
fn what_only_looks_takes_one_step_unless_the_person_wants_two() {
    const ACTS: &str = "[permission]\nlooks = \"acts\"\n";
    const BOTH: &str = "[permission]\nlooks = \"acts\"\nconfirm = \"acts\"\n";
    for (settings, command, risk, has_step) in [
        ("", "git status", "plain", false),
        ("[permission]\nlooks = \"plain\"\n", "git status", "plain", false),
        (ACTS, "git status", "acts", false),
        (ACTS, "cat a.txt | head -5", "acts", false),
        (BOTH, "git status", "acts", true),
        ("[permission]\nconfirm = \"acts\"\n", "git status", "plain", false),
        (ACTS, "rm a.txt", "dangerous", false),
        // What is wrong counts as if it were not there.
        ("[permission]\nlooks = \"plane\"\n", "git status", "plain", false),
    ] {
        let (person, _bridge) = running(settings, command);
        let asked = person.machine.questions(1)[0].clone();
        let question = &asked["question"];
        let found = (question["risk"].as_str(), question["confirm"] == json!(true));
        assert_eq!(found, (Some(risk), has_step), "{settings} {command}: {question}");
        let run = person.run(&["allow", &name(&asked)]);
        let is_allowed = !has_step && risk != "dangerous";
        assert_eq!(run.code == 0, is_allowed, "{settings} {command}: {run:?}");
    }
}

#[test]
fn a_wrong_value_for_what_only_looks_is_said_with_its_place() {
    let person = Person::new();
    for (value, why) in [
        ("\"plane\"", "\"plane\" is not one of \"plain\", \"acts\""),
        ("true", "true is not one of \"plain\", \"acts\""),
    ] {
        person.sets(&format!("[permission]\nlooks = {value}\n"));
        let run = person.run(&["config"]);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains(&format!("config.toml:2:9: `permission.looks`: {why}")), "{said}");
    }
}

#[test]
fn a_question_is_not_allowed() {
    let machine = TestMachine::new();
    let asks = machine.start(&["ask", "--confirm", "Deploy?"]);
    let id = machine.question();
    let run = machine.run(&["allow", &id]);
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.stderr.contains("this is a question, and no permission: `askbridge answer`"), "{run:?}");
    assert!(machine.ok(&["answer", &id, "yes"]).contains("answered"));
    assert_eq!(end(asks).code, 0);
}

#[test]
fn the_client_decides_as_before_and_is_named() {
    let mut agent = Agent::asks(&[request(1, &CLAUDE)]);
    let id = agent.ids[0].clone();
    let list = agent.machine.ok(&["list"]);
    assert!(list.contains("permission  dangerous  ! $ rm -rf build\n"), "{list}");
    let listed: Value = serde_json::from_str(&agent.machine.ok(&["list", "--json"])).unwrap();
    let question = &listed["questions"][0]["question"];
    assert_eq!((&question["purpose"], &question["dangerous"]), (&json!("permission"), &json!(true)));
    assert_eq!(question["subject"]["command"], "rm -rf build");
    let mut watch = agent.machine.watch();
    watch.until("the permission", |open| open.len() == 1);
    agent
        .bridge
        .send(r#"{"id":1, "jsonrpc":"2.0","result":{"outcome":{"optionId":"allow","outcome":"selected"}}}"#);
    watch.until("no permission", <[Value]>::is_empty);
    let shown = agent.machine.ok(&["show", &id]);
    let (first, _) = shown.split_once('\n').unwrap();
    assert!(
        first.starts_with(&format!("{id}: allowed by the client")) && first.ends_with(": Allow"),
        "{shown}"
    );
    assert_eq!(agent.told(), [selected("allow")]);
}

#[test]
fn a_permission_can_be_left_to_the_client() {
    let mut agent = Agent::with(&["--permissions", "client"], &[request(1, &CLAUDE)]);
    let said = agent.machine.ok(&["list"]);
    assert_eq!(said, "no question is open (1 bridge)\n");
    agent.bridge.send(&json!({ "jsonrpc": "2.0", "id": 1, "result": selected("allow") }).to_string());
    assert_eq!(agent.told(), [selected("allow")]);
}
