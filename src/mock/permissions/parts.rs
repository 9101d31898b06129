//! The parts of a permission request that every dialect shares: options and blocks of content.
//! Which of them a request has is left to the dialects.

use serde_json::{Value, json};

/// A permission in the words of its dialect.
pub(super) struct Asked {
    /// The updates that precede the request.
    pub(super) updates: Vec<Value>,
    /// The parameters of the request in version 1 of the protocol.
    pub(super) params: Value,
    /// The title of the prompt in version 2 of the protocol.
    pub(super) title: String,
}

/// Returns an option.
pub(super) fn option(id: &str, name: &str, kind: &str) -> Value {
    json!({ "optionId": id, "name": name, "kind": kind })
}

/// Returns a block of text.
pub(super) fn text(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

/// Returns a block with the change of a file.
pub(super) fn diff(path: &str, old: &str, new: &str) -> Value {
    json!({ "type": "diff", "path": path, "oldText": old, "newText": new })
}

/// Returns the update that begins a tool call with these fields.
pub(super) fn announced(mut tool_call: Value) -> Value {
    tool_call["sessionUpdate"] = json!("tool_call");
    tool_call
}
