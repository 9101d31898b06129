//! `item/tool/requestUserInput`: the questions that the model asks, and their answers.
//!
//! A choice takes a text of the person's own as Codex' terminal does: the option `None of the above`, and the text as a
//! note. A note is one more answer that begins with `user_note: `.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, value::RawValue};

use crate::{
    dialect::{agent_dialect::Rejection, values},
    question::{Answer, Field, FieldOption, Kind, Origin, Outcome, Question, Reason, Value},
};

/// The beginning of a note.
const NOTE: &str = "user_note: ";

/// The option that the terminal adds to a choice: the answer is in the note.
const NONE_OF_THE_ABOVE: &str = "None of the above";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserInputParams {
    thread_id: Option<String>,
    item_id: Option<String>,
    questions: Vec<UserInputQuestion>,
    /// A number or null; in some versions an object, or missing.
    #[serde(default)]
    auto_resolution_ms: Json,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserInputQuestion {
    id: String,
    header: Option<String>,
    question: String,
    #[serde(default)]
    is_other: Option<bool>,
    #[serde(default)]
    is_secret: Option<bool>,
    options: Option<Vec<UserInputOption>>,
}

#[derive(Deserialize)]
struct UserInputOption {
    label: String,
    description: Option<String>,
}

/// The `result`: the answers of each question, by its id.
#[derive(Debug, Default, Serialize, Deserialize)]
struct UserInputResult {
    answers: BTreeMap<String, UserInputAnswers>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct UserInputAnswers {
    answers: Vec<String>,
}

pub(super) fn read(params: &[u8], fallback_id: &str) -> Option<Question> {
    let UserInputParams { thread_id, item_id, questions, auto_resolution_ms } =
        serde_json::from_slice(params).ok()?;
    let fields = questions.into_iter().map(UserInputQuestion::into_field).collect();
    // `isBlocking` is not read: Codex 0.169.0 says false for every question, and waits for it anyway.
    Some(Question {
        session: thread_id,
        tool_call: item_id,
        timeout: auto_resolution_ms.as_u64().map(Duration::from_millis),
        ..Question::new(Origin::Codex, fallback_id, fields)
    })
}

impl UserInputQuestion {
    fn into_field(self) -> Field {
        let options = self.options.unwrap_or_default().into_iter().map(UserInputOption::into_option);
        let kind = Kind::choice(options.collect(), false, self.is_other.unwrap_or_default());
        Field {
            header: self.header.filter(|header| !header.is_empty()),
            secret: self.is_secret.unwrap_or_default(),
            ..Field::new(self.id, self.question, true, kind)
        }
    }
}

impl UserInputOption {
    fn into_option(self) -> FieldOption {
        FieldOption {
            value: self.label.clone(),
            label: self.label,
            description: self.description.filter(|text| !text.is_empty()),
            ..FieldOption::default()
        }
    }
}

pub(super) fn write_answer(question: &Question, answer: &Answer) -> Box<RawValue> {
    let answers = question.fields.iter().filter_map(|field| {
        let mut answers = match answer.values.get(&field.name) {
            Some(Value::Text(text)) => chosen(field, text),
            Some(Value::Many(texts)) => texts.clone(),
            Some(Value::Flag(flag)) => vec![flag.to_string()],
            Some(Value::Number(number)) => vec![number.to_string()],
            Some(Value::Null) | None => Vec::new(),
        };
        answers.extend(answer.notes.get(&field.name).map(|note| format!("{NOTE}{note}")));
        (!answers.is_empty()).then(|| (field.name.clone(), UserInputAnswers { answers }))
    });
    values::json(&UserInputResult { answers: answers.collect() })
}

fn chosen(field: &Field, text: &str) -> Vec<String> {
    let options = field.kind.options();
    let is_option = options.is_empty() || options.iter().any(|option| option.value == text);
    match is_option {
        _ if text.is_empty() => Vec::new(),
        true => vec![text.to_owned()],
        false => vec![NONE_OF_THE_ABOVE.to_owned(), format!("{NOTE}{text}")],
    }
}

/// Writes a rejection: no answers, but the person's own words as a note on the first question.
pub(super) fn write_rejection(question: &Question, rejection: Rejection<'_>) -> Box<RawValue> {
    let noted = |note: &str| {
        let answers = UserInputAnswers { answers: vec![format!("{NOTE}{note}")] };
        question.fields.first().map(|field| (field.name.clone(), answers))
    };
    let answers = rejection.remark.filter(|remark| !remark.is_empty()).and_then(noted);
    values::json(&UserInputResult { answers: answers.into_iter().collect() })
}

/// Reads what another client answered.
pub(super) fn read_reply(question: &Question, result: &[u8]) -> Option<Outcome> {
    let UserInputResult { answers } = serde_json::from_slice(result).ok()?;
    let mut read = Answer::default();
    for field in &question.fields {
        let Some(UserInputAnswers { answers }) = answers.get(&field.name) else { continue };
        let mut note = answers.iter().find_map(|text| text.strip_prefix(NOTE)).map(str::to_owned);
        let mut value = answers.iter().find(|text| !text.starts_with(NOTE)).cloned();
        let is_option = |text: &String| field.kind.options().iter().any(|option| option.value == *text);
        // As in Codex' terminal, a note is the answer if it is alone, or beside `None of the above`.
        if value.as_ref().is_none_or(|value| value == NONE_OF_THE_ABOVE && !is_option(value))
            && note.is_some()
        {
            value = note.take();
        }
        read.notes.extend(note.map(|note| (field.name.clone(), note)));
        read.values.extend(value.map(|value| (field.name.clone(), Value::Text(value))));
    }
    // Codex' terminal sends no answers if the person leaves the questions.
    Some(match read.values.is_empty() {
        true => Outcome::Rejected(Reason::User),
        false => Outcome::Answered(read),
    })
}
