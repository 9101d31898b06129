//! A permission request, from JSON to a question: requests that ask for a permission, requests that are questions in
//! the shape of one, and the entry of both in the registry of dialects. The subject of a permission is left to
//! `subject.rs`, the result to `response.rs`.
//!
//! A permission that is not understood, or exceeds the limits, is no error: the request is forwarded to the client, and
//! other responders do not see it.
//!
//! Source: the wire of Qwen and of Kimi without forms, and the code of pi-acp.

use std::mem;

use serde::Deserialize;
use serde_json::{Map, Value as Json, value::RawValue};

use super::{
    PermissionReply, one_kind, options, response,
    said::Said,
    subject::{Draft, is_marked},
    wire::{PermissionOption, PermissionParams, PermissionToolCall},
};
use crate::{
    dialect::{
        agent_dialect::{AgentDialect, Rejection, Reply, ShownBy},
        unshown::is_too_long,
        values::json,
    },
    limits,
    question::{Answer, Field, FieldOption, Kind, Origin, Purpose, Question, Role, subject},
    wire::{method::REQUEST_PERMISSION, scan::member},
};

/// One of Qwen's questions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QwenQuestion {
    question: String,
    header: Option<String>,
    #[serde(default)]
    multi_select: Option<bool>,
    #[serde(default)]
    options: Vec<QwenOption>,
}

#[derive(Deserialize)]
struct QwenOption {
    label: String,
    description: Option<String>,
}

/// Members, values and prefixes by which a permission request is recognised as a question.
const QWEN_QUESTIONS: &str = "qwenQuestions";
const USER_QUESTION: &str = "user_question";
const ASK_USER_QUESTION: &str = "ask_user_question";
const KIMI_CHOICE: &str = "opt_";
const PI_TOOL_CALL: &str = "pi-ui-";

/// Reads the `params` of a permission request, as a question or as a permission. Returns `None` if it is neither.
pub fn read(params: &[u8], fallback_id: &str) -> Result<Option<(Question, PermissionReply)>, String> {
    // A request that does not follow the standard is not refused: the client judges it.
    let Some(read) = PermissionParams::read(params) else { return Ok(None) };
    let beside = beside(params, &read.meta);
    // A question that is too big would be refused. As a permission, it can be shown unchanged.
    if let Some(tool_call) = read.tool_call.as_ref().filter(|_| !is_too_long(params)) {
        let asked = match qwen_questions(tool_call) {
            Some(questions) => qwen(&read, tool_call, &questions, fallback_id)?,
            None => choices(&read, tool_call).map(|(options, skip)| {
                let kind = Kind::choice(options, false, false);
                let label = tool_call.question_text();
                let help = help(&read, tool_call, &label);
                let field = Field { help, ..Field::at(0, label, None, kind) };
                let question = question(&read, tool_call, vec![field], fallback_id);
                (question, PermissionReply::Option { skip })
            }),
        };
        if asked.is_some() {
            return Ok(asked);
        }
    }
    let asked = read_permission(read, beside, params, fallback_id);
    Ok(asked.map(|(question, reply)| match one_kind::as_question(&question) {
        Some(asked) => (asked, PermissionReply::OneKind),
        None => (question, reply),
    }))
}

/// Reads the `params` of a permission request as a permission, whatever its options look like.
pub fn read_as_permission(params: &[u8], fallback_id: &str) -> Option<(Question, PermissionReply)> {
    let read = PermissionParams::read(params)?;
    let beside = beside(params, &read.meta);
    read_permission(read, beside, params, fallback_id)
}

/// The member of pi-acp's input that names its dialog.
const DIALOG: &str = "method";

/// Returns the texts beside a question in the shape of a permission: its message, and why it is asked.
fn help(params: &PermissionParams<'_>, tool_call: &PermissionToolCall<'_>, label: &str) -> Option<String> {
    let mut said = Said::default();
    said.reasons.extend(params.title.iter().chain(&params.description).cloned());
    said.meta(&params.meta);
    said.meta(&tool_call.meta);
    // Kimi writes the question into the content, and the name of its tool into the title.
    if let Some(title) = tool_call.title.as_ref().filter(|_| !said.reasons.is_empty()) {
        said.reasons.retain(|text| text != title);
    }
    if let Some(input) = tool_call.raw_input {
        let mut of_input = Said::default();
        of_input.unknown(input.get().as_bytes(), &[DIALOG, "title", "options", "questions"]);
        said.reasons.extend(of_input.reasons);
        said.reasons.extend(of_input.further);
    }
    let mut texts: Vec<String> = Vec::new();
    for text in said.reasons {
        if text != label && !texts.contains(&text) {
            texts.push(text);
        }
    }
    (!texts.is_empty()).then(|| subject::cut(&texts.join("\n"), limits::TEXT))
}

/// Members of a request that are read on their own.
const OF_REQUEST: [&str; 7] =
    ["sessionId", "toolCall", "title", "description", "subject", "options", "_meta"];

/// Returns what a request says beside the standard.
fn beside(params: &[u8], meta: &Json) -> Said {
    let mut said = Said::default();
    said.meta(meta);
    said.unknown(params, &OF_REQUEST);
    said
}

/// Returns the choices of a question, and the option that skips it.
///
/// Returns `None` if the id or the kind of any option does not fit: then this asks for a permission.
fn choices(
    params: &PermissionParams<'_>,
    tool_call: &PermissionToolCall<'_>,
) -> Option<(Vec<FieldOption>, Option<String>)> {
    let is_pi = tool_call.tool_call_id.as_deref().is_some_and(is_pi);
    let mut skip = None;
    let mut options = Vec::new();
    for PermissionOption { option_id, name, kind, .. } in &params.options {
        match (kimi_option(option_id), kind) {
            (Some("skip"), Role::RejectOnce) => skip = Some(option_id.clone()),
            (Some(choice), Role::AllowOnce) if is_numbered(choice, KIMI_CHOICE) => {
                options.push(option(option_id, name))
            }
            _ if is_pi && is_pi_option(option_id, *kind) => options.push(option(option_id, name)),
            _ => return None,
        }
    }
    (!options.is_empty()).then_some((options, skip))
}

/// Returns whether the agent ends this question by itself, and tells of it only by the end of the turn. A dialog of pi's
/// may have a time limit, which pi-acp does not pass on.
pub fn ends_by_itself(question: &Question) -> bool {
    question.origin == Origin::Permission && question.tool_call.as_deref().is_some_and(is_pi)
}

fn is_pi(tool_call: &str) -> bool {
    tool_call.starts_with(PI_TOOL_CALL)
}

/// Returns whether this is an option of pi-acp's: `choice…`, `yes` or `no`.
fn is_pi_option(id: &str, kind: Role) -> bool {
    matches!((id, kind), ("yes", Role::AllowOnce) | ("no", Role::RejectOnce))
        || (id.starts_with("choice") && kind == Role::AllowOnce)
}

fn is_numbered(text: &str, prefix: &str) -> bool {
    let digits = text.strip_prefix(prefix).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the part of Kimi's option id after `q0_`.
fn kimi_option(id: &str) -> Option<&str> {
    let (number, rest) = id.split_once('_')?;
    is_numbered(number, "q").then_some(rest)
}

fn option(id: &str, name: &str) -> FieldOption {
    FieldOption { value: id.to_owned(), label: name.to_owned(), ..FieldOption::default() }
}

fn question(
    params: &PermissionParams<'_>,
    tool_call: &PermissionToolCall<'_>,
    fields: Vec<Field>,
    fallback_id: &str,
) -> Question {
    // The title of the tool call is left out: Qwen's only counts the questions.
    Question {
        session: params.session_id.clone(),
        tool_call: tool_call.tool_call_id.clone(),
        ..Question::new(Origin::Permission, fallback_id, fields)
    }
}

impl PermissionToolCall<'_> {
    /// Returns the text of the question. Kimi writes it in the content, and the name of the tool in the title.
    fn question_text(&self) -> String {
        let blocks = self.content.as_array().into_iter().flatten();
        let texts = blocks.filter_map(|block| block.pointer("/content/text")?.as_str());
        let content = texts.collect::<Vec<_>>().join("\n");
        match (content.is_empty(), &self.title) {
            (false, _) => content,
            (true, Some(title)) if !title.is_empty() => title.clone(),
            (true, _) => "Please choose.".to_owned(),
        }
    }
}

fn qwen_questions(tool_call: &PermissionToolCall<'_>) -> Option<Json> {
    let meta = tool_call.meta.as_object();
    let has =
        |name: &str, value: &str| meta.and_then(|meta: &Map<_, _>| meta.get(name)?.as_str()) == Some(value);
    if let Some(questions) = meta.and_then(|meta| meta.get(QWEN_QUESTIONS)).filter(|it| !it.is_null()) {
        return Some(questions.clone());
    }
    let is_question = has("qwenInteractionKind", USER_QUESTION) || has("toolName", ASK_USER_QUESTION);
    let input = tool_call.raw_input.filter(|_| is_question)?;
    serde_json::from_str::<Json>(input.get()).ok()?.get_mut("questions").map(Json::take)
}

/// Reads a question of Qwen's, which has one option that submits the answers and one that cancels.
///
/// Returns `None` for the options of a permission: one of them lasts, or several allow or reject.
fn qwen(
    params: &PermissionParams<'_>,
    tool_call: &PermissionToolCall<'_>,
    questions: &Json,
    fallback_id: &str,
) -> Result<Option<(Question, PermissionReply)>, String> {
    let (mut submit, mut cancel) = (Vec::new(), Vec::new());
    for PermissionOption { option_id, kind, .. } in &params.options {
        match kind {
            Role::AllowOnce => submit.push(option_id.clone()),
            Role::RejectOnce => cancel.push(option_id.clone()),
            _ => return Ok(None),
        }
    }
    let (Some(submit), None, true) = (submit.pop(), submit.pop(), cancel.len() <= 1) else {
        return Ok(None);
    };
    let questions = match Vec::<QwenQuestion>::deserialize(questions) {
        Ok(questions) => questions,
        Err(error) if tool_call.meta.get(QWEN_QUESTIONS).is_some() => {
            return Err(format!("params.toolCall: its questions: {error}"));
        }
        // Another agent may have a tool with this name.
        Err(_) => return Ok(None),
    };
    let fields = questions.into_iter().enumerate().map(|(index, question)| question.into_field(index));
    let question = question(params, tool_call, fields.collect(), fallback_id);
    Ok(Some((question, PermissionReply::Answers { submit, cancel: cancel.pop() })))
}

impl QwenQuestion {
    fn into_field(self, index: usize) -> Field {
        let options = self.options.into_iter().map(QwenOption::into_option).collect();
        // Qwen accepts any text in place of an option.
        let kind = Kind::choice(options, self.multi_select.unwrap_or(false), true);
        Field::at(index, self.question, self.header, kind)
    }
}

impl QwenOption {
    fn into_option(self) -> FieldOption {
        FieldOption {
            value: self.label.clone(),
            label: self.label,
            description: self.description,
            ..FieldOption::default()
        }
    }
}

/// Reads a permission.
fn read_permission(
    params: PermissionParams<'_>,
    beside: Said,
    json: &[u8],
    fallback_id: &str,
) -> Option<(Question, PermissionReply)> {
    let about = params.subject();
    let draft = match (params.tool_call, about) {
        (Some(tool_call), _) => {
            Draft::of_tool_call(tool_call).with_unknown(member(json, "toolCall").unwrap_or_default())
        }
        (None, Some(about)) => Draft::of_subject(about, params.subject?),
        (None, None) if params.title.is_some() => Draft::default(),
        (None, None) => return None,
    };
    let mut draft = draft.with(beside);
    if params.options.is_empty() || has_same_ids(&params.options) {
        return None;
    }
    let dangerous = draft.is_marked || is_marked(&params.meta);
    let tool_call = draft.tool_call.take();
    let (images, unshown) = (mem::take(&mut draft.images), mem::take(&mut draft.unshown));
    let kind = draft.kind().map(str::to_owned);
    let (message, subject) = draft.with_heading(params.title, params.description);
    let message = subject::cut(&message, limits::TEXT);
    let reject = rejecting_option(&params.options);
    let options = params.options.into_iter().map(|option| options::read(option, kind.as_deref())).collect();
    let field = Field::at(0, message.clone(), None, Kind::choice(options, false, false));
    let question = Question {
        session: params.session_id,
        tool_call,
        message,
        purpose: Purpose::Permission,
        subject: (!subject.is_empty()).then(|| Box::new(subject)),
        images,
        unshown,
        dangerous,
        // No released agent reads a note beside the chosen option.
        notes: false,
        ..Question::new(Origin::Permission, fallback_id, vec![field])
    };
    Some((question, PermissionReply::Grant { reject }))
}

/// Returns whether two options have the same ID, by which an answer names its option.
fn has_same_ids(options: &[PermissionOption]) -> bool {
    let is_known = |(place, option): (usize, &PermissionOption)| {
        options[..place].iter().any(|other| other.option_id == option.option_id)
    };
    options.iter().enumerate().any(is_known)
}

/// Returns the option that refuses: this time, or else from now on.
fn rejecting_option(options: &[PermissionOption]) -> Option<String> {
    let with = |role: Role| options.iter().find(|option| option.kind == role);
    let option = with(Role::RejectOnce).or_else(|| with(Role::RejectAlways))?;
    Some(option.option_id.clone())
}

impl AgentDialect for PermissionReply {
    const METHODS: &'static [&'static str] = &[REQUEST_PERMISSION];
    const SHOWN_BY: Option<(&'static str, ShownBy)> = None;

    fn shown_by(&self) -> Option<ShownBy> {
        matches!(self, PermissionReply::Grant { .. }).then_some(ShownBy::All)
    }

    fn read(_method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String> {
        let read = read(params, fallback_id)?;
        // A question beyond the limits is usually refused. These are also complete permission requests whose options
        // are the answers, so any client can show them unchanged.
        Ok(read.filter(|(question, format)| match format {
            PermissionReply::Option { .. } | PermissionReply::OneKind | PermissionReply::Grant { .. } => {
                question.check_limits().is_ok()
            }
            PermissionReply::Answers { .. } => true,
        }))
    }

    fn read_reply(&self, question: &Question, result: &[u8]) -> Reply {
        response::read_reply(self, question, result)
    }

    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        json(&response::write_answer(self, question, answer))
    }

    fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        json(&response::write_rejection(self, rejection))
    }
}
