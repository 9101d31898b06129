//! `AskUserQuestion`: one to four questions with options, each answered by a label or a text of the person's own.
//!
//! The answers stand in the input of the call, by the text of their question. A key that is not the text byte for byte
//! is dropped by Claude Code. Those of Qwen Code stand there by their places.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, value::RawValue};

use super::tool_call::{AnswerKey, ToolCall};
use crate::{
    dialect::{entries::Entries, joined_values, params::json as raw},
    question::{Answer, Field, FieldOption, Kind, Origin, Preview, PreviewFormat, Question, Value},
};

#[derive(Deserialize)]
struct AskInput {
    questions: Vec<AskQuestion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AskQuestion {
    question: String,
    header: Option<String>,
    #[serde(default)]
    options: Vec<Choice>,
    #[serde(default)]
    multi_select: bool,
}

#[derive(Deserialize)]
struct Choice {
    label: String,
    description: Option<String>,
    preview: Option<String>,
}

/// What stands beside an answer.
#[derive(Serialize)]
struct Annotation<'a> {
    notes: &'a str,
}

pub(super) fn read(call: &ToolCall<'_>, id: &str) -> Option<Question> {
    let AskInput { questions } = serde_json::from_str(call.input).ok()?;
    let is_twice = |(place, asking): (usize, &AskQuestion)| {
        questions[..place].iter().any(|other| other.question == asking.question)
    };
    // The answer is keyed by the text.
    if questions.iter().enumerate().any(is_twice) {
        return None;
    }
    let fields: Vec<_> =
        questions.into_iter().enumerate().map(|(place, asking)| asking.into_field(place)).collect();
    let notes = call.keys == AnswerKey::Text;
    Some(Question {
        tool_call: call.id.map(str::to_owned),
        notes,
        ..Question::new(Origin::Claude, id, fields)
    })
}

impl AnswerKey {
    fn of(self, place: usize, field: &Field) -> String {
        match self {
            AnswerKey::Text => field.label.clone(),
            AnswerKey::Place => place.to_string(),
        }
    }
}

impl AskQuestion {
    fn into_field(self, place: usize) -> Field {
        let options = self.options.into_iter().map(Choice::into_option).collect();
        Field::at(place, self.question, self.header, Kind::choice(options, self.multi_select, true))
    }
}

impl Choice {
    fn into_option(self) -> FieldOption {
        let preview = self.preview.map(|text| Preview { format: PreviewFormat::Markdown, text }.into());
        FieldOption {
            value: self.label.clone(),
            label: self.label,
            description: self.description,
            preview,
            role: None,
        }
    }
}

/// Returns the input of the call with the answers in it. A question without a value is left out: the model is told of
/// the others only.
pub(super) fn with_answers(
    input: &RawValue,
    keys: AnswerKey,
    question: &Question,
    answer: &Answer,
) -> Box<RawValue> {
    let mut members: Entries<Box<RawValue>> = serde_json::from_str(input.get()).unwrap_or_default();
    members.0.retain(|(name, _)| name != "answers" && name != "annotations");
    let texts = question.fields.iter().enumerate().filter_map(|(place, field)| {
        let text = match answer.values.get(&field.name)? {
            Value::Text(text) => text.clone(),
            Value::Many(texts) => joined_values::join(texts),
            Value::Flag(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
        };
        Some((keys.of(place, field), text))
    });
    members.0.push(("answers".to_owned(), raw(&Entries(texts.collect()))));
    let notes = question.fields.iter().filter_map(|field| {
        Some((field.label.clone(), Annotation { notes: answer.notes.get(&field.name)? }))
    });
    let notes: Vec<_> = notes.collect();
    if !notes.is_empty() {
        members.0.push(("annotations".to_owned(), raw(&Entries(notes))));
    }
    raw(&members)
}

/// Reads the answers that stand in an input or a result of the tool. What is not there is left out.
pub(super) fn answers(question: &Question, keys: AnswerKey, json: &Json) -> Answer {
    let mut answer = Answer::default();
    for (place, field) in question.fields.iter().enumerate() {
        let value = match &json["answers"][keys.of(place, field)] {
            Json::String(text) => match &field.kind {
                Kind::Choices { options, .. } => Value::Many(joined_values::split(text, options)),
                _ => Value::Text(text.clone()),
            },
            Json::Array(texts) => {
                Value::Many(texts.iter().filter_map(Json::as_str).map(str::to_owned).collect())
            }
            _ => continue,
        };
        answer.values.insert(field.name.clone(), value);
        if let Some(notes) = json["annotations"][&field.label]["notes"].as_str() {
            answer.notes.insert(field.name.clone(), notes.to_owned());
        }
    }
    answer
}
