//! Texts that a responder chose or typed, turned into values of the type that each field has.
//! Whether the values fit the question is left to `check.rs`.

use std::collections::BTreeMap;

use serde_json::Number;

use super::{Answer, Kind, Question, Value};

/// The label of true.
pub const YES: &str = "Yes";
/// The label of false.
pub const NO: &str = "No";

/// Builds an answer from the chosen or typed texts of each field, in the order of the fields.
///
/// A label is turned into the value of its option. `None` and an empty list stand for a field without an answer, but
/// an empty list of multiple choices is a value. Texts beyond the last field are ignored.
pub fn answer_from_texts(
    question: &Question,
    selections: Vec<Option<Vec<String>>>,
    notes: BTreeMap<String, String>,
) -> Answer {
    let values = question.fields.iter().zip(selections).filter_map(|(field, selection)| {
        let texts = selection?.iter().map(|text| field.value_of(text).into_owned()).collect();
        Some((field.name.clone(), value_from_texts(&field.kind, texts)?))
    });
    Answer { values: values.collect(), notes }
}

/// Converts the texts of one field to a value of the field's type. Returns `None` if there is no text.
///
/// A text that does not have this type stays a text: whether that is an error is not decided here.
pub fn value_from_texts(kind: &Kind, mut texts: Vec<String>) -> Option<Value> {
    if matches!(kind, Kind::Choices { .. }) || texts.len() > 1 {
        return Some(Value::Many(texts));
    }
    let text = texts.pop()?;
    let value = match kind {
        Kind::Boolean { .. } if text == YES || text == NO => Some(Value::Flag(text == YES)),
        Kind::Boolean { .. } => text.parse().ok().map(Value::Flag),
        // A number keeps its spelling: `5.10` would be written as `5.1`, so it stays a text.
        Kind::Number { .. } => {
            let number = serde_json::from_str::<Number>(&text).ok();
            number.filter(|number| number.to_string() == text).map(Value::Number)
        }
        Kind::Confirm { yes, .. } if text == *yes => Some(Value::Flag(true)),
        Kind::Confirm { no, .. } if text == *no => Some(Value::Flag(false)),
        Kind::Confirm { .. } => text.parse().ok().map(Value::Flag),
        _ => None,
    };
    Some(value.unwrap_or(Value::Text(text)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::{Field, Origin};

    fn kind(json: serde_json::Value) -> Kind {
        serde_json::from_value(json).expect("a kind")
    }

    /// The value of these texts, as JSON.
    fn json_of(kind: &Kind, texts: &[&str]) -> serde_json::Value {
        let value = value_from_texts(kind, texts.iter().map(|text| (*text).to_owned()).collect());
        serde_json::to_value(value).expect("JSON")
    }

    #[test]
    fn text_gets_the_type_of_its_field() {
        let confirm = kind(json!({ "kind": "confirm", "yes": "Do it", "no": "Leave it" }));
        let (flag, number) = (kind(json!({ "kind": "boolean" })), kind(json!({ "kind": "number" })));
        for (kind, text, expected) in [
            (&flag, "Yes", json!(true)),
            (&flag, "No", json!(false)),
            (&flag, "false", json!(false)),
            (&flag, "yes", json!("yes")),
            (&confirm, "Do it", json!(true)),
            (&confirm, "Leave it", json!(false)),
            (&confirm, "true", json!(true)),
            (&confirm, "Yes", json!("Yes")),
            (&number, "-7", json!(-7)),
            (&number, "0.5", json!(0.5)),
            (&number, "5.10", json!("5.10")),
            (&number, "1e2", json!("1e2")),
            (&number, "many", json!("many")),
            (&Kind::free_text(), "7", json!("7")),
        ] {
            assert_eq!(json_of(kind, &[text]), expected, "{text:?} for {kind:?}");
        }
    }

    #[test]
    fn several_texts_are_a_list_and_no_text_is_no_value() {
        let choices = kind(json!({ "kind": "choices", "options": [{ "value": "a", "label": "A" }] }));
        assert_eq!(json_of(&choices, &[]), json!([]));
        assert_eq!(json_of(&choices, &["a"]), json!(["a"]));
        assert_eq!(json_of(&Kind::free_text(), &["a", "b"]), json!(["a", "b"]));
        assert_eq!(json_of(&Kind::free_text(), &[]), json!(null));
    }

    #[test]
    fn answer_has_values_for_labels_and_only_for_answered_fields() {
        let options = json!([{ "value": "a", "label": "A" }, { "value": "A", "label": "b" }]);
        let choice = kind(json!({ "kind": "choice", "options": options }));
        let field = |place| Field::at(place, "?".to_owned(), None, choice.clone());
        let question = Question::new(Origin::SandboxAgent, "q", (0..4).map(field).collect());
        let text = |text: &str| Some(vec![text.to_owned()]);
        let notes = BTreeMap::from([("q3".to_owned(), "later".to_owned())]);
        // The value `A` takes precedence over the label `A`.
        let selections = vec![text("b"), text("A"), None, Some(Vec::new()), text("beyond")];
        let answer = answer_from_texts(&question, selections, notes.clone());
        assert_eq!(serde_json::to_value(answer.values).expect("JSON"), json!({ "q0": "A", "q1": "A" }));
        assert_eq!(answer.notes, notes);
    }
}
