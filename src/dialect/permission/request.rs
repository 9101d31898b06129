//! Permission requests that are questions, from JSON to a question. All other permission requests are forwarded.
//! Writing the result is left to `response.rs`.
//!
//! Source: the wire of Qwen and of Kimi without forms, and the code of pi-acp.

use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::{
    limits,
    question::{Field, FieldOption, Kind, Origin, Question},
};

/// The reply format of a question that is a permission request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionReply {
    /// The chosen option is the answer: Kimi and pi-acp.
    Option {
        /// The option that skips the question.
        skip: Option<String>,
    },
    /// One option submits the answers, which are in another member: Qwen.
    Answers {
        /// The option that submits the answers.
        submit: String,
        /// The option that skips the question.
        cancel: Option<String>,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionParams {
    session_id: Option<String>,
    tool_call: PermissionToolCall,
    options: Vec<PermissionOption>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionToolCall {
    tool_call_id: Option<String>,
    title: Option<String>,
    #[serde(default)]
    content: Json,
    #[serde(default)]
    raw_input: Json,
    #[serde(rename = "_meta", default)]
    meta: Json,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionOption {
    option_id: String,
    name: String,
    kind: String,
}

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

/// Reads the `params` of a permission request. Returns `None` if it asks for a permission and is not a question.
pub fn read(params: &[u8], fallback_id: &str) -> Result<Option<(Question, PermissionReply)>, String> {
    // A request that is too big or does not follow the standard is not refused: it may be a real permission request,
    // and the client judges it.
    if params.len() > limits::QUESTION {
        return Ok(None);
    }
    let Ok(params) = serde_json::from_slice::<PermissionParams>(params) else { return Ok(None) };
    if let Some(questions) = qwen_questions(&params.tool_call) {
        return qwen(&params, questions, fallback_id);
    }
    let Some((options, skip)) = choices(&params) else { return Ok(None) };
    let kind = Kind::choice(options, false, false);
    let field = Field::at(0, params.tool_call.question_text(), None, kind);
    Ok(Some((question(&params, vec![field], fallback_id), PermissionReply::Option { skip })))
}

/// Returns the choices of a question, and the option that skips it.
///
/// Returns `None` if the id or the kind of any option does not fit: then this asks for a permission.
fn choices(params: &PermissionParams) -> Option<(Vec<FieldOption>, Option<String>)> {
    let is_pi = params.tool_call.tool_call_id.as_deref().is_some_and(|id| id.starts_with("pi-ui-"));
    let mut skip = None;
    let mut options = Vec::new();
    for PermissionOption { option_id, name, kind } in &params.options {
        match (kimi_option(option_id), &**kind) {
            (Some("skip"), "reject_once") => skip = Some(option_id.clone()),
            (Some(choice), "allow_once") if is_numbered(choice, "opt_") => {
                options.push(option(option_id, name))
            }
            _ if is_pi && is_pi_option(option_id, kind) => options.push(option(option_id, name)),
            _ => return None,
        }
    }
    (!options.is_empty()).then_some((options, skip))
}

/// Returns whether this is an option of pi-acp's: `choice…`, `yes` or `no`.
fn is_pi_option(id: &str, kind: &str) -> bool {
    matches!((id, kind), ("yes", "allow_once") | ("no", "reject_once"))
        || (id.starts_with("choice") && kind == "allow_once")
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

fn question(params: &PermissionParams, fields: Vec<Field>, fallback_id: &str) -> Question {
    // The title of the tool call is left out: Qwen's only counts the questions.
    Question {
        session: params.session_id.clone(),
        tool_call: params.tool_call.tool_call_id.clone(),
        ..Question::new(Origin::Permission, fallback_id, fields)
    }
}

impl PermissionToolCall {
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

fn qwen_questions(tool_call: &PermissionToolCall) -> Option<&Json> {
    let meta = tool_call.meta.as_object();
    let has =
        |name: &str, value: &str| meta.and_then(|meta: &Map<_, _>| meta.get(name)?.as_str()) == Some(value);
    if let Some(questions) = meta.and_then(|meta| meta.get("qwenQuestions")).filter(|it| !it.is_null()) {
        return Some(questions);
    }
    let is_question = has("qwenInteractionKind", "user_question") || has("toolName", "ask_user_question");
    tool_call.raw_input.get("questions").filter(|_| is_question)
}

/// Reads a question of Qwen's, which has one option that submits the answers and one that cancels.
///
/// Returns `None` if any option allows or rejects more than once: that is a permission request, whatever else it has.
fn qwen(
    params: &PermissionParams,
    questions: &Json,
    fallback_id: &str,
) -> Result<Option<(Question, PermissionReply)>, String> {
    let (mut submit, mut cancel) = (Vec::new(), Vec::new());
    for PermissionOption { option_id, kind, .. } in &params.options {
        match &**kind {
            "allow_once" => submit.push(option_id.clone()),
            "reject_once" => cancel.push(option_id.clone()),
            _ => return Ok(None),
        }
    }
    let (Some(submit), None, true) = (submit.pop(), submit.pop(), cancel.len() <= 1) else { return Ok(None) };
    let questions = match Vec::<QwenQuestion>::deserialize(questions) {
        Ok(questions) => questions,
        Err(error) if params.tool_call.meta.get("qwenQuestions").is_some() => {
            return Err(format!("params.toolCall: its questions: {error}"));
        }
        // Another agent may have a tool with this name.
        Err(_) => return Ok(None),
    };
    let fields = questions.into_iter().enumerate().map(|(index, question)| question.into_field(index));
    let question = question(params, fields.collect(), fallback_id);
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
            preview: None,
        }
    }
}
