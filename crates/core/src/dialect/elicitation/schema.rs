//! The JSON Schema of a form, as it is written for clients, restricted to what they understand.
//! Writing a question as a schema is left to `form.rs`, reading one to `dialect/schema`.
//!
//! Source: `ElicitationSchema` of the ACP schema.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::dialect::values::Entries;

/// `requestedSchema`: an object of scalars and lists of scalars.
#[derive(Debug, Default, Serialize)]
pub struct FormSchema {
    /// Always `object`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The fields, in display order.
    pub properties: Entries<FormProperty>,
    /// The names of the required fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<Vec<String>>,
}

/// One field. Which members apply depends on `type`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FormProperty {
    /// `string`, `number`, `integer`, `boolean` or `array`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The name of the field, or the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// An explanation, or the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The options of a single choice, without titles.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// The options of a single choice, with titles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<TitledOption>>,
    /// The options of a multiple choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<FormItems>,
    /// The minimum number of choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u32>,
    /// The maximum number of choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u32>,
    /// The minimum length of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// The maximum length of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// A regular expression that must match somewhere in a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// `email`, `uri`, `date` or `date-time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The minimum of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<NumberBound>,
    /// The maximum of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<NumberBound>,
    /// The bound that a number must be above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusive_minimum: Option<NumberBound>,
    /// The bound that a number must be below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusive_maximum: Option<NumberBound>,
    /// The step of a number: it must be a multiple of this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiple_of: Option<NumberBound>,
    /// The initial value, of the same type as the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
    /// Extensions of the standard.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Json>>,
}

/// A bound of a number. A whole number is written without a fraction: the bounds of an `integer` are integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberBound(pub f64);

impl NumberBound {
    /// Returns whether the bound can be written as an integer. Above 2^53 a double cannot represent every integer.
    pub fn is_integer(&self) -> bool {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        self.0.fract() == 0.0 && self.0.abs() <= EXACT
    }

    /// Converts the bound to JSON.
    pub fn to_json(self) -> Json {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Serialize for NumberBound {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_integer() {
            #[expect(clippy::cast_possible_truncation, reason = "the value is whole and in range")]
            return serializer.serialize_i64(self.0 as i64);
        }
        serializer.serialize_f64(self.0)
    }
}

/// The options of a multiple choice.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FormItems {
    /// `string`, beside `enum`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The options, without titles.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// The options, with titles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any_of: Option<Vec<TitledOption>>,
}

/// One option.
#[derive(Debug, Default, Serialize)]
pub struct TitledOption {
    /// The value that the agent receives.
    #[serde(rename = "const")]
    pub value: String,
    /// The label that the user sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A longer explanation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Extensions of the standard.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Json>>,
}
