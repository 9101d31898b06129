//! `askbridge list`: what is open, once or as it changes.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    sync::Arc,
    time::Duration,
};

use tokio::time::timeout;

use super::{
    CommandError,
    run::{join, print},
    text::{self, place, short, since, span, until},
};
use crate::{
    cli::ListArgs,
    exit,
    inbox::{Book, Source, View, joined::Joined, rpc::Listing},
};

/// How often a list on a terminal is drawn again, for the times in it.
const REDRAW: Duration = Duration::from_secs(1);
/// Puts the cursor at the top, and clears what is below.
const CLEAR: &str = "\x1b[H\x1b[2J";
/// The longest session and question that are listed.
const SESSION: usize = 20;
const QUESTION: usize = 80;

/// Lists what is open.
pub async fn list(args: &ListArgs) -> Result<u8, CommandError> {
    let joined = join().await?;
    if args.watch {
        let followed = joined.clone();
        tokio::select! {
            followed = followed.follow() => followed?,
            watched = watch(&joined, args.json) => watched?,
        }
        return Ok(exit::OK);
    }
    let book = joined.book();
    let book = book.borrow();
    print(&if args.json { json(&book, true)? } else { table(&book) })?;
    Ok(exit::OK)
}

/// Shows what changes, until nobody reads it any more.
async fn watch(joined: &Joined, as_json: bool) -> Result<(), CommandError> {
    let mut book = joined.book();
    let redraws = !as_json && io::stdout().is_terminal();
    let mut known = BTreeMap::new();
    loop {
        let shown = {
            let book = book.borrow_and_update();
            match (as_json, redraws) {
                (true, _) => json(&book, false)?,
                (false, true) => format!("{CLEAR}{}", table(&book)),
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

fn json(book: &Book, pretty: bool) -> Result<String, CommandError> {
    let listing = Listing::of(book);
    let json = if pretty { serde_json::to_string_pretty(&listing) } else { serde_json::to_string(&listing) };
    Ok(json.map_err(io::Error::from)? + "\n")
}

fn table(book: &Book) -> String {
    let open = book.open();
    if open.is_empty() {
        return "no question is open\n".to_owned();
    }
    let heads = ["ID", "AGE", "ENDS", "SHOWN", "SESSION", "QUESTION"].map(str::to_owned);
    let rows: Vec<_> = [heads].into_iter().chain(open.iter().map(|view| row(view))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3, 4].map(width).into_iter().chain([0]).collect::<Vec<_>>();
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    });
    lines.collect()
}

fn row(view: &View) -> [String; 6] {
    let ends = view.deadline.as_ref().map(|deadline| span(until(deadline)));
    [
        view.id.clone(),
        span(since(&view.opened_at)),
        ends.unwrap_or_else(|| "-".to_owned()),
        place(view).to_owned(),
        session(view),
        short(view.question.heading(), QUESTION),
    ]
}

fn session(view: &View) -> String {
    view.question.session.as_ref().map_or_else(|| "-".to_owned(), |session| short(session, SESSION))
}

/// Says what changed since the last time, a line for each question.
fn changes(known: &mut BTreeMap<String, Arc<View>>, book: &Book) -> String {
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
