//! The settings of a bridge between an MCP server and its host.

use crate::engine;

/// The settings of a bridge.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The configuration of a bridge of any protocol.
    pub common: engine::Config,
    /// Who is asked what the server asks.
    pub elicitation: Elicitation,
    /// How the session may begin.
    pub session: Session,
    /// The name of the server, by which the user knows it. `None` takes the one that it gives itself.
    pub server: Option<String>,
    /// The tools whose calls the user wants to allow.
    pub gated: Vec<ToolName>,
}

/// Who is asked what a server asks its person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elicitation {
    /// The inbox, and the host where it declares that it shows such a question. The first answer wins.
    #[default]
    Both,
    /// The inbox alone.
    Inbox,
    /// The host alone.
    Host,
}

/// How a session may begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Session {
    /// By `initialize`. A host that asks by `server/discover` for a version without it is told that there is no such method,
    /// as servers of earlier versions say, and initializes. A server can ask at any time then: since 2026-07-28, it can
    /// only ask in the result of a call, and what most servers are written with fails.
    #[default]
    Handshake,
    /// As the host and the server choose.
    Any,
}

/// The name of a tool, or a pattern of names: `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolName(String);

impl ToolName {
    /// Returns the pattern of this text.
    pub fn new(pattern: &str) -> Self {
        ToolName(pattern.to_owned())
    }

    /// Returns whether a tool has such a name.
    pub fn matches(&self, tool: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(rest) = parts.next().and_then(|first| tool.strip_prefix(first)) else { return false };
        let mut parts: Vec<_> = parts.collect();
        let Some(last) = parts.pop() else { return rest.is_empty() };
        // Each part is taken where it comes first, so that most is left for those behind it.
        let behind =
            parts.iter().try_fold(rest, |rest, part| rest.find(part).map(|at| &rest[at + part.len()..]));
        behind.is_some_and(|rest| rest.ends_with(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, tool, matches) in [
            ("push", "push", true),
            ("push", "pushes", false),
            ("push", "a push", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything", true),
            ("push*", "push", true),
            ("push*", "push_files", true),
            ("*_files", "push_files", true),
            ("*_files", "files", false),
            ("a*b*c", "abc", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("**", "x", true),
            ("Ä*", "Äpfel", true),
        ] {
            assert_eq!(ToolName::new(pattern).matches(tool), matches, "{pattern:?} {tool:?}");
        }
    }
}
