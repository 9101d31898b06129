//! The input of a Claude Code hook on stdin, and the output that a hook may print.
//!
//! The hook of `PermissionRequest` runs while the dialog is shown and can be used. The hook of `Elicitation`, and every
//! hook of a subagent, runs before the dialog is shown. A hook that prints nothing decides nothing.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json, value::RawValue};

use super::{
    call::{self, ClaudeReply},
    questions::{self, ClaudeForm},
    tool_call::ToolCall,
};
use crate::{
    question::{Outcome, Question},
    wire::line,
};

/// The names of the events that ask.
const PERMISSION_REQUEST: &str = "PermissionRequest";
const ELICITATION: &str = "Elicitation";

/// One call of a hook.
#[derive(Debug)]
pub struct HookCall {
    /// The session.
    pub session: String,
    /// The file that the session is written to.
    pub transcript: Option<String>,
    /// The folder that the session works in.
    pub folder: Option<String>,
    /// The subagent that makes the call. `None` if the session itself makes it.
    pub subagent: Option<String>,
    /// The event.
    pub event: HookEvent,
}

/// The event.
#[derive(Debug)]
pub enum HookEvent {
    /// A tool call waits for the person.
    Permission {
        /// The tool.
        tool: String,
        /// Its input.
        input: Box<RawValue>,
        /// The lasting permissions that Claude Code suggests.
        suggestions: Vec<Box<RawValue>>,
    },
    /// An MCP server asks, by a form.
    Elicitation(Box<RawValue>),
    /// A tool was used.
    Used {
        /// The tool.
        tool: String,
        /// Its input, with the answers if it asked a question.
        input: Json,
    },
    /// The turn is over.
    Stopped,
    /// The session is over.
    SessionEnded,
    /// Anything else.
    Other,
}

#[derive(Deserialize)]
struct HookInput {
    session_id: String,
    transcript_path: Option<String>,
    cwd: Option<String>,
    agent_id: Option<String>,
    hook_event_name: String,
    tool_name: Option<String>,
    tool_input: Option<Box<RawValue>>,
    #[serde(default)]
    permission_suggestions: Vec<Box<RawValue>>,
}

/// The output of a hook for a tool call. The decision is embedded in it byte for byte.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookOutput<'a> {
    hook_specific_output: HookDecision<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookDecision<'a> {
    decision: &'a RawValue,
    hook_event_name: &'static str,
}

/// The form in which a hook prints a decision.
#[derive(Clone, Debug)]
pub enum HookReply {
    /// A decision about a tool call.
    Call(ClaudeReply),
    /// The result of a form.
    Form(ClaudeForm),
}

impl HookCall {
    /// Reads the input of a hook. Returns `None` for an event that is not understood.
    pub fn read(stdin: &[u8]) -> Option<Self> {
        let input: HookInput = serde_json::from_slice(stdin).ok()?;
        let event = match (input.hook_event_name.as_str(), input.tool_name, input.tool_input) {
            (PERMISSION_REQUEST, Some(tool), Some(raw)) => {
                HookEvent::Permission { tool, input: raw, suggestions: input.permission_suggestions }
            }
            (ELICITATION, ..) => HookEvent::Elicitation(serde_json::from_slice(stdin).ok()?),
            ("PostToolUse" | "PostToolUseFailure", Some(tool), Some(raw)) => {
                HookEvent::Used { tool, input: serde_json::from_str(raw.get()).ok()? }
            }
            ("Stop" | "StopFailure", ..) => HookEvent::Stopped,
            ("SessionEnd", ..) => HookEvent::SessionEnded,
            _ => HookEvent::Other,
        };
        Some(HookCall {
            session: input.session_id,
            transcript: input.transcript_path,
            folder: input.cwd,
            subagent: input.agent_id,
            event,
        })
    }

    /// Returns the question that this call asks, and the form of the decision. `fallback_id` is the question's ID:
    /// these calls have none.
    ///
    /// Returns `None` for a call that asks nothing, and for one that is not understood.
    pub fn question(&self, fallback_id: &str) -> Option<(Question, HookReply)> {
        let (mut question, reply) = match &self.event {
            HookEvent::Permission { tool, input, suggestions } => {
                let call = ToolCall {
                    tool,
                    input: input.get(),
                    suggestions: suggestions.iter().map(|raw| &**raw).collect(),
                    ..ToolCall::default()
                };
                let (question, reply) = call::read(&call, fallback_id)?;
                (question, HookReply::Call(reply))
            }
            HookEvent::Elicitation(form) => {
                let (question, reply) = questions::read_form(form.get().as_bytes(), fallback_id)?;
                (question, HookReply::Form(reply))
            }
            _ => return None,
        };
        question.session = Some(self.session.clone());
        question.project = self.folder.as_deref().map(Into::into);
        Some((question, reply))
    }

    /// Writes the parts of this call that a waiting hook needs, as a line that is read like the stdin of a hook.
    pub fn line(&self) -> String {
        let named = |event: &str| json!({ "session_id": self.session, "hook_event_name": event });
        let line = match &self.event {
            HookEvent::Used { tool, input } => {
                let mut line = named("PostToolUse");
                line["tool_name"] = tool.as_str().into();
                line["tool_input"] = input.clone();
                line
            }
            HookEvent::Stopped => named("Stop"),
            HookEvent::SessionEnded => named("SessionEnd"),
            // A waiting hook ignores an event without a name.
            _ => named(""),
        };
        line.to_string()
    }

    /// Returns whether Claude Code shows no dialog while the hook waits.
    pub fn locks_the_dialog(&self) -> bool {
        self.subagent.is_some() || matches!(self.event, HookEvent::Elicitation(_))
    }
}

impl HookReply {
    /// Writes the output of a hook for an outcome. Returns `None` if the outcome is an end that the person did not
    /// choose.
    pub fn write(&self, question: &Question, outcome: &Outcome, remark: Option<&str>) -> Option<String> {
        self.json(question, outcome, remark).map(|json| line::escaped(&json).into_owned())
    }

    fn json(&self, question: &Question, outcome: &Outcome, remark: Option<&str>) -> Option<String> {
        match self {
            HookReply::Call(reply) => {
                let decision = reply.write(question, outcome, remark)?;
                let hook_specific_output =
                    HookDecision { decision: &decision, hook_event_name: PERMISSION_REQUEST };
                serde_json::to_string(&HookOutput { hook_specific_output }).ok()
            }
            HookReply::Form(reply) => {
                let mut output: Json = serde_json::from_str(reply.write(question, outcome)?.get()).ok()?;
                output["hookEventName"] = ELICITATION.into();
                Some(json!({ "hookSpecificOutput": output }).to_string())
            }
        }
    }
}
