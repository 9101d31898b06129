//! A tool call that waits for the person, as the hooks and the control protocol both describe it.

use serde_json::value::RawValue;

/// The tool with which the model asks questions.
pub(super) const ASK: &str = "AskUserQuestion";
/// The tool with which the model ends plan mode.
pub(super) const EXIT_PLAN_MODE: &str = "ExitPlanMode";

/// Qwen Code's names of tools that take the same input as one of Claude Code's tools.
const OF_QWEN: [(&str, &str); 9] = [
    (ASK_OF_QWEN, ASK),
    ("exit_plan_mode", EXIT_PLAN_MODE),
    ("run_shell_command", "Bash"),
    ("edit", "Edit"),
    ("write_file", "Write"),
    ("read_file", "Read"),
    ("grep_search", "Grep"),
    ("glob", "Glob"),
    ("web_fetch", "WebFetch"),
];
const ASK_OF_QWEN: &str = "ask_user_question";

/// The key of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerKey {
    /// The text of its question: Claude Code.
    #[default]
    Text,
    /// The place of its question, from 0: Qwen Code, which takes no notes beside an answer.
    Place,
}

/// Returns the name of Claude Code's tool that takes the same input, and the kind of key for its answers.
pub(super) fn known(tool: &str) -> (&str, AnswerKey) {
    let name = OF_QWEN.iter().find(|(of_qwen, _)| *of_qwen == tool).map_or(tool, |(_, name)| name);
    (name, if tool == ASK_OF_QWEN { AnswerKey::Place } else { AnswerKey::Text })
}

/// A tool call that waits for the person.
#[derive(Clone, Debug, Default)]
pub struct ToolCall<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its input, as JSON. A decision has to repeat it byte for byte.
    pub input: &'a str,
    /// Its ID, if known.
    pub id: Option<&'a str>,
    /// Claude Code's description of the call, if it has one.
    pub description: Option<&'a str>,
    /// The lasting permissions that Claude Code suggests.
    pub suggestions: Vec<&'a RawValue>,
    /// The keys of its answers.
    pub keys: AnswerKey,
    /// Whether a decision about a plan counts although the input does not have the plan, as under the control protocol.
    pub is_hosted: bool,
    /// Whether Claude Code marks the call as one that is not to be allowed by a single key.
    pub is_marked: bool,
}
