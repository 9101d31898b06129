//! Why a field's kind could not be read: it is of another version, or one of ours and malformed.

use serde_json::{Map, Value as Json};

/// The kinds that this version knows, and what each requires.
const KNOWN_KINDS: [(&str, &[&str]); 6] = [
    ("text", &[]),
    ("choice", &["options"]),
    ("choices", &["options"]),
    ("boolean", &[]),
    ("number", &[]),
    ("confirm", &["yes", "no"]),
];

/// Returns what is wrong with a kind that could not be read, as a sentence whose subject is the field.
pub(super) fn describe_unknown_kind(members: &Map<String, Json>) -> String {
    let names = || KNOWN_KINDS.map(|(name, _)| name).join(", ");
    let kind = match members.get("kind") {
        None => return format!("has no `kind`, which must be one of {}", names()),
        Some(Json::String(kind)) => kind,
        Some(_) => return format!("has a `kind` that is not a text: it must be one of {}", names()),
    };
    let Some((_, required)) = KNOWN_KINDS.iter().find(|(name, _)| name == kind) else {
        return format!("has the kind {kind:?}, which is not known here: it must be one of {}", names());
    };
    match required.iter().find(|name| !members.contains_key(**name)) {
        Some(missing) => format!("is of kind {kind:?} and must have `{missing}`"),
        // Which member it is can only be told by reading it as that kind alone.
        None => format!("is of kind {kind:?}, and has a member of the wrong type"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::question::{Field, Kind, Origin, Question};

    fn read(members: serde_json::Value) -> Field {
        let mut json = json!({ "name": "f", "label": "F" });
        let members = members.as_object().expect("members").clone();
        json.as_object_mut().expect("an object").extend(members);
        serde_json::from_value(json).expect("a field")
    }

    #[test]
    fn a_question_with_a_kind_that_cannot_be_read_is_refused_with_the_reason() {
        for (members, reason) in [
            (json!({}), "has no `kind`, which must be one of text, choice, choices,"),
            (json!({ "kind": 5 }), "has a `kind` that is not a text"),
            (json!({ "kind": "drawing" }), "has the kind \"drawing\", which is not known here"),
            (json!({ "kind": "choice" }), "is of kind \"choice\" and must have `options`"),
            (json!({ "kind": "confirm", "yes": "y" }), "is of kind \"confirm\" and must have `no`"),
            (
                json!({ "kind": "text", "minLength": "x" }),
                "is of kind \"text\", and has a member of the wrong",
            ),
            (json!({ "kind": "choices", "options": [{}] }), "is of kind \"choices\", and has a member"),
        ] {
            let field = read(members.clone());
            assert!(matches!(field.kind, Kind::Unknown(_)), "{members}");
            let question = Question::new(Origin::Program, "q", vec![field]);
            let error = question.check_limits().expect_err("it cannot be asked");
            assert!(error.starts_with(&format!("field \"f\" {reason}")), "{error} for {members}");
        }
    }

    #[test]
    fn every_known_kind_is_described_as_one() {
        for (kind, _) in super::KNOWN_KINDS {
            let members = json!({
                "kind": kind, "options": [{ "value": "a", "label": "A" }], "yes": "y", "no": "n", "mood": 1,
            });
            assert!(!matches!(read(members).kind, Kind::Unknown(_)), "{kind}");
        }
    }

    #[test]
    fn a_field_of_an_unknown_kind_survives_a_round_trip() {
        let json = json!({
            "name": "f", "label": "F", "required": true, "kind": "drawing", "canvas": { "width": [1, null] },
        });
        let field: Field = serde_json::from_value(json.clone()).expect("a field");
        assert_eq!(serde_json::to_value(field).expect("JSON"), json);
    }
}
