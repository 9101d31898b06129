//! How a question or a permission ended, as opencode writes it: in a reply to it, and in the event that tells of it.

use serde::{Deserialize, Serialize};

use crate::question::{Answer, Outcome, Question, Reason, Value, typed};

/// The end of a question or a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// A question was answered: the labels or texts for each field in turn.
    Answered(Vec<Vec<String>>),
    /// A question was rejected.
    Rejected,
    /// A permission was allowed or rejected.
    Decided(Decision),
}

/// What opencode knows to say to a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Allowed this time.
    Once,
    /// Allowed from now on.
    Always,
    /// Refused.
    Reject,
}

impl Decision {
    /// Returns the value of its option.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Once => "once",
            Decision::Always => "always",
            Decision::Reject => "reject",
        }
    }
}

impl Ending {
    /// Returns it as the outcome of this question.
    pub fn outcome(&self, question: &Question) -> Outcome {
        match self {
            Ending::Answered(answers) => {
                let selections = answers.iter().cloned().map(Some).collect();
                Outcome::Answered(typed::answer_from_texts(question, selections, Default::default()))
            }
            Ending::Rejected | Ending::Decided(Decision::Reject) => Outcome::Rejected(Reason::User),
            Ending::Decided(decision) => {
                let value = Value::Text(decision.name().to_owned());
                let values = question.fields.first().map(|field| (field.name.clone(), value));
                Outcome::Answered(Answer { values: values.into_iter().collect(), ..Answer::default() })
            }
        }
    }
}
