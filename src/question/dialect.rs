//! The name of each dialect in which a question can come.
//! How one reads is left to the module of the same name at the top.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A way to say a question on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// `_sandboxagent/session/request_question`.
    SandboxAgent,
    /// `elicitation/create` in form mode, and its former names.
    Elicitation,
    /// `session/request_permission` that is no permission but a question.
    Permission,
    /// `cursor/ask_question`.
    Cursor,
    /// `_x.ai/ask_user_question`.
    Grok,
    /// `_kiro/userInput`.
    Kiro,
}

impl Dialect {
    /// Returns its name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::SandboxAgent => "sandboxagent",
            Dialect::Elicitation => "elicitation",
            Dialect::Permission => "permission",
            Dialect::Cursor => "cursor",
            Dialect::Grok => "grok",
            Dialect::Kiro => "kiro",
        }
    }
}
