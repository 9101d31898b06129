//! Chooses the function of a permission's dialect, and the version of the protocol.
//! The spelling of each dialect is left to its own file, and the response to `told.rs`.

use super::{
    claude, codex, cursor, gemini, grok, kimi, opencode,
    parts::Asked,
    pi,
    request::{MockPermission, PermissionRequest},
    standard::{self, Options},
    version_2,
};
use crate::mock::MockDialect;

impl MockPermission {
    /// Returns the request, in the version of the protocol that the client speaks.
    pub(in crate::mock) fn request(&self) -> PermissionRequest {
        let asked = self.asked();
        let request = PermissionRequest { updates: asked.updates, params: asked.params };
        if self.version_2 { version_2::request(self, request, &asked.title) } else { request }
    }

    /// Returns the permission in the words of its dialect.
    pub(super) fn asked(&self) -> Asked {
        match self.dialect {
            MockDialect::Claude => claude::ask(self),
            MockDialect::Codex | MockDialect::CodexAsync => codex::ask(self),
            MockDialect::Kimi | MockDialect::KimiPermission => kimi::ask(self),
            MockDialect::Gemini => gemini::ask(self),
            MockDialect::Qwen => gemini::ask_qwen(self),
            MockDialect::Opencode => opencode::ask(self),
            MockDialect::Cursor => cursor::ask(self),
            MockDialect::Grok => grok::ask(self),
            MockDialect::Pi => pi::ask(self),
            MockDialect::OhMyPi => standard::ask(self, Options::Underscored),
            // The example of the standard names the tool call and leaves the rest to its earlier update.
            MockDialect::Form | MockDialect::Historic => standard::ask_by_id(self),
            MockDialect::Sandboxagent | MockDialect::Devin | MockDialect::Kiro => {
                standard::ask(self, Options::Hyphenated)
            }
        }
    }
}
