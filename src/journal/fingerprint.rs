//! Which questions are the same: the fingerprint of what is asked, by which agent, in which session. Pure.
//!
//! It is made of the origin, the name of the agent, the folder of the project, the session, the purpose, the title and the
//! text, and of each field its name, kind, label, whether it is required, and the values and labels of its options. It is
//! not made of IDs, times, the tool call, and descriptions: an agent that asks again after a crash makes new ones. So it
//! says what may be offered. What is given by itself has to be the same in all that its person saw.

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::chain::Hash;
use crate::question::{Field, Kind, Question};

/// Returns the fingerprint of a question. One without a session has none: nothing says that the same agent asks again.
pub(super) fn fingerprint_of(question: &Question) -> Option<Hash> {
    let Question { session, agent, project, title, message, fields, purpose, origin, .. } = question;
    let session = session.as_deref()?;
    let fields: Vec<_> = fields.iter().map(fingerprint_field).collect();
    // A list has one order, whatever a map of JSON does.
    let canonical =
        json!([origin.name(), agent, project, session, purpose.name(), title, message, fields]).to_string();
    Some(Sha256::digest(canonical.as_bytes()).into())
}

fn fingerprint_field(field: &Field) -> Json {
    let Field { name, label, required, kind, .. } = field;
    let options: Vec<_> = match kind {
        Kind::Confirm { yes, no } => vec![json!(["yes", yes]), json!(["no", no])],
        kind => kind.options().iter().map(|option| json!([option.value, option.label])).collect(),
    };
    json!([name, kind_name(kind), label, required, options])
}

/// What stands in a question and says nothing to its person: IDs, and how long the agent waits.
const UNSEEN: [&str; 4] = ["questionId", "requestId", "toolCallId", "timeoutMs"];

/// Returns whether two questions are the same in all that their person saw. What a question has counts, unless it is known
/// to be unseen: a member that is new here counts by itself.
pub(super) fn are_seen_alike(one: &Question, other: &Question) -> bool {
    match (seen(one), seen(other)) {
        (Ok(one), Ok(other)) => one == other,
        // What cannot be written cannot be compared.
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
        Kind::Unknown(members) => members.get("kind").and_then(Json::as_str).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let preview = json!({ "text": "Sample", "format": "markdown" });
        let option = json!({ "value": "1", "label": "One", "description": "First", "preview": preview, "role": "allow_once" });
        let options = json!([option, { "value": "2", "label": "Two" }]);
        let field = |name: &str, kind: Json| {
            let mut field = json!({
                "name": name, "label": "L", "header": "H", "help": "More", "required": true, "secret": true,
            });
            field.as_object_mut().expect("members").extend(kind.as_object().expect("members").clone());
            field
        };
        json!({
            "sessionId": "s", "agent": "a", "project": "/p", "requestId": "5", "questionId": "q", "title": "T",
            "message": "Why?", "submit": "Send", "toolCallId": "c", "purpose": "question", "origin": "elicitation",
            "dangerous": true, "risk": "acts", "riskReason": "It runs.", "confirm": true, "blocking": true, "timeoutMs": 5000, "notes": false,
            "subject": {
                "kind": "execute", "title": "T", "description": "D", "command": "ls", "folder": "/p",
                "locations": ["a.rs:1"], "patch": "P", "content": "C", "plan": "Do", "rawInput": "{}", "unclear": "Its files.",
                "inputSaysMore": true,
                "diffs": [{ "path": "a.rs", "old": "1", "new": "2", "line": 3 }],
            },
            "fields": [
                field("text", json!({
                    "kind": "text", "multiline": true, "minLength": 1, "maxLength": 9, "pattern": ".", "format": "uri",
                    "placeholder": "P", "default": "D",
                })),
                field("choice", json!({ "kind": "choice", "options": options, "other": true, "default": "1" })),
                field("choices", json!({
                    "kind": "choices", "options": options, "other": true, "min": 1, "max": 2, "default": ["1"],
                })),
                field("boolean", json!({ "kind": "boolean", "default": true })),
                field("number", json!({
                    "kind": "number", "integer": true, "min": 1.0, "max": 2.0, "step": 1.0, "default": 1.0,
                })),
                field("confirm", json!({ "kind": "confirm", "yes": "Go", "no": "Stop" })),
            ],
        })
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
        // What is missing is another thing than what is there, and so is the order of what is there.
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

    /// A member that is new in the schema has to be tried above.
    #[test]
    fn the_members_that_are_tried_are_those_of_the_schema() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/question.schema.json");
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
        assert_eq!(with_members, ["Diff", "Field", "FieldOption", "Preview", "Subject"]);
    }
}
