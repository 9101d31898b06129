//! The extension's own dialect, `_sandboxagent/session/request_question`.
//! It is the only one that has a single shape for every field.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    field::Field,
    heard::{Answer, Heard, How},
    question::{Question, Request},
};
use crate::mock::behaviour::Shape;

const METHOD: &str = "_sandboxagent/session/request_question";

/// The parameters of the request, in the order in which the extension writes them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Asked<'a> {
    session_id: &'a str,
    question_id: String,
    #[serde(flatten)]
    form: Form,
}

/// The two shapes in which the extension says what is asked.
#[derive(Serialize)]
#[serde(untagged)]
enum Form {
    /// One field. An option is its value and its label.
    Single { prompt: String, options: Vec<[&'static str; 2]> },
    /// Any number of fields. An option is its label.
    Fields { questions: Vec<Entry> },
}

#[derive(Serialize)]
struct Entry {
    question: String,
    header: &'static str,
    options: Vec<Choice>,
    multiple: bool,
}

#[derive(Serialize)]
struct Choice {
    label: &'static str,
    description: &'static str,
}

pub(super) fn ask(question: &Question) -> io::Result<Request> {
    let mut fields = question.fields();
    let form = match question.shape {
        Shape::Many | Shape::Fields => Form::Fields { questions: fields.into_iter().map(entry).collect() },
        Shape::Options | Shape::Confirm | Shape::Free => {
            let field = fields.swap_remove(0);
            let options = field.choices.iter().map(|choice| [choice.value, choice.label]).collect();
            Form::Single { prompt: field.question, options }
        }
    };
    Request::new(METHOD, &Asked { session_id: &question.session, question_id: question.name(), form })
}

fn entry(field: Field) -> Entry {
    let choices = field.choices.iter();
    let options = choices.map(|choice| Choice { label: choice.label, description: choice.description });
    let Field { question, header, multiple, .. } = field;
    Entry { question, header, options: options.collect(), multiple }
}

/// There must be as many answers as there are fields.
pub(super) fn hear(question: &Question, result: &str) -> Option<Heard> {
    match serde_json::from_str(result).ok()? {
        Told::Rejected { meta } => {
            let reason = meta.pointer("/askbridge/reason").and_then(Value::as_str);
            Some(Heard::Unanswered(How::Rejected, reason.map(str::to_owned)))
        }
        Told::Answered { answers } => {
            let fields = question.fields();
            let fits = answers.len() == fields.len();
            // Whatever is said for a field with options counts as chosen.
            let answers = fields.iter().zip(answers).map(|(field, values)| Answer {
                written: field.choices.is_empty(),
                ..Answer::new(field, values, None)
            });
            fits.then(|| Heard::Answered(answers.collect()))
        }
    }
}

/// An answer in the one shape that the agent knows.
#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum Told {
    Answered {
        answers: Vec<Vec<String>>,
    },
    Rejected {
        #[serde(rename = "_meta", default)]
        meta: Value,
    },
}
