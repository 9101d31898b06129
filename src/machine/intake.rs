//! How questions of bridges come into the store of a machine, and leave it.
//! When they do is left to `connections.rs`.

use std::{sync::Arc, time::SystemTime};

use crate::{
    control::{protocol::UnreadableItem, store::Editor},
    desk::{QuestionId, Record, Settlement},
    limits,
    question::{Outcome, Provenance, Reason},
};

/// Puts questions into the store, and returns the IDs of those that there is no room for. What is known of a question
/// that cannot be read any more is out of date.
pub(super) fn put_all(
    editor: &mut Editor<'_>,
    items: &[(Arc<Record>, Option<usize>)],
    unreadable: &[UnreadableItem],
) -> Vec<QuestionId> {
    let mut left_out = Vec::new();
    for (record, size) in items {
        let size = size.unwrap_or_else(|| record.size());
        let is_new = editor.snapshot().get(&record.id).is_none();
        if is_new && record.is_open() && editor.snapshot().bytes() + size > limits::MACHINE_BYTES {
            left_out.push(record.id.clone());
        } else {
            editor.put_sized(Arc::clone(record), size);
        }
    }
    unreadable.iter().filter_map(|item| item.id.as_ref()).for_each(|id| editor.forget(id));
    left_out
}

/// Returns what followers are told about a question whose bridge disappeared. A responder that asks for it is told that
/// nothing is known: the agent may have got an answer, and the question may be found again.
pub(super) fn lost() -> Settlement {
    Settlement::new(Outcome::Rejected(Reason::AgentGone), Provenance::bridge(), SystemTime::now().into())
}
