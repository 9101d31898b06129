//! Cursor's dialect, `cursor/ask_question`: choices by id, without free texts, and without a session.
//!
//! Source: Cursor's documentation of its extensions, and the code of clients that take them.

use serde::{Deserialize, Serialize};

use super::asked::read_params;
use crate::question::{Answer, Field, FieldOption, Kind, Origin, Question, Reason, Value};

/// The request's method.
pub const METHOD: &str = "cursor/ask_question";

/// What the methods of Cursor's other extensions begin with, and this one's.
pub const PREFIX: &str = "cursor/";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: Option<String>,
    tool_call_id: Option<String>,
    title: Option<String>,
    questions: Vec<Asking>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asking {
    id: String,
    prompt: String,
    #[serde(default)]
    options: Vec<Choice>,
    allow_multiple: Option<bool>,
}

#[derive(Deserialize)]
struct Choice {
    id: String,
    label: Option<String>,
}

/// Reads the `params` of a request.
pub fn read(params: &[u8], made_up: &str) -> Result<Question, String> {
    let Params { session_id, tool_call_id, title, questions } = read_params(params)?;
    let fields = questions.into_iter().map(Asking::into_field).collect::<Result<_, _>>()?;
    let question = Question::new(Origin::Cursor, made_up, fields);
    Ok(Question { session: session_id, title, tool_call: tool_call_id, ..question })
}

impl Asking {
    fn into_field(self) -> Result<Field, String> {
        if self.options.is_empty() {
            return Err(format!("params.questions: {:?} has no options", self.id));
        }
        let options = self.options.into_iter().map(|Choice { id, label }| FieldOption {
            label: label.unwrap_or_else(|| id.clone()),
            value: id,
            ..FieldOption::default()
        });
        let kind = Kind::choice(options.collect(), self.allow_multiple.unwrap_or(false), false);
        Ok(Field { name: self.id, ..Field::at(0, self.prompt, None, kind) })
    }
}

/// The `result` of a request.
#[derive(Debug, Serialize)]
pub struct Response {
    outcome: Outcome,
}

#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
enum Outcome {
    Answered { answers: Vec<Selected> },
    Skipped { reason: &'static str },
    Cancelled,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Selected {
    question_id: String,
    selected_option_ids: Vec<String>,
}

/// Says an answer.
pub fn answered(question: &Question, answer: &Answer) -> Response {
    let answers = question.fields.iter().map(|field| Selected {
        question_id: field.name.clone(),
        selected_option_ids: match answer.values.get(&field.name) {
            Some(Value::Text(id)) => vec![id.clone()],
            Some(Value::Many(ids)) => ids.clone(),
            _ => Vec::new(),
        },
    });
    Response { outcome: Outcome::Answered { answers: answers.collect() } }
}

/// Says a rejection. Only a person skips.
pub fn rejected(reason: Reason) -> Response {
    let outcome = match reason {
        Reason::User => Outcome::Skipped { reason: "the user did not want to answer" },
        _ => Outcome::Cancelled,
    };
    Response { outcome }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TWO: &str = r#"{"toolCallId":"t","title":"Setup","questions":[
        {"id":"db","prompt":"Which?","options":[{"id":"pg","label":"Postgres"},{"id":"lite"}]},
        {"id":"feat","prompt":"Which ones?","options":[{"id":"a","label":"A"}],"allowMultiple":true}]}"#;

    #[test]
    fn an_option_without_a_label_is_called_by_its_id() {
        let question = read(TWO.as_bytes(), "made-up").expect("a question");
        assert_eq!((question.session.as_deref(), question.heading()), (None, "Setup"));
        let labels: Vec<_> = question.fields[0].kind.options().iter().map(|option| &*option.label).collect();
        assert_eq!(labels, ["Postgres", "lite"]);
        assert!(matches!(question.fields[1].kind, Kind::Choices { .. }));
        let null = r#"{"questions":[{"id":"a","prompt":"?","options":[{"id":"x"}],"allowMultiple":null}]}"#;
        let question = read(null.as_bytes(), "made-up").expect("a question");
        assert!(matches!(question.fields[0].kind, Kind::Choice { other: false, .. }));
    }

    #[test]
    fn answers_are_ids_in_the_order_of_the_questions() {
        let question = read(TWO.as_bytes(), "made-up").expect("a question");
        for (values, expected) in [
            (
                json!({ "feat": ["a"], "db": "pg" }),
                r#"{"questionId":"db","selectedOptionIds":["pg"]},{"questionId":"feat","selectedOptionIds":["a"]}"#,
            ),
            (
                json!({}),
                r#"{"questionId":"db","selectedOptionIds":[]},{"questionId":"feat","selectedOptionIds":[]}"#,
            ),
        ] {
            let answer = serde_json::from_value(json!({ "values": values })).expect("an answer");
            let written = serde_json::to_string(&answered(&question, &answer)).expect("JSON");
            assert_eq!(written, format!(r#"{{"outcome":{{"outcome":"answered","answers":[{expected}]}}}}"#));
        }
    }
}
