//! Converts between answers and the labels of options.

use std::borrow::Cow;

use askbridge_core::{
    desk::Record,
    question::{
        Answer, Field, FieldError, Kind, Outcome, Question, Value,
        input::{self, NO, YES},
        naming::{ambiguity, names, pair},
    },
};

/// Returns the labels of the choices, in their order. Each is unique: behind a label that the agent uses again stands what
/// tells its options apart.
pub(super) fn labels(kind: &Kind) -> Vec<Cow<'_, str>> {
    let labels: Vec<Cow<'_, str>> = match kind {
        Kind::Boolean { .. } => vec![YES.into(), NO.into()],
        Kind::Confirm { yes, no } => pair(yes, no).into(),
        kind => names(kind.options()),
    };
    let mut words: Vec<Cow<'_, str>> = Vec::new();
    for (index, label) in labels.iter().enumerate() {
        let before = labels[..index].iter().filter(|other| *other == label).count();
        let mut word = label.clone();
        let mut number = before + 1;
        // Such a label may collide with one of the agent's own, such as "a (2)".
        while before > 0 && (labels.contains(&word) || words.contains(&word)) {
            word = format!("{label} ({number})").into();
            number += 1;
        }
        words.push(word);
    }
    words
}

/// Returns the labels and texts of an answer, field by field; `None` if the question was not answered.
pub(super) fn chosen(record: &Record) -> Option<Vec<Vec<String>>> {
    let Outcome::Answered(answer) = &record.settlement.as_ref()?.outcome else { return None };
    let said = |field: &Field| answer.values.get(&field.name).map(|value| said(&field.kind, value));
    Some(record.question.fields.iter().map(|field| said(field).unwrap_or_default()).collect())
}

fn said(kind: &Kind, value: &Value) -> Vec<String> {
    let labels = labels(kind);
    let label = |place: usize| labels.get(place).map(|label| label.clone().into_owned());
    let word = |value: &String| {
        let place = kind.options().iter().position(|option| option.value == *value);
        place.and_then(label).unwrap_or_else(|| value.clone())
    };
    match value {
        Value::Text(value) => vec![word(value)],
        Value::Many(values) => values.iter().map(word).collect(),
        // The label for yes comes first.
        Value::Flag(flag) => vec![label(usize::from(!flag)).unwrap_or_else(|| flag.to_string())],
        Value::Number(number) => vec![number.to_string()],
        Value::Null => Vec::new(),
    }
}

/// Converts chosen labels or typed texts to an answer, field by field. A label takes precedence over a value: another
/// option may have the same text as its value, but people do not see values.
pub(super) fn answer(question: &Question, answers: Vec<Vec<String>>) -> Result<Answer, Vec<FieldError>> {
    input::check_places(question, answers.len())?;
    let (mut answer, mut errors) = (Answer::default(), Vec::new());
    for (field, words) in question.fields.iter().zip(answers) {
        if let Some(message) = words.iter().find_map(|word| ambiguity(field, word)) {
            errors.push(FieldError { field: field.name.clone(), message });
            continue;
        }
        match value(&field.kind, words) {
            Ok(value) => answer.values.extend(value.map(|value| (field.name.clone(), value))),
            Err(word) => {
                let message = format!("has no option {word:?}");
                errors.push(FieldError { field: field.name.clone(), message });
            }
        }
    }
    if errors.is_empty() { Ok(answer) } else { Err(errors) }
}

/// Converts labels or texts to the value of a field.
///
/// # Errors
/// Returns a text that is not a label of the field, if the field accepts no other text.
fn value(kind: &Kind, words: Vec<String>) -> Result<Option<Value>, String> {
    if words.is_empty() {
        return Ok(None);
    }
    let labels = labels(kind);
    let place = |word: &String| labels.iter().position(|label| *label == *word);
    if matches!(kind, Kind::Boolean { .. } | Kind::Confirm { .. }) {
        return match &words[..] {
            [word] => place(word).map(|place| Some(Value::Flag(place == 0))).ok_or_else(|| word.clone()),
            words => Err(words.join(", ")),
        };
    }
    let texts = words.into_iter().map(|word| match place(&word) {
        Some(place) => Ok(kind.options()[place].value.clone()),
        None if labels.is_empty() || kind.takes_other() => Ok(word),
        None => Err(word),
    });
    Ok(input::value_from_texts(kind, texts.collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(json: serde_json::Value) -> Kind {
        serde_json::from_value(json).unwrap()
    }

    fn options(labels: &[&str]) -> serde_json::Value {
        let option = |(index, label)| json!({ "value": format!("v{index}"), "label": label });
        labels.iter().enumerate().map(option).collect()
    }

    #[test]
    fn each_option_has_a_label_of_its_own() {
        for (said, told) in [
            (&["A", "B"][..], &["A", "B"][..]),
            (&["A", "A", "B", "A"], &["A (v0)", "A (v1)", "B", "A (v3)"]),
            (&["A", "A", "A (v1)"], &["A (v0)", "A (option 2)", "A (v1)"]),
            (&["", ""], &["v0", "v1"]),
        ] {
            let kind = kind(json!({ "kind": "choices", "options": options(said) }));
            assert_eq!(labels(&kind), told);
            for (index, word) in told.iter().enumerate() {
                let many = Value::Many(vec![format!("v{index}")]);
                assert_eq!(value(&kind, vec![(*word).to_owned()]), Ok(Some(many.clone())), "{word:?}");
                assert_eq!(super::said(&kind, &many), [*word]);
            }
        }
        let kind = kind(json!({ "kind": "confirm", "yes": "Go", "no": "Go" }));
        assert_eq!(labels(&kind), ["Go (yes)", "Go (no)"]);
        assert_eq!(value(&kind, vec!["Go (no)".to_owned()]), Ok(Some(Value::Flag(false))));
        assert_eq!(super::said(&kind, &Value::Flag(false)), ["Go (no)"]);
    }

    #[test]
    fn labels_go_before_values() {
        let crossed = json!([{ "value": "a", "label": "b" }, { "value": "b", "label": "a" }]);
        let one = |word: &str| vec![word.to_owned()];
        let text = |text: &str| Ok(Some(Value::Text(text.to_owned())));
        for other in [false, true] {
            let kind = kind(json!({ "kind": "choice", "options": crossed, "other": other }));
            assert_eq!((value(&kind, one("a")), value(&kind, one("b"))), (text("b"), text("a")));
            assert_eq!(value(&kind, one("c")), if other { text("c") } else { Err("c".to_owned()) });
        }
        let closed = kind(json!({ "kind": "choice", "options": options(&["A"]) }));
        assert_eq!(value(&closed, one("v0")), Err("v0".to_owned()), "values are not shown");
        assert_eq!(value(&closed, Vec::new()), Ok(None));
        let flag = kind(json!({ "kind": "boolean" }));
        assert_eq!(value(&flag, one("true")), Err("true".to_owned()));
        assert_eq!(value(&flag, vec!["Yes".to_owned(), "No".to_owned()]), Err("Yes, No".to_owned()));
    }
}
