//! What changed in an inbox, in messages of the control protocol. Sending them is left to `methods`.

use std::sync::Arc;

use super::{protocol::Delta, store::Batch, traffic::PROTOCOL};
use crate::limits;

/// Splits a batch into messages that are short enough to wait for slow readers.
pub(super) fn deltas(batch: &Batch) -> impl Iterator<Item = Delta> {
    let (is_snapshot, questions) = match batch {
        Batch::Snapshot { open, .. } => (true, open.clone()),
        Batch::Events { events, .. } => {
            (false, events.iter().map(|(_, event)| Arc::clone(event.record())).collect())
        }
    };
    let revision = batch.revision();
    let mut parts = vec![Vec::new()];
    let mut bytes = 0;
    for record in questions {
        let size = record.size();
        if bytes > 0 && bytes + size > limits::DELTA {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes += size;
        parts.last_mut().into_iter().for_each(|part| part.push(Arc::clone(&record)));
    }
    let last = parts.len() - 1;
    parts.into_iter().enumerate().map(move |(index, part)| Delta {
        protocol: PROTOCOL,
        revision,
        snapshot: is_snapshot,
        more: index < last,
        questions: part.into(),
    })
}
