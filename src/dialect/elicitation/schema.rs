//! The JSON Schema of a form, as far as elicitations use it: read from agents, written for clients.
//! What it means as a question is left to `request.rs`, and the other way round to `form.rs`.
//!
//! Source: `ElicitationSchema` of the ACP schema. Members that it does not know are left alone.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::dialect::entries::Entries;

/// `requestedSchema`: an object of scalars and lists of scalars.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Schema {
    /// Always `object`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The fields, in the order in which they are shown.
    pub properties: Entries<Property>,
    /// Those without which the form cannot be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<Vec<String>>,
}

/// One field. Which of the members count depends on `type`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Property {
    /// `string`, `number`, `integer`, `boolean` or `array`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What it is called, or what is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// More about it, or what is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The values of a choice without titles.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// The options of a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<Titled>>,
    /// The options of many choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Items>,
    /// The least number of choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u32>,
    /// The greatest number of choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u32>,
    /// The least length of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// The greatest length of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// A regular expression that is found in a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// `email`, `uri`, `date` or `date-time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The least number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Bound>,
    /// The greatest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Bound>,
    /// What a number is a multiple of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiple_of: Option<Bound>,
    /// What it holds at first, of the same type as the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
    /// What the standard has no place for.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Json>>,
}

/// A bound of a number. A whole one is written without a fraction: the bounds of an `integer` are integers.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Bound(pub f64);

impl Bound {
    /// Says whether it can be written as an integer. Beyond 2^53 not every whole number is a double.
    pub fn is_integer(&self) -> bool {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        self.0.fract() == 0.0 && self.0.abs() <= EXACT
    }

    /// Says it as JSON.
    pub fn to_json(self) -> Json {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Serialize for Bound {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_integer() {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
            return serializer.serialize_i64(self.0 as i64);
        }
        serializer.serialize_f64(self.0)
    }
}

/// What is chosen from, where many are.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Items {
    /// `string`, beside `enum`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The values, without titles.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// The options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any_of: Option<Vec<Titled>>,
    /// Another name for `anyOf`, from the drafts.
    #[serde(skip_serializing)]
    pub one_of: Option<Vec<Titled>>,
}

/// One option.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Titled {
    /// What the agent is told.
    #[serde(rename = "const")]
    pub value: String,
    /// What the person sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A longer explanation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What the standard has no place for.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Json>>,
}

/// Where Claude's adapter puts what an option looks like, and clients look for it.
pub const PREVIEW: &str = "_claude/askUserQuestionOption";
