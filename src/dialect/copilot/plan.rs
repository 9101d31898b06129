//! Copilot's plans, which a person approves with the way in which it goes on.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{
    ending::Ending,
    permission::{REJECT, option},
};
use crate::{
    dialect::permission::PermissionDescription,
    question::{Answer, Origin, Outcome, Question, Reason, Role, Subject, Value},
};

/// What `exit_plan_mode.requested` asks.
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
    let mut options: Vec<_> = offered.map(|(action, label, role)| option(action, label, *role)).collect();
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
    let values =
        field.zip(action).map(|(field, action)| (field.name.clone(), Value::Text(action.to_owned())));
    Outcome::Answered(Answer { values: values.into_iter().collect(), ..Answer::default() })
}
