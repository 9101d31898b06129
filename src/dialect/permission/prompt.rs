//! One permission prompt for a client that can show nothing else, from a field to JSON.
//! Which prompt follows which is left to `walk.rs`.
//!
//! Source: `RequestPermissionRequest` of the ACP schema.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    dialect::asked,
    question::{Field, FieldOption, Question},
};

/// What a prompt is about, and what can be chosen beside leaving it to others and skipping it.
pub(super) struct Prompt<'a> {
    /// The number of the prompt: no two of a bridge have the same.
    pub number: u64,
    /// The name by which the question can be answered elsewhere, where it can.
    pub name: Option<&'a str>,
    /// The field that it asks for; none where the question cannot be answered here.
    pub field: Option<&'a Field>,
    /// The names of the choices.
    pub choices: Vec<String>,
    /// Whether what was chosen so far can be the answer.
    pub done: bool,
}

/// Chosen, it says that the question is not answered here. It stands first, where a client looks that approves
/// whatever it is asked.
const ELSEWHERE: &str = "Answer elsewhere";

/// How it is answered elsewhere, before the question's name.
const COMMAND: &str = "askbridge answer";

/// The version of the protocol that the peers speak: its second one says a prompt in another way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// The title and the content are those of the tool call.
    #[default]
    V1,
    /// The title and the description are the prompt's own.
    V2,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    session_id: &'a str,
    #[serde(flatten)]
    about: About<'a>,
    options: Vec<PermissionOption>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum About<'a> {
    V1 {
        tool_call: ToolCall<'a>,
    },
    V2 {
        title: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        subject: Option<Subject<'a>>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "tool_call", rename_all = "camelCase")]
struct Subject<'a> {
    tool_call: ToolCallId<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolCallId<'a> {
    tool_call_id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolCall<'a> {
    tool_call_id: &'a str,
    title: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    content: Vec<Content>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "content")]
struct Content {
    content: Text,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "text")]
struct Text {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PermissionOption {
    option_id: String,
    name: String,
    kind: &'static str,
}

/// What an option of a prompt means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    /// It is not answered here.
    Elsewhere,
    /// The choice in this place.
    Choice(usize),
    /// What was chosen so far is the answer.
    Done,
    /// The person does not want to answer.
    Skip,
}

impl Chosen {
    fn id(self, number: u64) -> String {
        match self {
            Chosen::Elsewhere => format!("askbridge-{number}-elsewhere"),
            Chosen::Choice(place) => format!("askbridge-{number}-{place}"),
            Chosen::Done => format!("askbridge-{number}-done"),
            Chosen::Skip => format!("askbridge-{number}-skip"),
        }
    }

    /// Reads the id of an option. `None` where it is no option of the prompt with this number.
    pub(super) fn read(id: &str, number: u64) -> Option<Self> {
        match id.strip_prefix("askbridge-")?.split_once('-')? {
            (of, _) if of != number.to_string() => None,
            (_, "elsewhere") => Some(Chosen::Elsewhere),
            (_, "done") => Some(Chosen::Done),
            (_, "skip") => Some(Chosen::Skip),
            (_, place) => place.parse().ok().map(Chosen::Choice),
        }
    }
}

impl Prompt<'_> {
    /// Says the prompt as the `params` of a permission request in this session.
    pub(super) fn write(&self, question: &Question, session: &str, protocol: Protocol) -> Box<RawValue> {
        let made_up = format!("askbridge-{}", question.id);
        let tool_call = question.tool_call.as_deref();
        let title = self.title(question);
        let text = self.text(question, &title);
        let about = match protocol {
            Protocol::V1 => About::V1 {
                tool_call: ToolCall {
                    tool_call_id: tool_call.unwrap_or(&made_up),
                    title,
                    content: text.into_iter().map(|text| Content { content: Text { text } }).collect(),
                },
            },
            Protocol::V2 => About::V2 {
                title,
                description: text,
                subject: tool_call.map(|tool_call_id| Subject { tool_call: ToolCallId { tool_call_id } }),
            },
        };
        asked::json(&Params { session_id: session, about, options: self.options() })
    }

    fn title(&self, question: &Question) -> String {
        let asks = match (self.field, &*question.fields) {
            (Some(field), _) => title_of(field, question),
            (None, [field]) => title_of(field, question),
            (None, _) => question.heading().to_owned(),
        };
        let instead = self.name.map(|name| format!(": {COMMAND} {name}")).unwrap_or_default();
        match self.field {
            Some(_) => asks,
            None if question.dangerous => {
                format!("{asks} (is not answered by a permission prompt: answer elsewhere{instead})")
            }
            None => format!("{asks} (needs a typed answer: write it in the chat, or answer elsewhere)"),
        }
    }

    /// Says what the title and the names of the options leave out.
    fn text(&self, question: &Question, title: &str) -> Option<String> {
        let Some(field) = self.field else {
            let labels = question.fields.iter().map(|field| field.label.as_str());
            let labels: Vec<_> = labels.filter(|label| !title.contains(label)).collect();
            return (!labels.is_empty()).then(|| labels.join("\n"));
        };
        let described = |option: &FieldOption| {
            let description = option.description.as_ref().map(|text| format!("{}: {text}", option.label));
            let preview =
                option.preview.as_ref().map(|preview| format!("{}:\n{}", option.label, preview.text));
            description.into_iter().chain(preview)
        };
        let header = field.header.iter().filter(|header| !title.contains(header.as_str()));
        let above = header.chain(&field.help).cloned();
        let texts: Vec<_> = above.chain(field.kind.options().iter().flat_map(described)).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    fn options(&self) -> Vec<PermissionOption> {
        let option = |chosen: Chosen, name: &str, kind| PermissionOption {
            option_id: chosen.id(self.number),
            name: name.to_owned(),
            kind,
        };
        let elsewhere = self.name.map(|name| format!("{ELSEWHERE}: {COMMAND} {name}"));
        let elsewhere = elsewhere.as_deref().unwrap_or(ELSEWHERE);
        let mut options = vec![option(Chosen::Elsewhere, elsewhere, "allow_once")];
        let choices = self.choices.iter().enumerate();
        options.extend(choices.map(|(place, name)| option(Chosen::Choice(place), name, "allow_once")));
        if self.done {
            options.push(option(Chosen::Done, "Done", "allow_once"));
        }
        options.push(option(Chosen::Skip, "Skip", "reject_once"));
        options
    }
}

fn title_of(field: &Field, question: &Question) -> String {
    let heading = question.heading();
    let no_title = question.title.as_deref().is_none_or(str::is_empty);
    let says_it = heading.contains(&*field.label);
    if says_it && question.fields.len() == 1 {
        heading.to_owned()
    } else if says_it || question.message.is_empty() && no_title {
        field.label.clone()
    } else {
        format!("{heading}\n{}", field.label)
    }
}
