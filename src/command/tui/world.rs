//! What the screen shows of the questions, as they are now. Following them is left to `run.rs`.

use std::sync::Arc;

use askbridge_control::{inbox::Inbox as _, join::JoinedInbox};
use askbridge_core::desk::Record;

use super::{
    event::{InboxState, QuestionItem},
    settled::{Asked, SETTLED, latest},
};
use crate::{hub::SERVER, present::bridges::Bridges};

/// Returns the questions. `remembered` are those of the journal, `gaps` the bridges that are left out.
pub(super) fn world(
    joined: &JoinedInbox,
    asked: &mut Asked,
    remembered: &[Arc<Record>],
    gaps: Vec<String>,
) -> InboxState {
    let status = joined.status();
    asked.ask(joined, &status);
    // The inbox in the background has no agent.
    let count = status.iter().filter(|bridge| bridge.agent != SERVER).count();
    let bridges = Bridges::new(status);
    let item = |record: Arc<Record>| {
        let (agent, now) = (bridges.agent(&record), bridges.now(&record));
        QuestionItem { record, agent, now }
    };
    let (open, settled) = joined.store().read(|_, snapshot| {
        let settled: Vec<_> = snapshot.settled().rev().take(SETTLED).cloned().collect();
        (snapshot.open(), settled)
    });
    InboxState {
        open: open.into_iter().map(item).collect(),
        settled: latest(settled, remembered, SETTLED).into_iter().map(item).collect(),
        gaps,
        bridges: count,
    }
}
