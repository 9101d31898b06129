//! What rules never do, over random questions, permissions and rules; and tables of examples.

use std::time::Instant;

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value as Json, json};

use super::{
    Rule, What, decide, explain,
    samples::{choice, permission, record, rule},
    try_all,
};
use crate::{
    desk::{Record, Submission},
    question::{Answer, Purpose, Role, Value, check},
};

/// Returns what one rule does with a question: what is submitted in short, or why it does not apply.
fn done(members: &Json, question: &Json) -> String {
    let rules = [rule(members).unwrap_or_else(|error| panic!("{members}: {error}"))];
    let record = record(question);
    let explained = explain(&rules, &record);
    assert_eq!(explained.decision, decide(&rules, &record));
    match explained.decision.map(|decision| decision.what) {
        Some(What::Hold) => "hold".to_owned(),
        Some(What::Notify(ways)) => format!("notify {}", ways.join(" ")),
        Some(What::Submit(Submission::Reject(remark))) => format!("reject {}", remark.unwrap_or_default()),
        Some(What::Submit(Submission::Answer(answer))) => {
            serde_json::to_string(&answer.values).expect("JSON")
        }
        Some(What::Submit(other)) => panic!("{other:?}"),
        None => explained.passed[0].why.clone(),
    }
}

fn with(mut value: Json, members: &Json) -> Json {
    for (name, member) in members.as_object().into_iter().flatten() {
        value[name] = member.clone();
    }
    value
}

#[test]
fn examples_of_conditions() {
    let question = json!({});
    let run = permission("cargo test --lib");
    for (condition, question, holds) in [
        (json!({ "agent": "Codex" }), &question, true),
        (json!({ "agent": "Co*" }), &question, true),
        (json!({ "agent": ["Claude*", "C?dex"] }), &question, true),
        (json!({ "agent": "codex" }), &question, false),
        (json!({ "agent": "Code" }), &question, false),
        (json!({ "project": "~/src/shop" }), &question, true),
        (json!({ "project": "~/src/shop/" }), &question, true),
        (json!({ "project": "~/src/*" }), &question, true),
        (json!({ "project": "~/src" }), &question, false),
        (json!({ "project": "/people/ada/*" }), &json!({ "project": "/people/ada/../eve" }), false),
        (json!({ "project": "/*" }), &json!({ "project": null }), false),
        (json!({ "project": "/*" }), &json!({ "project": "src" }), false),
        (json!({ "session": "s-*" }), &question, true),
        (json!({ "session": "s-2" }), &question, false),
        (json!({ "purpose": "question" }), &question, true),
        (json!({ "purpose": "permission" }), &question, false),
        (json!({ "purpose": "permission" }), &run, true),
        (json!({ "tool": "execute" }), &run, true),
        (json!({ "tool": ["read", "execute"] }), &run, true),
        (json!({ "tool": "exec" }), &run, false),
        (json!({ "tool": "execute" }), &question, false),
        (json!({ "command": "cargo test *" }), &run, true),
        (json!({ "command": ["cargo", "test", "--lib"] }), &run, true),
        (json!({ "command": ["cargo", "test", "*"] }), &run, false),
        (json!({ "command": "cargo build *" }), &run, false),
        (json!({ "command": "cargo test *" }), &question, false),
        (json!({ "options": ["SQLite", "Postgres"] }), &question, true),
        (json!({ "options": ["sqlite"] }), &question, false),
        (json!({ "options": ["SQLite", "MySQL"] }), &question, false),
        (json!({ "origin": "elicitation" }), &question, true),
        (json!({ "origin": ["codex", "claude"] }), &question, false),
        (json!({ "dangerous": true }), &run, true),
        (json!({ "dangerous": false }), &run, false),
        (json!({ "dangerous": true }), &question, false),
        (json!({ "agent": "Codex", "purpose": "permission" }), &question, false),
    ] {
        let done = done(&with(json!({ "then": "hold" }), &condition), question);
        assert_eq!(done == "hold", holds, "{condition}: {done}");
    }
}

#[test]
fn examples_of_answers() {
    let two = json!({ "fields": [choice("a", true), choice("b", true)] });
    let optional = json!({ "fields": [choice("a", true), choice("b", false)] });
    let many = json!({ "fields": [with(choice("q0", true), &json!({ "kind": "choices", "max": 1 }))] });
    let text = json!({ "fields": [{ "name": "why", "label": "Why?", "kind": "text", "required": true, "minLength": 3 }] });
    let secret = json!({ "fields": [{ "name": "key", "label": "Key?", "kind": "text", "secret": true }] });
    let confirm =
        json!({ "fields": [{ "name": "ok", "label": "Go?", "kind": "confirm", "yes": "Go", "no": "Stay" }] });
    let number =
        json!({ "fields": [{ "name": "n", "label": "N?", "kind": "number", "integer": true, "max": 9 }] });
    let other = json!({ "fields": [with(choice("q0", true), &json!({ "other": true }))] });
    let of_next_year = json!({ "fields": [{ "name": "d", "label": "D", "kind": "drawing" }] });
    let twins = json!({ "fields": [{ "name": "q0", "label": "?", "kind": "choice", "options": [
        { "value": "no", "label": "Yes" }, { "value": "yes", "label": "no" }] }] });
    for (answer, question, expected) in [
        (json!("SQLite"), json!({}), r#"{"q0":"sqlite"}"#),
        (json!("sqlite"), json!({}), r#"{"q0":"sqlite"}"#),
        (json!({ "q0": "Postgres" }), json!({}), r#"{"q0":"postgres"}"#),
        (json!("MySQL"), json!({}), r#"its field "q0" has no option "MySQL""#),
        (json!({ "db": "SQLite" }), json!({}), r#"it has no field "db""#),
        (
            json!(["SQLite", "Postgres"]),
            json!({}),
            r#"its field "q0" takes one option, and the rule names 2"#,
        ),
        (json!("SQLite"), two.clone(), "it has 2 fields, and the rule does not say which"),
        (json!({ "a": "SQLite" }), two.clone(), r#"it needs the field "b", which the rule does not name"#),
        (json!({ "a": "SQLite", "b": "Postgres" }), two, r#"{"a":"sqlite","b":"postgres"}"#),
        (json!({ "a": "SQLite" }), optional, r#"{"a":"sqlite"}"#),
        (json!("SQLite"), many.clone(), r#"{"q0":["sqlite"]}"#),
        (json!(["SQLite", "Postgres"]), many, r#"field "q0" must have at most 1 entry, has 2"#),
        (json!("because"), text.clone(), r#"{"why":"because"}"#),
        (json!("x"), text, r#"field "why" must have at least 3 characters, has 1"#),
        (json!("x"), secret, r#"its field "key" is secret: a rule does not answer it"#),
        (json!("Go"), confirm.clone(), r#"{"ok":true}"#),
        (json!(false), confirm.clone(), r#"{"ok":false}"#),
        (json!("Run"), confirm, r#"field "ok" must be true or false"#),
        (json!(7), number.clone(), r#"{"n":7}"#),
        (json!(10), number, r#"field "n" must be at most 9, is 10"#),
        (json!("MySQL"), other, r#"its field "q0" has no option "MySQL""#),
        (json!("x"), of_next_year, r#"its field "d" is of a kind that is not known here"#),
        (json!("no"), twins, r#"its field "q0" has several options "no""#),
    ] {
        let members = json!({ "agent": "Codex", "then": "answer", "answer": answer });
        assert_eq!(done(&members, &question), expected, "{answer}");
    }
}

#[test]
fn examples_of_permissions() {
    const ONCE: &str = r#"{"option":"allow_once"}"#;
    let tests = json!({ "command": "cargo test *", "dangerous": true, "then": "allow" });
    let read = json!({ "tool": "read", "then": "allow" });
    let reads = with(
        permission("x"),
        &json!({ "dangerous": false, "subject": { "kind": "read", "locations": ["/a"] } }),
    );
    let runs = permission("cargo test --lib");
    let subject = |members: Json| with(runs.clone(), &json!({ "subject": members }));
    let answer = |option: &str| json!({ "command": "cargo test *", "dangerous": true, "then": "answer", "answer": option });
    for (members, question, expected) in [
        (tests.clone(), runs.clone(), ONCE),
        (read.clone(), reads.clone(), ONCE),
        (answer("allow once"), runs.clone(), ONCE),
        (answer("allow always"), runs.clone(), "that would allow it from now on, which a rule never does"),
        (answer("reject always"), runs.clone(), r#"{"option":"reject_always"}"#),
        (
            json!({ "command": "cargo test *", "then": "allow" }),
            runs.clone(),
            "it is marked as dangerous, and the rule does not say `dangerous = true`",
        ),
        (
            json!({ "agent": "Codex", "then": "deny" }),
            runs.clone(),
            "it is marked as dangerous, and the rule does not say `dangerous = true`",
        ),
        (json!({ "dangerous": true, "then": "deny", "reason": "no" }), runs.clone(), "reject no"),
        (json!({ "tool": "read", "then": "deny" }), reads.clone(), "reject "),
        (json!({ "agent": "Codex", "then": "hold" }), runs.clone(), "hold"),
        (json!({ "agent": "Codex", "then": "notify", "by": ["ntfy"] }), runs.clone(), "notify ntfy"),
        (json!({ "agent": "Codex", "then": "deny" }), json!({}), "it asks for no permission"),
        (
            json!({ "tool": "read", "then": "allow" }),
            json!({ "subject": { "kind": "read" } }),
            "it asks for no permission",
        ),
        (json!({ "agent": "Codex", "then": "reject", "reason": "later" }), json!({}), "reject later"),
        (
            json!({ "tool": "read", "then": "reject", "reason": "later" }),
            reads.clone(),
            "it asks for a permission: a rule refuses that with `deny`",
        ),
        (
            json!({ "agent": "Codex", "dangerous": true, "then": "answer", "answer": "allow once" }),
            runs.clone(),
            "it would run a command, which the rule does not name",
        ),
        (
            json!({ "agent": "Codex", "then": "answer", "answer": "allow once" }),
            reads.clone(),
            "the rule names neither its command nor its tool",
        ),
        (
            read.clone(),
            with(reads.clone(), &json!({ "subject": { "kind": "read", "command": "cat /a" } })),
            "it would run a command, which the rule does not name",
        ),
        (
            json!({ "tool": "execute", "dangerous": true, "then": "answer", "answer": "allow once" }),
            subject(json!({ "kind": "execute" })),
            "the command that it would run is not known",
        ),
        (
            tests.clone(),
            subject(json!({ "kind": "execute", "command": "cargo test", "folder": "/tmp/evil" })),
            "its command would run in /tmp/evil, which is not in its project",
        ),
        (
            tests.clone(),
            subject(json!({ "command": "cargo test", "folder": "/people/ada/src/shop/../evil" })),
            "its command would run in /people/ada/src/shop/../evil, which is not in its project",
        ),
        (
            tests.clone(),
            subject(json!({ "command": "cargo test", "folder": "/people/ada/src/shop/web" })),
            ONCE,
        ),
        (tests.clone(), subject(json!({ "command": "cargo test" })), ONCE),
        (
            tests.clone(),
            with(runs.clone(), &json!({ "purpose": "confession" })),
            "its purpose \"confession\" is not known here",
        ),
    ] {
        assert_eq!(done(&members, &question), expected, "{members}: {question}");
    }
    // By the role, and not by what the agent calls it.
    for (options, expected) in [
        (json!([["a", "Allow once", "allow_always"], ["b", "Never", "allow_once"]]), r#"{"option":"b"}"#),
        (json!([["a", "Allow once", "allow_always"]]), "it has no option that allows it this time"),
        (
            json!([["a", "A", "allow_once"], ["b", "B", "allow_once"]]),
            "it has 2 options that allow it this time: a rule chooses one with `answer`",
        ),
        (
            json!([["a", "A", "allow_once"], ["a", "B", "allow_always"]]),
            "another of its options has the same value",
        ),
        (json!([["a", "Allow once", "allow_week"]]), "it has no option that allows it this time"),
        (json!([["a", "Allow once", null]]), "it has no option that allows it this time"),
    ] {
        let options: Vec<_> = options
            .as_array()
            .expect("options")
            .iter()
            .map(|option| json!({ "value": option[0], "label": option[1], "role": option[2] }))
            .collect();
        let field =
            json!({ "name": "option", "label": "?", "kind": "choice", "required": true, "options": options });
        assert_eq!(done(&tests, &with(runs.clone(), &json!({ "fields": [field] }))), expected);
        for option in &options {
            let chosen = done(
                &answer(option["label"].as_str().expect("a label")),
                &with(runs.clone(), &json!({ "fields": [field] })),
            );
            let is_once = option["role"] == "allow_once"
                && options.iter().filter(|other| other["value"] == option["value"]).count() == 1;
            assert_eq!(chosen.starts_with('{'), is_once, "{option}: {chosen}");
        }
    }
    let flag = with(runs, &json!({ "fields": [{ "name": "ok", "label": "Allow?", "kind": "boolean" }] }));
    assert_eq!(
        done(
            &json!({ "command": "cargo test *", "dangerous": true, "then": "answer", "answer": true }),
            &flag
        ),
        "it is not known what that option allows"
    );
}

#[test]
fn an_attack_on_a_command_is_left_to_the_person() {
    let rules = [
        json!({ "command": "cargo test *", "dangerous": true, "then": "allow" }),
        json!({ "command": "cargo *", "dangerous": true, "then": "allow", "tool": "execute" }),
        json!({ "command": "cargo t*", "dangerous": true, "then": "answer", "answer": "allow once" }),
        json!({ "command": ["cargo", "test"], "dangerous": true, "then": "allow" }),
    ];
    for command in [
        "cargo test; rm -rf ~",
        "cargo test;rm -rf ~",
        "cargo test && x",
        "cargo test & x",
        "cargo test | sh",
        "cargo test || x",
        "cargo test $(x)",
        "cargo test `x`",
        "cargo test $x",
        "cargo test ${x}",
        "cargo test \"$(x)\"",
        "cargo test '$(x)'",
        "cargo test\nx",
        "cargo test\rx",
        "cargo test \\\nx",
        "cargo test\u{0}x",
        "cargo test > x",
        "cargo test >x",
        "cargo test<x",
        "cargo test <(x)",
        "cargo test <<x",
        "A=1 cargo test",
        "PATH=/tmp cargo test",
        "env cargo test",
        "sudo cargo test",
        "bash -c 'cargo test'",
        "sh -c cargo\\ test",
        "eval cargo test",
        "command cargo test",
        "\\cargo test",
        "./cargo test",
        "/tmp/cargo test",
        "~/cargo test",
        "cargo-evil test",
        "cargo\u{200b} test",
        "\u{202e}cargo test",
        "cargo test \u{202e}x",
        "cargo\u{a0}test",
        "cargo\u{3000}test",
        "(cargo test)",
        "{ cargo test; }",
        "! cargo test",
        "cargo test *",
        "cargo test ?",
        "cargo test ~",
        "cargo test {a,b}",
        "cargo test [a]",
        "cargo test # x",
        "'cargo test'",
        "cargo 'test",
        "cargo \"test",
        "",
        "cargo test\n… 5 more bytes are not shown",
        "саrgo test",
        "CARGO test",
        "cargo test \u{1b}[2K",
        "cargo test \u{e0020}",
        "time cargo test",
        "cargo",
        " ",
    ] {
        for members in &rules {
            // The second rule allows what it says: any subcommand.
            if command == "cargo" && members["command"] == "cargo *" {
                continue;
            }
            let done = done(members, &permission(command));
            assert!(!done.starts_with('{'), "{members}: {command:?}: {done}");
        }
    }
}

/// Returns one of these or nothing.
fn some_of(values: Vec<Json>) -> impl Strategy<Value = Option<Json>> {
    proptest::option::weighted(0.4, select(values))
}

const FRAGMENTS: [&str; 34] = [
    "cargo",
    "test",
    "run",
    "--lib",
    " ",
    " ",
    " ",
    " ",
    "a",
    "'",
    "\"",
    ";",
    "&&",
    "|",
    ">",
    "<",
    "$(x)",
    "`x`",
    "$x",
    "\\",
    "\n",
    "\t",
    "*",
    "?",
    "~",
    "#",
    "{a,b}",
    "(",
    ")",
    "\u{202e}",
    "\u{200b}",
    "A=1",
    "\n… 5 more bytes are not shown",
    "é",
];

fn command() -> impl Strategy<Value = String> {
    let usual = select(vec!["cargo test", "cargo test --lib", "cargo run", "rm -rf a", "cargo test a b"])
        .prop_map(str::to_owned);
    let odd = vec(select(FRAGMENTS.to_vec()), 0..9).prop_map(|parts| parts.concat());
    let mixed =
        vec(select(FRAGMENTS.to_vec()), 0..4).prop_map(|parts| format!("cargo test{}", parts.concat()));
    prop_oneof![2 => usual, 1 => odd, 2 => mixed]
}

fn role() -> impl Strategy<Value = Json> {
    select(vec![
        json!("allow_once"),
        json!("allow_once"),
        json!("allow_always"),
        json!("reject_once"),
        json!("reject_always"),
        json!("allow_week"),
        Json::Null,
    ])
}

fn field(name: &'static str) -> impl Strategy<Value = Json> {
    let texts = || select(vec!["a", "b", "c", "Yes"]);
    let option = (texts(), texts(), role())
        .prop_map(|(value, label, role)| json!({ "value": value, "label": label, "role": role }));
    let options = vec(option, 1..4);
    let kind = select(vec!["choice", "choice", "choice", "choices", "text", "boolean", "number", "drawing"]);
    (options, kind, any::<bool>(), any::<bool>(), proptest::bool::weighted(0.1)).prop_map(
        move |(options, kind, required, other, secret)| {
            let mut field =
                json!({ "name": name, "label": name, "kind": kind, "required": required, "secret": secret });
            if kind.starts_with("choice") {
                field["options"] = options.into();
                field["other"] = other.into();
            }
            field
        },
    )
}

fn question() -> impl Strategy<Value = Json> {
    let fields = prop_oneof![
        3 => field("q0").prop_map(|field| vec![field]),
        1 => (field("q0"), field("q1")).prop_map(|(one, other)| vec![one, other]),
    ];
    let purpose = select(vec!["permission", "permission", "question", "confession"]);
    let kind = select(vec!["execute", "read", "edit", "delete"]);
    let folder = some_of(vec![
        json!("/people/ada/src/shop"),
        json!("/people/ada/src/shop/a"),
        json!("/tmp"),
        json!("/people/ada/src/shop/../x"),
    ]);
    let agent = select(vec!["Codex", "Claude"]);
    (fields, purpose, kind, proptest::option::weighted(0.7, command()), folder, any::<bool>(), agent)
        .prop_map(|(fields, purpose, kind, command, folder, dangerous, agent)| {
            json!({
                "fields": fields, "purpose": purpose, "dangerous": dangerous, "agent": agent,
                "subject": { "kind": kind, "command": command, "folder": folder },
            })
        })
}

fn any_rule() -> impl Strategy<Value = Json> {
    let command = vec![
        json!("cargo test *"),
        json!("cargo *"),
        json!("cargo t*"),
        json!(["cargo", "test"]),
        json!("rm *"),
        json!("cargo ? *"),
    ];
    let answer = select(vec![
        json!("a"),
        json!("b"),
        json!("Yes"),
        json!(["a", "b"]),
        json!(true),
        json!(1),
        json!({ "q0": "a" }),
        json!({ "q0": "a", "q1": ["b"] }),
        json!({ "q1": "c" }),
    ]);
    let conditions = (
        some_of(vec![json!("Codex"), json!("C*")]),
        some_of(vec![json!("~/src/*"), json!("~/src/shop")]),
        some_of(vec![json!("permission"), json!("question")]),
        some_of(vec![json!("execute"), json!(["read", "edit"])]),
        some_of(command),
        some_of(vec![json!(true), json!(true), json!(false)]),
    );
    let then = select(vec!["allow", "allow", "answer", "answer", "deny", "reject", "hold", "notify"]);
    (conditions, then, answer).prop_map(
        |((agent, project, purpose, tool, command, dangerous), then, answer)| {
            let mut rule = json!({ "then": then });
            let named = [
                ("agent", agent),
                ("project", project),
                ("purpose", purpose),
                ("tool", tool),
                ("command", command),
                ("dangerous", dangerous),
            ];
            for (name, value) in named {
                value.into_iter().for_each(|value| rule[name] = value);
            }
            match then {
                "answer" => rule["answer"] = answer,
                "reject" => rule["reason"] = "r".into(),
                "notify" => rule["by"] = json!(["ntfy"]),
                _ => {}
            }
            rule
        },
    )
}

/// What one decision must not do. `members` are those of the rule that decided.
fn holds_promises(members: &Json, record: &Record, what: &What) -> Result<(), TestCaseError> {
    let question = &record.question;
    let What::Submit(submission) = what else { return Ok(()) };
    // Nothing dangerous is settled unless the rule says so, and nothing of an unknown purpose.
    prop_assert!(!question.dangerous || members["dangerous"] == true);
    prop_assert!(!matches!(question.purpose, Purpose::Other(_)));
    let Submission::Answer(answer) = submission else {
        let expected = if question.purpose == Purpose::Permission { "deny" } else { "reject" };
        prop_assert_eq!(&members["then"], expected);
        return Ok(());
    };
    prop_assert_eq!(check(question, answer), Ok(()));
    names_all(members, record, answer)?;
    let mut grants = false;
    for field in &question.fields {
        prop_assert!(!(field.secret && answer.values.contains_key(&field.name)));
        let chosen: Vec<&String> = match answer.values.get(&field.name) {
            Some(Value::Text(text)) => vec![text],
            Some(Value::Many(texts)) => texts.iter().collect(),
            _ => Vec::new(),
        };
        for option in field.kind.options().iter().filter(|option| chosen.contains(&&option.value)) {
            let role = option.role.as_deref();
            prop_assert!(!matches!(role, Some(Role::AllowAlways | Role::Other(_))), "{:?}", option);
            prop_assert!(role.is_some() || question.purpose != Purpose::Permission);
            grants |= role == Some(&Role::AllowOnce);
        }
    }
    if grants {
        let command = question.subject.as_ref().and_then(|subject| subject.command.as_ref());
        prop_assert!(!members["command"].is_null() || (command.is_none() && !members["tool"].is_null()));
        let is_harmless = |char: char| char.is_alphanumeric() || " '\"-=.".contains(char);
        prop_assert!(command.is_none_or(|command| command.chars().all(is_harmless)), "{:?}", command);
        prop_assert!(
            command.is_none_or(|command| command.trim_start().starts_with(['c', 'r', '\'', '"'])),
            "{:?}",
            command
        );
        let folder = question.subject.as_ref().and_then(|subject| subject.folder.as_deref());
        prop_assert!(command.is_none() || folder.is_none_or(|folder| folder.starts_with("/people/ada/src/shop") && !folder.contains("..")));
    }
    Ok(())
}

/// An answer has the fields that the rule names, and options that it names.
fn names_all(members: &Json, record: &Record, answer: &Answer) -> Result<(), TestCaseError> {
    let given = &members["answer"];
    for (name, value) in &answer.values {
        let Some(field) = record.question.fields.iter().find(|field| field.name == *name) else { continue };
        if members["then"] == "allow" {
            continue;
        }
        let named = given.as_object().map_or(Some(given), |fields| fields.get(name));
        let named = named.map(ToString::to_string);
        prop_assert!(named.is_some(), "{} is not named", name);
        let chosen = match value {
            Value::Text(text) => vec![text.clone()],
            Value::Many(texts) => texts.clone(),
            _ => Vec::new(),
        };
        for text in chosen.iter().filter(|_| !field.kind.options().is_empty()) {
            let option = field.kind.options().iter().find(|option| option.value == *text);
            let is_named = |option: &crate::question::FieldOption| {
                let named = named.clone().unwrap_or_default();
                named.contains(&format!("{:?}", option.value))
                    || named.contains(&format!("{:?}", option.label))
            };
            prop_assert!(option.is_some_and(is_named), "{} is not named", text);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rules_keep_their_promises(question in question(), members in vec(any_rule(), 1..6)) {
        let record = record(&question);
        let named = members.iter().enumerate().filter_map(|(place, members)| {
            let rule = rule(&with(members.clone(), &json!({ "name": place.to_string() }))).ok()?;
            Some((members, rule))
        });
        let (members, rules): (Vec<_>, Vec<_>) = named.unzip();
        let explained = explain(&rules, &record);
        let decision = decide(&rules, &record);
        prop_assert_eq!(&explained.decision, &decision);
        let alone = |rule: &Rule| decide(std::slice::from_ref(rule), &record);
        let first = rules.iter().position(|rule| alone(rule).is_some());
        prop_assert_eq!(explained.passed.len(), first.unwrap_or(rules.len()));
        if let (Some(decision), Some(first)) = (decision, first) {
            prop_assert_eq!(&decision.rule, rules[first].name());
            holds_promises(members[first], &record, &decision.what)?;
        }
    }
}

#[test]
fn many_questions_are_tried_at_once() {
    const COUNT: usize = 100_000;
    let rules: Vec<_> = (0..20)
        .map(|number| rule(&json!({ "name": number.to_string(), "agent": "Co*", "command": format!("cargo x{number} *"), "dangerous": true, "then": "allow" })))
        .chain([rule(&json!({ "name": "tests", "project": "~/src/*", "command": "cargo test *", "dangerous": true, "then": "allow" }))])
        .collect::<Result<_, _>>()
        .expect("rules");
    let records: Vec<_> =
        ["cargo test --lib", "cargo build", "git push; x"].map(|command| record(&permission(command))).into();
    let begun = Instant::now();
    let trial = try_all(&rules, records.iter().cycle().take(COUNT));
    let took = begun.elapsed();
    assert_eq!((trial.tried, trial.decided.len()), (COUNT, COUNT.div_ceil(3)));
    assert_eq!((trial.counts["tests"], trial.counts["0"]), (COUNT.div_ceil(3), 0));
    assert!(trial.decided.iter().all(|(_, decision)| decision.rule.as_ref() == "tests"));
    std::io::Write::write_fmt(
        &mut std::io::stderr(),
        format_args!("{COUNT} questions and 21 rules: {took:?}\n"),
    )
    .expect("stderr");
}
