//! A permission request as a client has it: a title, and options of which one is chosen.
//! Nothing in it says that it is a question.

use serde::Deserialize;
use serde_json::{Value, json};

use super::form::{Choice, Field, Form, text};

/// The options of a permission request, each with its kind.
#[derive(Debug)]
pub(super) struct Permission(Vec<PermissionOption>);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionOption {
    option_id: String,
    name: String,
    kind: String,
}

impl Permission {
    /// The first option of a kind that starts like this.
    pub(super) fn first(&self, kind: &str) -> Option<&str> {
        let found = self.0.iter().find(|option| option.kind.starts_with(kind));
        found.map(|option| option.option_id.as_str())
    }
}

/// Reads the parameters as one field.
pub(super) fn read(params: &Value) -> Option<(Form, Permission)> {
    let options = Vec::<PermissionOption>::deserialize(&params["options"]).ok()?;
    let choices =
        options.iter().map(|option| Choice::new(option.option_id.clone(), Some(option.name.clone()), None));
    let field = Field {
        question: text(&params["toolCall"], &["title", "toolCallId"])?,
        options: choices.collect(),
        ..Field::default()
    };
    let form = Form { message: None, fields: vec![field] };
    (!options.is_empty()).then_some((form, Permission(options)))
}

pub(super) fn selected(option: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

pub(super) fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}
