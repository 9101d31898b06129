//! `askbridge list`: what is open, once or as it changes.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    mem,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use rustix::termios::tcgetwinsize;
use tokio::time::timeout;

use super::{
    CommandError,
    run::{join, print, say, shown},
};
use crate::{
    control::old::{Book, Record, Source, rpc::Listing},
    exit,
    machine::bridges::Machine,
    present::{
        table::{row, table},
        text,
    },
    terminal::cut,
};

/// How often a list on a terminal is drawn again, for the times in it.
const REDRAW: Duration = Duration::from_secs(1);
/// Puts the cursor at the top, and clears what is below.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// What `list` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Prints JSON.
    pub json: bool,
    /// Goes on, and prints what changes.
    pub watch: bool,
}

/// Lists what is open.
pub async fn list(options: &ListOptions) -> Result<u8, CommandError> {
    let joined = join().await?;
    if options.watch {
        let followed = joined.clone();
        return tokio::select! {
            followed = followed.follow() => Ok(followed.map(|()| exit::OK)?),
            watched = watch(&joined, options.json) => shown(watched),
        };
    }
    let unreachable = joined.unreachable();
    if !unreachable.is_empty() {
        say(&format!("questions may be missing; {}", text::unreachable(&unreachable)));
    }
    let book = joined.book();
    let book = book.borrow();
    let text =
        if options.json { text::json(&Listing::of(&book))? } else { table(&book, Room::now().columns) };
    shown(print(&text))
}

/// Shows what changes, until nobody reads it any more.
async fn watch(joined: &Machine, as_json: bool) -> io::Result<()> {
    let mut book = joined.book();
    let redraws = !as_json && io::stdout().is_terminal();
    let (mut known, mut unreachable) = (BTreeMap::new(), Vec::new());
    loop {
        let before = mem::replace(&mut unreachable, joined.unreachable());
        if !unreachable.is_empty() && unreachable != before && !redraws {
            say(&format!("questions may be missing; {}", text::unreachable(&unreachable)));
        }
        let shown = {
            let book = book.borrow_and_update();
            match (as_json, redraws) {
                (true, _) => text::json_line(&Listing::of(&book))?,
                (false, true) => drawn(&book, Room::now(), &unreachable),
                (false, false) => changes(&mut known, &book),
            }
        };
        print(&shown)?;
        if redraws {
            // Whether it changed or only got older.
            drop(timeout(REDRAW, book.changed()).await);
        } else if book.changed().await.is_err() {
            return Ok(());
        }
    }
}

/// How much a terminal shows.
#[derive(Clone, Copy)]
struct Room {
    columns: usize,
    lines: usize,
}

impl Room {
    /// Returns that of our terminal. What is no terminal has room for everything.
    fn now() -> Self {
        let size = tcgetwinsize(io::stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or(Room { columns: usize::MAX, lines: usize::MAX }, |size| Room {
            columns: size.ws_col.into(),
            lines: size.ws_row.into(),
        })
    }
}

/// Draws the list again: as many of the oldest questions as there is room for, over what could not be asked.
fn drawn(book: &Book, room: Room, unreachable: &[PathBuf]) -> String {
    let below = match unreachable {
        [] => String::new(),
        sockets => cut(&text::unreachable(sockets), room.columns).into_owned() + "\n",
    };
    // The cursor stands on a line of its own.
    let most = room.lines.saturating_sub(1 + below.lines().count()).max(1);
    let mut table = table(book, room.columns);
    let count = table.lines().count();
    if count > most {
        let kept: String = table.split_inclusive('\n').take(most - 1).collect();
        table = format!("{kept}… and {} more\n", count - (most - 1));
    }
    format!("{CLEAR}{table}{below}")
}

/// Says what changed since the last time, a line for each question.
fn changes(known: &mut BTreeMap<String, Arc<Record>>, book: &Book) -> String {
    let mut lines = String::new();
    let open = book.open();
    for view in &open {
        let word = match known.insert(view.id.clone(), Arc::clone(view)) {
            None => "opened",
            Some(before) if before.elsewhere != view.elsewhere => "left",
            Some(before) if before.deadline != view.deadline => "extended",
            Some(_) => continue,
        };
        lines += &format!("{word} {}\n", row(view).join("  "));
    }
    known.retain(|id, _| {
        if open.iter().any(|view| view.id == *id) {
            return true;
        }
        let settled = book.find(id).and_then(|view| view.settlement.as_ref());
        let said = settled.map_or_else(|| "gone".to_owned(), text::settlement);
        lines += &format!("settled {id}  {said}\n");
        false
    });
    lines
}
