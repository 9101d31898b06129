//! The native dialect, `_sandboxagent/session/request_question`: the only one that can express every field.
//! What the agent says about the response is left to `dispatch.rs`.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    field::MockField,
    question::{MockQuestion, QuestionRequest},
    response::{FieldAnswer, NonAnswer, QuestionResponse},
};
use crate::mock::behaviour::Shape;

const METHOD: &str = "_sandboxagent/session/request_question";

/// The parameters of the request, in the order in which the extension writes them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NativeParams<'a> {
    session_id: &'a str,
    question_id: String,
    #[serde(flatten)]
    form: NativeForm,
}

/// The two shapes of the question in the parameters.
#[derive(Serialize)]
#[serde(untagged)]
enum NativeForm {
    /// One field. An option is its value and its label.
    Single { prompt: String, options: Vec<[&'static str; 2]> },
    /// Any number of fields. An option is its label.
    Fields { questions: Vec<NativeEntry> },
}

#[derive(Serialize)]
struct NativeEntry {
    question: String,
    header: &'static str,
    options: Vec<NativeChoice>,
    multiple: bool,
}

#[derive(Serialize)]
struct NativeChoice {
    label: &'static str,
    description: &'static str,
}

pub(super) fn ask(question: &MockQuestion) -> io::Result<QuestionRequest> {
    let mut fields = question.fields();
    let form = match question.shape {
        Shape::Many | Shape::Fields => {
            NativeForm::Fields { questions: fields.into_iter().map(entry).collect() }
        }
        Shape::Options | Shape::Confirm | Shape::Free => {
            let field = fields.swap_remove(0);
            let options = field.choices.iter().map(|choice| [choice.value, choice.label]).collect();
            NativeForm::Single { prompt: field.question, options }
        }
    };
    QuestionRequest::new(
        METHOD,
        &NativeParams { session_id: &question.session, question_id: question.id(), form },
    )
}

fn entry(field: MockField) -> NativeEntry {
    let choices = field.choices.iter();
    let options = choices.map(|choice| NativeChoice { label: choice.label, description: choice.description });
    let MockField { question, header, multiple, .. } = field;
    NativeEntry { question, header, options: options.collect(), multiple }
}

/// Reads the response. The number of answers must be the number of fields.
pub(super) fn read(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    match serde_json::from_str(result).ok()? {
        NativeResult::Rejected { meta } => {
            let said = |member| meta.pointer(member).and_then(Value::as_str);
            // The person's own words say more than the name of a reason.
            let reason = said("/askbridge/remark").or_else(|| said("/askbridge/reason"));
            Some(QuestionResponse::Unanswered(NonAnswer::Rejected, reason.map(str::to_owned)))
        }
        NativeResult::Answered { answers } => {
            let fields = question.fields();
            let fits = answers.len() == fields.len();
            // Any answer to a field with options counts as a choice.
            let answers = fields.iter().zip(answers).map(|(field, values)| FieldAnswer {
                written: field.choices.is_empty(),
                ..FieldAnswer::new(field, values, None)
            });
            fits.then(|| QuestionResponse::Answered(answers.collect()))
        }
    }
}

/// The result of the request.
#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum NativeResult {
    Answered {
        answers: Vec<Vec<String>>,
    },
    Rejected {
        #[serde(rename = "_meta", default)]
        meta: Value,
    },
}
