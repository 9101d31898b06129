//! The stored form of a question, and the fingerprint that recognizes the same question. Pure. Values of secret fields
//! are never stored, texts only if the settings allow it, and what led to a question only if they ask for it.
//!
//! A fingerprint covers the origin, the agent's name, the project's folder, the session, the purpose, the title and the
//! text, and of each field its name, kind, label, whether it is required, and the values and labels of its options.
//! IDs, times, the tool call and descriptions differ when an agent asks again after a crash, so they are left out. An
//! equal fingerprint is enough to offer an earlier answer; to give one unasked, all that the user saw must be equal.

use std::{collections::BTreeMap, sync::Arc};

use askbridge_core::{
    desk::{Record, Settlement, Timestamp},
    question::{Answer, Context, Field, FieldOption, Kind, Outcome, Question, Subject, Value},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};

use super::chain::Hash;

/// A question in the form that is written to the journal.
#[derive(Clone, Debug)]
pub(super) struct StoredQuestion {
    /// The record without the parts that must not be stored.
    pub(super) record: Record,
    /// The same record as JSON.
    pub(super) json: String,
    /// Recognizes the question when it is asked again. `None` if texts are not stored, since a fingerprint would
    /// confirm a guess at them.
    pub(super) fingerprint: Option<Hash>,
    /// Whether its answer may be used again. It may if the answer is stored whole, with no secret or text left out.
    pub(super) is_usable: bool,
    /// Whether its texts are stored.
    pub(super) has_texts: bool,
}

impl StoredQuestion {
    /// Returns the stored form of a record, with or without its texts.
    pub(super) fn new(record: &Record, texts: bool) -> Result<Self, serde_json::Error> {
        let original = &record.question;
        let has_secrets = original.fields.iter().any(|field| field.secret);
        // The journal has no secrets, so it could give only a part of such an answer again.
        let is_usable = texts && !has_secrets;
        let fingerprint = if texts { fingerprint_of(original) } else { None };
        let mut record = record.clone();
        record = record.after(None);
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

    /// Adds what led to the question. It stands beside the members of the record, which have no such member: whoever reads
    /// a record does not have it.
    pub(super) fn after(mut self, context: &Context) -> Result<Self, serde_json::Error> {
        #[derive(Serialize)]
        struct RecordAfter<'a> {
            #[serde(flatten)]
            record: &'a Record,
            context: &'a Context,
        }
        self.json = serde_json::to_string(&RecordAfter { record: &self.record, context })?;
        Ok(self)
    }
}

/// A decision that its asker may not have received.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AcceptedDecision {
    #[serde(flatten)]
    pub(super) settlement: Settlement,
    /// Whether the decision waits, and nothing of it was written to the asker. Without this mark it may have arrived,
    /// since its delivery begins as soon as it is accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) waits: bool,
}

/// Returns the stored form of a decision about a question.
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
    let has_secret = question.fields.iter().any(|field| field.secret);
    settlement.value = settlement.value.filter(|_| texts && !has_secret);
    if let Some(grant) = settlement.grant.as_mut().filter(|_| !texts) {
        grant.arguments = None;
    }
    settlement
}

/// Removes the default values of secret fields.
fn without_defaults(question: &Question) -> Question {
    let mut question = question.clone();
    // An agent may offer the current secret as the default, and a program's schema has it at any depth.
    question.schema = question.schema.filter(|_| question.fields.iter().all(|field| !field.secret));
    for field in question.fields.iter_mut().filter(|field| field.secret) {
        match &mut field.kind {
            Kind::Text { default, .. } | Kind::Choice { default, .. } => *default = None,
            Kind::Choices { default, .. } => default.clear(),
            Kind::Boolean { default } => *default = None,
            Kind::Number { default, .. } => *default = None,
            Kind::Texts { default, .. } => default.clear(),
            // A schema may have a default at any depth.
            Kind::Json { schema } => *schema = Json::Object(Map::new()),
            Kind::Confirm { .. } => {}
            // A kind of a later version may have its default under any name.
            Kind::Unknown(members) => members.retain(|name, _| name == "kind"),
        }
    }
    question
}

/// Returns the question with only its IDs, times, agent, project, purpose, the kind of the tool, and the roles of
/// options.
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
    // The value of an option may be its text, so its position replaces it.
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
            let (min, max, exclusive_min, exclusive_max) = (None, None, None, None);
            let (integer, step, default) = (*integer, None, None);
            Kind::Number { integer, min, max, exclusive_min, exclusive_max, step, default }
        }
        Kind::Confirm { .. } => Kind::Confirm { yes: String::new(), no: String::new() },
        Kind::Text { .. } | Kind::Texts { .. } | Kind::Json { .. } | Kind::Unknown(_) => Kind::free_text(),
    }
}

/// Returns the chosen options that have a role, by their positions. So the journal says what was allowed, without a
/// text.
fn roles_of(answer: &Answer, question: &Question) -> Answer {
    let chosen = question.fields.iter().enumerate().filter(|(_, field)| !field.secret);
    let chosen = chosen.filter_map(|(place, field)| {
        let Value::Text(value) = answer.values.get(&field.name)? else { return None };
        let options = field.kind.options();
        let option = options.iter().position(|option| option.value == *value && option.role.is_some())?;
        // `without_texts` gives the fields these names, and the options these values.
        Some((format!("q{place}"), Value::Text(option.to_string())))
    });
    Answer { values: chosen.collect(), ..Answer::default() }
}

/// Returns a time as it stands in a column: milliseconds since 1970.
pub(super) fn millis(time: Timestamp) -> i64 {
    i64::try_from(time.since(Timestamp::default()).as_millis()).unwrap_or(i64::MAX)
}

/// Returns the fingerprint of a question. A question without a session has none, since nothing shows that the same
/// agent asks again.
pub(super) fn fingerprint_of(question: &Question) -> Option<Hash> {
    let Question { session, agent, project, title, message, fields, purpose, origin, .. } = question;
    let session = session.as_deref()?;
    let fields: Vec<_> = fields.iter().map(fingerprint_field).collect();
    // The JSON is an array, since the order of members in an object depends on how `serde_json` is built.
    let canonical =
        json!([origin.name(), agent, project, session, purpose.name(), title, message, fields]).to_string();
    Some(Sha256::digest(canonical.as_bytes()).into())
}

fn fingerprint_field(field: &Field) -> Json {
    let Field { name, label, required, kind, .. } = field;
    let options: Vec<_> = match kind {
        Kind::Confirm { yes, no } => vec![json!(["yes", yes]), json!(["no", no])],
        // As in `canonical`, the order of members must not count.
        Kind::Json { schema } => vec![json!(sorted(schema))],
        kind => kind.options().iter().map(|option| json!([option.value, option.label])).collect(),
    };
    json!([name, kind_name(kind), label, required, options])
}

/// Returns JSON as a text in which the members of each object are in the order of their names.
fn sorted(json: &Json) -> String {
    match json {
        Json::Object(members) => {
            let members: BTreeMap<_, _> = members.iter().map(|(name, value)| (name, sorted(value))).collect();
            format!("{members:?}")
        }
        Json::Array(entries) => format!("{:?}", entries.iter().map(sorted).collect::<Vec<_>>()),
        json => json.to_string(),
    }
}

/// The members of a question that its user does not see: IDs, and how long the agent waits.
const UNSEEN: [&str; 4] = ["questionId", "requestId", "toolCallId", "timeoutMs"];

/// Returns whether two questions are the same in all that their user saw. Every member counts except for those in
/// [`UNSEEN`], so a new member counts without a change here.
pub(super) fn are_seen_alike(one: &Question, other: &Question) -> bool {
    match (seen(one), seen(other)) {
        (Ok(one), Ok(other)) => one == other,
        // A question that cannot be serialized cannot be compared.
        _ => false,
    }
}

fn seen(question: &Question) -> Result<Json, serde_json::Error> {
    let mut json = serde_json::to_value(question)?;
    if let Some(members) = json.as_object_mut() {
        members.retain(|name, _| !UNSEEN.contains(&name.as_str()));
    }
    Ok(json)
}

fn kind_name(kind: &Kind) -> &str {
    match kind {
        Kind::Text { .. } => "text",
        Kind::Choice { .. } => "choice",
        Kind::Choices { .. } => "choices",
        Kind::Boolean { .. } => "boolean",
        Kind::Number { .. } => "number",
        Kind::Confirm { .. } => "confirm",
        Kind::Texts { .. } => "texts",
        Kind::Json { .. } => "json",
        Kind::Unknown(members) => members.get("kind").and_then(Json::as_str).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use askbridge_core::question::{Provenance, Reason};
    use serde_json::{Value as Json, json};

    use super::*;

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

    fn base() -> Json {
        json!({
            "sessionId": "s", "agent": "a", "project": "/p", "questionId": "q", "title": "T", "message": "Why?",
            "purpose": "question", "origin": "elicitation", "dangerous": false, "blocking": true,
            "fields": [
                { "name": "f", "label": "F", "required": true, "kind": "choice",
                  "options": [{ "value": "1", "label": "One" }, { "value": "2", "label": "Two" }] },
                { "name": "g", "label": "G", "kind": "text" },
                { "name": "h", "label": "H", "kind": "confirm", "yes": "Go", "no": "Stop" },
            ],
        })
    }

    fn changed(pointer: &str, value: Json) -> Option<Hash> {
        let mut json = base();
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
        json.pointer_mut(parent).expect("a parent")[name] = value;
        fingerprint_of(&serde_json::from_value(json).expect("a question"))
    }

    #[test]
    fn same_question_has_the_same_fingerprint_whatever_its_ids_times_and_descriptions() {
        let base = fingerprint_of(&serde_json::from_value(base()).expect("a question"));
        assert!(base.is_some());
        for (pointer, value) in [
            ("/questionId", json!("other")),
            ("/requestId", json!("5")),
            ("/toolCallId", json!("call-2")),
            ("/timeoutMs", json!(5000)),
            ("/submit", json!("Send")),
            ("/dangerous", json!(true)),
            ("/blocking", json!(false)),
            ("/notes", json!(false)),
            ("/subject", json!({ "command": "ls" })),
            ("/fields/0/help", json!("More.")),
            ("/fields/0/header", json!("H")),
            ("/fields/0/default", json!("2")),
            ("/fields/0/options/0/description", json!("The first.")),
            ("/fields/1/placeholder", json!("...")),
        ] {
            assert_eq!(changed(pointer, value), base, "{pointer}");
        }
    }

    #[test]
    fn another_question_has_another_fingerprint() {
        let mut seen = vec![fingerprint_of(&serde_json::from_value(base()).expect("a question"))];
        for (pointer, value) in [
            ("/sessionId", json!("t")),
            ("/agent", json!("b")),
            ("/agent", json!(null)),
            ("/project", json!("/p/q")),
            ("/title", json!("U")),
            ("/title", json!(null)),
            ("/message", json!("Why not?")),
            ("/purpose", json!("permission")),
            ("/purpose", json!("confession")),
            ("/origin", json!("program")),
            ("/fields/0/name", json!("x")),
            ("/fields/0/label", json!("X")),
            ("/fields/0/required", json!(false)),
            ("/fields/0/kind", json!("choices")),
            ("/fields/0/options/0/value", json!("3")),
            ("/fields/0/options/0/label", json!("Uno")),
            ("/fields/0/options", json!([{ "value": "1", "label": "One" }])),
            (
                "/fields/0/options",
                json!([{ "value": "2", "label": "Two" }, { "value": "1", "label": "One" }]),
            ),
            ("/fields/1/kind", json!("boolean")),
            ("/fields/1/kind", json!("number")),
            ("/fields/1/kind", json!("drawing")),
            ("/fields/2/yes", json!("Come")),
            ("/fields", json!([])),
        ] {
            let fingerprint = changed(pointer, value);
            assert!(!seen.contains(&fingerprint), "{pointer}");
            seen.push(fingerprint);
        }
    }

    #[test]
    fn question_without_a_session_has_no_fingerprint() {
        assert_eq!(changed("/sessionId", json!(null)), None);
    }

    /// Returns a question that has every member that a question can have.
    fn whole() -> Json {
        let subject = json!({
                "kind": "execute", "title": "T", "description": "D", "command": "ls", "folder": "/p",
                "locations": ["a.rs:1"], "patch": "P", "content": "C", "plan": "Do", "rawInput": "{}", "unclear": "Its files.",
                "inputSaysMore": true, "environment": "E", "further": ["x: 1"], "grants": ["The network"], "planFile": "/p/plan.md",
                "diffs": [{ "path": "a.rs", "old": "1", "new": "2", "line": 3, "replaces": true }],
        });
        json!({
            "sessionId": "s", "agent": "a", "project": "/p", "requestId": "5", "questionId": "q", "title": "T",
            "message": "Why?", "submit": "Send", "toolCallId": "c", "purpose": "question", "origin": "elicitation",
            "dangerous": true, "risk": "acts", "riskReason": "It runs.", "confirm": true, "blocking": true, "timeoutMs": 5000, "notes": false,
            "action": { "digest": "sha256:00", "request": { "tool": "t" }, "grantMs": 5000 },
            "schema": { "type": "object" },
            "links": [{ "url": "https://a.example/", "host": "a.example" }],
            "images": [{ "type": "image/png", "bytes": 9, "width": 3, "height": 2, "digest": "sha256:00", "description": "D" }],
            "unshown": ["1 image is not shown."],
            "subject": subject,
            "fields": fields(),
            "riskOfKind": true, "takesImages": true,
        })
    }

    /// A field of each kind, with all members.
    fn fields() -> Vec<Json> {
        let preview = json!({ "text": "Sample", "format": "markdown" });
        let option = json!({ "value": "1", "label": "One", "description": "First", "preview": preview, "role": "allow_once", "grants": ["More"], "dangerous": true });
        let options = json!([option, { "value": "2", "label": "Two" }]);
        let field = |name: &str, kind: Json| {
            let mut field = json!({
                "name": name, "label": "L", "header": "H", "help": "More", "required": true, "secret": true,
                "nullable": true, "requiredWith": "g.",
            });
            field.as_object_mut().expect("members").extend(kind.as_object().expect("members").clone());
            field
        };
        vec![
            field(
                "text",
                json!({
                    "kind": "text", "multiline": true, "minLength": 1, "maxLength": 9, "pattern": ".", "format": "uri",
                    "placeholder": "P", "default": "D",
                }),
            ),
            field("choice", json!({ "kind": "choice", "options": options, "other": true, "default": "1" })),
            field(
                "choices",
                json!({
                    "kind": "choices", "options": options, "other": true, "min": 1, "max": 2, "default": ["1"],
                }),
            ),
            field("boolean", json!({ "kind": "boolean", "default": true })),
            field(
                "number",
                json!({
                    "kind": "number", "integer": true, "min": 1.0, "max": 2.0, "exclusiveMin": 0.5, "exclusiveMax": 2.5,
                    "step": 1.0, "default": 1.0,
                }),
            ),
            field("confirm", json!({ "kind": "confirm", "yes": "Go", "no": "Stop" })),
            field(
                "texts",
                json!({
                    "kind": "texts", "min": 1, "max": 2, "unique": true, "minLength": 1, "maxLength": 9, "pattern": ".",
                    "format": "uri", "default": ["D"],
                }),
            ),
            field("json", json!({ "kind": "json", "schema": { "type": "object" } })),
        ]
    }

    /// Adds the paths of all that is neither an object nor a list.
    fn leaves(json: &Json, path: &str, found: &mut Vec<String>) {
        match json {
            Json::Object(members) => {
                members.iter().for_each(|(name, it)| leaves(it, &format!("{path}/{name}"), found))
            }
            Json::Array(items) => (0..)
                .zip(items)
                .for_each(|(place, it): (usize, _)| leaves(it, &format!("{path}/{place}"), found)),
            _ => found.push(path.to_owned()),
        }
    }

    fn other(value: &Json) -> Json {
        match value {
            Json::Bool(is_so) => json!(!is_so),
            Json::Number(number) if number.is_f64() => json!(number.as_f64().map(|number| number + 1.0)),
            Json::Number(number) => json!(number.as_u64().map(|number| number + 1)),
            Json::String(text) => json!(format!("{text}x")),
            other => panic!("{other} is not expected in a question"),
        }
    }

    fn read(json: &Json) -> Question {
        serde_json::from_value(json.clone()).unwrap_or_else(|error| panic!("{error}: {json}"))
    }

    #[test]
    fn each_member_that_the_person_sees_makes_another_question_of_it() {
        let whole = whole();
        let base = read(&whole);
        assert_eq!(serde_json::to_value(&base).expect("JSON"), whole, "nothing of it is unknown");
        assert!(are_seen_alike(&base, &base.clone()));
        let mut paths = Vec::new();
        leaves(&whole, "", &mut paths);
        assert!(paths.len() > 80, "{paths:?}");
        for path in &paths {
            let mut changed = whole.clone();
            let leaf = changed.pointer_mut(path).expect("a leaf");
            *leaf = other(leaf);
            let is_unseen =
                ["/questionId", "/requestId", "/toolCallId", "/timeoutMs"].contains(&path.as_str());
            assert_eq!(are_seen_alike(&base, &read(&changed)), is_unseen, "{path}");
        }
        // A question without a part, or with its parts in another order, is another question.
        for path in ["/title", "/subject", "/submit", "/fields/0/help", "/fields/1/options/0/preview"] {
            let mut less = whole.clone();
            let (parent, name) = path.rsplit_once('/').expect("a path");
            less.pointer_mut(parent).and_then(Json::as_object_mut).expect("members").remove(name);
            assert!(!are_seen_alike(&base, &read(&less)), "{path}");
        }
        let mut turned = whole.clone();
        turned["fields"][1]["options"].as_array_mut().expect("options").reverse();
        assert!(!are_seen_alike(&base, &read(&turned)));
    }

    /// A member that is new in the schema must be tried above.
    #[test]
    fn the_members_that_are_tried_are_those_of_the_schema() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/question.schema.json");
        let schema = std::fs::read_to_string(file).expect("a file");
        let schema: Json = serde_json::from_str(&schema).expect("a schema");
        let whole = whole();
        let names = |json: &Json, path: &str| -> Vec<String> {
            let members = json.pointer(path).and_then(Json::as_object).unwrap_or_else(|| panic!("{path}"));
            members.keys().cloned().collect()
        };
        let mut places: Vec<_> = [
            ("", vec![""]),
            ("/subject", vec!["/$defs/Subject"]),
            ("/action", vec!["/$defs/Action"]),
            ("/links/0", vec!["/$defs/Link"]),
            ("/images/0", vec!["/$defs/Image"]),
            ("/subject/diffs/0", vec!["/$defs/Diff"]),
            ("/fields/1/options/0", vec!["/$defs/FieldOption"]),
            ("/fields/1/options/0/preview", vec!["/$defs/Preview"]),
        ]
        .map(|(place, of)| (place.to_owned(), of.into_iter().map(str::to_owned).collect::<Vec<_>>()))
        .into();
        let kinds = (0..whole["fields"].as_array().expect("fields").len()).map(|kind| {
            (format!("/fields/{kind}"), vec!["/$defs/Field".to_owned(), format!("/$defs/Field/anyOf/{kind}")])
        });
        places.extend(kinds);
        for (place, definitions) in places {
            let defined = definitions.iter().flat_map(|it| names(&schema, &format!("{it}/properties")));
            let (mut defined, mut tried): (Vec<_>, _) = (defined.collect(), names(&whole, &place));
            // Only what is asked has the data of an image, and its digest stands for it.
            defined.retain(|name| name != "data");
            defined.sort();
            tried.sort();
            assert_eq!(tried, defined, "{place}");
        }
        // The one more is that of kinds that are not known.
        let known = schema.pointer("/$defs/Field/anyOf").and_then(Json::as_array).expect("kinds").len();
        assert_eq!(whole["fields"].as_array().map(Vec::len), Some(known - 1));
        let types = schema["$defs"].as_object().expect("types").iter();
        let with_members: Vec<_> =
            types.filter(|(_, it)| it.get("properties").is_some()).map(|(name, _)| name).collect();
        assert_eq!(
            with_members,
            ["Action", "Diff", "Field", "FieldOption", "Image", "Link", "Preview", "Subject"]
        );
    }
}
