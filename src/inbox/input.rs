//! An answer as somebody types it or a program sends it, in either of its two shapes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    dialect::sandboxagent::reply,
    question::{Answer, FieldError, Question, Value},
};

/// What is sent as an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AnswerInput {
    /// For each field in its order, the values or labels of the chosen options, or what was typed.
    ByPlace {
        /// The fields.
        answers: Vec<Vec<String>>,
        /// What was remarked, by the name of the field.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        notes: BTreeMap<String, String>,
    },
    /// By the name of the field.
    ByName {
        /// The fields.
        values: BTreeMap<String, Value>,
        /// What was remarked, by the name of the field.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        notes: BTreeMap<String, String>,
    },
}

impl AnswerInput {
    /// Reads it as an answer to this question. Whether that fits is checked by who takes it.
    pub fn read(self, question: &Question) -> Result<Answer, Vec<FieldError>> {
        match self {
            AnswerInput::ByName { values, notes } => Ok(Answer { values, notes }),
            AnswerInput::ByPlace { answers, notes } => {
                let (given, fields) = (answers.len(), question.fields.len());
                if given > fields {
                    let message = format!("there are {given} answers, and {fields} fields");
                    return Err(vec![FieldError { field: given.to_string(), message }]);
                }
                let selections = answers.into_iter().map(|texts| (!texts.is_empty()).then_some(texts));
                Ok(reply::answer(question, selections.collect(), notes))
            }
        }
    }
}
