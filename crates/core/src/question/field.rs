//! One field of a question: its kind, its options with their previews, and the role of an option of a permission. The
//! question is left to `form.rs`, reading options from the wire to the dialects.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use super::encoding::{self, open_enum};
use crate::limits;

/// One field of the form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Field {
    /// The key of the field, unique in the form.
    pub name: String,
    /// The label of the field.
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
    /// Whether its value may be null. One that is left blank is null if the form needs a value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nullable: bool,
    /// The beginning of the names of a group of fields that may be left out as a whole. If any of them has a value, the
    /// form needs a value for this field as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_with: Option<String>,
    /// The kind of its value.
    #[serde(flatten)]
    pub kind: Kind,
}

/// The kind of a field's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
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
        #[serde(deserialize_with = "super::size::exact")]
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
        #[serde(deserialize_with = "super::size::exact")]
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
        /// The number must be greater than this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exclusive_min: Option<f64>,
        /// The number must be less than this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exclusive_max: Option<f64>,
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
    /// Several texts, each typed by the person.
    Texts {
        /// The minimum number of texts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<u32>,
        /// The maximum number of texts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<u32>,
        /// Whether no text may stand twice.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unique: bool,
        /// The minimum length of each text, in characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_length: Option<u32>,
        /// The maximum length of each text, in characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_length: Option<u32>,
        /// A regular expression that must match somewhere in each text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
        /// A hint at the format of each text, as JSON Schema names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<String>,
        /// The initial texts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        default: Vec<String>,
    },
    /// JSON that fits a schema, which no other kind can express. The value is the JSON as a text.
    Json {
        /// The JSON Schema.
        schema: serde_json::Value,
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

    /// Returns all texts of the kind, except for those of its options.
    fn texts(&self) -> Vec<&str> {
        match self {
            Kind::Text { pattern, format, placeholder, default, .. } => {
                [pattern, format, placeholder, default].into_iter().flatten().map(String::as_str).collect()
            }
            Kind::Choice { default, .. } => default.iter().map(String::as_str).collect(),
            Kind::Choices { default, .. } => default.iter().map(String::as_str).collect(),
            Kind::Texts { pattern, format, default, .. } => {
                [pattern, format].into_iter().flatten().chain(default).map(String::as_str).collect()
            }
            Kind::Confirm { yes, no } => vec![yes, no],
            // The size of a schema is bounded by that of the question.
            Kind::Boolean { .. } | Kind::Number { .. } | Kind::Json { .. } | Kind::Unknown(_) => Vec::new(),
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

impl Field {
    /// Returns a field that must be filled in, by its place in the form.
    pub fn at(place: usize, label: String, header: Option<String>, kind: Kind) -> Self {
        Field { header, ..Field::new(format!("q{place}"), label, true, kind) }
    }

    /// Returns a field with a label alone.
    pub fn new(name: String, label: String, required: bool, kind: Kind) -> Self {
        Field {
            name,
            label,
            header: None,
            help: None,
            required,
            secret: false,
            nullable: false,
            required_with: None,
            kind,
        }
    }

    pub(super) fn check_limits(&self) -> Result<(), String> {
        let name = &self.name;
        if let Kind::Unknown(members) = &self.kind {
            return Err(format!("field {name:?} {}", encoding::describe_unknown_kind(members)));
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
                return Err(format!("a preview of field {name:?} has an unknown format: {format:?}"));
            }
            if option.grants.len() > limits::GRANTS + 1 {
                return Err(format!(
                    "an option of field {name:?} must have at most {} `grants`",
                    limits::GRANTS
                ));
            }
            for text in &option.grants {
                check_text(format_args!("a text of an option of field {name:?}"), text)?;
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

pub(super) fn check_text(what: impl Display, text: &str) -> Result<(), String> {
    // A text of few bytes has few characters, so most texts need no count.
    if text.len() > limits::TEXT && text.chars().count() > limits::TEXT {
        return Err(format!("{what} is longer than {} characters", limits::TEXT));
    }
    Ok(())
}

/// One option of a field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FieldOption {
    /// The value that the agent gets.
    pub value: String,
    /// The text that the person sees.
    pub label: String,
    /// A longer explanation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A sample of what the option leads to. Boxed, because few options have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Box<Preview>>,
    /// The effect of choosing an option of a permission. Boxed, because the options of questions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Box<Role>>,
    /// What choosing it allows beyond the act that is shown, each on a line: a mode, rules, folders, hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<String>,
    /// Whether choosing it takes a second step whatever the permission itself risks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dangerous: bool,
}

/// A sample of what an option leads to. Show it as text unless you can render its format safely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The format of the text.
    pub format: PreviewFormat,
    /// The text.
    pub text: String,
}

open_enum! {
    /// The format of a preview's text.
    pub enum PreviewFormat {
        /// Markdown.
        Markdown = "markdown",
        /// Source code.
        Code = "code",
        /// Plain text.
        Text = "text",
        /// The source of a Mermaid diagram.
        Mermaid = "mermaid",
        /// An SVG image, as its source.
        Svg = "svg",
        /// An HTML page, as its source.
        Html = "html",
    }
}

open_enum! {
    /// The effect of choosing an option of a permission.
    pub enum Role {
        /// Allows it this time.
        AllowOnce = "allow_once",
        /// Allows it from now on.
        AllowAlways = "allow_always",
        /// Refuses it this time.
        RejectOnce = "reject_once",
        /// Refuses it from now on.
        RejectAlways = "reject_always",
    }
}
