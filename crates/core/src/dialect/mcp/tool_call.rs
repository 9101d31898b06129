//! A tool call as a permission, and the result of one that was not allowed.

use serde_json::{Map, Value as Json, json, value::RawValue};

use super::elicitation::UNNAMED;
use crate::{
    dialect::{
        agent_dialect::Rejection,
        once,
        program::{NewSubject, permission_of_tool},
        values::json as raw,
    },
    question::{Question, Reason},
    wire::scan::{self, member},
};

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The name of the tool.
    pub tool: String,
}

impl ToolCall {
    /// Reads the `params` of a call. `None` if they name no tool.
    pub fn read(params: &[u8]) -> Option<Self> {
        Some(ToolCall { tool: scan::text(member(params, "name")?)?.into_owned() })
    }

    /// Returns the permission for this call, whose `params` these are.
    ///
    /// # Errors
    /// Why it cannot be shown.
    pub fn permission(&self, params: &[u8], server: &str) -> Result<Question, String> {
        // Of two members of one name, the server and the person might each take another one.
        let params = once::from_slice(params).and_then(|params| match params {
            Json::Object(params) => Some(params),
            _ => None,
        });
        let Some(mut params) = params else {
            return Err("Two members of an object have the same name.".to_owned());
        };
        let arguments = match params.remove("arguments") {
            None => Map::new(),
            Some(Json::Object(arguments)) => arguments,
            Some(_) => {
                return Err("Its arguments are no object, or have two members of the same name.".to_owned());
            }
        };
        let subject = NewSubject {
            tool: Some(self.tool.clone()),
            server: Some(server.to_owned()),
            arguments: Some(arguments),
            ..NewSubject::default()
        };
        permission_of_tool(subject, UNNAMED)
    }
}

/// Writes the result of a call that was not allowed: a result that the model reads, and no error of the protocol.
pub fn refused(tool: &str, rejection: Rejection<'_>) -> Box<RawValue> {
    let why = match rejection.reason {
        Reason::User => "The user did not allow this call.",
        Reason::Policy => "A rule of the user does not allow this call.",
        Reason::Timeout => "Nobody allowed this call in time.",
        _ => "Nobody could be asked to allow this call.",
    };
    let remark = rejection.remark.map(|remark| format!(" {remark}")).unwrap_or_default();
    let text = format!("{tool} was not called. {why}{remark}");
    // Since 2026-07-28, each result says what it is; earlier hosts ignore it.
    raw(&json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }], "isError": true }))
}
