//! `askbridge list --watch`: the open questions as they change, by the one way to follow a store.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    sync::Arc,
    time::Duration,
};

use tokio::time::sleep;

use super::{
    run::{print, say},
    screen::Room,
};
use crate::{
    control::{Batch, Inbox, protocol::Listing},
    desk::{Event, QuestionId, Record, State},
    machine::{Gaps, Machine},
    present::{
        gaps,
        table::{row, table},
        text,
    },
    terminal::cut,
};

/// How often a list on a terminal is drawn again, for the times in it.
const REDRAW: Duration = Duration::from_secs(1);
/// Puts the cursor at the top, and clears what is below.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Prints what changes, until stdout is closed or cannot be written to.
pub(super) async fn watch(machine: &Machine, as_json: bool) -> io::Result<()> {
    let is_drawn = !as_json && io::stdout().is_terminal();
    let (mut follower, mut left_out) = (machine.store().follow(), machine.gaps());
    let (mut said, mut known) = (Vec::new(), Known::default());
    loop {
        let (mut batch, mut has_gaps) = (None, false);
        tokio::select! {
            next = follower.next() => match next {
                Some(next) => batch = Some(next),
                None => return Ok(()),
            },
            Ok(()) = left_out.changed() => has_gaps = true,
            () = sleep(REDRAW), if is_drawn => {}
        }
        let now = left_out.borrow_and_update().clone();
        if !is_drawn {
            said = warn(&now, &said);
        }
        let text = match (as_json, batch) {
            (true, Some(_)) => listing(machine, &now)?,
            (true, None) if has_gaps => listing(machine, &now)?,
            (false, _) if is_drawn => drawn(&open(machine), Room::now(), &now),
            (false, Some(batch)) => known.changes(machine, batch),
            (_, None) => continue,
        };
        print(&text)?;
    }
}

/// Says on stderr what is left out since it was last said, and returns all that is left out.
fn warn(gaps: &Gaps, said: &[String]) -> Vec<String> {
    let lines = gaps::lines(gaps);
    lines.iter().filter(|line| !said.contains(line)).for_each(|line| say(line));
    lines
}

fn open(machine: &Machine) -> Vec<Arc<Record>> {
    machine.store().read(|_, snapshot| snapshot.open())
}

fn listing(machine: &Machine, gaps: &Gaps) -> io::Result<String> {
    let listing = machine.store().read(|revision, snapshot| Listing::new(revision, snapshot.open()));
    text::json_line(&listing.with_unreadable(gaps.unreadable))
}

/// Draws the list again: as many of the oldest questions as there is room for, above what is left out.
fn drawn(open: &[Arc<Record>], room: Room, gaps: &Gaps) -> String {
    let below: String =
        gaps::lines(gaps).iter().map(|line| cut(line, room.columns).into_owned() + "\n").collect();
    // The cursor stands on a line of its own.
    let most = room.lines.saturating_sub(1 + below.lines().count()).max(1);
    let mut table = table(open, room.columns);
    let count = table.lines().count();
    if count > most {
        let kept: String = table.split_inclusive('\n').take(most - 1).collect();
        table = format!("{kept}… and {} more\n", count - (most - 1));
    }
    format!("{CLEAR}{table}{below}")
}

/// The open questions that were printed.
#[derive(Default)]
struct Known(BTreeMap<QuestionId, Arc<Record>>);

impl Known {
    /// Returns a line for each thing that happened.
    fn changes(&mut self, machine: &Machine, batch: Batch) -> String {
        let mut lines = String::new();
        match batch {
            Batch::Snapshot { open, .. } => {
                let mut gone = std::mem::take(&mut self.0);
                for record in open {
                    self.0.extend(gone.remove_entry(&record.id));
                    lines += &self.change(record);
                }
                for id in gone.into_keys() {
                    lines += &settled(&id, machine.store().read(|_, snapshot| snapshot.get(&id).cloned()));
                }
            }
            Batch::Events { events, .. } => {
                for (_, event) in events {
                    lines += &match event {
                        Event::Settled(record) => {
                            self.0.remove(&record.id);
                            settled(&record.id, Some(Arc::clone(&record)))
                        }
                        event => self.change(Arc::clone(event.record())),
                    };
                }
            }
        }
        lines
    }

    /// Returns a line that says what is new about an open question, if anything is.
    fn change(&mut self, record: Arc<Record>) -> String {
        let before = self.0.insert(record.id.clone(), Arc::clone(&record));
        let word = match before {
            None => "opened",
            Some(before) if before.state != record.state && record.state == State::Delivering => "delivering",
            Some(before) if before.elsewhere != record.elsewhere => "left",
            Some(before) if before.deadline != record.deadline => "extended",
            Some(_) => return String::new(),
        };
        format!("{word} {}\n", row(&record).join("  "))
    }
}

fn settled(id: &QuestionId, record: Option<Arc<Record>>) -> String {
    let settlement = record.as_ref().and_then(|record| record.settlement.as_deref());
    format!("settled {id}  {}\n", settlement.map_or_else(|| "gone".to_owned(), text::settlement))
}
