//! A permission request in the client: a title, and options of which one is selected.
//! What it is for is left to `subject.rs`, and choosing an option to `answers.rs`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    form::{ClientChoice, ClientField, ClientForm, text},
    subject::ToolCalls,
};

/// A permission request: its options, each with its kind, and its parameters.
#[derive(Debug)]
pub(super) struct Permission {
    options: Vec<PermissionOption>,
    params: Value,
}

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
        let found = self.options.iter().find(|option| option.kind.starts_with(kind));
        found.map(|option| option.option_id.as_str())
    }

    /// Returns the option with this ID.
    pub(super) fn option(&self, id: &str) -> Option<&str> {
        let found = self.options.iter().find(|option| option.option_id == id);
        found.map(|option| option.option_id.as_str())
    }

    /// Adds what earlier updates said of its tool call.
    pub(super) fn complete(&mut self, tool_calls: &ToolCalls) {
        tool_calls.complete(&mut self.params);
    }

    /// Returns the parameters of the request.
    pub(super) fn params(&self) -> &Value {
        &self.params
    }
}

/// Reads the parameters as a form of one field.
pub(super) fn read(params: &Value) -> Option<(ClientForm, Permission)> {
    let options = Vec::<PermissionOption>::deserialize(&params["options"]).ok()?;
    let choices = options
        .iter()
        .map(|option| ClientChoice::new(option.option_id.clone(), Some(option.name.clone()), None));
    let field = ClientField {
        // Version 2 of the protocol has the title beside the tool call.
        question: text(&params["toolCall"], &["title", "toolCallId"]).or_else(|| text(params, &["title"]))?,
        options: choices.collect(),
        opaque: true,
        ..ClientField::default()
    };
    let form = ClientForm { message: None, fields: vec![field] };
    (!options.is_empty()).then(|| (form, Permission { options, params: params.clone() }))
}

/// Returns the result that selects an option.
pub(super) fn selected(option: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

/// Returns the result for a cancelled request.
pub(super) fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}
