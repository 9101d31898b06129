//! What changed, from a desk to the followers of its questions.

use std::sync::Arc;

use super::{QuestionId, Record};

/// Questions as they are now, of those that changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The questions that opened, changed or were settled.
    pub questions: Vec<Arc<Record>>,
    /// Questions that were open and are over, and of which the desk remembers nothing any more.
    pub gone: Vec<QuestionId>,
    /// How many questions opened and ended since the last changes, of which the desk remembers nothing any more. No
    /// follower saw them.
    pub missed: u64,
}
