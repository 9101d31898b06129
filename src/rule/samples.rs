//! Questions and rules for the tests of this room.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value as Json, json};

use super::{Rule, RuleEffect, decide, explain};
use crate::{
    desk::{Record, Submission, Timestamp},
    guard::{self, Files},
    question::Question,
};

/// A file system without links.
pub(super) struct NoLinks;

impl Files for NoLinks {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }
}

/// Returns the record of a question that has these members beside the usual ones.
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

/// Returns a rule of these members, whose name is `r` unless they say another.
pub(super) fn rule(members: &Json) -> Result<Rule, String> {
    let mut table: BTreeMap<String, Json> = [("name".to_owned(), json!("r"))].into();
    let members = members.as_object().expect("an object");
    table.extend(members.iter().map(|(name, value)| (name.clone(), value.clone())));
    let said = |mistakes: Vec<super::Mistake>| {
        mistakes.into_iter().map(|mistake| mistake.message).collect::<Vec<_>>().join("; ")
    };
    Rule::read(&table, Some(Path::new("/people/ada"))).map_err(said)
}

/// Returns what one rule does with a question: what is submitted in short, or why it does not apply.
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
        Some(RuleEffect::Submit(Submission::Answer(answer))) => {
            serde_json::to_string(&answer.values).expect("JSON")
        }
        Some(RuleEffect::Submit(other)) => panic!("{other:?}"),
        None => explained.passed[0].why.clone(),
    }
}

/// Returns an object with these members in the place of its own.
pub(super) fn with(mut value: Json, members: &Json) -> Json {
    for (name, member) in members.as_object().into_iter().flatten() {
        value[name] = member.clone();
    }
    value
}
