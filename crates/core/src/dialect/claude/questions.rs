//! Questions: the tool `AskUserQuestion`, and the forms of MCP servers, which Claude Code passes on.
//!
//! `AskUserQuestion` has one to four questions with options, each answered by a label or a text of the person's own.
//! The answers are added to the input of the call. Their key is the text of their question: Claude Code drops a key
//! that is not that text byte for byte. For Qwen Code, the key is the position of the question.
//!
//! A form arrives as `elicitation` of the control protocol, or by the hook of that name. A page to open is left to
//! Claude Code's own dialog.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json, value::RawValue};

use super::tool_call::{AnswerKey, ToolCall};
use crate::{
    dialect::{
        agent_dialect::Rejection,
        elicitation::{FormReply, reply, request},
        unshown,
        values::{self, Entries, json as raw},
    },
    question::{
        Answer, Field, FieldOption, Kind, Origin, Outcome, Preview, PreviewFormat, Question, Reason, Value,
    },
    wire::{method::ELICITATION_CREATE, scan::member},
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

/// The notes beside an answer.
#[derive(Serialize)]
struct Annotation<'a> {
    notes: &'a str,
}

pub(super) fn read(call: &ToolCall<'_>, id: &str) -> Option<Question> {
    let AskInput { questions } = serde_json::from_str(call.input).ok()?;
    let is_twice = |(place, asking): (usize, &AskQuestion)| {
        questions[..place].iter().any(|other| other.question == asking.question)
    };
    // Answers are keyed by the text of the question, so the answers to two equal questions could not be told apart.
    if questions.iter().enumerate().any(is_twice) {
        return None;
    }
    let fields: Vec<_> =
        questions.into_iter().enumerate().map(|(place, asking)| asking.into_field(place)).collect();
    let notes = call.keys == AnswerKey::Text;
    let mut question = Question {
        tool_call: call.id.map(str::to_owned),
        notes,
        ..Question::new(Origin::Claude, id, fields)
    };
    unshown::add(&mut question, call.input.as_bytes());
    Some(question)
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
            ..FieldOption::default()
        }
    }
}

/// Returns the input of the call with the answers in it. A question without a value is left out, so that the model
/// reads the other answers only.
pub(super) fn with_answers(
    input: &RawValue,
    keys: AnswerKey,
    question: &Question,
    answer: &Answer,
) -> Box<RawValue> {
    let mut members: Entries<Box<RawValue>> = serde_json::from_str(input.get()).unwrap_or_default();
    // The model may have filled in these members, but only the person's answers count.
    members.0.retain(|(name, _)| name != "answers" && name != "annotations");
    let texts = question.fields.iter().enumerate().filter_map(|(place, field)| {
        let text = match answer.values.get(&field.name)? {
            Value::Text(text) => text.clone(),
            Value::Many(texts) => values::join(texts),
            Value::Flag(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Null => return None,
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

/// Reads the answers in an input or a result of the tool. Questions without an answer are left out.
pub(super) fn answers(question: &Question, keys: AnswerKey, json: &Json) -> Answer {
    let mut answer = Answer::default();
    for (place, field) in question.fields.iter().enumerate() {
        let value = match &json["answers"][keys.of(place, field)] {
            Json::String(text) => match &field.kind {
                Kind::Choices { options, .. } => Value::Many(values::split(text, options)),
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

/// The parameters of a form, as ACP has them.
#[derive(Serialize)]
struct Params<'a> {
    message: &'a str,
    mode: &'a str,
    #[serde(rename = "requestedSchema")]
    schema: &'a RawValue,
}

/// The format of a form's result for Claude Code.
#[derive(Clone, Debug)]
pub struct ClaudeForm(FormReply);

/// Reads a form: the members of the control request, or those of the hook's input, which have the same names. Its schema stays
/// as it was spelled, so that its fields keep their order.
pub fn read_form(input: &[u8], fallback_id: &str) -> Option<(Question, ClaudeForm)> {
    let form: Json = serde_json::from_slice(input).ok()?;
    let schema: &RawValue = serde_json::from_slice(member(input, "requested_schema")?).ok()?;
    let params = raw(&Params {
        message: form["message"].as_str().unwrap_or_default(),
        mode: form["mode"].as_str().unwrap_or("form"),
        schema,
    });
    let id = form["elicitation_id"].as_str().unwrap_or(fallback_id);
    let (question, format) = request::read(ELICITATION_CREATE, params.get().as_bytes(), id).ok()??;
    let title = form["title"].as_str().map(str::to_owned).or_else(|| {
        let server = form["display_name"].as_str().or_else(|| form["mcp_server_name"].as_str())?;
        Some(format!("The MCP server {server} asks"))
    });
    let mut question = Question { title, origin: Origin::Claude, ..question };
    unshown::add(&mut question, input);
    question.check_limits().is_ok().then_some((question, ClaudeForm(format)))
}

impl ClaudeForm {
    /// Returns how many bytes of the request it holds.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Writes an outcome as `{"action":…,"content":…}`. Returns `None` for an end that the person did not choose.
    pub fn write(&self, question: &Question, outcome: &Outcome) -> Option<Box<RawValue>> {
        match outcome {
            Outcome::Answered(answer) => Some(self.write_answer(question, answer)),
            Outcome::Rejected(reason @ (Reason::User | Reason::Policy)) => {
                Some(self.write_rejection((*reason).into()))
            }
            _ => None,
        }
    }

    /// Writes an answer that fits the form.
    pub fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        let (content, _) = reply::write_content(&self.0, question, answer);
        raw(&json!({ "action": "accept", "content": content }))
    }

    /// Writes a rejection: the person declines, every other reason cancels.
    pub fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        let action = if rejection.reason == Reason::User { "decline" } else { "cancel" };
        raw(&json!({ "action": action }))
    }

    /// Reads the result of another responder, such as a host.
    pub fn read(&self, question: &Question, result: &[u8]) -> Option<Outcome> {
        reply::read_reply(&self.0, question, result)
    }
}
