//! What a desk is told: when it is set up, and when a question opens.

use std::{sync::Arc, time::Duration};

use super::{Asker, BridgeName, Timestamp};
use crate::question::Question;

/// What a desk is told when it is set up.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The bridge whose questions these are.
    pub bridge: BridgeName,
    /// Which asker this is.
    pub asker: Asker,
    /// The time of day at which the desk's clock starts. All other times that it is told have passed since then.
    pub started: Timestamp,
    /// A random number that never leaves the process. Answers with secrets are compared by a digest under it.
    pub key: u64,
}

/// A question that opens.
#[derive(Clone, Debug)]
pub struct Opening {
    /// What is asked.
    pub question: Arc<Question>,
    /// How many bytes it counts for: see [`super::Desk::weigh`].
    pub weight: usize,
    /// How long it may stay open.
    pub timeout: Option<Duration>,
    /// Whether the client cannot show it.
    pub elsewhere: bool,
}
