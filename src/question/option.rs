//! One option of a field: its value, its label, and what choosing it leads to.
//! The fields are left to `form.rs`.

use serde::{Deserialize, Serialize};

use super::names::open_enum;

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
    /// What choosing an option of a permission means. Boxed, because the options of questions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Box<Role>>,
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
    /// What choosing an option of a permission means.
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
