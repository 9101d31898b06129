//! `askbridge history`: past questions and how they were settled, from the journal.
//! How the journal is kept is left to `journal`.

use std::{
    cmp::Reverse,
    io::{self, Write},
    time::{Duration, SystemTime},
};

use askbridge_control::{
    inbox::{HistoryFilter, Life, PastQuestion},
    join::JoinedInbox,
    rpc::client::CallError,
};
use askbridge_core::{
    desk::{IdPrefix, Record, Timestamp},
    question::Context as Led,
    wire::line,
};
use askbridge_journal::{self, History, Verification};
use askbridge_os::exit;
use clap::{Args, Subcommand};
use jiff::{
    Zoned,
    civil::{Date, DateTime},
    tz::TimeZone,
};
use serde::Serialize;
use serde_json::json;

use super::{
    CommandError, Context, arguments,
    ledger::{ago, now, open, open_to_verify, unwritable},
    reach::MachineArgs,
    runner::{listed, print, print_lines, say, shown, warn},
    screen::{columns, is_coloured, wrap_column},
};
use crate::{
    limits,
    present::{led::ContextText, past, question::QuestionText, text},
    service::of_user,
};

/// Exit codes of `askbridge history`.
const HELP: &str = "\
The journal is in $XDG_STATE_HOME/askbridge/journal.db. What it keeps, and for how long, are the
settings journal.enabled, journal.texts, journal.context, journal.keep and journal.size.
It never contains secret values.

Exit codes:
  0    done
  1    with `verify`, records were changed, cut off or left out
  2    the command line was not understood
  3    no such question
  125  the command itself failed";

/// Options of `askbridge history`.
#[derive(Debug, Args)]
#[command(after_help = HELP, args_conflicts_with_subcommands = true)]
pub struct HistoryArgs {
    /// The action [default: list questions, the latest first]
    #[command(subcommand)]
    pub action: Option<HistoryAction>,

    /// Only questions with all of these words in their text, agent, project, decision or responder
    #[arg(long, value_name = "WORDS")]
    pub search: Option<String>,

    /// Only questions of this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,

    /// Only questions of this folder, and of folders in it
    #[arg(long, value_name = "FOLDER")]
    pub project: Option<String>,

    /// Only questions settled there (page, terminal, command_line, client, rule and others), or by the person,
    /// client or rule of this name
    #[arg(long, value_name = "WHO")]
    pub by: Option<String>,

    /// Only questions settled since then (lost ones: asked since then): `2h` ago, `today`, `yesterday`, 2026-11-21, or a date with a time
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<Timestamp>,

    /// Only questions settled until then
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub until: Option<Timestamp>,

    /// Only lost questions: they were open when their bridge ended
    #[arg(long, conflicts_with = "by")]
    pub lost: bool,

    /// At most this many, of which what still waits takes only the rest [default: 50, and all with --lost]
    #[arg(long, value_name = "COUNT")]
    pub limit: Option<usize>,

    /// Print JSON: the records, with decisions that may not have been delivered
    #[arg(long)]
    pub json: bool,

    /// The machine whose journal is read.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// The actions of `askbridge history`.
#[derive(Debug, Subcommand)]
pub enum HistoryAction {
    /// Show a question, and how it ended
    Show {
        /// The question's ID
        id: String,

        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print everything as lines of JSON, oldest first
    Export,
    /// Remove old settled questions
    Prune {
        /// Remove questions that were settled longer ago than this
        #[arg(long, value_name = "TIME", value_parser = arguments::span)]
        older_than: humantime::Duration,
    },
    /// Check that no settlement was changed, cut or left out
    Verify {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Reads a time in the past: how long ago it was, a day, or a date, by the clock of this machine.
fn since(text: &str) -> Result<Timestamp, String> {
    if let Ok(age) = arguments::duration(text) {
        return Ok(ago(age.into()));
    }
    let wanted =
        |_| "give how long ago it was, such as 90s or 2h, `today`, `yesterday`, or a date such as 2026-11-21";
    let day = match text {
        "today" => Ok(Zoned::now()),
        "yesterday" => Zoned::now().yesterday(),
        // A date without a time has exactly this length.
        date if date.len() > "2026-11-21".len() => {
            return read_moment(date).map_err(|error| wanted(error).to_owned());
        }
        date => date.parse::<Date>().and_then(|date| date.to_zoned(TimeZone::system())),
    };
    let start = day.and_then(|day| day.start_of_day()).map_err(|error| wanted(error).to_owned())?;
    Ok(SystemTime::from(start.timestamp()).into())
}

/// Reads a date with a time. Without a time zone, it is in the zone of this machine.
fn read_moment(text: &str) -> Result<Timestamp, jiff::Error> {
    let moment = text.parse::<jiff::Timestamp>().or_else(|_| {
        let local = text.parse::<DateTime>()?.to_zoned(TimeZone::system())?;
        Ok::<_, jiff::Error>(local.timestamp())
    })?;
    Ok(SystemTime::from(moment).into())
}

impl HistoryArgs {
    /// Returns the filter for the list.
    fn filter(&self) -> HistoryFilter {
        HistoryFilter {
            search: self.search.clone(),
            session: self.session.clone(),
            project: self.project.clone(),
            by: self.by.clone(),
            since: self.since,
            until: self.until,
            unsettled: false,
            limit: self.limit.or(Some(limits::HISTORY).filter(|_| !self.lost)),
        }
    }
}

/// Lists the questions of the journal, or does what the subcommand says.
pub async fn history(context: &Context, args: &HistoryArgs) -> Result<u8, CommandError> {
    if args.machine.is_named() {
        return elsewhere(context, args).await;
    }
    // Pruning writes to the journal: it does not use the one that is opened to read below.
    if let Some(HistoryAction::Prune { older_than }) = &args.action {
        return prune((*older_than).into());
    }
    let verifies = matches!(args.action, Some(HistoryAction::Verify { .. }));
    let Some(history) = (if verifies { open_to_verify() } else { open() })? else {
        return nothing_kept(args);
    };
    if history.is_newer() {
        say("the journal was written by a newer askbridge: something may be missing here");
    }
    match &args.action {
        None => list(&history, &args.filter(), args.lost, args.json),
        Some(HistoryAction::Show { id, json }) => show(&history, id, *json),
        Some(HistoryAction::Export) => export(&history),
        Some(HistoryAction::Verify { json }) => verify(&history, *json),
        Some(HistoryAction::Prune { .. }) => Ok(exit::OK),
    }
}

/// Reports that the journal is empty, or that nothing could be written to it: then it does not say what was asked.
fn nothing_kept(args: &HistoryArgs) -> Result<u8, CommandError> {
    let code = match unwritable() {
        Some(why) => {
            say(&format!(
                "nothing is kept of what was asked on this machine: the journal cannot be written: {why}"
            ));
            exit::FAILED
        }
        None => {
            say("nothing was asked on this machine yet: its journal is empty; --host reads that of another");
            exit::OK
        }
    };
    if let Some(HistoryAction::Show { id, .. }) = &args.action {
        return Err(CommandError::NotKept(id.clone()));
    }
    if args.action.is_none() && args.json {
        shown(print("{\"questions\":[],\"leftToClient\":[],\"gaps\":[]}\n"))?;
    }
    Ok(code)
}

/// Lists the questions that the journal of another machine knows.
async fn elsewhere(context: &Context, args: &HistoryArgs) -> Result<u8, CommandError> {
    let joined = JoinedInbox::open_soon(args.machine.reach(context).await?).await?;
    let gaps = joined.gaps().borrow().clone();
    warn(&gaps);
    let silent = |error: CallError| CommandError::Refused("history".to_owned(), error.into());
    let found = match args.lost {
        false => joined.past_elsewhere(args.filter()).await.map_err(silent)?,
        true => joined.lost_elsewhere().await.map_err(silent)?.into_iter().map(PastQuestion::from).collect(),
    };
    if args.json {
        let json = text::json(&json!({ "questions": found, "leftToClient": [], "gaps": [] }))?;
        return listed(print(&json), gaps.has_asked_all());
    }
    let entry = |past| entry(past, Life::Ended);
    let limit = args.limit.unwrap_or(limits::HISTORY);
    let past: Vec<_> = found.iter().take(limit).map(entry).collect();
    if past.is_empty() {
        say("no question in that journal matches");
        return listed(Ok(()), gaps.has_asked_all());
    }
    let lines = past::table(&past, &[], Some(limit), now(), columns());
    listed(print_lines(&lines), gaps.has_asked_all())
}

fn entry(past: &PastQuestion, life: Life) -> past::HistoryEntry<'_> {
    let PastQuestion { record, accepted, may_have_arrived, .. } = past;
    past::HistoryEntry { record, accepted: accepted.as_ref(), may_have_arrived: *may_have_arrived, life }
}

fn list(history: &History, filter: &HistoryFilter, lost: bool, json: bool) -> Result<u8, CommandError> {
    let filter = HistoryFilter { unsettled: lost, ..filter.clone() };
    let is_of_a_time = filter.since.is_some() || filter.until.is_some();
    let (found, lives) = history.with_lives(&of_user(), |life| {
        let mut found = history.list_of(&filter, |bridge| match life(bridge) {
            Life::Ended => true,
            // Whether it is over cannot be seen from here.
            Life::Unseen => !lost,
            Life::Lives => false,
        })?;
        if !lost && !is_of_a_time {
            // What still waits is no past, and takes only the room that is left.
            let room = filter.limit.map(|limit| limit.saturating_sub(found.len()));
            let waiting = HistoryFilter { unsettled: true, limit: room, ..filter.clone() };
            found.extend(history.list_of(&waiting, |bridge| life(bridge) == Life::Lives)?);
            found.sort_by_key(|past| Reverse(past.ended_at()));
        }
        Ok(found)
    })?;
    let (gaps, left) = (history.gaps()?, history.left_to_client(&filter)?);
    if json {
        return shown(print(&text::json(
            &json!({ "questions": found, "leftToClient": left, "gaps": gaps }),
        )?));
    }
    let missing: i64 = gaps.iter().map(|gap| gap.missing).sum();
    if missing > 0 {
        say(&format!("{missing} entries are missing: the journal could not be written"));
    }
    if found.is_empty() && left.is_empty() {
        say("no question in the journal matches");
        return Ok(exit::OK);
    }
    let past: Vec<_> = found
        .iter()
        // A bridge whose state is unknown may still run: its questions must not be called lost.
        .map(|past| entry(past, lives.get(&past.record.bridge).copied().unwrap_or(Life::Lives)))
        .collect();
    let lines = past::table(&past, &left, filter.limit, now(), columns());
    shown(print_lines(&lines))
}

/// A question of the journal, with what led to it where the journal keeps that.
#[derive(Serialize)]
struct ShownQuestion<'a> {
    #[serde(flatten)]
    past: &'a PastQuestion,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a Led>,
}

fn show(history: &History, id: &str, json: bool) -> Result<u8, CommandError> {
    let unknown = || CommandError::NotKept(id.to_owned());
    let typed: IdPrefix = id.parse().map_err(|_| unknown())?;
    let (found, lives) = history.with_lives(&of_user(), |_| history.find(&typed))?;
    // The names of bridges are random, so a prefix that fits several questions means the latest.
    let [past, ..] = &*found else { return Err(unknown()) };
    let record: &Record = &past.record;
    let context = history.context(record)?;
    if json {
        return shown(print(&text::json(&ShownQuestion { past, context: context.as_ref() })?));
    }
    let (columns, colour) = (wrap_column(), is_coloured());
    let mut said =
        QuestionText { record, status: None, now: now(), columns, colour, whole: true }.to_string();
    let life = lives.get(&record.bridge).copied().unwrap_or(Life::Lives);
    // A question without a settlement may still wait, unless its bridge has ended.
    if past.seq.is_none() && life != Life::Lives {
        let (accepted, may_have_arrived) = (past.accepted.as_ref(), past.may_have_arrived);
        let past = past::HistoryEntry { record, accepted, may_have_arrived, life };
        said.push_str(&format!("\n{}\n", past.ending()));
    }
    if let Some(by) = &past.claimed_by {
        said.push_str(&format!("its answer was given to {by}\n"));
    }
    if let Some(context) = &context {
        said.push_str(&format!("\nWhat led to it:\n\n{}", ContextText { context, columns }));
    }
    shown(print(&said))
}

fn export(history: &History) -> Result<u8, CommandError> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let mut lines = history.export();
    for row in lines.by_ref() {
        let row = row?;
        let written = stdout.write_all(line::escaped(&row).as_bytes()).and_then(|()| stdout.write_all(b"\n"));
        if let Err(error) = written {
            // A reader that closes the pipe ends the export, and is no failure.
            return shown(Err(error));
        }
    }
    let code = shown(stdout.flush())?;
    let (changed, more) = lines.changed();
    changed.iter().for_each(|found| say(&found.to_string()));
    if more > 0 {
        say(&format!("and {more} more"));
    }
    Ok(if changed.is_empty() { code } else { exit::PROBLEM })
}

fn prune(age: Duration) -> Result<u8, CommandError> {
    let removed = askbridge_journal::prune(&of_user(), ago(age))?;
    let questions = if removed == 1 { "question is" } else { "questions are" };
    shown(print(&format!("{removed} {questions} removed\n")))
}

fn verify(history: &History, json: bool) -> Result<u8, CommandError> {
    let verified = history.verify()?;
    let code = if verified.is_whole() { exit::OK } else { exit::PROBLEM };
    let said = if json { text::json(&verified)? } else { checked(&verified) };
    shown(print(&said)).map(|_| code)
}

/// Returns the report on a check of the journal.
fn checked(verified: &Verification) -> String {
    let Verification { rows, seq, head, removed_up_to, breaks, broken, .. } = verified;
    let mut lines: Vec<_> = breaks.iter().map(ToString::to_string).collect();
    // `breaks` has only the first ones.
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
