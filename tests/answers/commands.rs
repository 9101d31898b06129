//! `list`, `show`, `answer`, `reject` and `extend`, and their exit codes.

use askbridge_os::exit;
use serde_json::{Value, json};

use crate::answers::machine::{Run, TestMachine, end, name};

#[track_caller]
fn fails(run: &Run, code: u8, stderr: &str) {
    assert_eq!((run.code, run.stdout.as_str()), (i32::from(code), ""), "{run:?}");
    let line = run.stderr.strip_prefix("askbridge: ").unwrap_or_else(|| panic!("{run:?}"));
    assert!(line.lines().count() == 1 && line.contains(stderr), "{run:?}");
}

#[test]
fn a_question_is_listed_shown_and_answered() {
    let machine = TestMachine::new();
    let nothing = format!("no bridge runs (looked in {})\n", machine.sockets().display());
    assert_eq!([machine.ok(&["list"]), machine.ok(&["status"])], [&*nothing; 2]);
    let mut client = machine.client("silent", "a question with fields", &["--client-questions", "none"], &[]);
    let id = machine.question();
    let list = machine.ok(&["list"]);
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["ID", "AGENT", "PROJECT", "AGE", "ENDS", "SHOWN", "KIND", "RISK", "QUESTION"]);
    assert_eq!(rows[1][0], id);
    assert!(
        list.contains("  -     elsewhere  question  -     Which database should we use? (and 2 more)\n"),
        "{list}"
    );
    let shown = machine.ok(&["show", &id]);
    for part in ["asked by Mock agent in ", "Which database", "Postgres  Relational", "q1: any of"] {
        assert!(shown.contains(part), "no {part}: {shown}");
    }
    // Its ID says nothing to a person.
    assert!(!shown.contains("session-1"), "{shown}");
    assert!(shown.contains(&format!("\naskbridge answer {id} VALUE VALUE VALUE\n")), "{shown}");
    assert_eq!(
        machine.ok(&["answer", &id, "sqlite", "Auth, search", "as usual"]),
        format!("{id} answered: Database: SQLite; Features: Auth, Search; Notes: as usual\n")
    );
    client.expect("the answer", |line| line.contains("SQLite") && line.contains("as usual"));
    assert_eq!(client.wait().code(), Some(0));
    // The journal made a directory that may have sockets as well.
    let state = machine.path().join("state/askbridge");
    let looked_in = format!("(looked in {} and {})", machine.sockets().display(), state.display());
    assert_eq!(machine.ok(&["list"]), format!("no bridge runs {looked_in}\n"));
}

#[test]
fn status_says_what_runs() {
    let machine = TestMachine::new();
    let _asks = machine.start(&["ask", "--question", "Deploy?"]);
    let id = machine.question();
    let (bridge, _) = id.split_once('-').unwrap();
    let status = machine.ok(&["status"]);
    let lines: Vec<_> = status.lines().collect();
    let [heads, row, "", places] = lines[..] else { panic!("{status}") };
    assert!(heads.starts_with("BRIDGE  PID ") && heads.ends_with("  FOLDER"), "{status}");
    assert!(row.starts_with(bridge) && row.contains("  askbridge ask  1 "), "{status}");
    // The journal made a directory that may have sockets as well.
    let state = machine.path().join("state/askbridge");
    assert_eq!(places, format!("looked in {} and {}", machine.sockets().display(), state.display()));

    let status: Value = serde_json::from_str(&machine.ok(&["status", "--json"])).unwrap();
    assert!(schema("machine_status.schema.json").is_valid(&status), "{status}");
    let shown = &status["bridges"][0];
    assert_eq!((&shown["bridge"], &shown["agent"]), (&json!(bridge), &json!("askbridge ask")));
    assert!(shown["uptimeMs"].is_u64() && shown["pid"].is_u64(), "{status}");
    assert_eq!(status["unreachable"], json!([]));
    machine.ok(&["reject", &id]);
}

#[test]
fn status_names_an_agent_as_the_list_does() {
    let machine = TestMachine::new();
    let mut client = machine.client("native", "a question", &[], &[]);
    let id = machine.question();
    for command in ["list", "status"] {
        let said = machine.ok(&[command]);
        assert!(said.contains("  Mock agent  "), "{command}: {said}");
    }
    machine.ok(&["reject", &id]);
    client.wait();
}

#[test]
fn a_bridge_without_questions_is_counted() {
    let machine = TestMachine::new();
    let mut bridges = [machine.start(&["run", "--", "cat"]), machine.start(&["run", "--", "cat"])];
    for bridge in &mut bridges {
        bridge.send("on");
        bridge.expect("the echo", |line| line == "on");
    }
    assert_eq!(machine.ok(&["list"]), "no question is open (2 bridges)\n");
    drop(bridges);
}

#[test]
fn the_id_that_the_agent_gave_is_taken_where_it_is_unique() {
    let machine = TestMachine::new();
    let agent = r#"printf '%s\n' "$1"; exec cat"#;
    let asks = |ids: &[&str]| {
        let line = |id: &&str| {
            let params =
                json!({ "sessionId": "s", "questionId": id, "prompt": "Which one?", "options": ["a"] });
            let method = "_sandboxagent/session/request_question";
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
        };
        let lines: Vec<_> = ids.iter().map(line).collect();
        let args = ["run", "--client-questions", "none", "--", "sh", "-c", agent, "sh", &lines.join("\n")];
        machine.start(&args)
    };
    // With a slash, no ID is short for one of another bridge.
    let _bridges = [asks(&["ask/1", "call_1:x"]), asks(&["ask/1"])];
    machine.questions(3);
    let run = machine.run(&["answer", "ask/1", "a"]);
    fails(&run, exit::NO_QUESTION, "the ID is ambiguous");
    let listing: Value = serde_json::from_str(&machine.ok(&["list", "--json"])).unwrap();
    let twice = |listed: &&Value| listed["question"]["questionId"] == "ask/1";
    let ids: Vec<_> = listing["questions"].as_array().unwrap().iter().filter(twice).map(name).collect();
    assert!(ids.len() == 2 && ids.iter().all(|id| run.stderr.contains(id)), "{run:?}");
    machine.ok(&["answer", &ids[0], "a"]);
    assert_eq!(machine.does(&["answer", "ask/1", "a"]), format!("{} answered", ids[1]));
    assert!(machine.ok(&["show", "call_1:x"]).contains("Which one?"));
    assert!(machine.does(&["reject", "call_1:x"]).ends_with(" rejected"));
    fails(&machine.run(&["answer", "call_1:x", "a"]), exit::NO_QUESTION, "no such question");
}

fn schema(name: &str) -> jsonschema::Validator {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(name);
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn an_answer_has_the_format_of_its_field() {
    let machine = TestMachine::new();
    let fields = json!([
        { "name": "start", "label": "Start on", "kind": "text", "format": "date" },
        { "name": "to", "label": "To", "kind": "text", "format": "email" },
    ]);
    let form = machine.path().join("form.json");
    std::fs::write(
        &form,
        json!({ "prompt": "The release", "_meta": { "askbridge": { "fields": fields } } }).to_string(),
    )
    .unwrap();
    let asks = machine.start(&["ask", "--form", form.to_str().unwrap(), "--json"]);
    let id = machine.question();
    for (answer, told) in [
        (["tomorrow", "ada@example.com"], "must be a date such as 2026-11-23"),
        (["2026-02-30", "ada@example.com"], "must be a date such as 2026-11-23"),
        (["2026-11-23", "ada"], "must be an e-mail address such as ada@example.com"),
    ] {
        let run = machine.run(&["answer", &id, answer[0], answer[1]]);
        fails(&run, exit::DOES_NOT_FIT, told);
    }
    machine.does(&["answer", &id, "2026-11-23", "ada@example"]);
    assert_eq!(end(asks).code, 0);
}

#[test]
fn show_says_what_each_field_takes() {
    let machine = TestMachine::new();
    let options = json!([{ "value": "認証", "label": "Auth" }, { "value": "b", "label": "Both" }]);
    let fields = json!([
        { "name": "t", "label": "T", "kind": "text", "minLength": 2, "maxLength": 9, "pattern": "^a", "default": "abc" },
        { "name": "e", "label": "E", "kind": "text", "format": "email", "secret": true, "required": true },
        { "name": "n", "label": "N", "kind": "number", "integer": true, "min": -5, "max": 7, "step": 2, "default": 1 },
        { "name": "m", "label": "M", "kind": "choices", "min": 1, "max": 2, "other": true, "options": options },
    ]);
    let params = json!({ "sessionId": "s", "_meta": { "askbridge": { "fields": fields } } });
    let method = "_sandboxagent/session/request_question";
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let agent = r#"printf '%s\n' "$1"; exec cat"#;
    let _bridge = machine.start(&["run", "--client-questions", "none", "--", "sh", "-c", agent, "sh", &line]);
    let shown = machine.ok(&["show", &machine.question()]);
    for part in [
        "\n  t: a text, at least 2 characters, at most 9 characters, matches ^a, default \"abc\", optional\n",
        "\n  e: a text (email), a secret\n",
        "\n  n: a whole number, at least -5, at most 7, a multiple of 2, default 1, optional\n",
        "\n  m: any of these, separated by commas, or a text, at least 1, at most 2, optional\n",
        "\n    1  Auth  認証\n    2  Both  b\n",
    ] {
        assert!(shown.contains(part), "no {part}: {shown}");
    }
    let command = shown.lines().find(|line| line.starts_with("asked by sh -c ")).unwrap();
    assert!(command.contains("… in "), "a script is not shown whole: {command}");
}

#[test]
fn json_fits_the_schema() {
    let machine = TestMachine::new();
    let _client = machine.client("native", "a question", &["--timeout", "1h"], &[]);
    let id = machine.question();
    let listing: Value = serde_json::from_str(&machine.ok(&["list", "--json"])).unwrap();
    let view: Value = serde_json::from_str(&machine.ok(&["show", "--json", &id])).unwrap();
    let listed = listing["questions"][0].as_object().unwrap();
    assert!(view.as_object().unwrap().iter().all(|(name, value)| listed[name] == *value), "{listing}");
    assert_eq!(listed["title"], "Choose one option");
    assert!(listed["text"].as_str().unwrap().contains("- Option A"), "{listing}");
    assert!(listed["agent"].is_string(), "{listing}");
    assert_eq!((&view["elsewhere"], &view["question"]["sessionId"]), (&json!(false), &json!("session-1")));
    assert!(view["deadline"].as_str() > view["openedAt"].as_str(), "{view}");
    assert!(schema("question_list.schema.json").is_valid(&listing));
    assert!(schema("question_record.schema.json").is_valid(&view));
}

#[test]
fn the_same_answer_again_is_accepted_and_another_one_is_refused() {
    let machine = TestMachine::new();
    let mut client = machine.client("native", "a question, forever", &[], &["--wire"]);
    let id = machine.question();
    for _ in 0..2 {
        assert_eq!(machine.does(&["answer", &id, "Option A"]), format!("{id} answered"));
    }
    fails(&machine.run(&["answer", &id, "option-b"]), exit::SETTLED, "(somebody): Option A");
    fails(&machine.run(&["answer", &id, "option-a", "--note", "why"]), exit::SETTLED, ": Option A");
    fails(&machine.run(&["reject", &id]), exit::SETTLED, "answered by the command line (somebody)");
    fails(&machine.run(&["extend", &id, "1s"]), exit::SETTLED, ": Option A");
    assert!(machine.ok(&["show", &id]).starts_with(&format!("{id}: answered by the command line")));
    client.expect("that it is over", |line| line.contains("answered elsewhere"));
    let heard = client.expect_stderr("the answer", |text| text.contains("option-a\"]]"));
    assert_eq!(heard.matches("\"result\":{\"status\"").count(), 1, "{heard}");
}

#[test]
fn the_reason_of_a_rejection_is_shown_and_reaches_the_agent() {
    let machine = TestMachine::new();
    let client = machine.client("native", "a question, forever", &[], &["--wire"]);
    let id = machine.question();
    for _ in 0..2 {
        assert_eq!(machine.does(&["reject", &id, "--reason", "not today"]), format!("{id} rejected"));
    }
    client.expect_stderr("the rejection", |text| text.contains(r#""reason":"user","remark":"not today""#));
    fails(&machine.run(&["answer", &id, "option-a"]), exit::SETTLED, "rejected by the command line");
    let view: Value = serde_json::from_str(&machine.ok(&["show", "--json", &id])).unwrap();
    assert_eq!(view["settlement"]["remark"], "not today");
}

#[test]
fn an_answer_after_the_timeout_is_refused() {
    let machine = TestMachine::new();
    let client = machine.client("native", "a question, forever", &["--timeout", "500ms"], &[]);
    // Who only begins to look for the question now may come after its end.
    let warning = client.expect_stderr("the warning", |text| text.contains(" 10m"));
    let id = warning.split_once("askbridge extend ").unwrap().1.split_whitespace().next().unwrap();
    machine.questions(0);
    fails(&machine.run(&["answer", id, "option-a"]), exit::SETTLED, "rejected: no answer came in time");
}

#[test]
fn a_deadline_is_extended_where_there_is_one() {
    let machine = TestMachine::new();
    let _client = machine.client("native", "a question", &["--timeout", "1h"], &[]);
    let before = machine.questions(1).remove(0);
    let id = name(&before);
    assert_eq!(machine.does(&["extend", &id, "10m"]), format!("{id} extended"));
    let after: Value = serde_json::from_str(&machine.ok(&["show", "--json", &id])).unwrap();
    let time = |view: &Value| humantime::parse_rfc3339(view["deadline"].as_str().unwrap()).unwrap();
    assert_eq!(time(&after).duration_since(time(&before)).unwrap().as_secs(), 600);
    // A time beyond what a clock can say counts as the longest time.
    assert_eq!(machine.does(&["extend", &id, "500000years"]), format!("{id} extended"));
    assert_eq!(machine.does(&["answer", &id, "option-a"]), format!("{id} answered"));

    let machine = TestMachine::new();
    let _client = machine.client("native", "a question", &[], &[]);
    fails(&machine.run(&["extend", &machine.question(), "1s"]), exit::DOES_NOT_FIT, "has no deadline");
}

#[test]
fn an_id_may_be_shortened_while_it_is_unique() {
    let machine = TestMachine::new();
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
    fails(&run, exit::NO_QUESTION, "the ID is ambiguous");
    assert!(several.iter().all(|id| run.stderr.contains(*id)), "{run:?}");
    let name = bridge(single);
    for args in [&["answer", &*name, "option-a"][..], &["reject", &name], &["extend", &name, "1h"]] {
        fails(&machine.run(args), exit::NO_QUESTION, &format!("it may be {single}: "));
    }
    // As a text it says how old it is, which is another second later.
    assert_eq!(machine.ok(&["show", "--json", &bridge(single)]), machine.ok(&["show", "--json", single]));
    assert_eq!(machine.does(&["answer", single, "option-a"]), format!("{single} answered"));
    let shorter = format!("{}-2", &short[..5]);
    assert_eq!(machine.does(&["answer", &shorter, "option-a"]), format!("{short}-2 answered"));
    for unknown in ["-2", "", "-", "nothing", &format!("{short}-"), &format!("{short}-7")] {
        fails(&machine.run(&["answer", "--", unknown, "option-a"]), exit::NO_QUESTION, "no such question");
    }
}

#[test]
fn the_id_of_a_settled_question_is_not_short_for_another() {
    let machine = TestMachine::new();
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
        crate::answers::machine::ASKBRIDGE,
        "mock-agent",
        "--script",
        path.to_str().unwrap(),
    ]);
    let first = machine.questions(10).iter().map(name).find(|id| id.ends_with("-1")).unwrap();
    assert_eq!(machine.does(&["answer", &first, "a"]), format!("{first} answered"));
    assert_eq!(
        machine.does(&["answer", &first, "a"]),
        format!("{first} answered"),
        "it is the first once more"
    );
    assert_eq!(machine.questions(9).len(), 9);
}

#[test]
fn changes_are_followed_line_by_line() {
    let machine = TestMachine::new();
    let mut watch = machine.start(&["list", "--watch"]);
    let _client = machine.client("native", "a question, forever", &["--timeout", "1h"], &[]);
    let opened = watch.expect("the question", |line| line.starts_with("opened "));
    let id = opened.split_whitespace().nth(1).unwrap().to_owned();
    machine.ok(&["extend", &id, "1h"]);
    watch.expect("more time", |line| line.starts_with(&format!("extended {id} ")));
    machine.ok(&["answer", &id, "option-a"]);
    let settled = watch.expect("the end", |line| line.starts_with(&format!("settled {id} ")));
    assert!(settled.contains("answered by the command line (somebody): q0=option-a"), "{settled}");
}

#[test]
fn one_event_is_one_line() {
    let machine = TestMachine::new();
    let mut watch = machine.start(&["list", "--watch"]);
    let client = machine.client("silent", "a question", &["--client-questions", "none"], &[]);
    let opened = watch.expect("the question", |_| true);
    let words: Vec<_> = opened.split_whitespace().collect();
    assert!(words[0] == "opened" && opened.contains("  elsewhere  "), "{opened}");
    machine.ok(&["answer", words[1], "option-a"]);
    // An answer that is slow to arrive is shown on its way.
    let settled = watch.expect("the end", |line| !line.starts_with("delivering "));
    assert!(settled.starts_with(&format!("settled {} ", words[1])), "{settled}");
    assert_eq!(end(client).code, 0);
}

#[test]
fn an_answer_without_values_is_refused() {
    // No bridge is connected to for it.
    let machine = TestMachine::new();
    fails(&machine.run(&["answer", "k3-1"]), exit::USAGE, "k3-1: nothing to answer with");
}

#[test]
fn every_shell_has_completions() {
    let machine = TestMachine::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = machine.ok(&["completions", shell]);
        let completes = ["complete -- ", "extend"].iter().any(|word| script.contains(word));
        assert!(script.contains("askbridge") && completes, "{shell}: {script}");
    }
}
