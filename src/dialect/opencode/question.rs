//! opencode's questions, from JSON to the model, and answers as it wants them.

use serde::Deserialize;

use super::ending::Ending;
use crate::question::{Answer, Field, FieldOption, Kind, Origin, Question, Value};

/// A request for answers.
#[derive(Deserialize)]
pub(super) struct QuestionRequest {
    id: String,
    #[serde(rename = "sessionID")]
    session: String,
    questions: Vec<QuestionInfo>,
    tool: Option<ToolReference>,
}

#[derive(Deserialize)]
struct QuestionInfo {
    question: String,
    #[serde(default)]
    header: String,
    #[serde(default)]
    options: Vec<QuestionOption>,
    multiple: Option<bool>,
    /// Whether a text is taken instead of an option. It is unless opencode says otherwise.
    custom: Option<bool>,
}

#[derive(Deserialize)]
struct QuestionOption {
    label: String,
    #[serde(default)]
    description: String,
}

/// The tool call that a request belongs to.
#[derive(Deserialize)]
pub(super) struct ToolReference {
    #[serde(rename = "callID")]
    pub call: String,
}

impl QuestionRequest {
    /// Returns the question. `None` for one that this program cannot hold.
    pub(super) fn into_question(self) -> Option<Question> {
        let fields = self.questions.into_iter().enumerate().map(|(place, info)| field(place, info)).collect();
        let question = Question {
            session: Some(self.session),
            tool_call: self.tool.map(|tool| tool.call),
            // An answer has labels and texts, and no place for anything beside them.
            notes: false,
            ..Question::new(Origin::Opencode, &self.id, fields)
        };
        question.check_limits().is_ok().then_some(question)
    }
}

fn field(place: usize, info: QuestionInfo) -> Field {
    let option = |option: QuestionOption| FieldOption {
        value: option.label.clone(),
        label: option.label,
        description: Some(option.description).filter(|text| !text.is_empty()),
        ..FieldOption::default()
    };
    let options = info.options.into_iter().map(option).collect();
    let kind = Kind::choice(options, info.multiple == Some(true), info.custom != Some(false));
    Field::at(place, info.question, Some(info.header).filter(|header| !header.is_empty()), kind)
}

/// Returns an answer as labels and texts for each field in turn.
pub(super) fn ending(question: &Question, answer: &Answer) -> Ending {
    let texts = |field: &Field| match answer.values.get(&field.name) {
        Some(Value::Text(text)) => vec![text.clone()],
        Some(Value::Many(texts)) => texts.clone(),
        Some(Value::Flag(flag)) => vec![flag.to_string()],
        Some(Value::Number(number)) => vec![number.to_string()],
        None => Vec::new(),
    };
    Ending::Answered(question.fields.iter().map(texts).collect())
}
