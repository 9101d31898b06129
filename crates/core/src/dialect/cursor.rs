//! Cursor's dialect: choices by id, without free texts, and usually without a session.
//! Which session a question belongs to is left to the bridge, which follows Cursor's tool calls.
//!
//! Source: Cursor's documentation of its extensions, and the code of clients that support them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    agent_dialect::{AgentDialect, Rejection, ShownBy},
    values::{json, read_params},
};
use crate::{
    question::{Answer, Field, FieldOption, Kind, Origin, Question, Reason, Value},
    wire::method::CURSOR_ASK_QUESTION,
};

/// The reply format of Cursor's dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CursorReply;

impl AgentDialect for CursorReply {
    const METHODS: &'static [&'static str] = &[CURSOR_ASK_QUESTION];
    const SHOWN_BY: Option<(&'static str, ShownBy)> = None;

    fn read(_method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String> {
        Ok(Some((read(params, fallback_id)?, CursorReply)))
    }

    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        json(&write_answer(question, answer))
    }

    fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        json(&write_rejection(rejection))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CursorParams {
    session_id: Option<String>,
    tool_call_id: Option<String>,
    title: Option<String>,
    questions: Vec<CursorQuestion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CursorQuestion {
    id: String,
    prompt: String,
    #[serde(default)]
    options: Vec<CursorOption>,
    allow_multiple: Option<bool>,
}

#[derive(Deserialize)]
struct CursorOption {
    id: String,
    label: Option<String>,
}

/// Reads the `params` of a request.
fn read(params: &[u8], fallback_id: &str) -> Result<Question, String> {
    let CursorParams { session_id, tool_call_id, title, questions } = read_params(params)?;
    let fields = questions.into_iter().map(CursorQuestion::into_field).collect::<Result<_, _>>()?;
    let question = Question::new(Origin::Cursor, fallback_id, fields);
    // The reply has a place for the IDs of options only, and none for notes.
    Ok(Question { session: session_id, title, tool_call: tool_call_id, notes: false, ..question })
}

impl CursorQuestion {
    fn into_field(self) -> Result<Field, String> {
        if self.options.is_empty() {
            return Err(format!("params.questions: {:?} has no options", self.id));
        }
        let options = self.options.into_iter().map(|CursorOption { id, label }| FieldOption {
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
struct CursorResult<'a> {
    outcome: CursorOutcome<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
enum CursorOutcome<'a> {
    Answered { answers: Vec<CursorSelection> },
    Skipped { reason: &'a str },
    Cancelled,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CursorSelection {
    question_id: String,
    selected_option_ids: Vec<String>,
}

fn write_answer(question: &Question, answer: &Answer) -> CursorResult<'static> {
    let answers = question.fields.iter().map(|field| CursorSelection {
        question_id: field.name.clone(),
        selected_option_ids: match answer.values.get(&field.name) {
            Some(Value::Text(id)) => vec![id.clone()],
            Some(Value::Many(ids)) => ids.clone(),
            // Cursor expects an entry for each question, also for one without an answer.
            _ => Vec::new(),
        },
    });
    CursorResult { outcome: CursorOutcome::Answered { answers: answers.collect() } }
}

/// Only the user skips a question. Any other reason cancels it.
fn write_rejection(rejection: Rejection<'_>) -> CursorResult<'_> {
    let outcome = match rejection.reason {
        Reason::User => {
            CursorOutcome::Skipped { reason: rejection.remark.unwrap_or("the user did not want to answer") }
        }
        _ => CursorOutcome::Cancelled,
    };
    CursorResult { outcome }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TWO: &str = r#"{"toolCallId":"t","title":"Setup","questions":[
        {"id":"db","prompt":"Which?","options":[{"id":"pg","label":"Postgres"},{"id":"lite"}]},
        {"id":"feat","prompt":"Which ones?","options":[{"id":"a","label":"A"}],"allowMultiple":true}]}"#;

    #[test]
    fn id_is_the_label_of_an_option_without_one() {
        let question = read(TWO.as_bytes(), "q").expect("a question");
        assert_eq!((question.session.as_deref(), question.heading()), (None, "Setup"));
        let labels: Vec<_> = question.fields[0].kind.options().iter().map(|option| &*option.label).collect();
        assert_eq!(labels, ["Postgres", "lite"]);
        assert!(matches!(question.fields[1].kind, Kind::Choices { .. }));
        let null = r#"{"questions":[{"id":"a","prompt":"?","options":[{"id":"x"}],"allowMultiple":null}]}"#;
        let question = read(null.as_bytes(), "q").expect("a question");
        assert!(matches!(question.fields[0].kind, Kind::Choice { other: false, .. }));
    }

    #[test]
    fn answer_lists_option_ids_in_question_order() {
        let question = read(TWO.as_bytes(), "q").expect("a question");
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
            let written = serde_json::to_string(&write_answer(&question, &answer)).expect("JSON");
            assert_eq!(written, format!(r#"{{"outcome":{{"outcome":"answered","answers":[{expected}]}}}}"#));
        }
    }
}
