//! A tool call as it comes: what the hooks and the control protocol have in common.

use serde_json::value::RawValue;

/// The tool with which the model asks questions.
pub(super) const ASK: &str = "AskUserQuestion";
/// The tool with which the model ends plan mode.
pub(super) const EXIT_PLAN_MODE: &str = "ExitPlanMode";

/// A tool call that waits for the person.
#[derive(Clone, Debug, Default)]
pub struct ToolCall<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its input, as JSON. A decision has to repeat it byte for byte.
    pub input: &'a str,
    /// Its ID, where it is known.
    pub id: Option<&'a str>,
    /// What Claude Code says of the call, where it says something.
    pub description: Option<&'a str>,
    /// The lasting permissions that Claude Code suggests.
    pub suggestions: Vec<&'a RawValue>,
    /// Whether Claude Code marks the call as one that is not to be allowed by a single key.
    pub is_marked: bool,
}
