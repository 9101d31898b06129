//! What a client of an app server tells its shell to do.

use std::{collections::VecDeque, path::PathBuf, sync::Arc};

use crate::question::{Outcome, Provenance, Question};

/// What the shell has to do next.
#[derive(Debug)]
pub enum Effect {
    /// Send this message. If that fails, the connection is over.
    Send(String),
    /// Open this question, and remember it under the key.
    Open(u64, Box<Question>),
    /// Codex has what was decided of this question.
    Delivered(u64),
    /// It is not known whether Codex has what was decided of this question.
    Undeliverable(u64),
    /// Look into the record of a thread for what the tool call returned that asked this question, for a short time. Give it
    /// to `Core::recorded`.
    Look(u64, Arc<PathBuf>, String),
    /// This question is over, by what happened at Codex.
    End(u64, Outcome, Provenance),
}

/// The effects of one call.
pub(super) type Effects = VecDeque<Effect>;
