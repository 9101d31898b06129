//! A permission request in the client: a title, and options of which one is selected.
//! The client cannot tell a question from a permission. Choosing an option is left to `answers.rs`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::form::{ClientChoice, ClientField, ClientForm, text};

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
    /// Returns the first option whose kind has this prefix.
    pub(super) fn first(&self, kind: &str) -> Option<&str> {
        let found = self.0.iter().find(|option| option.kind.starts_with(kind));
        found.map(|option| option.option_id.as_str())
    }
}

/// Reads the parameters as a form of one field.
pub(super) fn read(params: &Value) -> Option<(ClientForm, Permission)> {
    let options = Vec::<PermissionOption>::deserialize(&params["options"]).ok()?;
    let choices = options
        .iter()
        .map(|option| ClientChoice::new(option.option_id.clone(), Some(option.name.clone()), None));
    let field = ClientField {
        question: text(&params["toolCall"], &["title", "toolCallId"])?,
        options: choices.collect(),
        opaque: true,
        ..ClientField::default()
    };
    let form = ClientForm { message: None, fields: vec![field] };
    (!options.is_empty()).then_some((form, Permission(options)))
}

/// Returns the result that selects an option.
pub(super) fn selected(option: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

/// Returns the result for a cancelled request.
pub(super) fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}
