//! How a case ended, and what shows why.

use serde::Serialize;

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The rule holds.
    Passed,
    /// The rule is broken.
    Failed(Box<Failure>),
    /// Nothing was shown: what the case is about did not happen.
    Inconclusive(String),
    /// The case was not played.
    Skipped(String),
}

impl Verdict {
    /// Returns its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::Inconclusive(_) => "inconclusive",
            Self::Skipped(_) => "skipped",
        }
    }
}

/// What broke the rule. All texts are printable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// What happened, in one sentence.
    pub what: String,
    /// The file and the line of the step.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub step: String,
    /// What the step expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What came instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
    /// The last lines that were written and received.
    pub wire: Vec<String>,
    /// The last words of the command on stderr.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}
