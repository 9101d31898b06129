//! `askbridge history`: what was asked, and how it was settled, from the journal. How the journal is kept is left to `journal`.

use std::{
    io::{self, Write},
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde_json::json;

use super::{
    CommandError,
    run::{print, say, shown},
    screen::Room,
};
use crate::{
    config::JournalSettings,
    desk::{IdPrefix, LostQuestion, Record, Refusal, State, Timestamp},
    exit,
    journal::{self, Filter, History, JournalError, Options, Verified},
    machine::discovery::{self, is_alive},
    present::{past, question::Shown, text},
};

/// What `history` does.
#[derive(Clone, Debug, PartialEq)]
pub enum HistoryOptions {
    /// Lists questions, the latest first.
    List {
        /// Which ones.
        filter: Filter,
        /// How long ago they were settled at most.
        since: Option<Duration>,
        /// As JSON.
        json: bool,
    },
    /// Shows a question and how it ended.
    Show {
        /// Its ID.
        id: String,
        /// As JSON.
        json: bool,
    },
    /// Prints everything as lines of JSON, oldest first.
    Export,
    /// Removes what was settled longer ago than this.
    Prune(Duration),
    /// Checks that nothing was changed, cut or left out.
    Verify {
        /// As JSON.
        json: bool,
    },
}

/// Does it.
pub fn history(options: &HistoryOptions) -> Result<u8, CommandError> {
    if let HistoryOptions::Prune(age) = options {
        return prune(*age);
    }
    let Some(history) = open()? else {
        say("nothing was asked yet: the journal is empty");
        return match options {
            HistoryOptions::Show { id, .. } => Err(CommandError::Refused(id.clone(), Refusal::NotFound)),
            HistoryOptions::List { json: true, .. } => shown(print("{\"questions\":[],\"gaps\":[]}\n")),
            _ => Ok(exit::OK),
        };
    };
    if history.is_newer() {
        say("the journal was written by a newer askbridge: something may be missing here");
    }
    match options {
        HistoryOptions::List { filter, since, json } => list(&history, filter, *since, *json),
        HistoryOptions::Show { id, json } => show(&history, id, *json),
        HistoryOptions::Export => export(&history),
        HistoryOptions::Verify { json } => verify(&history, *json),
        HistoryOptions::Prune(_) => Ok(exit::OK),
    }
}

/// Returns the journal of the user, to be written as these settings say.
pub fn journal_options(settings: JournalSettings) -> Options {
    let JournalSettings { texts, keep, size } = settings;
    let mut options = of_user();
    (options.texts, options.keep, options.size) = (texts, keep, size);
    options
}

/// Returns the journal of the user, to be written with the defaults.
fn of_user() -> Options {
    let mut options = Options::new(discovery::journal_file());
    options.is_alive = Arc::new(is_alive);
    options
}

/// Opens the journal to read. `None` where nothing was ever noted.
pub(super) fn open() -> Result<Option<History>, CommandError> {
    let file = discovery::journal_file().ok_or(JournalError::NoFolder)?;
    Ok(History::open(&file)?)
}

/// Hands on the questions of the journal, the latest first: those that were settled at most so long ago.
pub(super) fn each(since: Option<Duration>, take: impl FnMut(Record)) -> Result<(), CommandError> {
    let Some(history) = open()? else { return Ok(()) };
    Ok(history.each(since.map(ago), take)?)
}

/// Returns the questions that were open when their bridges ended, oldest first: those that nothing replaced, and that were
/// asked not long ago.
pub(super) fn lost() -> Result<Vec<LostQuestion>, CommandError> {
    let Some(history) = open()? else { return Ok(Vec::new()) };
    Ok(history.lately_lost(now(), is_alive)?)
}

fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Returns the time this long ago.
fn ago(age: Duration) -> Timestamp {
    SystemTime::now().checked_sub(age).map_or_else(Timestamp::default, Into::into)
}

fn list(history: &History, filter: &Filter, since: Option<Duration>, json: bool) -> Result<u8, CommandError> {
    let filter = Filter { since: since.map(ago), ..filter.clone() };
    let mut found = history.list(&filter)?;
    let gaps = history.gaps()?;
    let alive: Vec<_> =
        found.iter().map(|past| past.seq.is_none() && is_alive(&past.record.bridge)).collect();
    for (past, is_alive) in found.iter_mut().zip(&alive) {
        if past.seq.is_none() && !is_alive {
            past.record.state = State::Lost;
        }
    }
    if json {
        return shown(print(&text::json(&json!({ "questions": found, "gaps": gaps }))?));
    }
    let missing: i64 = gaps.iter().map(|gap| gap.missing).sum();
    if missing > 0 {
        say(&format!("{missing} entries are missing: the journal could not be written"));
    }
    if found.is_empty() {
        say("no question of the journal is like that");
        return Ok(exit::OK);
    }
    let past: Vec<_> = found
        .iter()
        .zip(alive)
        .map(|(past, is_alive)| past::Past {
            record: &past.record,
            accepted: past.accepted.as_ref(),
            is_alive,
        })
        .collect();
    let lines = past::table(&past, now(), Room::now().map(|room| room.columns));
    shown(print(&(lines.join("\n") + "\n")))
}

fn show(history: &History, id: &str, json: bool) -> Result<u8, CommandError> {
    let refused = |refusal| CommandError::Refused(id.to_owned(), refusal);
    let typed: IdPrefix = id.parse().map_err(|_| refused(Refusal::NotFound))?;
    let found = history.find(&typed)?;
    // IDs of bridges are random, so that the latest is the one that is meant.
    let [past, ..] = &*found else { return Err(refused(Refusal::NotFound)) };
    if json {
        return shown(print(&text::json(past)?));
    }
    let record: &Record = &past.record;
    let columns = Room::now().map_or(usize::MAX, |room| room.columns);
    let colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    let mut said = Shown { record, status: None, now: now(), columns, colour }.to_string();
    let is_alive = is_alive(&record.bridge);
    if past.seq.is_none() && !is_alive {
        let past = past::Past { record, accepted: past.accepted.as_ref(), is_alive };
        said.push_str(&format!("\n{}\n", past.ending()));
    }
    if let Some(by) = &past.claimed_by {
        said.push_str(&format!("its answer was given to {by}\n"));
    }
    shown(print(&said))
}

fn export(history: &History) -> Result<u8, CommandError> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    for line in history.export() {
        let line = line?;
        let written = stdout.write_all(line.as_bytes()).and_then(|()| stdout.write_all(b"\n"));
        if let Err(error) = written {
            return shown(Err(error));
        }
    }
    shown(stdout.flush())
}

fn prune(age: Duration) -> Result<u8, CommandError> {
    let removed = journal::prune(&of_user(), ago(age))?;
    let questions = if removed == 1 { "question is" } else { "questions are" };
    shown(print(&format!("{removed} {questions} removed\n")))
}

fn verify(history: &History, json: bool) -> Result<u8, CommandError> {
    let verified = history.verify()?;
    let code = if verified.is_whole() { exit::OK } else { exit::PROBLEM };
    let said = if json { text::json(&verified)? } else { checked(&verified) };
    shown(print(&said)).map(|_| code)
}

/// Returns what a check of the journal found.
fn checked(verified: &Verified) -> String {
    let Verified { rows, seq, head, removed_up_to, breaks, broken, .. } = verified;
    let mut lines: Vec<_> = breaks.iter().map(ToString::to_string).collect();
    let more = broken.saturating_sub(breaks.len() as u64);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.push(match *broken {
        0 => format!("{rows} settlements, none changed or missing"),
        1 => format!("{rows} settlements, and the chain is broken in 1 place"),
        _ => format!("{rows} settlements, and the chain is broken in {broken} places"),
    });
    if *removed_up_to > 0 {
        lines.push(format!("those up to number {removed_up_to} were removed for their age or for size"));
    }
    lines.push(format!("the last is number {seq}, with the hash {head}"));
    lines.push("Keep that hash elsewhere: it shows later that nothing before it was changed.".to_owned());
    lines.join("\n") + "\n"
}
