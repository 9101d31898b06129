//! Copilot's forms and questions, from JSON to the model, and answers as it wants them.

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::ending::Ending;
use crate::{
    dialect::{
        agent_dialect::AgentDialect,
        elicitation::{FormReply, content},
    },
    question::{Answer, Field, FieldOption, Kind, Origin, Outcome, Question, Reason, Value, typed},
    wire::method::ELICITATION_CREATE,
};

/// What `user_input.requested` asks.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserInput {
    question: String,
    #[serde(default)]
    choices: Vec<String>,
    /// Whether a text is taken instead of a choice. It is unless Copilot says otherwise.
    allow_freeform: Option<bool>,
    tool_call_id: Option<String>,
}

/// What stands for a rejection, since Copilot's question has no other reply than a text.
const DECLINED: &str = "The user declined to answer this question.";

/// Reads a form. Returns `None` for one that is a link, or is not understood.
pub(super) fn form(data: &str, id: &str) -> Option<(Question, FormReply)> {
    // Its members are those of the standard, but that every field may be left out.
    let (mut question, format) = FormReply::read(ELICITATION_CREATE, data.as_bytes(), id).ok()??;
    question.origin = Origin::Copilot;
    // The member is the ID of this form.
    question.request = None;
    question.notes = false;
    Some((question, format))
}

/// Reads a question with choices.
pub(super) fn user_input(data: &str, id: &str) -> Option<Question> {
    let UserInput { question, choices, allow_freeform, tool_call_id } = serde_json::from_str(data).ok()?;
    let option = |label: String| FieldOption { value: label.clone(), label, ..FieldOption::default() };
    let options = choices.into_iter().map(option).collect();
    let kind = Kind::choice(options, false, allow_freeform != Some(false));
    let field = Field::at(0, question, None, kind);
    Some(Question {
        tool_call: tool_call_id,
        notes: false,
        ..Question::new(Origin::Copilot, id, vec![field])
    })
}

/// Writes an outcome as the reply to a form.
pub(super) fn form_reply(format: &FormReply, question: &Question, outcome: &Outcome) -> (Json, Ending) {
    let (action, content) = match outcome {
        Outcome::Answered(answer) => ("accept", content_of(format, question, answer)),
        Outcome::Rejected(Reason::User) => ("decline", Map::new()),
        _ => ("cancel", Map::new()),
    };
    let reply = match action {
        "accept" => json!({ "action": action, "content": content }),
        _ => json!({ "action": action }),
    };
    (reply, Ending::Form { action: Some(action.to_owned()), content })
}

fn content_of(format: &FormReply, question: &Question, answer: &Answer) -> Map<String, Json> {
    let (entries, _) = content::write_content(format, question, answer);
    entries.0.into_iter().collect()
}

/// Returns the outcome that the end of a form means.
pub(super) fn form_outcome(
    format: &FormReply,
    question: &Question,
    action: Option<&str>,
    content: &Map<String, Json>,
) -> Outcome {
    match action {
        Some("accept") => Outcome::Answered(content::read_content(format, question, content)),
        Some("decline") => Outcome::Rejected(Reason::User),
        Some("cancel") => Outcome::Rejected(Reason::Cancelled),
        // Older versions do not say.
        _ => Outcome::Answered(Answer::default()),
    }
}

/// Writes an outcome as the reply to a question with choices.
pub(super) fn text_reply(question: &Question, outcome: &Outcome, remark: Option<&str>) -> (Json, Ending) {
    let text = match outcome {
        Outcome::Answered(answer) => answer.values.values().find_map(|value| match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }),
        _ => Some([Some(DECLINED), remark].into_iter().flatten().collect::<Vec<_>>().join(" ")),
    };
    let text = text.unwrap_or_default();
    let options = question.fields.first().map(|field| field.kind.options()).unwrap_or_default();
    let is_choice = options.iter().any(|option| option.value == text);
    (json!({ "answer": text, "wasFreeform": !is_choice }), Ending::Text(Some(text)))
}

/// Returns the outcome that an answer with this text means.
pub(super) fn text_outcome(question: &Question, text: Option<&str>) -> Outcome {
    let selections = text.map(|text| Some(vec![text.to_owned()])).into_iter().collect();
    Outcome::Answered(typed::answer_from_texts(question, selections, Default::default()))
}
