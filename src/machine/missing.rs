//! Why a lookup found no question, as one type for all who look one up.

use askbridge_core::desk::Refusal;

use super::Gaps;

/// Why a question was not found.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// For the reason in this refusal.
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
