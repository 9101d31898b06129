//! How a case ended, and the lines that show why.

use serde::Serialize;

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The rule holds.
    Passed,
    /// The rule is broken.
    Failed(Box<Failure>),
    /// The case says nothing of its rule, because what it is about did not happen.
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
    /// The methods of the opening that many cases share, if it succeeded: `wire` begins after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// How many lines of the conversation before `wire` are left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// The lines that led to the failure: what was written and received.
    pub wire: Vec<String>,
    /// The cases in which the rule was broken and how, if the case is about the lines of all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breaches: Vec<String>,
    /// The last words of the command on stderr.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
