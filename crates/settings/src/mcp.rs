//! The type of the setting that names tools of MCP servers.

use askbridge_core::mcp::ToolName;
use serde_json::{Value, json};

use super::key::{Setting, list, quoted, text};

/// Tools of MCP servers, each by the pattern of its server and its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools(Vec<(String, String)>);

/// The form of a tool.
const TOOL: &str = "a server and a tool such as \"github/push_files\" or \"*/delete_*\"";

impl Tools {
    /// Returns the tools of a server. Without the name of the server, those of every server count.
    pub fn of(&self, server: Option<&str>) -> Vec<ToolName> {
        let is_of = |pattern: &str| server.is_none_or(|server| ToolName::new(pattern).matches(server));
        self.0.iter().filter(|(server, _)| is_of(server)).map(|(_, tool)| ToolName::new(tool)).collect()
    }
}

impl Setting for Tools {
    const IS_LIST: bool = true;

    fn read(value: &Value) -> Result<Self, String> {
        let entry = |value: &Value| {
            let parts = text(value, TOOL)?.split_once('/');
            let parts = parts.filter(|(server, tool)| !server.is_empty() && !tool.is_empty());
            let parts = parts.map(|(server, tool)| (server.to_owned(), tool.to_owned()));
            parts.ok_or_else(|| format!("{} is not {TOOL}", quoted(value)))
        };
        list(value, "a list of tools such as [\"github/push_files\"]", entry).map(Tools)
    }

    fn to_value(&self) -> Value {
        self.0.iter().map(|(server, tool)| format!("{server}/{tool}")).collect()
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "string", "pattern": "^[^/]+/.+$" } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_named_with_their_servers() {
        let tools = Tools::read(&json!(["github/push_*", "*/delete", "a/b/c"])).expect("tools");
        assert_eq!(tools.to_value(), json!(["github/push_*", "*/delete", "a/b/c"]));
        let gated = |server, tool: &str| tools.of(server).iter().any(|it| it.matches(tool));
        for (server, tool, is_gated) in [
            (Some("github"), "push_files", true),
            (Some("gitlab"), "push_files", false),
            (Some("gitlab"), "delete", true),
            (Some("gitlab"), "delete_all", false),
            (Some("a"), "b/c", true),
            (None, "push_files", true),
            (None, "list", false),
        ] {
            assert_eq!(gated(server, tool), is_gated, "{server:?} {tool}");
        }
        for wrong in ["", "push", "/push", "github/"] {
            assert!(
                Tools::read(&json!([wrong])).is_err_and(|why| why.contains("is not a server and a tool"))
            );
        }
    }
}
