//! Questions and rules for the tests of this room, and property tests of the promises that rules keep, over random
//! questions, permissions and rules (I12).

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use askbridge_core::{
    desk::{Record, Submission, Timestamp},
    guard::{self, Files},
    question::{Answer, Purpose, Question, Role, Value, check},
};
use proptest::{collection::vec, prelude::*, sample::select, test_runner::FileFailurePersistence};
use serde_json::{Value as Json, json};

use super::{Rule, RuleEffect, decide, explain};

/// A file system without links.
pub(super) struct NoLinks;

impl Files for NoLinks {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn has_other_names(&self, _: &Path) -> bool {
        false
    }
}

/// Returns the record of a question with these members, and the usual ones for the rest.
pub(super) fn record(members: &Json) -> Record {
    let mut question = json!({
        "questionId": "q", "message": "Which?", "origin": "elicitation", "dangerous": false, "blocking": true,
        "agent": "Codex", "project": "/people/ada/src/shop", "sessionId": "s-1",
        "fields": [choice("q0", true)],
    });
    for (name, value) in members.as_object().into_iter().flatten() {
        question[name] = value.clone();
    }
    let mut question: Question = serde_json::from_value(question).expect("a question");
    guard::assess(&mut question);
    Record::new("b-1".parse().expect("an ID"), Arc::new(question), Timestamp::default())
}

/// Returns a field with two options.
pub(super) fn choice(name: &str, required: bool) -> Json {
    let options = [("sqlite", "SQLite"), ("postgres", "Postgres")];
    let options = options.map(|(value, label)| json!({ "value": value, "label": label }));
    json!({ "name": name, "label": "Which?", "kind": "choice", "required": required, "options": options })
}

/// Returns a permission to run a command, as agents ask for it.
pub(super) fn permission(command: &str) -> Json {
    let roles = ["allow_once", "allow_always", "reject_once", "reject_always"];
    let options = roles.map(|role| json!({ "value": role, "label": role.replace('_', " "), "role": role }));
    json!({
        "purpose": "permission", "message": "Run it?",
        "subject": { "kind": "execute", "command": command, "folder": "/people/ada/src/shop" },
        "fields": [{ "name": "option", "label": "?", "kind": "choice", "required": true, "options": options }],
    })
}

/// Returns a rule with these members. Its name is `r` unless they have another.
pub(super) fn rule(members: &Json) -> Result<Rule, String> {
    let mut table: BTreeMap<String, Json> = [("name".to_owned(), json!("r"))].into();
    let members = members.as_object().expect("an object");
    table.extend(members.iter().map(|(name, value)| (name.clone(), value.clone())));
    let said = |mistakes: Vec<super::Mistake>| {
        mistakes.into_iter().map(|mistake| mistake.message).collect::<Vec<_>>().join("; ")
    };
    Rule::read(&table, Some(Path::new("/people/ada"))).map_err(said)
}

/// Returns the effect of one rule on a question as a short text, or the reason why the rule does not apply.
pub(super) fn done(members: &Json, question: &Json) -> String {
    let rules = [rule(members).unwrap_or_else(|error| panic!("{members}: {error}"))];
    let record = record(question);
    let explained = explain(&rules, &record, &NoLinks);
    assert_eq!(explained.decision, decide(&rules, &record, &NoLinks));
    match explained.decision.map(|decision| decision.what) {
        Some(RuleEffect::Hold) => "hold".to_owned(),
        Some(RuleEffect::Notify(ways)) => format!("notify {}", ways.join(" ")),
        Some(RuleEffect::Submit(Submission::Reject(remark))) => {
            format!("reject {}", remark.unwrap_or_default())
        }
        Some(RuleEffect::Submit(Submission::Answer { answer, .. })) => {
            serde_json::to_string(&answer.values).expect("JSON")
        }
        Some(RuleEffect::Submit(other)) => panic!("{other:?}"),
        None => explained.passed[0].why.clone(),
    }
}

/// Returns an object with these members added or replaced.
pub(super) fn with(mut value: Json, members: &Json) -> Json {
    for (name, member) in members.as_object().into_iter().flatten() {
        value[name] = member.clone();
    }
    value
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
        json!("/opt"),
        json!("/people/ada/src/shop/../x"),
    ]);
    let agent = select(vec!["Codex", "Claude"]);
    (fields, purpose, kind, proptest::option::weighted(0.7, command()), folder, any::<bool>(), agent)
        .prop_map(|(fields, purpose, kind, command, folder, dangerous, agent)| {
            json!({
                "fields": fields, "purpose": purpose, "dangerous": dangerous, "agent": agent,
                "subject": { "kind": kind, "command": command, "locations": folder.iter().collect::<Vec<_>>(), "folder": folder },
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
    let then = select(vec!["allow", "allow", "answer", "answer", "reject", "reject", "hold", "notify"]);
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

/// The promises about one decision. `members` are those of the rule that decided.
fn holds_promises(members: &Json, record: &Record, what: &RuleEffect) -> Result<(), TestCaseError> {
    let question = &record.question;
    let RuleEffect::Submit(submission) = what else { return Ok(()) };
    // A rule settles a dangerous question only if it says so, and never one of an unknown purpose.
    prop_assert!(!question.risk().is_dangerous() || members["dangerous"] == true);
    prop_assert!(!matches!(question.purpose, Purpose::Other(_)));
    let Submission::Answer { answer, .. } = submission else {
        prop_assert_eq!(&members["then"], "reject");
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
        let is_harmless = |char: char| char.is_alphanumeric() || " '\"-=.~#".contains(char);
        // `~` and `#` are ordinary characters of a word unless they begin it.
        let is_begun = |command: &String| {
            [" ~", " #", "'~", "\"~", "'#", "\"#", "=~"].iter().any(|part| command.contains(part))
        };
        prop_assert!(!command.is_some_and(is_begun), "{:?}", command);
        prop_assert!(command.is_none_or(|command| command.chars().all(is_harmless)), "{:?}", command);
        prop_assert!(
            command.is_none_or(|command| command.trim_start().starts_with(['c', 'r', '\'', '"'])),
            "{:?}",
            command
        );
        let folder = question.subject.as_ref().and_then(|subject| subject.folder.as_deref());
        prop_assert!(
            folder.is_none_or(|folder| folder.starts_with("/people/ada/src/shop") && !folder.contains(".."))
        );
    }
    Ok(())
}

/// Checks that an answer has only fields and options that the rule names.
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
            let is_named = |option: &askbridge_core::question::FieldOption| {
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
    #![proptest_config(ProptestConfig {
        cases: 4000,
        ..ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds"))
    })]

    #[test]
    fn rules_keep_their_promises(question in question(), members in vec(any_rule(), 1..6)) {
        let record = record(&question);
        let named = members.iter().enumerate().filter_map(|(place, members)| {
            let rule = rule(&with(members.clone(), &json!({ "name": place.to_string() }))).ok()?;
            Some((members, rule))
        });
        let (members, rules): (Vec<_>, Vec<_>) = named.unzip();
        let explained = explain(&rules, &record, &NoLinks);
        let decision = decide(&rules, &record, &NoLinks);
        prop_assert_eq!(&explained.decision, &decision);
        let alone = |rule: &Rule| decide(std::slice::from_ref(rule), &record, &NoLinks);
        let first = rules.iter().position(|rule| alone(rule).is_some());
        prop_assert_eq!(explained.passed.len(), first.unwrap_or(rules.len()));
        if let (Some(decision), Some(first)) = (decision, first) {
            prop_assert_eq!(&decision.rule, rules[first].name());
            holds_promises(members[first], &record, &decision.what)?;
        }
    }
}
