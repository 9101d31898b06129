//! The open questions of a machine, as `list` shows them, once or again and again.
//! When they are printed is left to `list.rs` and `watch.rs`.

use std::path::Path;

use super::{inbox, screen::Room};
use crate::{
    control::Inbox,
    machine::{Gaps, Machine},
    present::{bridges::Bridges, elsewhere::UnreachableBridges, listing::QuestionList, table::table},
    terminal::printable_line,
};

/// Returns the open questions, and what a list shows of them.
pub(super) fn listing(machine: &Machine, gaps: &Gaps) -> QuestionList {
    let bridges = Bridges::new(machine.status());
    let (revision, open) = machine.store().read(|revision, snapshot| (revision, snapshot.open()));
    QuestionList::new(revision, open, &bridges, gaps)
}

/// Returns the open questions as a table, or why there is none.
pub(super) fn lines(
    machine: &Machine,
    folder: &Path,
    gaps: &Gaps,
    elsewhere: &[UnreachableBridges],
    room: Option<Room>,
) -> Vec<String> {
    let statuses = machine.status();
    let open = machine.store().read(|_, snapshot| snapshot.open());
    if !open.is_empty() {
        return table(&open, &Bridges::new(statuses), room.map(|room| room.columns));
    }
    let folder = folder.display().to_string();
    let folder = printable_line(&folder);
    // A server asks nothing by itself.
    let bridges = statuses.iter().filter(|status| status.agent != inbox::SERVER).count();
    vec![match (bridges, gaps.has_asked_all()) {
        (0, true) if !elsewhere.is_empty() => format!("no bridge runs in {folder}"),
        (0, true) => format!("no bridge runs (looked in {folder})"),
        (0, false) => format!("no bridge replied (looked in {folder})"),
        (1, true) => "no question is open (1 bridge)".to_owned(),
        (several, true) => format!("no question is open ({several} bridges)"),
        (1, false) => "no question is open in the bridge that replied".to_owned(),
        (several, false) => format!("no question is open in the {several} bridges that replied"),
    }]
}
