//! The results as one JSON document, for `--json`.

use serde::Serialize;

use crate::{
    suite::{Outcome, Settings},
    verdict::{Failure, Verdict},
};

use super::counts::Counts;

/// The results of a run.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    kind: &'static str,
    command: Vec<String>,
    /// The version of the program that checked.
    checked_by: &'a str,
    /// Whether the run passed.
    passed: bool,
    counts: Counts,
    cases: Vec<CaseResult<'a>>,
}

#[derive(Debug, Serialize)]
struct CaseResult<'a> {
    id: &'a str,
    rule: &'a str,
    level: &'static str,
    source: &'a str,
    verdict: &'static str,
    /// Whether it was expected to fail.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    expected_to_fail: bool,
    /// Why it was skipped or inconclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a Failure>,
    /// What broke rules on the way that no case of the run is about.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    met: &'a [String],
    seconds: f64,
}

impl<'a> Document<'a> {
    /// Collects the results of a run. `checked_by` is the version of this program.
    pub fn new(settings: &Settings, outcomes: &'a [Outcome], checked_by: &'a str) -> Self {
        Self {
            kind: settings.kind.name(),
            command: settings.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            checked_by,
            passed: !outcomes.iter().any(|outcome| outcome.is_unexpected),
            counts: Counts::of(outcomes),
            cases: outcomes.iter().map(result).collect(),
        }
    }
}

fn result(outcome: &Outcome) -> CaseResult<'_> {
    let (why, failure) = match &outcome.verdict {
        Verdict::Passed => (None, None),
        Verdict::Failed(failure) => (None, Some(&**failure)),
        Verdict::Inconclusive(why) | Verdict::Skipped(why) => (Some(why.as_str()), None),
    };
    CaseResult {
        id: &outcome.case.id,
        rule: &outcome.case.rule,
        level: outcome.case.level.name(),
        source: &outcome.case.source,
        verdict: outcome.verdict.name(),
        expected_to_fail: outcome.expected,
        why,
        failure,
        met: &outcome.met,
        seconds: (outcome.time.as_secs_f64() * 1000.0).round() / 1000.0,
    }
}

/// Returns the document as text.
///
/// # Errors
/// None that is known: each member can be written.
pub fn json(document: &Document<'_>) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}
