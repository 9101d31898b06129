//! Permission requests of agents that are questions, from JSON to a question. All others are left alone.
//!
//! Source: the wire of Qwen and of Kimi without forms, and the code of pi-acp.

use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::{
    dialect::asked::{Asked, Words as AnyWords},
    limits,
    question::{Field, FieldOption, Kind, Origin, Question},
};

/// What it takes to say an answer as a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// The option that was chosen is the answer.
    Option {
        /// The option that leaves the question out.
        skip: Option<String>,
    },
    /// Qwen's: the option submits, and the answers stand beside it.
    Answers {
        /// The option that submits.
        submit: String,
        /// The option that leaves the question out.
        cancel: Option<String>,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: Option<String>,
    tool_call: ToolCall,
    options: Vec<PermissionOption>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolCall {
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

/// Reads the `params` of a permission request. `None` where it is a permission, and no question.
pub fn read(params: &[u8], made_up: &str) -> Result<Option<Asked>, String> {
    // What is bigger, or is no permission request by the standard, is nothing that is known here.
    if params.len() > limits::QUESTION {
        return Ok(None);
    }
    let Ok(params) = serde_json::from_slice::<Params>(params) else { return Ok(None) };
    if let Some(questions) = qwen_questions(&params.tool_call) {
        return qwen(&params, questions, made_up);
    }
    let Some((options, skip)) = choices(&params) else { return Ok(None) };
    let kind = Kind::choice(options, false, false);
    let field = Field::at(0, params.tool_call.asks(), None, kind);
    Ok(Some(asked(&params, vec![field], Words::Option { skip }, made_up)))
}

/// Returns the choices of a question, and the option that leaves it out. `None` where one of them is neither, in its id
/// or in its kind: then this is a permission.
fn choices(params: &Params) -> Option<(Vec<FieldOption>, Option<String>)> {
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

/// pi-acp's are `choice…`, or a yes and a no.
fn is_pi_option(id: &str, kind: &str) -> bool {
    matches!((id, kind), ("yes", "allow_once") | ("no", "reject_once"))
        || (id.starts_with("choice") && kind == "allow_once")
}

fn is_numbered(text: &str, prefix: &str) -> bool {
    let digits = text.strip_prefix(prefix).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns what stands behind `q0_` in an id of Kimi's.
fn kimi_option(id: &str) -> Option<&str> {
    let (number, rest) = id.split_once('_')?;
    is_numbered(number, "q").then_some(rest)
}

fn option(id: &str, name: &str) -> FieldOption {
    FieldOption { value: id.to_owned(), label: name.to_owned(), ..FieldOption::default() }
}

fn asked(params: &Params, fields: Vec<Field>, words: Words, made_up: &str) -> Asked {
    // Qwen's title counts its questions, and asks nothing.
    let question = Question {
        session: params.session_id.clone(),
        tool_call: params.tool_call.tool_call_id.clone(),
        ..Question::new(Origin::Permission, made_up, fields)
    };
    Asked { question, words: AnyWords::Permission(words) }
}

impl ToolCall {
    /// Returns what is asked: Kimi has it in the content, under a title that is the tool's name.
    fn asks(&self) -> String {
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

fn qwen_questions(tool_call: &ToolCall) -> Option<&Json> {
    let meta = tool_call.meta.as_object();
    let says =
        |name: &str, value: &str| meta.and_then(|meta: &Map<_, _>| meta.get(name)?.as_str()) == Some(value);
    if let Some(questions) = meta.and_then(|meta| meta.get("qwenQuestions")).filter(|it| !it.is_null()) {
        return Some(questions);
    }
    let asks = says("qwenInteractionKind", "user_question") || says("toolName", "ask_user_question");
    tool_call.raw_input.get("questions").filter(|_| asks)
}

/// Qwen's question has one option to submit it and one to cancel it: an option that allows more than this once is a
/// permission, whatever stands beside it.
fn qwen(params: &Params, questions: &Json, made_up: &str) -> Result<Option<Asked>, String> {
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
        // A tool of that name may be anybody's.
        Err(_) => return Ok(None),
    };
    let words = Words::Answers { submit, cancel: cancel.pop() };
    let fields = questions.into_iter().enumerate().map(|(index, question)| question.into_field(index));
    Ok(Some(asked(params, fields.collect(), words, made_up)))
}

impl QwenQuestion {
    fn into_field(self, index: usize) -> Field {
        let options = self.options.into_iter().map(QwenOption::into_option).collect();
        // Qwen takes any text in the place of an option.
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
