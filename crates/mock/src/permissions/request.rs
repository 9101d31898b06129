//! A permission of the mock agent that has no answer yet, and what a request for it is made of.
//! Making the request is left to `templates.rs`.

use serde::Deserialize;
use serde_json::Value;

use crate::{MockDialect, behaviour::Act};

/// The file that is changed, relative to the session's folder.
pub(super) const FILE: &str = "src/main.rs";

/// A permission that the mock agent asks for.
#[derive(Clone, Debug)]
pub(crate) struct MockPermission {
    pub(crate) session: String,
    pub(crate) cwd: String,
    /// Its number in the process, counted from 1 together with the questions.
    pub(crate) number: u64,
    pub(crate) dialect: MockDialect,
    pub(crate) act: Act,
    /// Whether the client speaks version 2 of the protocol.
    pub(crate) version_2: bool,
    /// Whether others are asked for at the same time.
    pub(crate) together: bool,
}

/// The request that asks for a permission, and the updates that precede it.
#[derive(Debug, Deserialize)]
pub(crate) struct PermissionRequest {
    /// The title of the prompt in version 2 of the protocol.
    pub(super) title: String,
    pub(crate) updates: Vec<Value>,
    pub(crate) params: Value,
}

impl MockPermission {
    /// Returns the ID of its tool call, in the spelling of the dialect.
    pub(super) fn tool_call(&self) -> String {
        match (self.dialect, self.act) {
            (MockDialect::Claude, _) => format!("toolu_{:02}", self.number),
            (MockDialect::Pi, _) => format!("pi-ui-{}", self.number),
            // Kimi puts the number of the turn before it.
            (MockDialect::Kimi | MockDialect::KimiPermission, _) => format!("1:call-{}", self.number),
            (MockDialect::Codex | MockDialect::CodexAsync, Act::Plan) => {
                format!("plan-review:call-{}", self.number)
            }
            _ => format!("call-{}", self.number),
        }
    }

    /// Returns the absolute path of the file that is changed.
    pub(super) fn path(&self) -> String {
        format!("{}/{FILE}", self.cwd.trim_end_matches('/'))
    }
}
