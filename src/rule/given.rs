//! What a rule answers, and the answer that it is to one question. It chooses what it names and nothing else.

use std::collections::BTreeMap;

use crate::question::{Answer, Field, FieldOption, Kind, Question, Role, Value, check, typed};

/// The values that a rule names, as texts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NamedValues {
    /// For a question of a single field.
    Only(Vec<String>),
    /// By the names of the fields.
    Named(BTreeMap<String, Vec<String>>),
}

impl NamedValues {
    /// Returns the answer to a question.
    ///
    /// # Errors
    /// It does not fit: a sentence whose subject is the rule or the question.
    pub(super) fn to(&self, question: &Question) -> Result<Answer, String> {
        let named: Vec<(&Field, &[String])> = match self {
            NamedValues::Only(texts) => match &*question.fields {
                [field] => vec![(field, &**texts)],
                fields => {
                    return Err(format!("it has {} fields, and the rule does not say which", fields.len()));
                }
            },
            NamedValues::Named(named) => {
                let find = |name: &String| question.fields.iter().find(|field| field.name == *name);
                let named = named.iter().map(|(name, texts)| {
                    find(name)
                        .map(|field| (field, &**texts))
                        .ok_or_else(|| format!("it has no field {name:?}"))
                });
                named.collect::<Result<_, _>>()?
            }
        };
        let is_named = |field: &&Field| named.iter().any(|(other, _)| other.name == field.name);
        if let Some(field) = question.fields.iter().find(|field| field.required && !is_named(field)) {
            return Err(format!("it needs the field {:?}, which the rule does not name", field.name));
        }
        let values = named.iter().map(|(field, texts)| Ok((field.name.clone(), value(field, texts)?)));
        let values = values.collect::<Result<BTreeMap<_, _>, String>>()?;
        let answer = Answer { values, notes: BTreeMap::new() };
        match check(question, &answer) {
            Ok(()) => Ok(answer),
            Err(errors) => Err(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
        }
    }
}

/// Checks that a rule may answer a field at all.
pub(super) fn not_secret(field: &Field) -> Result<(), String> {
    match field.secret {
        true => Err(format!("its field {:?} is secret: a rule does not answer it", field.name)),
        false => Ok(()),
    }
}

/// Returns the value of a field that these texts stand for.
fn value(field: &Field, texts: &[String]) -> Result<Value, String> {
    not_secret(field)?;
    match &field.kind {
        Kind::Choice { .. } => match texts {
            [text] => Ok(Value::Text(option(field, text)?.value.clone())),
            _ => Err(format!(
                "its field {:?} takes one option, and the rule names {}",
                field.name,
                texts.len()
            )),
        },
        Kind::Choices { .. } => {
            let values = texts.iter().map(|text| Ok(option(field, text)?.value.clone()));
            Ok(Value::Many(values.collect::<Result<_, String>>()?))
        }
        Kind::Unknown(_) => Err(format!("its field {:?} is of a kind that is not known here", field.name)),
        kind => typed::value_from_texts(kind, texts.to_vec())
            .ok_or_else(|| format!("the rule has no value for {:?}", field.name)),
    }
}

/// Returns the only option with this value or label.
fn option<'a>(field: &'a Field, text: &str) -> Result<&'a FieldOption, String> {
    let options = field.kind.options();
    let found: Vec<_> =
        options.iter().filter(|option| option.value == text || option.label == text).collect();
    match found[..] {
        [only] if is_alone(field, only) => Ok(only),
        [] => Err(format!("its field {:?} has no option {text:?}", field.name)),
        _ => Err(format!("its field {:?} has several options {text:?}", field.name)),
    }
}

/// Returns whether no other option of the field has the same value: the agent could not tell them apart.
pub(super) fn is_alone(field: &Field, option: &FieldOption) -> bool {
    field.kind.options().iter().filter(|other| other.value == option.value).count() == 1
}

/// Returns what an answer chooses: for each value the role of its option, `None` where it has none or is no option.
pub(super) fn roles(question: &Question, answer: &Answer) -> Vec<Option<Role>> {
    let of_field = |field: &Field| -> Vec<Option<Role>> {
        let role = |text: &String| {
            let option = field.kind.options().iter().find(|option| option.value == *text)?;
            option.role.as_deref().copied()
        };
        match answer.values.get(&field.name) {
            Some(Value::Text(text)) => vec![role(text)],
            Some(Value::Many(texts)) => texts.iter().map(role).collect(),
            Some(Value::Flag(_) | Value::Number(_)) => vec![None],
            None => Vec::new(),
        }
    };
    question.fields.iter().flat_map(of_field).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::rule::samples::{choice, done, with};

    #[test]
    fn examples_of_answers() {
        let two = json!({ "fields": [choice("a", true), choice("b", true)] });
        let optional = json!({ "fields": [choice("a", true), choice("b", false)] });
        let many = json!({ "fields": [with(choice("q0", true), &json!({ "kind": "choices", "max": 1 }))] });
        let text = json!({ "fields": [{ "name": "why", "label": "Why?", "kind": "text", "required": true, "minLength": 3 }] });
        let secret =
            json!({ "fields": [{ "name": "key", "label": "Key?", "kind": "text", "secret": true }] });
        let confirm = json!({ "fields": [{ "name": "ok", "label": "Go?", "kind": "confirm", "yes": "Go", "no": "Stay" }] });
        let number = json!({ "fields": [{ "name": "n", "label": "N?", "kind": "number", "integer": true, "max": 9 }] });
        let other = json!({ "fields": [with(choice("q0", true), &json!({ "other": true }))] });
        let of_next_year = json!({ "fields": [{ "name": "d", "label": "D", "kind": "drawing" }] });
        let twins = json!({ "fields": [{ "name": "q0", "label": "?", "kind": "choice", "options": [
            { "value": "no", "label": "Yes" }, { "value": "yes", "label": "no" }] }] });
        for (answer, question, expected) in [
            (json!("SQLite"), json!({}), r#"{"q0":"sqlite"}"#),
            (json!("sqlite"), json!({}), r#"{"q0":"sqlite"}"#),
            (json!({ "q0": "Postgres" }), json!({}), r#"{"q0":"postgres"}"#),
            (json!("MySQL"), json!({}), r#"its field "q0" has no option "MySQL""#),
            (json!({ "db": "SQLite" }), json!({}), r#"it has no field "db""#),
            (
                json!(["SQLite", "Postgres"]),
                json!({}),
                r#"its field "q0" takes one option, and the rule names 2"#,
            ),
            (json!("SQLite"), two.clone(), "it has 2 fields, and the rule does not say which"),
            (
                json!({ "a": "SQLite" }),
                two.clone(),
                r#"it needs the field "b", which the rule does not name"#,
            ),
            (json!({ "a": "SQLite", "b": "Postgres" }), two, r#"{"a":"sqlite","b":"postgres"}"#),
            (json!({ "a": "SQLite" }), optional, r#"{"a":"sqlite"}"#),
            (json!("SQLite"), many.clone(), r#"{"q0":["sqlite"]}"#),
            (json!(["SQLite", "Postgres"]), many, r#"field "q0" must have at most 1 entry, has 2"#),
            (json!("because"), text.clone(), r#"{"why":"because"}"#),
            (json!("x"), text, r#"field "why" must have at least 3 characters, has 1"#),
            (json!("x"), secret, r#"its field "key" is secret: a rule does not answer it"#),
            (json!("Go"), confirm.clone(), r#"{"ok":true}"#),
            (json!(false), confirm.clone(), r#"{"ok":false}"#),
            (json!("Run"), confirm, r#"field "ok" must be true or false"#),
            (json!(7), number.clone(), r#"{"n":7}"#),
            (json!(10), number, r#"field "n" must be at most 9, is 10"#),
            (json!("MySQL"), other, r#"its field "q0" has no option "MySQL""#),
            (json!("x"), of_next_year, r#"its field "d" is of a kind that is not known here"#),
            (json!("no"), twins, r#"its field "q0" has several options "no""#),
        ] {
            let members = json!({ "agent": "Codex", "then": "answer", "answer": answer });
            assert_eq!(done(&members, &question), expected, "{answer}");
        }
    }
}
