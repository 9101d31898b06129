//! A tool call that waits for the person, as a question; and the decision about it, as Claude Code takes it from a hook
//! and from a host alike: `{"behavior":"allow",…}` or `{"behavior":"deny",…}`.

use serde::Serialize;
use serde_json::{Value as Json, json, value::RawValue};

use super::{
    permission, questions,
    tool_call::{ASK, AnswerKey, ToolCall},
};
use crate::{
    dialect::{agent_dialect::Rejection, values::json as raw},
    question::{Answer, Outcome, Question, Reason},
};

/// The reason for the model if the user gave none.
const NO_ANSWER: &str = "The person did not want to answer.";
const REJECTED: &str = "The person rejected this.";

/// The format of a decision for Claude Code.
#[derive(Clone, Debug)]
pub enum ClaudeReply {
    /// The input of the call with the answers added.
    Answers {
        /// The input, as it came.
        input: Box<RawValue>,
        /// The key of each answer.
        keys: AnswerKey,
    },
    /// One of the decisions.
    Decision {
        /// The input, as it came.
        input: Box<RawValue>,
        /// The lasting permissions, by the values of their options.
        lasting: Vec<(String, Box<RawValue>)>,
    },
}

/// The decision that allows a call. The parts of the call that it repeats are embedded byte for byte.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AllowDecision<'a> {
    behavior: &'static str,
    updated_input: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_permissions: Option<[&'a RawValue; 1]>,
}

/// Reads a tool call. `fallback_id` is the question's ID if the call has none.
///
/// Returns `None` for a call that is not understood, or that exceeds the limits.
pub fn read(call: &ToolCall<'_>, fallback_id: &str) -> Option<(Question, ClaudeReply)> {
    let id = call.id.unwrap_or(fallback_id);
    // A parsed value would write numbers in another way and sort the members.
    let input = RawValue::from_string(call.input.to_owned()).ok()?;
    let (question, reply) = match call.tool {
        ASK => (questions::read(call, id)?, ClaudeReply::Answers { input, keys: call.keys }),
        _ => {
            let (question, lasting) = permission::read(call, id)?;
            (question, ClaudeReply::Decision { input, lasting })
        }
    };
    question.check_limits().is_ok().then_some((question, reply))
}

impl ClaudeReply {
    /// Writes an outcome as a decision. Returns `None` for an end that the person did not choose: then there is no
    /// decision to give.
    pub fn write(
        &self,
        question: &Question,
        outcome: &Outcome,
        remark: Option<&str>,
    ) -> Option<Box<RawValue>> {
        match outcome {
            Outcome::Answered(answer) => Some(self.write_answer(question, answer)),
            Outcome::Rejected(reason @ (Reason::User | Reason::Policy)) => {
                Some(self.write_rejection(Rejection { reason: *reason, remark }))
            }
            _ => None,
        }
    }

    /// Writes an answer that fits the question.
    pub fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        match self {
            ClaudeReply::Answers { input, keys } => {
                let updated = questions::with_answers(input, *keys, question, answer);
                allow(&updated, None)
            }
            ClaudeReply::Decision { input, lasting } => match permission::chosen(question, answer) {
                Some(permission::ALLOW) => allow(input, None),
                Some(chosen) => match lasting.iter().find(|(value, _)| value == chosen) {
                    Some((_, permission)) => allow(input, Some(permission)),
                    // An unknown value allows nothing (I12).
                    None => deny(REJECTED),
                },
                None => deny(REJECTED),
            },
        }
    }

    /// Writes a rejection.
    pub fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        let default = match self {
            ClaudeReply::Answers { .. } => NO_ANSWER,
            ClaudeReply::Decision { .. } => REJECTED,
        };
        deny(rejection.remark.filter(|remark| !remark.trim().is_empty()).unwrap_or(default))
    }

    /// Reads the decision of another responder, such as a host.
    pub fn read(&self, question: &Question, decision: &[u8]) -> Option<Outcome> {
        let decision: Json = serde_json::from_slice(decision).ok()?;
        match decision.get("behavior")?.as_str()? {
            "allow" => Some(Outcome::Answered(match self {
                ClaudeReply::Answers { keys, .. } => {
                    questions::answers(question, *keys, &decision["updatedInput"])
                }
                ClaudeReply::Decision { lasting, .. } => {
                    permission::granted(question, lasting, &decision["updatedPermissions"])
                }
            })),
            "deny" => Some(Outcome::Rejected(Reason::User)),
            _ => None,
        }
    }
}

/// Returns the decision that allows a call with this input. For some tools, a decision without an input has no effect.
fn allow(input: &RawValue, permission: Option<&RawValue>) -> Box<RawValue> {
    let updated_permissions = permission.map(|permission| [permission]);
    raw(&AllowDecision { behavior: "allow", updated_input: input, updated_permissions })
}

fn deny(message: &str) -> Box<RawValue> {
    raw(&json!({ "behavior": "deny", "message": message }))
}
