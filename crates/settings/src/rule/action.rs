//! What a rule does with a question whose conditions hold: it submits an answer or a rejection, or leaves the decision
//! to the user. An answer has the values that the rule names, and no others.

use std::collections::BTreeMap;

use askbridge_core::{
    desk::Submission,
    question::{Answer, Field, FieldOption, Kind, Purpose, Question, Role, Value, check, form, input},
};

use super::conditions::{Conditions, QuestionView};

/// The action of a rule.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Answer(NamedValues),
    Reject(Option<String>),
    Allow,
    Hold,
    Notify(Vec<String>),
}

/// The effect on a question.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleEffect {
    /// The rule submits this.
    Submit(Submission),
    /// The user decides, and no later rule applies.
    Hold,
    /// The user decides, and is notified in these ways.
    Notify(Vec<String>),
}

impl RuleEffect {
    /// Returns the effect on a question that was judged in this edition.
    pub(super) fn of_edition(self, edition: u32) -> Self {
        match self {
            RuleEffect::Submit(Submission::Answer { answer, .. }) => {
                RuleEffect::Submit(Submission::answer(answer, edition))
            }
            other => other,
        }
    }
}

impl Action {
    /// Returns the effect on a question.
    ///
    /// # Errors
    /// The rule does not apply to the question; the text says why.
    pub(super) fn of(&self, conditions: &Conditions, asked: &QuestionView<'_>) -> Result<RuleEffect, String> {
        let question = asked.question;
        // Neither settles the question, so the checks below do not concern them.
        match self {
            Action::Hold => return Ok(RuleEffect::Hold),
            Action::Notify(ways) => return Ok(RuleEffect::Notify(ways.clone())),
            _ => {}
        }
        if question.risk().is_dangerous() && conditions.dangerous != Some(true) {
            return Err(match &question.risk_reason {
                Some(why) => format!("it is dangerous ({why}), and the rule does not say `dangerous = true`"),
                None => "it is dangerous, and the rule does not say `dangerous = true`".to_owned(),
            });
        }
        // What an answer to an unknown purpose would do is unknown too.
        if let Purpose::Other(purpose) = question.purpose {
            return Err(format!("its purpose {:?} is unknown to this version", purpose.as_str()));
        }
        let is_permission = question.purpose == Purpose::Permission;
        let submission = match self {
            Action::Answer(given) => {
                Submission::answer(checked(conditions, asked, given.to(question)?)?, None)
            }
            Action::Allow if is_permission => {
                Submission::answer(checked(conditions, asked, allowed(question)?)?, None)
            }
            Action::Reject(reason) => Submission::Reject(reason.clone()),
            _ => return Err("it asks for no permission".to_owned()),
        };
        Ok(RuleEffect::Submit(submission))
    }
}

/// Returns the answer that allows a permission this time.
fn allowed(question: &Question) -> Result<Answer, String> {
    let options: Vec<_> = form::options_with_role(question, Role::AllowOnce).collect();
    let [option] = options[..] else {
        return Err(match options.len() {
            0 => "it has no option that allows it this time".to_owned(),
            count => {
                format!("it has {count} options that allow it this time: a rule chooses one with `answer`")
            }
        });
    };
    // The options are compared by address, since another field may have an equal option.
    let has_it = |kind: &askbridge_core::question::Kind| {
        kind.options().iter().any(|other| std::ptr::eq(other, option))
    };
    let field = question.fields.iter().find(|field| has_it(&field.kind));
    let field = field.filter(|field| is_alone(field, option));
    let field = field.ok_or("another of its options has the same value")?;
    not_secret(field)?;
    let values = [(field.name.clone(), Value::Text(option.value.clone()))].into();
    let answer = Answer { values, ..Answer::default() };
    match check(question, &answer) {
        Ok(()) => Ok(answer),
        Err(_) => Err("the option alone is no complete answer to it".to_owned()),
    }
}

/// Checks that an answer grants nothing lasting, nothing unknown, and nothing that the rule does not name (I12).
fn checked(conditions: &Conditions, asked: &QuestionView<'_>, answer: Answer) -> Result<Answer, String> {
    let is_permission = asked.question.purpose == Purpose::Permission;
    for role in roles(asked.question, &answer) {
        match role {
            Some(Role::RejectOnce | Role::RejectAlways) => {}
            Some(Role::AllowOnce) => {
                no_more_than_shown(asked.question, &answer)?;
                conditions.names(asked)?;
            }
            Some(Role::AllowAlways) => {
                return Err("that option allows it from now on, which a rule never does".to_owned());
            }
            // A question's option without a role grants nothing.
            None if !is_permission => {}
            Some(_) | None => return Err("the effect of that option is unknown".to_owned()),
        }
    }
    Ok(answer)
}

/// Checks that the options of an answer allow no more than what is shown, and that all of it is shown (I12).
fn no_more_than_shown(question: &Question, answer: &Answer) -> Result<(), String> {
    let is_chosen = |field: &Field, option: &&FieldOption| matches!(answer.values.get(&field.name), Some(Value::Text(value)) if *value == option.value);
    for field in &question.fields {
        for option in field.kind.options().iter().filter(|option| is_chosen(field, option)) {
            if option.dangerous || !option.grants.is_empty() {
                let more = option.grants.first().map_or("more than what is shown", String::as_str);
                return Err(format!("that option also allows: {more}"));
            }
        }
    }
    if !question.images.is_empty() {
        return Err("it has an image, which only a person sees".to_owned());
    }
    question.unshown.first().map_or(Ok(()), |sentence| Err(sentence.clone()))
}

/// The values that a rule names, as texts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NamedValues {
    /// For a question of a single field.
    Only(Vec<String>),
    /// By the names of the fields.
    Named(BTreeMap<String, Vec<String>>),
}

impl NamedValues {
    /// Returns the answer to a question.
    ///
    /// # Errors
    /// The values do not fit the question; the text is a sentence whose subject is the rule or the question.
    pub(super) fn to(&self, question: &Question) -> Result<Answer, String> {
        let named: Vec<(&Field, &[String])> = match self {
            NamedValues::Only(texts) => match &*question.fields {
                [field] => vec![(field, &**texts)],
                fields => {
                    return Err(format!("it has {} fields, and the rule does not say which", fields.len()));
                }
            },
            NamedValues::Named(named) => {
                let find = |name: &String| question.fields.iter().find(|field| field.name == *name);
                let named = named.iter().map(|(name, texts)| {
                    find(name)
                        .map(|field| (field, &**texts))
                        .ok_or_else(|| format!("it has no field {name:?}"))
                });
                named.collect::<Result<_, _>>()?
            }
        };
        let is_named = |field: &&Field| named.iter().any(|(other, _)| other.name == field.name);
        if let Some(field) = question.fields.iter().find(|field| field.required && !is_named(field)) {
            return Err(format!("it needs the field {:?}, which the rule does not name", field.name));
        }
        let values = named.iter().map(|(field, texts)| Ok((field.name.clone(), value(field, texts)?)));
        let values = values.collect::<Result<BTreeMap<_, _>, String>>()?;
        let answer = Answer { values, ..Answer::default() };
        match check(question, &answer) {
            Ok(()) => Ok(answer),
            Err(errors) => Err(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
        }
    }
}

/// Checks that a field is not secret, since a rule never answers a secret one.
pub(super) fn not_secret(field: &Field) -> Result<(), String> {
    match field.secret {
        true => Err(format!("its field {:?} is secret: a rule does not answer it", field.name)),
        false => Ok(()),
    }
}

/// Converts the texts of a rule into a value for this field.
fn value(field: &Field, texts: &[String]) -> Result<Value, String> {
    not_secret(field)?;
    match &field.kind {
        Kind::Choice { .. } => match texts {
            [text] => Ok(Value::Text(option(field, text)?.value.clone())),
            _ => Err(format!(
                "its field {:?} takes one option, and the rule names {}",
                field.name,
                texts.len()
            )),
        },
        Kind::Choices { .. } => {
            let values = texts.iter().map(|text| Ok(option(field, text)?.value.clone()));
            Ok(Value::Many(values.collect::<Result<_, String>>()?))
        }
        Kind::Unknown(_) => {
            Err(format!("its field {:?} is of a kind that this version does not know", field.name))
        }
        kind => input::value_from_texts(kind, texts.to_vec())
            .ok_or_else(|| format!("the rule has no value for {:?}", field.name)),
    }
}

/// Returns the option with this value or label, if it is the only one.
fn option<'a>(field: &'a Field, text: &str) -> Result<&'a FieldOption, String> {
    let options = field.kind.options();
    let found: Vec<_> =
        options.iter().filter(|option| option.value == text || option.label == text).collect();
    match found[..] {
        [only] if is_alone(field, only) => Ok(only),
        [] => Err(format!("its field {:?} has no option {text:?}", field.name)),
        _ => Err(format!("its field {:?} has several options {text:?}", field.name)),
    }
}

/// Returns whether no other option of the field has the same value: the agent could not tell them apart.
pub(super) fn is_alone(field: &Field, option: &FieldOption) -> bool {
    field.kind.options().iter().filter(|other| other.value == option.value).count() == 1
}

/// Returns the role of the option behind each value of an answer; `None` for an option without a role, and for a value
/// that is no option.
pub(super) fn roles(question: &Question, answer: &Answer) -> Vec<Option<Role>> {
    let of_field = |field: &Field| -> Vec<Option<Role>> {
        let role = |text: &String| {
            let option = field.kind.options().iter().find(|option| option.value == *text)?;
            option.role.as_deref().copied()
        };
        match answer.values.get(&field.name) {
            Some(Value::Text(text)) => vec![role(text)],
            Some(Value::Many(texts)) => texts.iter().map(role).collect(),
            Some(Value::Flag(_) | Value::Number(_) | Value::Null) => vec![None],
            None => Vec::new(),
        }
    };
    question.fields.iter().flat_map(of_field).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::rule::samples::{choice, done, permission, with};

    const ONCE: &str = r#"{"option":"allow_once"}"#;

    fn tests() -> Json {
        json!({ "command": "cargo test *", "dangerous": true, "then": "allow" })
    }

    fn read() -> Json {
        json!({ "tool": "read", "then": "allow" })
    }

    fn answer(option: &str) -> Json {
        json!({ "command": "cargo test *", "dangerous": true, "then": "answer", "answer": option })
    }

    fn runs() -> Json {
        permission("cargo test --lib")
    }

    fn reads() -> Json {
        let subject = json!({ "kind": "read", "locations": ["/people/ada/src/shop/a.rs:12"] });
        with(permission("x"), &json!({ "dangerous": false, "subject": subject }))
    }

    fn secret() -> Json {
        let mut question = reads();
        question["fields"][0]["secret"] = true.into();
        question
    }

    fn subject(members: Json) -> Json {
        with(runs(), &json!({ "subject": members }))
    }

    #[test]
    fn examples_of_permissions() {
        for (members, question, expected) in [
            (tests(), runs(), ONCE),
            (read(), reads(), ONCE),
            (read(), secret(), "its field \"option\" is secret: a rule does not answer it"),
            (answer("allow once"), runs(), ONCE),
            (answer("allow always"), runs(), "that option allows it from now on, which a rule never does"),
            (answer("reject always"), runs(), r#"{"option":"reject_always"}"#),
            (json!({ "command": "cargo test *", "then": "allow" }), runs(), ONCE),
            (
                json!({ "command": "cargo *", "then": "allow" }),
                permission("cargo publish"),
                "it is dangerous (`cargo publish` publishes, or speaks for you), and the rule does not say `dangerous = true`",
            ),
            (
                json!({ "agent": "Codex", "then": "reject" }),
                with(runs(), &json!({ "dangerous": true })),
                "it is dangerous (the agent marked it as dangerous), and the rule does not say `dangerous = true`",
            ),
            (json!({ "dangerous": true, "then": "reject", "reason": "no" }), runs(), "reject no"),
            (json!({ "tool": "read", "then": "reject" }), reads(), "reject "),
            (json!({ "agent": "Codex", "then": "hold" }), runs(), "hold"),
            (json!({ "agent": "Codex", "then": "notify", "by": ["ntfy"] }), runs(), "notify ntfy"),
            (json!({ "agent": "Codex", "then": "reject" }), json!({}), "reject "),
            (
                json!({ "tool": "read", "then": "allow" }),
                json!({ "subject": { "kind": "read" } }),
                "it asks for no permission",
            ),
            (json!({ "agent": "Codex", "then": "reject", "reason": "later" }), json!({}), "reject later"),
            (json!({ "tool": "read", "then": "reject", "reason": "later" }), reads(), "reject later"),
        ] {
            assert_eq!(done(&members, &question), expected, "{members}: {question}");
        }
    }

    #[test]
    fn what_a_rule_does_not_name_is_not_allowed() {
        for (members, question, expected) in [
            (
                json!({ "agent": "Codex", "dangerous": true, "then": "answer", "answer": "allow once" }),
                runs(),
                "it would run a command, which the rule does not name",
            ),
            (
                json!({ "agent": "Codex", "then": "answer", "answer": "allow once" }),
                reads(),
                "the rule names neither its command nor its tool",
            ),
            (
                read(),
                with(reads(), &json!({ "subject": { "kind": "read", "command": "cat /a" } })),
                "it would run a command, which the rule does not name",
            ),
            (
                json!({ "tool": "execute", "dangerous": true, "then": "answer", "answer": "allow once" }),
                subject(json!({ "kind": "execute" })),
                "the command that it would run is not known",
            ),
            (
                tests(),
                subject(json!({ "kind": "execute", "command": "cargo test", "folder": "/opt/evil" })),
                "its command would run in /opt/evil, which is not in its project",
            ),
            (
                tests(),
                subject(json!({ "command": "cargo test", "folder": "/people/ada/src/shop/../evil" })),
                "its command would run in /people/ada/src/shop/../evil, which is not in its project",
            ),
            (
                tests(),
                subject(json!({ "command": "cargo test", "folder": "/people/ada/src/shop/web" })),
                ONCE,
            ),
            (tests(), subject(json!({ "command": "cargo test" })), ONCE),
            (
                tests(),
                with(runs(), &json!({ "purpose": "confession" })),
                "its purpose \"confession\" is unknown to this version",
            ),
        ] {
            assert_eq!(done(&members, &question), expected, "{members}: {question}");
        }
    }

    #[test]
    fn files_outside_of_the_project_are_left_to_the_person() {
        let about =
            |members: Json| with(reads(), &json!({ "subject": with(json!({ "kind": "read" }), &members) }));
        let diff = |path: &str| json!({ "diffs": [{ "path": path, "line": 1, "new": "x" }] });
        for (subject, is_allowed) in [
            (json!({}), false),
            (json!({ "locations": ["/people/ada/src/shop"] }), true),
            (json!({ "locations": ["src/a.rs"] }), true),
            (json!({ "locations": ["/people/ada/src/shop/a", "/people/ada/.ssh/id"] }), false),
            (json!({ "locations": ["/people/ada/src/shopping/a"] }), false),
            (json!({ "locations": ["/people/ada/src/shop/../.ssh/id"] }), false),
            (json!({ "locations": ["../.ssh/id"] }), false),
            (json!({ "locations": ["a", "… 3 more files are not shown"] }), false),
            (json!({ "locations": ["a"], "rawInput": "{\"path\":\"a\"}" }), true),
            (
                json!({ "locations": ["a"], "rawInput": "{\"path\":\"a\",\n… 5 more bytes are not shown" }),
                false,
            ),
            (diff("/people/ada/src/shop/a"), true),
            (diff("/people/ada/.bashrc"), false),
            (json!({ "patch": "--- a" }), false),
            (with(diff("a"), &json!({ "patch": "--- a" })), true),
        ] {
            assert_eq!(done(&read(), &about(subject.clone())) == ONCE, is_allowed, "{subject}");
        }
        let nowhere = with(about(json!({ "locations": ["a"] })), &json!({ "project": null }));
        assert_eq!(done(&read(), &nowhere), "it is about a, which is not in its project");
    }

    #[test]
    fn an_option_counts_by_its_role_and_not_by_its_name() {
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
            let field = json!({ "name": "option", "label": "?", "kind": "choice", "required": true, "options": options });
            assert_eq!(done(&tests(), &with(runs(), &json!({ "fields": [field] }))), expected);
            for option in &options {
                let chosen = done(
                    &answer(option["label"].as_str().expect("a label")),
                    &with(runs(), &json!({ "fields": [field] })),
                );
                let is_once = option["role"] == "allow_once"
                    && options.iter().filter(|other| other["value"] == option["value"]).count() == 1;
                assert_eq!(chosen.starts_with('{'), is_once, "{option}: {chosen}");
            }
        }
        let flag =
            with(runs(), &json!({ "fields": [{ "name": "ok", "label": "Allow?", "kind": "boolean" }] }));
        assert_eq!(
            done(
                &json!({ "command": "cargo test *", "dangerous": true, "then": "answer", "answer": true }),
                &flag
            ),
            "the effect of that option is unknown"
        );
    }

    const ATTACKS: [&str; 60] = [
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
        "PATH=/opt cargo test",
        "env cargo test",
        "sudo cargo test",
        "bash -c 'cargo test'",
        "sh -c cargo\\ test",
        "eval cargo test",
        "command cargo test",
        "\\cargo test",
        "./cargo test",
        "/opt/cargo test",
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
    ];

    #[test]
    fn an_attack_on_a_command_is_left_to_the_person() {
        let rules = [
            json!({ "command": "cargo test *", "dangerous": true, "then": "allow" }),
            json!({ "command": "cargo *", "dangerous": true, "then": "allow", "tool": "execute" }),
            json!({ "command": "cargo t*", "dangerous": true, "then": "answer", "answer": "allow once" }),
            json!({ "command": ["cargo", "test"], "dangerous": true, "then": "allow" }),
        ];
        for command in ATTACKS {
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

    #[test]
    fn examples_of_answers() {
        let two = json!({ "fields": [choice("a", true), choice("b", true)] });
        let optional = json!({ "fields": [choice("a", true), choice("b", false)] });
        let many = json!({ "fields": [with(choice("q0", true), &json!({ "kind": "choices", "max": 1 }))] });
        let text = json!({ "fields": [{ "name": "why", "label": "Why?", "kind": "text", "required": true, "minLength": 3 }] });
        let secret =
            json!({ "fields": [{ "name": "key", "label": "Key?", "kind": "text", "secret": true }] });
        let confirm = json!({ "fields": [{ "name": "ok", "label": "Go?", "kind": "confirm", "yes": "Go", "no": "Stay" }] });
        let number = json!({ "fields": [{ "name": "n", "label": "N?", "kind": "number", "integer": true, "max": 9 }] });
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
            (
                json!({ "a": "SQLite" }),
                two.clone(),
                r#"it needs the field "b", which the rule does not name"#,
            ),
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
            (json!("x"), of_next_year, r#"its field "d" is of a kind that this version does not know"#),
            (json!("no"), twins, r#"its field "q0" has several options "no""#),
        ] {
            let members = json!({ "agent": "Codex", "then": "answer", "answer": answer });
            assert_eq!(done(&members, &question), expected, "{answer}");
        }
    }
}
