//! Which open permissions are like another one, so that a person may decide them together after all of them were shown: they
//! differ only in words of which it is known that they say what it works on. Pure.
//!
//! The rule that would be made of the one permission applies to each of them (`propose.rs`), and what a rule does not look at
//! is the same: who asks, where, with which options, and what it risks. Nothing dangerous is like anything (I12).

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use askbridge_core::{
    desk::{Record, State},
    guard::Files,
    question::{Field, Question, Role},
};

use super::{RuleEffect, decide, propose::Proposal};
use crate::limits;

/// Names as they are written. Where their links lead was looked at before the permission was shown, on the machine where it
/// was asked, and is in its risk.
struct AsWritten;

impl Files for AsWritten {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn has_other_names(&self, _: &Path) -> bool {
        false
    }
}

/// Returns the permissions of a list that are like this one, without itself, in their order: no more than a person reads.
pub fn like(record: &Record, open: &[Arc<Record>]) -> Vec<Arc<Record>> {
    if !waits(record) || record.question.risk().is_dangerous() {
        return Vec::new();
    }
    let Ok(proposal) = Proposal::of(record, &[], &AsWritten) else { return Vec::new() };
    let is_like = |other: &&Arc<Record>| {
        other.id != record.id
            && waits(other)
            && has_same(&record.question, &other.question)
            && matches!(
                decide(std::slice::from_ref(proposal.rule()), other, &AsWritten)
                    .map(|decision| decision.what),
                Some(RuleEffect::Submit(_))
            )
    };
    open.iter().filter(is_like).take(limits::LIKE).cloned().collect()
}

/// Returns whether a person can still decide it, and the agent still waits for that.
fn waits(record: &Record) -> bool {
    record.state == State::Open && !record.turn_over
}

/// Returns whether two permissions are the same in what no rule looks at.
fn has_same(one: &Question, other: &Question) -> bool {
    let roles = |question: &Question| -> Vec<Vec<Option<Role>>> {
        let of = |field: &Field| {
            field.kind.options().iter().map(|option| option.role.as_deref().copied()).collect()
        };
        question.fields.iter().map(of).collect()
    };
    one.purpose == other.purpose
        && one.origin == other.origin
        && one.agent == other.agent
        && one.project == other.project
        && one.risk() == other.risk()
        && one.confirm == other.confirm
        && one.links.is_empty()
        && other.links.is_empty()
        && one.images.is_empty()
        && other.images.is_empty()
        && circumstances(one) == circumstances(other)
        && roles(one) == roles(other)
}

/// Returns what kind of tool it is, and where it would run.
fn circumstances(question: &Question) -> Option<[Option<&str>; 3]> {
    let subject = question.subject.as_deref()?;
    Some([&subject.kind, &subject.folder, &subject.environment].map(Option::as_deref))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::rule::samples::{permission, record, with};

    fn is_like(one: &Json, other: &Json) -> bool {
        let [one, other] = [(one, "b-1"), (other, "b-2")]
            .map(|(question, id)| Arc::new(Record { id: id.parse().expect("an ID"), ..record(question) }));
        let open = [Arc::clone(&one), Arc::clone(&other)];
        let found = like(&one, &open);
        assert!(found.iter().all(|found| found.id == other.id), "it is not like itself");
        // Neither is more than the other.
        assert_eq!(
            found.len(),
            like(&other, &open).len(),
            "{} {}",
            one.question.summary(),
            other.question.summary()
        );
        !found.is_empty()
    }

    /// Most of these differ in one character.
    #[test]
    fn commands_that_only_differ_in_what_they_work_on_are_alike() {
        for (one, other, expected) in [
            ("cargo test a", "cargo test a", true),
            ("cargo test a", "cargo test b", true),
            ("cargo test a", "cargo test a b", true),
            ("cargo test a", "cargo test 'a'", true),
            ("cargo test", "cargo test -q", true),
            ("cargo test a", "cargo tests a", false),
            ("cargo test a", "Cargo test a", false),
            ("cargo test a", "xcargo test a", false),
            ("cargo test a", "./cargo test a", false),
            ("cargo test a", "cargo test a;", false),
            ("cargo test a", "cargo test a&", false),
            ("cargo test a", "cargo test >a", false),
            ("cargo test a", "cargo test a|b", false),
            ("cargo test a", "cargo test `a`", false),
            ("cargo test a", "cargo test $a", false),
            ("cargo test a", "cargo test *", false),
            ("cargo test a", "cargo test 'a", false),
            ("cargo test a", "cargo test a\\", false),
            ("cargo test a", "cargo test a\n", false),
            ("cargo test a", "cargo test a\u{200b}", false),
            ("cargo test a", "cargo test #a", false),
            ("cargo test a", "cargo test ~a", false),
            ("cargo test a", "cargo test /a", false),
            ("cargo test a", "cargo test ..", false),
            ("cargo test a", "A=1 cargo test a", false),
            ("cargo test a", "cargo test --config a", false),
            ("cargo test a", "cargo build a", false),
            ("cargo test a", "cargo run a", false),
            ("cargo run a", "cargo run a", true),
            ("cargo run a", "cargo run b", false),
            ("cargo run a", "cargo run  a", true),
            ("make a", "make b", false),
            ("make a", "make a", true),
            ("npm run a", "npm run b", false),
            ("python3 a.py", "python3 b.py", false),
            ("git diff a", "git diff b", true),
            ("git diff a", "git diff --ext-diff", false),
            ("git log a", "git log --output=a", false),
            ("git add a", "git add b", false),
            ("git status", "git stash", false),
            ("cat a", "cat b", true),
            ("cat a", "cat /b", false),
            ("ls", "ls -l", true),
            ("rg a", "rg b", true),
            ("rg a", "rg --pre b c", false),
            // What is dangerous is like nothing, not even itself.
            ("rm x", "rm x", false),
            ("rm x", "rm -rf x", false),
            ("git push", "git push", false),
            ("curl a.b | sh", "curl a.b | sh", false),
        ] {
            assert_eq!(is_like(&permission(one), &permission(other)), expected, "{one} / {other}");
        }
    }

    #[test]
    fn all_else_is_the_same() {
        let run = permission("cargo test a");
        let read =
            |path: &str| with(permission(""), &json!({ "subject": { "kind": "read", "locations": [path] } }));
        let subject =
            |members: Json| with(run.clone(), &json!({ "subject": with(run["subject"].clone(), &members) }));
        let fields = |count: usize| {
            let mut field = run["fields"][0].clone();
            field["options"].as_array_mut().expect("options").truncate(count);
            with(run.clone(), &json!({ "fields": [field] }))
        };
        for (other, expected) in [
            (with(run.clone(), &json!({ "sessionId": "s-9", "message": "Again?", "toolCallId": "t" })), true),
            (with(run.clone(), &json!({ "agent": "Codey" })), false),
            (with(run.clone(), &json!({ "agent": null })), false),
            (with(run.clone(), &json!({ "project": "/people/ada/src/shoq" })), false),
            (with(run.clone(), &json!({ "origin": "acp_permission" })), false),
            (with(run.clone(), &json!({ "purpose": "question" })), false),
            (with(run.clone(), &json!({ "dangerous": true })), false),
            (with(run.clone(), &json!({ "confirm": true })), false),
            (with(run.clone(), &json!({ "unshown": ["1 image is not shown"] })), false),
            (subject(json!({ "kind": "other" })), false),
            (subject(json!({ "folder": "/people/ada/src/shop/web" })), false),
            (subject(json!({ "environment": "prod" })), false),
            (subject(json!({ "grants": ["Hosts: a.b"] })), false),
            (subject(json!({ "rawInput": "{\"command\":\"cargo test a\",\"args\":[\"b\"]}" })), false),
            (fields(3), false),
            (fields(4), true),
            (read("a"), false),
        ] {
            assert_eq!(is_like(&run, &other), expected, "{other}");
        }
        assert!(is_like(&read("a"), &read("b")) && !is_like(&read("a"), &read("/b")));
    }

    #[test]
    fn what_is_over_is_like_nothing() {
        let open = Arc::new(record(&permission("cargo test a")));
        let other = |change: &dyn Fn(&mut Record)| {
            let mut other = Record { id: "b-2".parse().expect("an ID"), ..Record::clone(&open) };
            change(&mut other);
            !like(&open, &[Arc::new(other)]).is_empty()
        };
        assert!(other(&|_| {}));
        assert!(!other(&|record| record.turn_over = true));
        assert!(!other(&|record| record.state = State::Delivering));
        assert!(!other(&|record| record.state = State::Settled));
    }
}
