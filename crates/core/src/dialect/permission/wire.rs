//! The shape of a permission request, in versions 1 and 2 of ACP. Its meaning is left to `request.rs`.
//!
//! Source: `RequestPermissionRequest`, `ToolCallUpdate` and `ToolCallContent` of both versions of the ACP schema.
//! Members that only describe the request are read leniently: a member of another shape is ignored.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json, value::RawValue};

use crate::{dialect::once, question::Role};

/// The `params` of a permission request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionParams<'a> {
    pub session_id: Option<String>,
    /// The subject, in version 1.
    #[serde(borrow)]
    pub tool_call: Option<PermissionToolCall<'a>>,
    /// The name, in version 2.
    #[serde(default, deserialize_with = "lenient")]
    pub title: Option<String>,
    /// Why the agent asks, in version 2.
    #[serde(default, deserialize_with = "lenient")]
    pub description: Option<String>,
    /// The subject, in version 2.
    #[serde(borrow, default)]
    pub subject: Option<&'a RawValue>,
    pub options: Vec<PermissionOption>,
    #[serde(rename = "_meta", default, deserialize_with = "once::deserialize_every")]
    pub meta: Json,
}

/// A tool call, or the known parts of one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionToolCall<'a> {
    #[serde(default)]
    pub tool_call_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub title: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub kind: Option<String>,
    #[serde(default, deserialize_with = "once::deserialize")]
    pub content: Json,
    #[serde(default, deserialize_with = "once::deserialize")]
    pub locations: Json,
    #[serde(borrow, default)]
    pub raw_input: Option<&'a RawValue>,
    #[serde(rename = "_meta", default, deserialize_with = "once::deserialize_every")]
    pub meta: Json,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionOption {
    pub option_id: String,
    pub name: String,
    pub kind: Role,
    #[serde(default, deserialize_with = "lenient")]
    pub description: Option<String>,
    #[serde(rename = "_meta", default, deserialize_with = "once::deserialize_every")]
    pub meta: Json,
    /// Members that the standard does not have.
    #[serde(flatten)]
    pub more: Map<String, Json>,
}

/// The subject of a permission in version 2.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionSubject<'a> {
    #[serde(rename = "type")]
    pub kind: String,
    /// The tool call, if the subject is one.
    #[serde(borrow, default)]
    pub tool_call: Option<PermissionToolCall<'a>>,
    /// The command, if the subject is one.
    #[serde(default, deserialize_with = "lenient")]
    pub command: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub cwd: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub tool_call_id: Option<String>,
}

/// Reads a text. A blank one and anything else become `None`.
fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Json::deserialize(deserializer)? {
        Json::String(text) if !text.trim().is_empty() => Some(text),
        _ => None,
    })
}

impl<'a> PermissionParams<'a> {
    /// Reads the parameters of a request. `None` if they do not follow the standard.
    pub(super) fn read(params: &'a [u8]) -> Option<Self> {
        // Checking the whole request for UTF-8 takes a fraction of the time of checking string by string.
        match std::str::from_utf8(params) {
            Ok(params) => serde_json::from_str(params).ok(),
            Err(_) => serde_json::from_slice(params).ok(),
        }
    }

    /// Returns the subject of version 2, if there is one that can be read.
    pub(super) fn subject(&self) -> Option<PermissionSubject<'a>> {
        serde_json::from_str(self.subject?.get()).ok()
    }
}
