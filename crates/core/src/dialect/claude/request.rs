//! A request of the control protocol as a question: `can_use_tool`, for tool calls, and `elicitation`, for forms; and
//! the result of the response. The lines themselves are left to `control.rs`.

use serde::Deserialize;
use serde_json::{Value as Json, value::RawValue};

use super::{
    call::{self, ClaudeReply},
    control::Request,
    questions::{self, ClaudeForm},
    tool_call::{self, ASK, EXIT_PLAN_MODE, ToolCall},
};
use crate::{
    dialect::{agent_dialect::Rejection, permission::said, unshown::is_too_long},
    question::{Answer, Outcome, Question, Reason},
    wire::scan,
};

/// A tool call waits for the person.
const CAN_USE_TOOL: &str = "can_use_tool";
/// An MCP server asks, by a form.
const ELICITATION: &str = "elicitation";

/// Returns whether a request with this subtype may be a question. `request_user_dialog` is no question: the host has
/// declared which dialogs it knows, and it alone answers them.
pub fn may_ask(is: impl Fn(&str) -> bool) -> bool {
    is(CAN_USE_TOOL) || is(ELICITATION)
}

/// The format of a request's result.
#[derive(Clone, Debug)]
pub enum ControlReply {
    /// A decision about a tool call.
    Call(ClaudeReply),
    /// The result of a form.
    Form(ClaudeForm),
}

/// The body of `can_use_tool`. Members that only describe the call are read leniently.
#[derive(Deserialize)]
struct CanUseTool<'a> {
    tool_name: String,
    #[serde(borrow)]
    input: &'a RawValue,
    // Qwen Code sends `null` if it suggests no lasting permission.
    #[serde(borrow, default)]
    permission_suggestions: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    description: Json,
    #[serde(default)]
    decision_reason: Json,
    #[serde(default)]
    requires_user_interaction: bool,
    #[serde(default)]
    default_to_no: bool,
    #[serde(default)]
    suppress_always_allow_rule: bool,
    #[serde(default)]
    matched_ask_rule: Json,
    #[serde(default)]
    decision_reason_rule_source: Json,
    #[serde(default)]
    server_policy_ask_only: Json,
    #[serde(default)]
    blocked_path: Json,
}

/// Reads a request as a question, with the format of its result.
///
/// Returns `None` for a request that is no question, is not understood, or exceeds the limits: it is left to the host.
pub fn read(request: Request<'_>) -> Option<(Question, ControlReply)> {
    if is_too_long(request.body) {
        return None;
    }
    let id = scan::text(request.id.as_bytes())?;
    match &*request.subtype()? {
        CAN_USE_TOOL => can_use_tool(&serde_json::from_slice(request.body).ok()?, request.body, &id),
        ELICITATION => {
            let (question, reply) = questions::read_form(request.body, &id)?;
            Some((question, ControlReply::Form(reply)))
        }
        _ => None,
    }
}

fn can_use_tool(read: &CanUseTool<'_>, body: &[u8], id: &str) -> Option<(Question, ControlReply)> {
    if !read.input.get().starts_with('{') {
        return None;
    }
    // A question and a plan always require the person, so the mark means nothing for them.
    let (tool, keys) = tool_call::known(&read.tool_name);
    let is_for_person = [ASK, EXIT_PLAN_MODE].contains(&tool);
    let lasting = read.permission_suggestions.clone().filter(|_| !read.suppress_always_allow_rule);
    let call = ToolCall {
        tool,
        input: read.input.get(),
        id: read.tool_use_id.as_deref(),
        description: read.description.as_str(),
        suggestions: lasting.unwrap_or_default(),
        keys,
        is_hosted: true,
        is_marked: read.default_to_no || (read.requires_user_interaction && !is_for_person),
    };
    let (mut question, reply) = call::read(&call, id)?;
    if let Some(subject) = &mut question.subject {
        let known = subject.description.take();
        let said: Vec<_> = known.into_iter().chain(read.reasons()).collect();
        subject.description = (!said.is_empty()).then(|| said.join("\n"));
        question.dangerous |= said::add_unknown(subject, body, &OF_CALL);
        subject.fit();
    }
    // The host knows the request by this ID.
    id.clone_into(&mut question.id);
    question.check_limits().is_ok().then_some((question, ControlReply::Call(reply)))
}

/// Members of `can_use_tool` that are read on their own, or say nothing more. `display_name` names the tool, and
/// `decision_reason_type` is the kind of the reason.
const OF_CALL: [&str; 18] = [
    "subtype",
    "tool_name",
    "display_name",
    "input",
    "permission_suggestions",
    "tool_use_id",
    "agent_id",
    "description",
    "decision_reason",
    "decision_reason_type",
    "decision_reason_rule_source",
    "requires_user_interaction",
    "default_to_no",
    "suppress_always_allow_rule",
    "matched_ask_rule",
    "server_policy_ask_only",
    "classifier_approvable",
    "blocked_path",
];

impl CanUseTool<'_> {
    /// Returns why Claude Code asks, each reason as a line.
    fn reasons(&self) -> impl Iterator<Item = String> {
        let source = self.decision_reason_rule_source.as_str().filter(|_| self.matched_ask_rule.is_null());
        let policy = (self.server_policy_ask_only == true)
            .then_some("The policy of its server wants you to be asked.");
        let reasons = [
            self.decision_reason.as_str().map(without_escapes),
            matched_rule(&self.matched_ask_rule),
            source.map(|source| format!("A rule in {source} wants you to be asked.")),
            policy.map(str::to_owned),
            self.blocked_path.as_str().map(|path| format!("The path is not allowed yet: {path}")),
        ];
        reasons.into_iter().flatten()
    }
}

/// Returns a sentence that names the rule by which the person wants to be asked.
fn matched_rule(rule: &Json) -> Option<String> {
    let tool = rule["tool_name"].as_str()?;
    let content = rule["rule_content"].as_str().map(|content| format!("({content})")).unwrap_or_default();
    let source = rule["source"].as_str().map(|source| format!(" in {source}")).unwrap_or_default();
    Some(format!("The rule {tool}{content}{source} wants you to be asked."))
}

/// Leaves out the sequences that color a terminal: a reason may have them.
fn without_escapes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\u{1b}' {
            kept.push(char);
        } else if chars.next() == Some('[') {
            // Parameters, up to the letter that names the sequence.
            chars.by_ref().find(|char| ('@'..='~').contains(char));
        }
    }
    kept
}

impl ControlReply {
    /// Returns how many bytes of the request it holds.
    pub fn bytes(&self) -> usize {
        match self {
            ControlReply::Call(ClaudeReply::Answers { input, .. }) => input.get().len(),
            ControlReply::Call(ClaudeReply::Decision { input, lasting }) => {
                input.get().len() + lasting.iter().map(|(_, raw)| raw.get().len()).sum::<usize>()
            }
            ControlReply::Form(reply) => reply.bytes(),
        }
    }

    /// Writes an answer that fits the question.
    pub fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        match self {
            ControlReply::Call(reply) => reply.write_answer(question, answer),
            ControlReply::Form(reply) => reply.write_answer(question, answer),
        }
    }

    /// Writes a rejection. The model reads why.
    pub fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        let why = match rejection.reason {
            Reason::User | Reason::Policy => rejection.remark,
            Reason::Timeout => Some("No answer came in time."),
            _ => Some("The program that asks the person is ending."),
        };
        match self {
            ControlReply::Call(reply) => reply.write_rejection(Rejection { remark: why, ..rejection }),
            ControlReply::Form(reply) => reply.write_rejection(rejection),
        }
    }

    /// Reads the result of the host. Returns `None` if it has no known meaning.
    pub fn read(&self, question: &Question, result: &[u8]) -> Option<Outcome> {
        match self {
            ControlReply::Call(reply) => match reply.read(question, result)? {
                // A host may let the person write instead of answering.
                Outcome::Answered(answer) if answer.values.is_empty() => {
                    Some(Outcome::Rejected(Reason::RepliedInChat))
                }
                outcome => Some(outcome),
            },
            ControlReply::Form(reply) => reply.read(question, result),
        }
    }
}
