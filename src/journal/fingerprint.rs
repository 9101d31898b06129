//! Which questions are the same: the fingerprint of what is asked, by which agent, in which session. Pure.
//!
//! It is made of the origin, the name of the agent, the folder of the project, the session, the purpose, the title and the
//! text, and of each field its name, kind, label, whether it is required, and the values and labels of its options. It is
//! not made of IDs, times, the tool call, and descriptions: an agent that asks again after a crash makes new ones.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::chain::Hash;
use crate::question::{Field, Kind, Question};

/// Returns the fingerprint of a question. One without a session has none: nothing says that the same agent asks again.
pub(super) fn of(question: &Question) -> Option<Hash> {
    let Question { session, agent, project, title, message, fields, purpose, origin, .. } = question;
    let session = session.as_deref()?;
    let fields: Vec<_> = fields.iter().map(field).collect();
    // A list has one order, whatever a map of JSON does.
    let canonical =
        json!([origin.name(), agent, project, session, purpose.name(), title, message, fields]).to_string();
    Some(Sha256::digest(canonical.as_bytes()).into())
}

fn field(field: &Field) -> Value {
    let Field { name, label, required, kind, .. } = field;
    let options: Vec<_> = match kind {
        Kind::Confirm { yes, no } => vec![json!(["yes", yes]), json!(["no", no])],
        kind => kind.options().iter().map(|option| json!([option.value, option.label])).collect(),
    };
    json!([name, kind_name(kind), label, required, options])
}

fn kind_name(kind: &Kind) -> &str {
    match kind {
        Kind::Text { .. } => "text",
        Kind::Choice { .. } => "choice",
        Kind::Choices { .. } => "choices",
        Kind::Boolean { .. } => "boolean",
        Kind::Number { .. } => "number",
        Kind::Confirm { .. } => "confirm",
        Kind::Unknown(members) => members.get("kind").and_then(Value::as_str).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Value {
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

    fn changed(pointer: &str, value: Value) -> Option<Hash> {
        let mut json = base();
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
        json.pointer_mut(parent).expect("a parent")[name] = value;
        of(&serde_json::from_value(json).expect("a question"))
    }

    #[test]
    fn same_question_has_the_same_fingerprint_whatever_its_ids_times_and_descriptions() {
        let base = of(&serde_json::from_value(base()).expect("a question"));
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
        let mut seen = vec![of(&serde_json::from_value(base()).expect("a question"))];
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
}
