//! A question: a form of one or more fields, in a session.
//! Holds all that the known dialects can say, so that nothing is lost on the way through.

use std::{borrow::Cow, fmt::Display, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    milliseconds,
    option::{FieldOption, Preview, PreviewFormat},
    origin::Origin,
    patterns::Patterns,
    purpose::Purpose,
    risk::Risk,
    subject::Subject,
    unknown,
};
use crate::limits;

/// A question: a form with one or more fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The session that the question belongs to, if the dialect or the running turn says so.
    #[serde(rename = "sessionId", default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent or program that asks, by the name that it gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<str>>,
    /// The folder that the session works in, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Arc<str>>,
    /// The ID of the client's request that the question belongs to, as JSON text, if it names no session.
    #[serde(rename = "requestId", default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The agent's own ID of the question, or one that the bridge made up.
    #[serde(rename = "questionId")]
    pub id: String,
    /// The subject of the question, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The question that the form as a whole asks. Empty if the labels of the fields say it all.
    pub message: String,
    /// The fields to fill in; at least one.
    pub fields: Vec<Field>,
    /// The label of the button that sends the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit: Option<String>,
    /// The tool call that the question came from.
    #[serde(rename = "toolCallId", default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<String>,
    /// What the question is for: an answer, or a permission.
    #[serde(default)]
    pub purpose: Purpose,
    /// What a permission is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Box<Subject>>,
    /// The protocol that the question came in.
    pub origin: Origin,
    /// Whether a wrong answer can do harm, of either degree.
    pub dangerous: bool,
    /// What a wrong answer may lead to. Absent where a bridge of another version has not looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Why it is not plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_reason: Option<String>,
    /// Whether its person wants a second step before it is allowed, though it is not dangerous.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirm: bool,
    /// Whether the agent waits for the answer. If not, it goes on working meanwhile.
    pub blocking: bool,
    /// How long the agent is willing to wait, in milliseconds.
    #[serde(rename = "timeoutMs", default, skip_serializing_if = "Option::is_none", with = "milliseconds")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub timeout: Option<Duration>,
    /// Whether what asks has a place for notes beside the answer. Without one, it never learns of them.
    #[serde(default = "has_notes", skip_serializing_if = "Clone::clone")]
    pub notes: bool,
    /// The patterns of its fields, compiled when they are first needed.
    #[serde(skip)]
    pub patterns: Patterns,
}

/// Most dialects have a place for notes: a question that does not say so is of one of them.
fn has_notes() -> bool {
    true
}

/// One field of the form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Field {
    /// The key of the field, unique in the form.
    pub name: String,
    /// What the field asks for.
    pub label: String,
    /// A short label, for a chip or a tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// A longer explanation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Whether the form needs a value for this field.
    #[serde(default)]
    pub required: bool,
    /// Whether the value is secret: it must not be shown, logged or stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// What kind of value it takes.
    #[serde(flatten)]
    pub kind: Kind,
}

/// What kind of value a field takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Kind {
    /// A text.
    Text {
        /// Whether the text may have several lines.
        #[serde(default)]
        multiline: bool,
        /// The minimum length, in characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_length: Option<u32>,
        /// The maximum length, in characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_length: Option<u32>,
        /// A regular expression that must match somewhere in the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
        /// A hint at the format, as JSON Schema names it: `email`, `uri`, `date`, `date-time` and so on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<String>,
        /// The text that an empty field shows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        placeholder: Option<String>,
        /// The initial value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<String>,
    },
    /// One of the options.
    Choice {
        /// The options to choose from.
        options: Vec<FieldOption>,
        /// Whether a free text is accepted instead of an option.
        #[serde(default)]
        other: bool,
        /// The value of the option that is chosen initially.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<String>,
    },
    /// Several of the options.
    Choices {
        /// The options to choose from.
        options: Vec<FieldOption>,
        /// Whether a free text is accepted beside the options.
        #[serde(default)]
        other: bool,
        /// The minimum number of choices.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<u32>,
        /// The maximum number of choices.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<u32>,
        /// The values of the options that are chosen initially.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        default: Vec<String>,
    },
    /// True or false.
    Boolean {
        /// The initial value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<bool>,
    },
    /// A number.
    Number {
        /// Whether the number must be an integer.
        #[serde(default)]
        integer: bool,
        /// The minimum.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        /// The maximum.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
        /// The number must be a multiple of this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<f64>,
        /// The initial value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<f64>,
    },
    /// Yes or no, with the agent's own labels.
    Confirm {
        /// The label for yes.
        yes: String,
        /// The label for no.
        no: String,
    },
    /// A kind that this version does not know, with all its members. This version cannot answer it.
    #[serde(untagged)]
    Unknown(serde_json::Map<String, serde_json::Value>),
}

impl Kind {
    /// Returns a choice of one or of many of these options, or a text where there are none.
    pub fn choice(options: Vec<FieldOption>, many: bool, other: bool) -> Self {
        match (options.is_empty(), many) {
            (true, _) => Kind::free_text(),
            (false, true) => Kind::Choices { options, other, min: None, max: None, default: Vec::new() },
            (false, false) => Kind::Choice { options, other, default: None },
        }
    }

    /// Returns a text without limits.
    pub fn free_text() -> Self {
        Kind::Text {
            multiline: true,
            min_length: None,
            max_length: None,
            pattern: None,
            format: None,
            placeholder: None,
            default: None,
        }
    }

    /// Returns whether it is a choice that may also be answered with a text.
    pub fn takes_other(&self) -> bool {
        matches!(self, Kind::Choice { other: true, .. } | Kind::Choices { other: true, .. })
    }

    /// Returns the texts beside the options.
    fn texts(&self) -> Vec<&str> {
        match self {
            Kind::Text { pattern, format, placeholder, default, .. } => {
                [pattern, format, placeholder, default].into_iter().flatten().map(String::as_str).collect()
            }
            Kind::Choice { default, .. } => default.iter().map(String::as_str).collect(),
            Kind::Choices { default, .. } => default.iter().map(String::as_str).collect(),
            Kind::Confirm { yes, no } => vec![yes, no],
            Kind::Boolean { .. } | Kind::Number { .. } | Kind::Unknown(_) => Vec::new(),
        }
    }

    /// Returns the options, where it is a choice.
    pub fn options(&self) -> &[FieldOption] {
        match self {
            Kind::Choice { options, .. } | Kind::Choices { options, .. } => options,
            _ => &[],
        }
    }
}

impl Question {
    /// Returns a question of this origin that asks for these fields and says no more.
    pub fn new(origin: Origin, id: &str, fields: Vec<Field>) -> Self {
        Question {
            session: None,
            agent: None,
            project: None,
            request: None,
            id: id.to_owned(),
            title: None,
            message: String::new(),
            fields,
            submit: None,
            tool_call: None,
            purpose: Purpose::default(),
            subject: None,
            origin,
            dangerous: false,
            risk: None,
            risk_reason: None,
            confirm: false,
            blocking: true,
            timeout: None,
            notes: true,
            patterns: Patterns::default(),
        }
    }

    /// Returns its risk. Where nobody has looked, a permission is dangerous.
    pub fn risk(&self) -> Risk {
        match (self.risk, self.purpose) {
            (Some(risk), _) => risk,
            (None, Purpose::Question) if !self.dangerous => Risk::Plain,
            (None, _) => Risk::Dangerous,
        }
    }

    /// Returns whether it takes a second step, beside the choice, before it is allowed or answered.
    pub fn takes_second_step(&self) -> bool {
        self.risk().is_dangerous() || self.confirm
    }

    /// Checks the question against the limits, and that its fields can be told apart.
    ///
    /// # Errors
    /// A sentence that names what is wrong, and where.
    pub fn check_limits(&self) -> Result<(), String> {
        let fields = self.fields.len();
        if fields == 0 || fields > limits::FIELDS {
            return Err(format!("a question must have 1 to {} fields, has {fields}", limits::FIELDS));
        }
        check_text("the question's text", &self.message)?;
        check_text("the question's title", self.title.as_deref().unwrap_or_default())?;
        check_text("the submit label", self.submit.as_deref().unwrap_or_default())?;
        check_text("questionId", &self.id)?;
        check_text("sessionId", self.session.as_deref().unwrap_or_default())?;
        check_text("toolCallId", self.tool_call.as_deref().unwrap_or_default())?;
        for (index, field) in self.fields.iter().enumerate() {
            field.check_limits()?;
            // An answer names the field that it is for.
            if self.fields[..index].iter().any(|other| other.name == field.name) {
                return Err(format!("two fields are named {:?}", field.name));
            }
        }
        Ok(())
    }
}

impl Field {
    /// Returns a field that must be filled in, by its place in the form.
    pub fn at(place: usize, label: String, header: Option<String>, kind: Kind) -> Self {
        Field { name: format!("q{place}"), label, header, help: None, required: true, secret: false, kind }
    }

    /// Returns the value that a text stands for: itself, if it is an option's value or is typed; else the value of
    /// the option with this label.
    pub fn value_of<'a>(&'a self, text: &'a str) -> Cow<'a, str> {
        let options = self.kind.options();
        if options.iter().any(|option| option.value == text) {
            return text.into();
        }
        match options.iter().find(|option| option.label == text) {
            Some(option) => option.value.as_str().into(),
            None => text.into(),
        }
    }

    fn check_limits(&self) -> Result<(), String> {
        let name = &self.name;
        if let Kind::Unknown(members) = &self.kind {
            return Err(format!("field {name:?} {}", unknown::describe(members)));
        }
        let options = self.kind.options();
        if options.len() > limits::OPTIONS {
            let (most, count) = (limits::OPTIONS, options.len());
            return Err(format!("field {name:?} must have at most {most} options, has {count}"));
        }
        for text in [Some(name), Some(&self.label), self.header.as_ref(), self.help.as_ref()] {
            check_text("a field's text", text.map_or("", String::as_str))?;
        }
        for text in self.kind.texts() {
            check_text(format_args!("a text of field {name:?}"), text)?;
        }
        for option in options {
            if let Some(Preview { format: PreviewFormat::Other(format), .. }) = option.preview.as_deref() {
                return Err(format!(
                    "a preview of field {name:?} has a format that is not known here: {format:?}"
                ));
            }
            let preview = option.preview.as_ref().map(|preview| &preview.text);
            for text in [Some(&option.value), Some(&option.label), option.description.as_ref(), preview] {
                check_text(
                    format_args!("a text of an option of field {name:?}"),
                    text.map_or("", String::as_str),
                )?;
            }
        }
        Ok(())
    }
}

fn check_text(what: impl Display, text: &str) -> Result<(), String> {
    // Counting characters is not free: a text of few bytes has few characters.
    if text.len() > limits::TEXT && text.chars().count() > limits::TEXT {
        return Err(format!("{what} is longer than {} characters", limits::TEXT));
    }
    Ok(())
}
