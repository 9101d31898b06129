//! Reads Copilot's forms, questions and plans from JSON as questions, writes the replies that Copilot expects, and
//! reads from events and replies how each of them ended. A plan is approved together with the mode in which Copilot
//! continues. Permissions are left to `permission.rs`.

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::permission::{REJECT, option};
use crate::{
    dialect::{
        agent_dialect::AgentDialect,
        elicitation::{FormReply, reply},
        permission::PermissionDescription,
    },
    question::{
        Answer, Field, FieldOption, Kind, Origin, Outcome, Question, Reason, Role, Subject, Value, input,
    },
    wire::method::ELICITATION_CREATE,
};

/// The parameters of `user_input.requested`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserInput {
    question: String,
    #[serde(default)]
    choices: Vec<String>,
    /// Whether a text is accepted instead of a choice. If the member is missing, it is.
    allow_freeform: Option<bool>,
    tool_call_id: Option<String>,
}

/// The text that represents a rejection, since Copilot's question has no other reply than a text.
const DECLINED: &str = "The user declined to answer this question.";

/// Reads a form. Returns `None` for one that is a link, or is not understood.
pub(super) fn form(data: &str, id: &str) -> Option<(Question, FormReply)> {
    // The form has the members of the standard, except that every field may be left out.
    let (mut question, format) = FormReply::read(ELICITATION_CREATE, data.as_bytes(), id).ok()??;
    question.origin = Origin::Copilot;
    // Here, `requestId` is the ID of the form, and not of a request that the form belongs to.
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
        Outcome::Answered(answer) if format.is_declined(answer) => ("decline", Map::new()),
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
    let (entries, _) = reply::write_content(format, question, answer);
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
        Some("accept") => Outcome::Answered(reply::read_content(format, question, content)),
        Some("decline") => Outcome::Rejected(Reason::User),
        Some("cancel") => Outcome::Rejected(Reason::Cancelled),
        // Older versions of Copilot do not say how the form ended.
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
    Outcome::Answered(input::answer_from_texts(question, selections, Default::default()))
}

/// The parameters of `exit_plan_mode.requested`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExitPlanMode {
    #[serde(default)]
    summary: String,
    #[serde(default)]
    plan_content: String,
    #[serde(default)]
    actions: Vec<String>,
}

/// The actions, with their labels and roles. An action after which Copilot asks for no permissions allows more than the
/// plan.
const ACTIONS: [(&str, &str, Role); 4] = [
    ("interactive", "Carry it out, and ask", Role::AllowOnce),
    ("exit_only", "Approve it, and do nothing yet", Role::AllowOnce),
    ("autopilot", "Carry it out without asking", Role::AllowAlways),
    ("autopilot_fleet", "Carry it out without asking, with several agents", Role::AllowAlways),
];
/// Reads a plan.
pub(super) fn read_plan(data: &str, id: &str) -> Option<Question> {
    let ExitPlanMode { summary, plan_content, actions } = serde_json::from_str(data).ok()?;
    let offered = ACTIONS.iter().filter(|(action, ..)| actions.iter().any(|name| name == action));
    let with_grants = |(action, label, role): &(&str, &str, Role)| FieldOption {
        grants: match role {
            Role::AllowAlways => vec![format!("Switches to the mode {action}")],
            _ => Vec::new(),
        },
        ..option(action, label, *role)
    };
    let mut options: Vec<_> = offered.map(with_grants).collect();
    // Without an action that is known, the plan could not be approved.
    if options.is_empty() {
        return None;
    }
    options.push(option(REJECT, "Keep planning", Role::RejectOnce));
    let title = if summary.is_empty() { "Carry out this plan?".to_owned() } else { summary };
    let subject =
        Subject { kind: Some("switch_mode".to_owned()), plan: Some(plan_content), ..Subject::default() };
    let described =
        PermissionDescription { title: Some(title), subject, options, ..PermissionDescription::default() };
    described.question(Origin::Copilot, id)
}

/// Writes an outcome as the reply to a plan. Only its own option approves it (I12).
pub(super) fn plan_reply(outcome: &Outcome, remark: Option<&str>) -> (Json, Ending) {
    let chosen = match outcome {
        Outcome::Answered(Answer { values, .. }) => values.values().next(),
        _ => None,
    };
    let action = match chosen {
        Some(Value::Text(text)) => ACTIONS.iter().map(|(action, ..)| *action).find(|action| action == text),
        _ => None,
    };
    let approved = action.is_some();
    let reply = match (action, remark) {
        (Some(action), _) => json!({ "approved": true, "selectedAction": action }),
        (None, Some(remark)) => json!({ "approved": false, "feedback": remark }),
        (None, None) => json!({ "approved": false }),
    };
    (reply, Ending::Plan { approved: Some(approved), action: action.map(str::to_owned) })
}

/// Returns the outcome that the end of a plan means.
pub(super) fn plan_outcome(question: &Question, approved: Option<bool>, action: Option<&str>) -> Outcome {
    if approved == Some(false) {
        return Outcome::Rejected(Reason::User);
    }
    let field = question.fields.first();
    let answer = field.zip(action).map(|(field, action)| Answer::text(&field.name, action));
    Outcome::Answered(answer.unwrap_or_default())
}

/// The end of a question or a permission.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// A form was filled in, declined or cancelled.
    Form {
        /// `accept`, `decline` or `cancel`. `None` if the event does not say.
        action: Option<String>,
        /// The values, by field.
        content: Map<String, Json>,
    },
    /// A question was answered with this text.
    Text(Option<String>),
    /// A permission was decided: `approved`, `approved-for-session`, `denied-interactively-by-user` and so on.
    Decided(String),
    /// A plan was approved with this action, or not approved.
    Plan {
        /// Whether it was approved. `None` if the event does not say.
        approved: Option<bool>,
        /// The mode in which Copilot continues.
        action: Option<String>,
    },
}
