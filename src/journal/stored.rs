//! What of a question is written: never the values of secret fields, and where texts are left out, none of them. Pure.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{chain::Hash, fingerprint};
use crate::{
    desk::{Record, Settlement, Timestamp},
    question::{Answer, Field, FieldOption, Kind, Outcome, Question, Subject, Value},
};

/// A question as it is written.
#[derive(Clone, Debug)]
pub(super) struct StoredQuestion {
    /// What is left of the record.
    pub(super) record: Record,
    /// The same as JSON.
    pub(super) json: String,
    /// Names the same question when it is asked again. Without texts there is none: a fingerprint confirms a guess.
    pub(super) fingerprint: Option<Hash>,
    /// Whether its answer may be used again: it is complete, as nothing of it is secret or left out.
    pub(super) is_usable: bool,
    /// Whether it has its texts.
    pub(super) has_texts: bool,
}

impl StoredQuestion {
    /// Returns what is written of a record, with or without its texts.
    pub(super) fn new(record: &Record, texts: bool) -> Result<Self, serde_json::Error> {
        let original = &record.question;
        let has_secrets = original.fields.iter().any(|field| field.secret);
        let is_usable = texts && !has_secrets;
        let fingerprint = if texts { fingerprint::fingerprint_of(original) } else { None };
        let mut record = record.clone();
        record.kept = record.kept.filter(|_| texts).map(|kept| kept.without_secrets(original));
        record.settlement = record.settlement.map(|given| Box::new(settlement(*given, original, texts)));
        if !texts {
            record.question = Arc::new(without_texts(original));
        } else if has_secrets {
            record.question = Arc::new(without_defaults(original));
        }
        let json = serde_json::to_string(&record)?;
        Ok(StoredQuestion { record, json, fingerprint, is_usable, has_texts: texts })
    }
}

/// A decision of which it is not known that its asker has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AcceptedDecision {
    #[serde(flatten)]
    pub(super) settlement: Settlement,
    /// Whether it waits, and nothing of it was given to the asker. A decision that does not say so may have arrived: it is
    /// on its way as soon as it is accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) waits: bool,
}

/// Returns what is written of a decision about a question.
pub(super) fn settlement(mut settlement: Settlement, question: &Question, texts: bool) -> Settlement {
    settlement.remark = settlement.remark.filter(|_| texts);
    settlement.outcome = match settlement.outcome {
        Outcome::Answered(answer) if texts => Outcome::Answered(answer.redacted(question)),
        Outcome::Answered(answer) => Outcome::Answered(roles_of(&answer, question)),
        Outcome::Unknown(members) if !texts => {
            Outcome::Unknown(members.into_iter().filter(|(name, _)| name == "status").collect())
        }
        outcome => outcome,
    };
    settlement
}

/// Leaves out what an agent filled in for secret fields.
fn without_defaults(question: &Question) -> Question {
    let mut question = question.clone();
    for field in question.fields.iter_mut().filter(|field| field.secret) {
        match &mut field.kind {
            Kind::Text { default, .. } | Kind::Choice { default, .. } => *default = None,
            Kind::Choices { default, .. } => default.clear(),
            Kind::Boolean { default } => *default = None,
            Kind::Number { default, .. } => *default = None,
            Kind::Confirm { .. } => {}
            Kind::Unknown(members) => members.retain(|name, _| name == "kind"),
        }
    }
    question
}

/// Returns the question with IDs, times, agent, project, purpose, the kind of the tool, and the roles of options alone.
fn without_texts(question: &Question) -> Question {
    let fields = (0..).zip(&question.fields).map(|(place, field)| Field {
        required: field.required,
        secret: field.secret,
        ..Field::at(place, String::new(), None, kind_without_texts(&field.kind))
    });
    let mut reduced = Question::new(question.origin, &question.id, fields.collect());
    reduced.session.clone_from(&question.session);
    reduced.agent.clone_from(&question.agent);
    reduced.project.clone_from(&question.project);
    reduced.request.clone_from(&question.request);
    reduced.tool_call.clone_from(&question.tool_call);
    reduced.purpose = question.purpose;
    let subject = question.subject.as_ref();
    reduced.subject =
        subject.map(|subject| Box::new(Subject { kind: subject.kind.clone(), ..Subject::default() }));
    (reduced.dangerous, reduced.blocking) = (question.dangerous, question.blocking);
    reduced.risk = question.risk;
    (reduced.timeout, reduced.notes) = (question.timeout, question.notes);
    reduced
}

fn kind_without_texts(kind: &Kind) -> Kind {
    // The value of an option may be its text, so its place stands for it.
    let option = |(place, option): (usize, &FieldOption)| FieldOption {
        value: place.to_string(),
        role: option.role.clone(),
        ..FieldOption::default()
    };
    let reduced = || kind.options().iter().enumerate().map(option).collect();
    match kind {
        Kind::Choice { other, .. } => Kind::Choice { options: reduced(), other: *other, default: None },
        Kind::Choices { other, .. } => {
            Kind::Choices { options: reduced(), other: *other, min: None, max: None, default: Vec::new() }
        }
        Kind::Boolean { .. } => Kind::Boolean { default: None },
        Kind::Number { integer, .. } => {
            Kind::Number { integer: *integer, min: None, max: None, step: None, default: None }
        }
        Kind::Confirm { .. } => Kind::Confirm { yes: String::new(), no: String::new() },
        Kind::Text { .. } | Kind::Unknown(_) => Kind::free_text(),
    }
}

/// Returns the chosen options that have a role, by their places: what was allowed stays known, and no text.
fn roles_of(answer: &Answer, question: &Question) -> Answer {
    let chosen = question.fields.iter().enumerate().filter(|(_, field)| !field.secret);
    let chosen = chosen.filter_map(|(place, field)| {
        let Value::Text(value) = answer.values.get(&field.name)? else { return None };
        let options = field.kind.options();
        let option = options.iter().position(|option| option.value == *value && option.role.is_some())?;
        Some((format!("q{place}"), Value::Text(option.to_string())))
    });
    Answer { values: chosen.collect(), notes: BTreeMap::new() }
}

/// Returns a time as it stands in a column: milliseconds since 1970.
pub(super) fn millis(time: Timestamp) -> i64 {
    i64::try_from(time.since(Timestamp::default()).as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::question::{Provenance, Reason};

    const TEXTS: [&str; 12] = [
        "TITLE", "MESSAGE", "LABEL", "HELP", "OPTION", "VALUE", "COMMAND", "ANSWER", "REMARK", "NOTE",
        "KEPT", "NAME",
    ];

    fn record(answer: Json) -> Record {
        serde_json::from_value(json!({
            "id": "b-1", "bridge": "b", "state": "settled", "openedAt": "2026-11-22T00:00:00.000Z",
            "question": {
                "sessionId": "session", "agent": "agent", "project": "/project", "questionId": "q",
                "title": "TITLE", "message": "MESSAGE", "purpose": "permission", "origin": "permission",
                "dangerous": true, "blocking": true, "submit": "LABEL", "toolCallId": "call",
                "subject": { "kind": "execute", "command": "COMMAND", "title": "TITLE" },
                "fields": [
                    { "name": "NAME", "label": "LABEL", "help": "HELP", "required": true, "kind": "choice",
                      "options": [
                        { "value": "VALUE 1", "label": "OPTION 1", "role": "allow_once" },
                        { "value": "VALUE 2", "label": "OPTION 2", "role": "reject_once" },
                      ] },
                    { "name": "NAME too", "label": "LABEL", "kind": "text", "default": "ANSWER" },
                    { "name": "secret", "label": "LABEL", "kind": "text", "secret": true, "default": "hunter2" },
                ],
            },
            "kept": { "values": { "NAME too": "KEPT", "secret": "hunter2" } },
            "settlement": {
                "outcome": { "status": "answered", "values": answer, "notes": { "NAME": "NOTE", "secret": "hunter2" } },
                "by": { "responder": "page", "name": "Ada" }, "at": "2026-11-22T00:00:01.000Z", "remark": "REMARK",
            },
        }))
        .expect("a record")
    }

    #[test]
    fn without_texts_roles_times_and_provenance_are_left() {
        let record = record(json!({ "NAME": "VALUE 2", "NAME too": "ANSWER", "secret": "hunter2" }));
        let stored = StoredQuestion::new(&record, false).expect("JSON");
        for text in TEXTS {
            assert!(!stored.json.contains(text), "{text} in {}", stored.json);
        }
        assert!(!stored.is_usable && stored.fingerprint.is_none() && !stored.has_texts);
        let json: Json = serde_json::from_str(&stored.json).expect("JSON");
        for (pointer, value) in [
            ("/id", json!("b-1")),
            ("/openedAt", json!("2026-11-22T00:00:00.000Z")),
            ("/question/sessionId", json!("session")),
            ("/question/agent", json!("agent")),
            ("/question/project", json!("/project")),
            ("/question/purpose", json!("permission")),
            ("/question/dangerous", json!(true)),
            ("/question/subject", json!({ "kind": "execute" })),
            ("/question/fields/0/options/1/role", json!("reject_once")),
            ("/settlement/outcome", json!({ "status": "answered", "values": { "q0": "1" } })),
            ("/settlement/by", json!({ "responder": "page", "name": "Ada" })),
            ("/settlement/at", json!("2026-11-22T00:00:01.000Z")),
        ] {
            assert_eq!(json.pointer(pointer), Some(&value), "{pointer}");
        }
    }

    #[test]
    fn secret_values_are_left_out_with_and_without_texts() {
        let record = record(json!({ "NAME": "VALUE 1", "secret": "hunter2" }));
        for texts in [true, false] {
            let stored = StoredQuestion::new(&record, texts).expect("JSON");
            assert!(!stored.json.contains("hunter2") && !stored.is_usable, "{}", stored.json);
            assert_eq!(stored.json.contains("VALUE 1"), texts);
        }
        let stored = StoredQuestion::new(&record, true).expect("JSON");
        for text in TEXTS {
            assert!(stored.json.contains(text), "{text} is kept");
        }
    }

    #[test]
    fn remark_of_a_rejection_is_a_text() {
        let record = record(json!({}));
        let rejected = Settlement {
            remark: Some("REMARK".to_owned()),
            ..Settlement::new(Outcome::Rejected(Reason::User), Provenance::bridge(), Timestamp::default())
        };
        assert_eq!(settlement(rejected.clone(), &record.question, true), rejected);
        assert_eq!(
            settlement(rejected.clone(), &record.question, false),
            Settlement { remark: None, ..rejected }
        );
    }
}
