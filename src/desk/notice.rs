//! What a desk tells its shell, beside what changed.

use std::{sync::Arc, time::Duration};

use super::{Record, Refusal, Settlement, Ticket};

/// One thing that the shell is told, in the order in which it happened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// A question opened.
    Opened(Arc<Record>),
    /// Four fifths of a question's time are over.
    Warned(Arc<Record>),
    /// A question has another deadline: so long after the start.
    Extended(Arc<Record>, Duration),
    /// It is decided how a question ends. The outcome is on its way to the asker: this is for logs, not for
    /// responders (I9).
    Decided {
        /// The question, as it was when it was open.
        record: Arc<Record>,
        /// How it ends. The values of secret fields are in it.
        settlement: Box<Settlement>,
        /// How long it was open.
        after: Duration,
    },
    /// What became of a submission.
    Verdict(Ticket, Result<(), Refusal>),
}
