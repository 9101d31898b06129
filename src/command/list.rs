//! `askbridge list`: the open questions once, or as they change with `--watch`, and those that only the journal knows:
//! lost ones, and those of bridges in other folders.
//! How a list looks is left to `present/listing.rs`.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    sync::Arc,
    time::{Duration, SystemTime},
};

use askbridge_control::{
    inbox::{Batch, Inbox},
    join::{Gaps, JoinedInbox, Places},
    rpc::client::Depth,
};
use askbridge_core::desk::{Event, LostQuestion, QuestionId, Record, State};
use askbridge_os::{exit, signals::Signals, terminal::cut};
use clap::Args;
use tokio::time::sleep;

use super::{
    CommandError, Context,
    filter::FilterArgs,
    reach::MachineArgs,
    runner::{listed, print, print_lines, say, shown, warn},
    screen::{Room, Screen, columns, stdout_closed},
};
use crate::{
    hub::SERVER,
    limits,
    present::{
        bridges::{self, Bridges, UnreachableBridges},
        layout::wrapped,
        listing::{self, Looked, QuestionList, row, table},
        past, text,
    },
};

/// The columns of `askbridge list`, and its exit codes.
const HELP: &str = "\
Columns:
  ID        what `show`, `answer`, `allow`, `reject` and `extend` take
  AGENT     the agent that asks
  PROJECT   the folder that it works in
  AGE       how long ago it asked
  ENDS      the time until the question is rejected; `sent` once its answer is on
            the way to the agent
  SHOWN     `client` if the agent's client (an editor, or its own terminal) shows
            the question, `elsewhere` if you answer it by a command, on the page
            or in `tui`, `later` while it is set aside, `delivering` while its answer
            is on the way
  KIND      `question`, or `permission` if the agent asks for one
  RISK      what a permission risks: `plain` reads, or changes what is shown;
            `acts` does more, such as to run a command; `dangerous` can do harm
  QUESTION  what is asked; `!` before it marks what can do harm
What ends within ten minutes comes first, and then what is oldest; what is set
aside comes last.
A narrow terminal shows fewer columns; a pipe gets all of them.

Exit codes:
  0        all open questions were listed, or none is open
  2        the command line was not understood
  6        the list is incomplete: stderr says why, and names each bridge that
           did not reply
  125      the command itself failed
  128 + N  signal N ended `--watch`";

/// Options of `askbridge list`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ListArgs {
    /// Print JSON: an object whose member `questions` has the open questions in full
    #[arg(long)]
    pub json: bool,

    /// Keep the list up to date: in place on a terminal, otherwise by a line for each change
    #[arg(long)]
    pub watch: bool,

    /// Which questions are listed.
    #[command(flatten)]
    pub only: FilterArgs,

    /// The machine that is asked.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Lists the open questions.
pub async fn list(context: &Context, args: &ListArgs) -> Result<u8, CommandError> {
    if args.watch {
        let joined = JoinedInbox::open_soon(args.machine.reach_to_follow(context).await?).await?;
        return tokio::select! {
            followed = joined.follow() => Ok(followed.map(|()| exit::OK)?),
            watched = watch(&joined, args.json, &args.only) => watched,
            // While no question changes, nothing is written, so a failed write cannot reveal that the reader is gone.
            () = stdout_closed() => Ok(exit::OK),
        };
    }
    let reach = args.machine.reach(context).await?;
    // A table shows the outline of a question only, which is much less to send.
    let depth = if args.json || args.only.needs_kinds() { Depth::Whole } else { Depth::Outline };
    let joined = JoinedInbox::glance(reach, depth, limits::PATIENCE).await?;
    let gaps = joined.gaps().borrow().clone();
    warn(&gaps);
    let (mut lost, elsewhere) = lost_and_elsewhere(&joined).await;
    let bridges = Bridges::new(joined.status());
    let keeps = args.only.keeping(&bridges);
    lost.retain(|lost| keeps(&lost.record));
    if args.json {
        let list = QuestionList { lost, elsewhere, ..listing(&joined, &gaps, &args.only) };
        return listed(print(&text::json(&list)?), gaps.is_empty());
    }
    let columns = columns();
    let mut lines = lines(&joined, &gaps, &elsewhere, columns, &args.only);
    lines.extend(unreachable_lines(&joined, &elsewhere));
    let lost = past::lost(&lost, SystemTime::now().into(), columns);
    if !lost.is_empty() {
        lines.push(String::new());
        lines.extend(lost);
    }
    listed(print_lines(&lines), gaps.is_empty())
}

/// Returns the open questions, and what a list shows of them.
fn listing(joined: &JoinedInbox, gaps: &Gaps, only: &FilterArgs) -> QuestionList {
    let bridges = Bridges::new(joined.status());
    let (revision, open) = joined.store().read(|revision, snapshot| (revision, snapshot.open()));
    QuestionList::new(revision, only.listed(open, &bridges), &bridges, gaps)
}

/// Returns the open questions as a table, or a line that says why there are none.
pub(super) fn lines(
    joined: &JoinedInbox,
    gaps: &Gaps,
    elsewhere: &[UnreachableBridges],
    columns: Option<usize>,
    only: &FilterArgs,
) -> Vec<String> {
    let (statuses, open) = (joined.status(), joined.store().read(|_, snapshot| snapshot.open()));
    if !open.is_empty() {
        let bridges = Bridges::new(statuses);
        let (count, open) = (open.len(), only.listed(open, &bridges));
        return match open.is_empty() {
            true => vec![format!("none of the {count} open questions fits")],
            false => table(&open, &bridges, columns),
        };
    }
    // The inbox counts as a bridge here, but has no agent that could ask.
    let bridges = statuses.iter().filter(|status| status.agent != SERVER).count();
    let machines = joined.machines();
    let machines = machines.iter().filter(|machine| machine.report.connected_at.is_some());
    let machines: Vec<_> = machines.map(|machine| machine.name.as_str()).collect();
    let folders = joined.places().map(Places::all).unwrap_or_default();
    let looked = Looked { folders: &folders, machines: &machines, has_elsewhere: !elsewhere.is_empty() };
    vec![looked.nothing(bridges, gaps)]
}

/// Returns the questions that were lost with their bridges, oldest first, and the bridges that run elsewhere. If the
/// journal cannot be read, the command says so and lists the rest. A list of another machine alone has none.
#[cfg(feature = "journal")]
pub(super) async fn lost_and_elsewhere(joined: &JoinedInbox) -> (Vec<LostQuestion>, Vec<UnreachableBridges>) {
    let Some(places) = joined.places() else { return (Vec::new(), Vec::new()) };
    let unsettled = super::ledger::unsettled().unwrap_or_else(|error| {
        super::runner::say(&format!("lost questions and bridges elsewhere are not known: {error}"));
        askbridge_journal::UnsettledQuestions::default()
    });
    let sockets = askbridge_control::join::discovery::sockets_in(places).await.unwrap_or_default();
    let elsewhere = crate::present::bridges::unreachable(&unsettled.waiting, &sockets.into_keys().collect());
    (unsettled.lost, elsewhere)
}

#[cfg(not(feature = "journal"))]
pub(super) async fn lost_and_elsewhere(_: &JoinedInbox) -> (Vec<LostQuestion>, Vec<UnreachableBridges>) {
    (Vec::new(), Vec::new())
}

/// Returns the lines about unreachable bridges, each with its remedy.
pub(super) fn unreachable_lines(joined: &JoinedInbox, elsewhere: &[UnreachableBridges]) -> Vec<String> {
    bridges::unreachable_lines(elsewhere, &joined.places().map(Places::all).unwrap_or_default())
}

/// The interval at which a list on a terminal is redrawn, to update the times in it.
const REDRAW: Duration = Duration::from_secs(1);

/// Prints what changes, until stdout is closed or cannot be written to, or until a signal ends it.
async fn watch(joined: &JoinedInbox, as_json: bool, only: &FilterArgs) -> Result<u8, CommandError> {
    if as_json || !io::stdout().is_terminal() {
        return shown(report(joined, as_json, only).await);
    }
    let mut signals = Signals::catch()?;
    // An error that this prints must not be on the alternate screen, and no caught signal may leave that switched on.
    let (_, elsewhere) = lost_and_elsewhere(joined).await;
    let screen = Screen::enter()?;
    tokio::select! {
        drawn = redraw(joined, &elsewhere, screen, only) => shown(drawn),
        code = signals.next() => Ok(code),
    }
}

/// Draws the list again each time that something changes.
async fn redraw(
    joined: &JoinedInbox,
    elsewhere: &[UnreachableBridges],
    mut screen: Screen,
    only: &FilterArgs,
) -> io::Result<()> {
    let (mut follower, mut left_out) = (joined.store().follow(), joined.gaps());
    loop {
        let gaps = left_out.borrow_and_update().clone();
        let room = Room::now().unwrap_or(Room { columns: 80, lines: 24 });
        screen.draw(&drawn(lines(joined, &gaps, elsewhere, Some(room.columns), only), room, &gaps))?;
        tokio::select! {
            next = follower.next() => match next {
                Some(_) => {}
                None => return Ok(()),
            },
            Ok(()) = left_out.changed() => {}
            stopped = screen.stopped() => stopped?,
            // The list has ages and remaining times, which change without an event.
            () = sleep(REDRAW) => {}
        }
    }
}

/// Prints a line for each change, or the whole list as JSON on a line.
async fn report(joined: &JoinedInbox, as_json: bool, only: &FilterArgs) -> io::Result<()> {
    let (mut follower, mut left_out) = (joined.store().follow(), joined.gaps());
    let (mut said, mut known) = (Vec::new(), KnownQuestions { only, known: BTreeMap::new() });
    loop {
        let mut batch = None;
        tokio::select! {
            next = follower.next() => match next {
                Some(next) => batch = Some(next),
                None => return Ok(()),
            },
            Ok(()) = left_out.changed() => {}
        }
        let gaps = left_out.borrow_and_update().clone();
        said = report_gaps(&gaps, &said);
        match batch {
            _ if as_json => print(&text::json_line(&listing(joined, &gaps, only))?)?,
            Some(batch) => print(&known.changes(joined, batch))?,
            None => {}
        }
    }
}

/// Reports on stderr which bridges are left out since the last report, and returns all that are left out.
pub(super) fn report_gaps(gaps: &Gaps, said: &[String]) -> Vec<String> {
    let lines = listing::gap_lines(gaps);
    listing::new_gap_lines(&lines, said).for_each(|line| say(line));
    lines
}

/// Returns as much of a list as fits above the lines about bridges that are left out. What is first in it stays.
fn drawn(list: Vec<String>, room: Room, gaps: &Gaps) -> Vec<String> {
    let fitted = |line: &String| {
        let lines = wrapped(line, 0, 2, room.columns);
        lines.split('\n').map(|line| cut(line, room.columns).into_owned()).collect::<Vec<_>>()
    };
    // The questions get the other half of the screen at least.
    let below: Vec<_> =
        listing::gap_lines(gaps).iter().flat_map(fitted).take((room.lines / 2).max(1)).collect();
    // A list of one line has no question, and says why.
    let list = if list.len() == 1 { fitted(&list[0]) } else { list };
    // The cursor needs the last line.
    let mut lines = folded(list, room.lines.saturating_sub(1 + below.len()));
    lines.extend(below);
    lines
}

/// Shortens a list to this many lines: a line with their number replaces the last questions. The first line of the list
/// has the heads of the columns.
fn folded(list: Vec<String>, most: usize) -> Vec<String> {
    if list.len() <= most.max(1) {
        return list;
    }
    // One line shows the first question; a second, the number of further ones; a third, the heads of the columns.
    let shown = most.saturating_sub(2).max(1);
    let more = list.len() - 1 - shown;
    let mut list = list.into_iter();
    let heads = list.next().filter(|_| most > 2);
    let fold = (most > 1).then(|| format!("… and {more} more"));
    heads.into_iter().chain(list.take(shown)).chain(fold).collect()
}

/// The open questions that were printed, of those that are listed.
struct KnownQuestions<'a> {
    only: &'a FilterArgs,
    known: BTreeMap<QuestionId, Arc<Record>>,
}

impl KnownQuestions<'_> {
    /// Returns a line for each change.
    fn changes(&mut self, joined: &JoinedInbox, batch: Batch) -> String {
        let mut lines = String::new();
        let bridges = Bridges::new(joined.status());
        match batch {
            Batch::Snapshot { open, .. } => {
                // Only a snapshot is complete: a known question that it lacks was settled while no events came.
                let mut gone = std::mem::take(&mut self.known);
                for record in open {
                    self.known.extend(gone.remove_entry(&record.id));
                    lines += &self.change(record, &bridges);
                }
                for id in gone.into_keys() {
                    lines += &settled(&id, joined.store().read(|_, snapshot| snapshot.get(&id).cloned()));
                }
            }
            Batch::Events { events, .. } => {
                for (_, event) in events {
                    lines += &match event {
                        Event::Settled(record) => {
                            let is_known = self.known.remove(&record.id).is_some();
                            if !is_known && !self.only.is_empty() {
                                continue;
                            }
                            settled(&record.id, Some(Arc::clone(&record)))
                        }
                        event => self.change(Arc::clone(event.record()), &bridges),
                    };
                }
            }
        }
        lines
    }

    /// Returns a line about the change of an open question, if anything changed.
    fn change(&mut self, record: Arc<Record>, bridges: &Bridges) -> String {
        if !self.only.keeping(bridges)(&record) {
            return String::new();
        }
        let before = self.known.insert(record.id.clone(), Arc::clone(&record));
        let word = match before {
            None => "opened",
            Some(before) if before.state != record.state && record.state == State::Delivering => "delivering",
            Some(before) if before.elsewhere != record.elsewhere => "left",
            Some(before) if before.deadline != record.deadline => "extended",
            Some(_) => return String::new(),
        };
        format!("{word} {}\n", row(&record, bridges).join("  "))
    }
}

fn settled(id: &QuestionId, record: Option<Arc<Record>>) -> String {
    let settlement = record.as_ref().and_then(|record| record.settlement.as_deref());
    format!("settled {id}  {}\n", settlement.map_or_else(|| "gone".to_owned(), text::settlement))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_questions_stay_in_view() {
        let list: Vec<String> = ["ID", "a", "b", "c", "d"].map(str::to_owned).into();
        for (most, shown) in [
            (9, "ID a b c d"),
            (5, "ID a b c d"),
            (4, "ID a b … and 2 more"),
            (3, "ID a … and 3 more"),
            (2, "a … and 3 more"),
            (1, "a"),
            (0, "a"),
        ] {
            assert_eq!(folded(list.clone(), most).join(" "), shown, "{most}");
        }
        assert_eq!(folded(vec!["no question is open".to_owned()], 0), ["no question is open"]);
    }
}
