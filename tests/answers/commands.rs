//! `list`, `show`, `answer`, `reject` and `extend`, and their exit codes.

use askbridge::exit;
use serde_json::{Value, json};

use crate::machine::{Machine, Run, end, name};

#[track_caller]
fn fails(run: &Run, code: u8, stderr: &str) {
    assert_eq!((run.code, run.stdout.as_str()), (i32::from(code), ""), "{run:?}");
    let line = run.stderr.strip_prefix("askbridge: ").unwrap_or_else(|| panic!("{run:?}"));
    assert!(line.lines().count() == 1 && line.contains(stderr), "{run:?}");
}

#[test]
fn a_question_is_listed_shown_and_answered() {
    let machine = Machine::new();
    assert_eq!(machine.ok(&["list"]), "no question is open\n");
    let mut client = machine.client("silent", "a question with fields", &["--client-questions", "none"], &[]);
    let id = machine.question();
    let list = machine.ok(&["list"]);
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["ID", "AGE", "ENDS", "SHOWN", "SESSION", "QUESTION"]);
    assert_eq!((rows[1][0], &rows[1][2..6]), (&*id, &["-", "elsewhere", "session-1", "Please"][..]));
    let shown = machine.ok(&["show", &id]);
    for part in ["mock-agent", "session session-1", "Which database", "Postgres  Relational", "q1: any of"] {
        assert!(shown.contains(part), "no {part}: {shown}");
    }
    assert!(shown.contains(&format!("\naskbridge answer {id} VALUE VALUE VALUE\n")), "{shown}");
    assert_eq!(
        machine.ok(&["answer", &id, "sqlite", "Auth, search", "as usual"]),
        format!("{id} answered\n")
    );
    client.expect("the answer", |line| line.contains("SQLite") && line.contains("as usual"));
    assert_eq!(client.wait().code(), Some(0));
    assert_eq!(machine.ok(&["list"]), "no question is open\n");
}

#[test]
fn json_is_what_the_schema_says() {
    let machine = Machine::new();
    let _client = machine.client("native", "a question", &["--timeout", "1h"], &[]);
    let id = machine.question();
    let listing: Value = serde_json::from_str(&machine.ok(&["list", "--json"])).unwrap();
    let view: Value = serde_json::from_str(&machine.ok(&["show", "--json", &id])).unwrap();
    assert_eq!(listing["questions"], json!([view]));
    assert_eq!((&view["elsewhere"], &view["question"]["sessionId"]), (&json!(false), &json!("session-1")));
    assert!(view["deadline"].as_str() > view["openedAt"].as_str(), "{view}");
    let schema = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(name);
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    };
    assert!(schema("question_listing.schema.json").is_valid(&listing));
    assert!(schema("question_view.schema.json").is_valid(&view));
}

#[test]
fn the_same_answer_twice_is_fine_and_another_one_is_told_the_outcome() {
    let machine = Machine::new();
    let mut client = machine.client("native", "a question, forever", &[], &["--wire"]);
    let id = machine.question();
    for _ in 0..2 {
        assert_eq!(machine.ok(&["answer", &id, "Option A"]), format!("{id} answered\n"));
    }
    fails(&machine.run(&["answer", &id, "option-b"]), exit::SETTLED, "q0=option-a");
    fails(&machine.run(&["answer", &id, "option-a", "--note", "why"]), exit::SETTLED, "q0=option-a");
    fails(&machine.run(&["reject", &id]), exit::SETTLED, "answered by the command line (somebody)");
    fails(&machine.run(&["extend", &id, "1s"]), exit::SETTLED, "q0=option-a");
    assert!(machine.ok(&["show", &id]).starts_with(&format!("{id}: answered by the command line")));
    client.expect("that it is over", |line| line.contains("answered elsewhere"));
    let heard = client.expect_stderr("the answer", |text| text.contains("option-a\"]]"));
    assert_eq!(heard.matches("\"result\":{\"status\"").count(), 1, "{heard}");
}

#[test]
fn a_rejection_says_why_to_who_looks() {
    let machine = Machine::new();
    let client = machine.client("native", "a question, forever", &[], &["--wire"]);
    let id = machine.question();
    for _ in 0..2 {
        assert_eq!(machine.ok(&["reject", &id, "--reason", "not today"]), format!("{id} rejected\n"));
    }
    client.expect_stderr("the rejection", |text| text.contains("\"reason\":\"user\""));
    fails(&machine.run(&["answer", &id, "option-a"]), exit::SETTLED, "rejected by the command line");
    let view: Value = serde_json::from_str(&machine.ok(&["show", "--json", &id])).unwrap();
    assert_eq!(view["settlement"]["remark"], "not today");
}

#[test]
fn what_ended_in_another_way_is_not_answered_any_more() {
    let machine = Machine::new();
    let _client = machine.client("native", "a question, forever", &["--timeout", "500ms"], &[]);
    let mut watch = machine.watch();
    let id = name(&watch.until("a question", |questions| questions.len() == 1)[0]);
    watch.until("its end", <[Value]>::is_empty);
    fails(&machine.run(&["answer", &id, "option-a"]), exit::SETTLED, "rejected by the bridge, timeout");
}

#[test]
fn a_deadline_is_extended_where_there_is_one() {
    let machine = Machine::new();
    let _client = machine.client("native", "a question", &["--timeout", "1h"], &[]);
    let before = machine.questions(1).remove(0);
    let id = name(&before);
    assert_eq!(machine.ok(&["extend", &id, "10m"]), format!("{id} extended\n"));
    let after: Value = serde_json::from_str(&machine.ok(&["show", "--json", &id])).unwrap();
    let time = |view: &Value| humantime::parse_rfc3339(view["deadline"].as_str().unwrap()).unwrap();
    assert_eq!(time(&after).duration_since(time(&before)).unwrap().as_secs(), 600);
    // More than a clock can say is as long as it takes, and nothing breaks.
    assert_eq!(machine.ok(&["extend", &id, "500000years"]), format!("{id} extended\n"));
    assert_eq!(machine.ok(&["answer", &id, "option-a"]), format!("{id} answered\n"));

    let machine = Machine::new();
    let _client = machine.client("native", "a question", &[], &[]);
    fails(&machine.run(&["extend", &machine.question(), "1s"]), exit::DOES_NOT_FIT, "has no deadline");
}

#[test]
fn a_name_is_shortened_while_it_is_unique() {
    let machine = Machine::new();
    let _one = machine.client("native", "several questions", &[], &[]);
    let _two = machine.client("native", "a question", &[], &[]);
    let names: Vec<_> = machine.questions(4).iter().map(name).collect();
    let bridge = |id: &str| id.split_once('-').unwrap().0.to_owned();
    let single =
        names.iter().find(|id| names.iter().filter(|other| bridge(other) == bridge(id)).count() == 1);
    let single = single.unwrap();
    let several: Vec<_> = names.iter().filter(|id| bridge(id) != bridge(single)).collect();
    let short = bridge(several[0]);
    let run = machine.run(&["answer", &short, "option-a"]);
    fails(&run, exit::NO_QUESTION, "several questions");
    assert!(several.iter().all(|id| run.stderr.contains(*id)), "{run:?}");
    assert_eq!(machine.ok(&["answer", &bridge(single), "option-a"]), format!("{single} answered\n"));
    let shorter = format!("{}-2", &short[..5]);
    assert_eq!(machine.ok(&["answer", &shorter, "option-a"]), format!("{short}-2 answered\n"));
    for unknown in ["-2", "", "-", "nothing", &format!("{short}-"), &format!("{short}-7")] {
        fails(&machine.run(&["answer", "--", unknown, "option-a"]), exit::NO_QUESTION, "no such question");
    }
}

#[test]
fn the_name_of_a_settled_question_is_not_short_for_that_of_another() {
    let machine = Machine::new();
    let script = (1..=10).map(|number| {
        let params = json!({ "sessionId": "s", "prompt": "?", "options": ["a"] });
        let method = "_sandboxagent/session/request_question";
        format!("agent> {}\n", json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params }))
    });
    let script: String = script.collect::<String>() + &"agent< *\n".repeat(10);
    let path = machine.path().join("script");
    std::fs::write(&path, script).unwrap();
    let _bridge = machine.start(&[
        "run",
        "--",
        crate::machine::ASKBRIDGE,
        "mock-agent",
        "--script",
        path.to_str().unwrap(),
    ]);
    let first = machine.questions(10).iter().map(name).find(|id| id.ends_with("-1")).unwrap();
    assert_eq!(machine.ok(&["answer", &first, "a"]), format!("{first} answered\n"));
    assert_eq!(
        machine.ok(&["answer", &first, "a"]),
        format!("{first} answered\n"),
        "it is the first once more"
    );
    assert_eq!(machine.questions(9).len(), 9);
}

#[test]
fn what_changes_is_followed_line_by_line() {
    let machine = Machine::new();
    let mut watch = machine.start(&["list", "--watch"]);
    let client = machine.client("native", "a question", &["--timeout", "1h"], &[]);
    let opened = watch.expect("the question", |line| line.starts_with("opened "));
    let id = opened.split_whitespace().nth(1).unwrap().to_owned();
    machine.ok(&["extend", &id, "1h"]);
    watch.expect("more time", |line| line.starts_with(&format!("extended {id} ")));
    machine.ok(&["answer", &id, "option-a"]);
    let settled = watch.expect("the end", |line| line.starts_with(&format!("settled {id} ")));
    assert!(settled.contains("answered by the command line (somebody): q0=option-a"), "{settled}");
    assert_eq!(end(client).code, 0);
}

#[test]
fn completions_are_there_for_every_shell() {
    let machine = Machine::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = machine.ok(&["completions", shell]);
        assert!(script.contains("askbridge") && script.contains("extend"), "{shell}: {script}");
    }
}
