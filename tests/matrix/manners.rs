//! Clients that reply without a person, in the manners of released ones (docs/mocks.md says which): none of them answers
//! a question, for any agent and in any way to ask. The results are a table of `docs/questions.md`, which
//! `UPDATE=1 cargo test --test suites matrix::` writes.

use std::fmt::Write;

use askbridge_core::engine::UnansweredReason;
use serde_json::{Value, json};

use crate::matrix::agents::Agent;
use crate::matrix::cells::{cases, write_table};
use crate::matrix::clients::{Client, Reply, Wish};
use crate::matrix::field::Heard;
use crate::matrix::permissions::decided_by;
use crate::matrix::world::World;

/// A manner of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    DeclinesAtOnce,
    CancelsAtOnce,
    ApprovesFirst,
    Errors,
    AnswersNull,
    AnswersObject,
    NeverReplies,
    LabelsByKind,
    OneIdOnce,
    MalformedOutcome,
}

/// What a client declares to show, beside permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    Nothing,
    Forms,
    Native,
}

impl Shows {
    const ALL: [Shows; 3] = [Shows::Nothing, Shows::Forms, Shows::Native];
}

impl Manner {
    pub(crate) const ALL: [Manner; 10] = [
        Manner::DeclinesAtOnce,
        Manner::CancelsAtOnce,
        Manner::ApprovesFirst,
        Manner::Errors,
        Manner::AnswersNull,
        Manner::AnswersObject,
        Manner::NeverReplies,
        Manner::LabelsByKind,
        Manner::OneIdOnce,
        Manner::MalformedOutcome,
    ];

    /// Returns its name, as that of the mock client.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Manner::DeclinesAtOnce => "declines-at-once",
            Manner::CancelsAtOnce => "cancels-at-once",
            Manner::ApprovesFirst => "approves-first",
            Manner::Errors => "errors",
            Manner::AnswersNull => "answers-null",
            Manner::AnswersObject => "answers-object",
            Manner::NeverReplies => "never-replies",
            Manner::LabelsByKind => "labels-by-kind",
            Manner::OneIdOnce => "one-id-once",
            Manner::MalformedOutcome => "malformed-outcome",
        }
    }

    /// Returns the reply to a request.
    pub(crate) fn reply(self, method: &str, params: &Value) -> Reply {
        let is_prompt = method == "session/request_permission";
        let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
        let take = |kind: &str| {
            let options = params["options"].as_array().expect("options");
            let of_kind = |option: &&Value| option["kind"].as_str().is_some_and(|it| it.starts_with(kind));
            let taken = match self {
                Manner::LabelsByKind => options.iter().rfind(of_kind),
                _ => options.iter().find(of_kind),
            };
            taken.map_or(Reply::Nothing, |option| {
                Reply::Result(json!({ "outcome": { "outcome": "selected", "optionId": option["optionId"] } }))
            })
        };
        match (self, is_prompt) {
            (Manner::DeclinesAtOnce, true) => take("reject"),
            (Manner::DeclinesAtOnce, false) if method == "elicitation/create" => {
                Reply::Result(json!({ "action": "decline" }))
            }
            (Manner::DeclinesAtOnce, false) => Reply::Result(json!({ "status": "rejected" })),
            (Manner::CancelsAtOnce, true) => Reply::Result(cancelled),
            (Manner::CancelsAtOnce, false) if method == "elicitation/create" => {
                Reply::Result(json!({ "action": "cancel" }))
            }
            (Manner::CancelsAtOnce, false) => Reply::Result(json!({ "outcome": "cancelled" })),
            (Manner::ApprovesFirst | Manner::LabelsByKind, true) => take("allow_once"),
            (Manner::Errors, _) => Reply::Error(-32603),
            (Manner::AnswersNull, _) => Reply::Result(Value::Null),
            (Manner::AnswersObject, true) => Reply::Result(json!({})),
            (Manner::AnswersObject, false) => Reply::Result(cancelled),
            (Manner::NeverReplies, _) | (Manner::MalformedOutcome, false) => Reply::Nothing,
            (Manner::MalformedOutcome, true) => Reply::Result(json!({ "outcome": "allow_once" })),
            (Manner::ApprovesFirst | Manner::LabelsByKind | Manner::OneIdOnce, _) => Reply::Unknown,
        }
    }
}

/// Plays all questions of all agents. Returns in which ways the client was asked, and what came of it.
fn asked(manner: Manner, shows: Shows) -> String {
    let client = Client::Mannered(manner, shows);
    let mut ends: Vec<String> = Vec::new();
    for agent in Agent::ALL {
        for case in cases(agent) {
            let mut world = World::new(agent, client, &case.fields, Wish::Answer(case.given.clone()));
            let said = format!("{agent:?} before {client:?}: {}", case.name);
            match world.heard() {
                Some(heard) => {
                    assert_eq!(manner, Manner::OneIdOnce, "{said}");
                    assert_eq!(heard, Heard::Given(case.given), "{said}");
                }
                None => assert!(world.is_open(), "{said}"),
            }
            if matches!(manner, Manner::DeclinesAtOnce | Manner::CancelsAtOnce) {
                let by_itself = |why: &UnansweredReason| matches!(why, UnansweredReason::ByItself(_));
                assert!(world.unanswered.iter().any(by_itself), "{said}: {:?}", world.unanswered);
            }
            let mut ways: Vec<_> = world.ways.iter().map(|method| way(method)).collect();
            ways.dedup();
            let end = if world.heard().is_some() { "answered" } else { "stays open" };
            let ways = if ways.is_empty() { "not asked".to_owned() } else { ways.join(", then ") };
            let end = format!("{ways}: {end}");
            if !ends.contains(&end) {
                ends.push(end);
            }
            world.end();
        }
    }
    ends.join("; or ")
}

fn way(method: &str) -> &'static str {
    match method {
        "session/request_permission" => "prompts",
        "elicitation/create" => "a form",
        "_sandboxagent/session/request_question" => "the native request",
        other => panic!("it is asked {other}"),
    }
}

fn table() -> String {
    let mut text = String::from(
        "| manner | with prompts only | with forms | with the native request | a permission |\n| --- | --- | --- | --- | --- |",
    );
    for manner in Manner::ALL {
        write!(text, "\n| `{}` |", manner.name()).expect("a string");
        for shows in Shows::ALL {
            write!(text, " {} |", asked(manner, shows)).expect("a string");
        }
        write!(text, " {} |", decided_by(manner)).expect("a string");
    }
    text
}

#[test]
fn a_client_without_a_person_answers_no_question() {
    write_table("what comes of each manner", &table());
}
