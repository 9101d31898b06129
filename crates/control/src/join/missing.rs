//! Why a lookup found no question: one error type for all callers.

use askbridge_core::desk::Refusal;

use super::Gaps;

/// Why a question was not found.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// The bridge refused the lookup, for this reason.
    Refused(Refusal),
    /// The question needs a newer askbridge.
    Unreadable,
    /// No bridge that replied has the question, and these bridges could not be asked.
    Unasked(Box<Gaps>),
}

impl From<Missing> for Refusal {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Refused(refusal) => refusal,
            Missing::Unreadable | Missing::Unasked(_) => Refusal::Unavailable,
        }
    }
}
