//! One permission prompt for a client that can show nothing else, from a field to JSON. The order of the prompts is
//! left to `prompt_flow.rs`.
//!
//! The options of a prompt must be safe with a client that is not known, and that may answer without its person:
//!
//! - A client that approves by itself takes the first option, the first or the last one of a kind, or whatever allows
//!   always. The first and the last `allow_once` leave the question to other responders, and nothing allows always:
//!   such a client chooses nothing.
//! - A client that refuses by itself takes what rejects. Only `Skip` does, and it rejects the question only where a
//!   person can have read the prompt: `acp::responding` compares the time.
//! - A question that may do harm has no options at all (`PromptFlow`).
//! - A client that takes any other option without showing its name cannot be told from a person. Such clients get no
//!   prompts: `acp::asking` has their names.
//!
//! Source: `RequestPermissionRequest` of the ACP schema.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    dialect::values,
    question::{
        Field, FieldOption, Question,
        form::{asks, behind},
        naming::names,
    },
};

/// The contents of a prompt. Options to answer elsewhere, and to skip the question, are always added.
pub(super) struct Prompt<'a> {
    /// The number of the prompt, unique for a bridge.
    pub number: u64,
    /// The name under which `askbridge answer` finds the question, if it can.
    pub name: Option<&'a str>,
    /// The field that the prompt asks for; `None` if prompts cannot answer the question.
    pub field: Option<&'a Field>,
    /// The labels of the choices.
    pub choices: Vec<String>,
    /// Whether the choices made so far are a complete answer.
    pub done: bool,
}

/// The option to answer the question elsewhere. It comes before the choices.
const ELSEWHERE: &str = "Answer elsewhere";

/// The option to answer the question elsewhere that comes after the choices.
const OTHER: &str = "None of these: answer elsewhere";

/// The kind of a tool that asks: none of those that act.
const KIND: &str = "other";

/// The command that answers the question, without the question's name.
const COMMAND: &str = "askbridge answer";

/// The version of ACP that the peers speak. It decides how a prompt is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// The title and the text are members of the tool call.
    #[default]
    V1,
    /// The title and the text are members of the prompt itself.
    V2,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PromptParams<'a> {
    session_id: &'a str,
    #[serde(flatten)]
    about: PromptBody<'a>,
    options: Vec<PromptOption>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum PromptBody<'a> {
    V1 {
        tool_call: PromptToolCall,
    },
    V2 {
        title: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        subject: Option<PromptSubject<'a>>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "tool_call", rename_all = "camelCase")]
struct PromptSubject<'a> {
    tool_call: PromptToolCallId<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PromptToolCallId<'a> {
    tool_call_id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PromptToolCall {
    tool_call_id: String,
    title: String,
    /// Some clients refuse a permission of a tool without a kind.
    kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    content: Vec<PromptContent>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "content")]
struct PromptContent {
    content: PromptText,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "text")]
struct PromptText {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PromptOption {
    option_id: String,
    name: String,
    kind: &'static str,
}

/// The meaning of an option of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptChoice {
    /// The user answers elsewhere.
    Elsewhere,
    /// The user wants none of the choices, and answers elsewhere.
    Other,
    /// The choice at this index.
    Choice(usize),
    /// The choices made so far are the answer.
    Done,
    /// The user does not want to answer.
    Skip,
}

impl PromptChoice {
    fn id(self, number: u64) -> String {
        match self {
            PromptChoice::Elsewhere => format!("askbridge-{number}-elsewhere"),
            PromptChoice::Other => format!("askbridge-{number}-other"),
            PromptChoice::Choice(place) => format!("askbridge-{number}-{place}"),
            PromptChoice::Done => format!("askbridge-{number}-done"),
            PromptChoice::Skip => format!("askbridge-{number}-skip"),
        }
    }

    /// Reads the id of an option. Returns `None` if it does not belong to the prompt with this number.
    pub(super) fn read(id: &str, number: u64) -> Option<Self> {
        match id.strip_prefix("askbridge-")?.split_once('-')? {
            // The options of an earlier prompt have the number of that prompt.
            (of, _) if of != number.to_string() => None,
            (_, "elsewhere") => Some(PromptChoice::Elsewhere),
            (_, "other") => Some(PromptChoice::Other),
            (_, "done") => Some(PromptChoice::Done),
            (_, "skip") => Some(PromptChoice::Skip),
            (_, place) => place.parse().ok().map(PromptChoice::Choice),
        }
    }
}

impl Prompt<'_> {
    /// Writes the prompt as the `params` of a permission request in this session.
    pub(super) fn write(&self, question: &Question, session: &str, protocol: Protocol) -> Box<RawValue> {
        let asked = asked(self.field, question);
        let (title, text) = (self.title(&asked, question), self.text(&asked, question));
        let about = match protocol {
            Protocol::V1 => PromptBody::V1 {
                tool_call: PromptToolCall {
                    // A client that knows the tool call shows what it knows of it: the name of the agent's tool, or
                    // the title of the prompt before this one, and no question. So each prompt has a call of its own.
                    tool_call_id: format!("askbridge-prompt-{}", self.number),
                    title,
                    kind: KIND,
                    content: text
                        .into_iter()
                        .map(|text| PromptContent { content: PromptText { text } })
                        .collect(),
                },
            },
            Protocol::V2 => PromptBody::V2 {
                title,
                description: text,
                subject: question
                    .tool_call
                    .as_deref()
                    .map(|tool_call_id| PromptSubject { tool_call: PromptToolCallId { tool_call_id } }),
            },
        };
        values::json(&PromptParams { session_id: session, about, options: self.options() })
    }

    /// Returns the question on one line: clients cut a title at its first line.
    fn title(&self, asked: &str, question: &Question) -> String {
        let title = first_line(asked);
        let instead = self.name.map(|name| format!(": {COMMAND} {name}")).unwrap_or_default();
        match self.field {
            Some(_) => title.to_owned(),
            None if question.dangerous => {
                format!("{title} (a permission prompt cannot answer this: answer elsewhere{instead})")
            }
            None => format!("{title} (needs a typed answer: write it in the chat, or answer elsewhere)"),
        }
    }

    /// Returns the texts that are neither in the title nor in the names of the options: the prompt if it has several
    /// lines, the question of the form as a whole, and the descriptions of the field and its options.
    fn text(&self, asked: &str, question: &Question) -> Option<String> {
        let rest = Some(asked).filter(|asked| first_line(asked) != *asked);
        let heading = Some(question.heading()).filter(|heading| !asked.contains(heading));
        let above = rest.into_iter().chain(heading).map(str::to_owned);
        let texts: Vec<_> = match self.field {
            Some(field) => above.chain(described(field, asked)).collect(),
            None => above.chain(labels(question, asked)).collect(),
        };
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    fn options(&self) -> Vec<PromptOption> {
        let option = |chosen: PromptChoice, name: &str, kind| PromptOption {
            option_id: chosen.id(self.number),
            name: name.to_owned(),
            kind,
        };
        let elsewhere = self.name.map(|name| format!("{ELSEWHERE}: {COMMAND} {name}"));
        let elsewhere = elsewhere.as_deref().unwrap_or(ELSEWHERE);
        // A client that approves by itself takes the first option, or the first or the last one that allows: these
        // leave the question open.
        let mut options = vec![option(PromptChoice::Elsewhere, elsewhere, "allow_once")];
        let choices = self.choices.iter().enumerate();
        options.extend(choices.map(|(place, name)| option(PromptChoice::Choice(place), name, "allow_once")));
        if self.done {
            options.push(option(PromptChoice::Done, "Done", "allow_once"));
        }
        if !self.choices.is_empty() {
            options.push(option(PromptChoice::Other, OTHER, "allow_once"));
        }
        options.push(option(PromptChoice::Skip, "Skip", "reject_once"));
        options
    }
}

/// Returns the first line of a text that is not blank.
fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// Returns the text of a prompt's question. If no field can be asked for, it is the question as a whole.
fn asked<'a>(field: Option<&'a Field>, question: &'a Question) -> Cow<'a, str> {
    let heading = question.heading();
    match (field, &*question.fields) {
        (_, [field]) if heading.contains(&*field.label) => heading.into(),
        (_, [field]) => of_only_field(field, question),
        (Some(field), _) => of_field(field).into(),
        (None, _) => question.headline(),
    }
}

/// Returns the text in which a form of one field asks: agents write the question in the message, the label or the
/// description, and something else in the others.
fn of_only_field<'a>(field: &'a Field, question: &'a Question) -> Cow<'a, str> {
    let (heading, of_field) = (question.heading(), of_field(field));
    if question.has_formula() || asks(&field.label) {
        of_field.into()
    } else if asks(heading) {
        heading.into()
    } else if asks(of_field) {
        of_field.into()
    } else {
        behind(heading, of_field).into()
    }
}

/// Returns the text in which a field asks: its label, unless only its description is a question.
fn of_field(field: &Field) -> &str {
    let help = field.help.as_deref().filter(|help| asks(help));
    help.filter(|_| !asks(&field.label)).unwrap_or(&field.label)
}

/// Returns the descriptions of a field and its options: all of their texts but the labels of the options, and what the
/// question has.
fn described<'a>(field: &'a Field, asked: &str) -> impl Iterator<Item = String> + use<'a> {
    let of_option = |(option, name): (&'a FieldOption, Cow<'a, str>)| {
        let description = option.description.as_ref().map(|text| format!("{name}: {text}"));
        let preview = option.preview.as_ref().map(|preview| format!("{name}:\n{}", preview.text));
        description.into_iter().chain(preview)
    };
    let options = field.kind.options();
    let texts = field.header.iter().chain([&field.label]).chain(&field.help);
    let texts: Vec<_> = texts.filter(|text| !asked.contains(text.as_str())).cloned().collect();
    texts.into_iter().chain(options.iter().zip(names(options)).flat_map(of_option))
}

/// Returns the labels of all fields on a line each, unless the prompt contains them.
fn labels(question: &Question, asked: &str) -> Option<String> {
    let labels = question.fields.iter().map(|field| field.label.as_str());
    let labels: Vec<_> = labels.filter(|label| !asked.contains(label)).collect();
    (!labels.is_empty()).then(|| labels.join("\n"))
}
