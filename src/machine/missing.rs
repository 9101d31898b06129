//! Why a question that was looked for is not there, in one vocabulary for all who look.

use askbridge_core::desk::Refusal;

use super::Gaps;

/// Why a question was not found.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// As refusals say it.
    Refused(Refusal),
    /// The question needs a newer askbridge.
    Unreadable,
    /// No bridge that replied has the question, and these bridges could not be asked.
    Unasked(Gaps),
}

impl From<Missing> for Refusal {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Refused(refusal) => refusal,
            Missing::Unreadable | Missing::Unasked(_) => Refusal::Unavailable,
        }
    }
}
