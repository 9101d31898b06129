//! Questions of the past as text for a terminal: a table of what was asked and how it ended, and the questions that
//! were lost with their bridges. Storing them is left to `journal`.

use std::cmp::Reverse;

use askbridge_control::inbox::{LeftToClient, Life};
use askbridge_core::desk::{LostQuestion, Record, Report, ReportStatus, Settlement, Timestamp, Use};
use askbridge_os::terminal::{cut, printable_line};

use super::{
    answer,
    layout::{NarrowingStep, Table},
    text::{self, NONE, span},
};

/// The heads of the columns, in their order.
const HEADS: [&str; 6] = ["ID", "AGENT", "PROJECT", "AGO", "STATE", "QUESTION"];
/// Columns that show most questions with their outcome.
const COMFORT: usize = 60;
/// Fewer columns do not distinguish a question from others.
const LEAST: usize = 24;
/// Columns of a question that are enough where its end stands beside it.
const SHORTEST: usize = 12;
/// The least width of an agent or a project. Below that, the column is left out.
const NAME: usize = 12;

/// The most columns of a question in front of its outcome: an agent may ask in a thousand characters.
const QUESTION: usize = 120;

/// The most columns of what a program says of what it did.
const NOTE: usize = 80;
/// How many lost questions are listed one by one. The rest is only counted.
const LOST: usize = 5;
/// Columns of a line about a lost question if the output is not a terminal.
const LOST_COLUMNS: usize = 200;

/// A question of the past.
#[derive(Clone, Copy, Debug)]
pub struct HistoryEntry<'a> {
    /// The question, as it was last recorded.
    pub record: &'a Record,
    /// The decision, if the asker may not have received it.
    pub accepted: Option<&'a Settlement>,
    /// Whether the asker may have received that decision.
    pub may_have_arrived: bool,
    /// Whether its bridge still runs.
    pub life: Life,
}

impl HistoryEntry<'_> {
    /// Returns when the question was settled, or when it was asked if it never was settled.
    fn at(&self) -> Timestamp {
        self.record.settlement.as_ref().map_or(self.record.opened_at, |settlement| settlement.at)
    }

    /// Returns the state in one word.
    fn state(&self) -> String {
        match (&self.record.settlement, self.life) {
            (Some(settlement), _) => answer::state(&self.record.question, settlement),
            (None, Life::Lives) => "open".to_owned(),
            (None, Life::Unseen) => "unknown".to_owned(),
            (None, Life::Ended) => "lost".to_owned(),
        }
    }

    /// Returns how it ended, in the words of the question.
    pub fn ending(&self) -> String {
        let question = &self.record.question;
        match (&self.record.settlement, self.accepted) {
            (Some(settlement), _) if self.record.turn_over => {
                format!("{}, after its turn was over", answer::settlement(question, settlement))
            }
            (Some(settlement), _) => {
                let used = self.record.used.as_deref().map(|used| format!("; {}", self::used(used)));
                answer::settlement(question, settlement) + &used.unwrap_or_default()
            }
            (None, _) if self.life == Life::Lives => "open".to_owned(),
            (None, _) if self.life == Life::Unseen => {
                "not settled; whether its bridge still runs cannot be seen from here".to_owned()
            }
            (None, Some(accepted)) => {
                let arrived = if self.may_have_arrived { "and perhaps" } else { "and never" };
                format!("lost: {}, {arrived} delivered", answer::settlement(question, accepted))
            }
            (None, None) => "lost: its bridge ended before it was settled".to_owned(),
        }
    }
}

/// Returns what became of what a program was allowed to do.
pub fn used(used: &Use) -> String {
    let Some(Report { status, note }) = &used.report else {
        return "the program took the approval".to_owned();
    };
    let ended = match status {
        ReportStatus::Succeeded => "it was done".to_owned(),
        ReportStatus::Failed => "it failed".to_owned(),
        other => printable_line(other.name()).into_owned(),
    };
    match note {
        Some(note) => format!("{ended}: {}", text::short(note, NOTE)),
        None => ended,
    }
}

/// Returns the cells of a question, and the time that it is sorted by.
fn question(past: &HistoryEntry<'_>, now: Timestamp) -> (Timestamp, [String; 6]) {
    let question = &past.record.question;
    let mark = if question.risk().is_dangerous() { "! " } else { "" };
    let agent = question.agent.as_deref().map(|agent| text::line(&text::agent(agent)));
    // The state column says "open" already.
    let is_open = past.record.settlement.is_none() && past.life == Life::Lives;
    let ending = if is_open { String::new() } else { format!(": {}", past.ending()) };
    let cells = [
        past.record.id.to_string(),
        agent.unwrap_or_else(|| NONE.to_owned()),
        text::project(question).unwrap_or_else(|| NONE.to_owned()),
        span(now.since(past.at())),
        past.state(),
        format!("{mark}{}{ending}", text::summary(question, QUESTION)),
    ];
    (past.at(), cells)
}

/// Returns the cells of a bridge whose permissions were left to the client, and the time that it is sorted by.
fn left_to_client(left: &LeftToClient, now: Timestamp) -> (Timestamp, [String; 6]) {
    let name = |path: &str| path.rsplit('/').next().map_or_else(|| NONE.to_owned(), text::line);
    let by = name(&left.file);
    let cells = [
        left.bridge.to_string(),
        NONE.to_owned(),
        name(&left.project),
        span(now.since(left.at)),
        NONE.to_owned(),
        format!("permissions of this session were left to the client by {by}"),
    ];
    (left.at, cells)
}

/// Returns the lines of a table of questions and of bridges whose permissions were left to the client: the heads, then
/// at most `limit` rows, the latest first. On a terminal of `room` columns, the other columns make room for the
/// question; otherwise only very long questions are cut.
pub fn table(
    past: &[HistoryEntry<'_>],
    left: &[LeftToClient],
    limit: Option<usize>,
    now: Timestamp,
    room: Option<usize>,
) -> Vec<String> {
    let mut rows: Vec<_> = past.iter().map(|past| question(past, now)).collect();
    rows.extend(left.iter().map(|left| left_to_client(left, now)));
    // Two kinds of rows are merged here, each sorted by a time of its own.
    rows.sort_by_key(|(at, _)| Reverse(*at));
    rows.truncate(limit.unwrap_or(usize::MAX));
    let steps = [
        (COMFORT, NarrowingStep::Cut("AGENT", NAME)),
        (COMFORT, NarrowingStep::Cut("PROJECT", NAME)),
        (LEAST, NarrowingStep::Drop("AGENT")),
        (LEAST, NarrowingStep::Drop("PROJECT")),
        // How it ended says more than when.
        (LEAST, NarrowingStep::Drop("AGO")),
        (SHORTEST, NarrowingStep::Drop("STATE")),
    ];
    Table::new(HEADS, rows.into_iter().map(|(_, row)| row)).lines(room, &steps)
}

/// Returns the lines about lost questions, which come oldest first: the latest of them, each cut to `room` columns,
/// then how to see all, and how to continue.
pub fn lost(lost: &[LostQuestion], now: Timestamp, room: Option<usize>) -> Vec<String> {
    if lost.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![match lost.len() {
        1 => "lost: 1 question was open when its bridge ended".to_owned(),
        several => format!("lost: {several} questions were open when their bridges ended"),
    }];
    lines.extend(lost.iter().rev().take(LOST).map(|lost| {
        let Record { id, question, opened_at, .. } = &*lost.record;
        let asked = text::headline(&lost.record);
        let accepted = lost.accepted.as_ref();
        let answered = accepted.map(|it| format!(" ({})", answer::settlement(question, it)));
        let age = span(now.since(*opened_at));
        let line = format!("{id}  asked {age} ago: {asked}{}", answered.unwrap_or_default());
        cut(&line, room.unwrap_or(LOST_COLUMNS)).into_owned()
    }));
    let more = lost.len().saturating_sub(LOST);
    if more > 0 {
        lines.push(format!("and {more} more: askbridge history --lost shows all"));
    }
    lines.push("To continue, resume the session in its client, so that the agent asks again.".to_owned());
    if lost.iter().any(LostQuestion::is_given_again) {
        lines.push(
            "If it asks the same again, an answer that never reached it is given automatically.".to_owned(),
        );
    }
    if lost.iter().any(|lost| lost.has_answer() && !lost.is_given_again()) {
        lines.push(
            "If it asks the same again, an answer that may have reached it, or could do harm, is offered to you."
                .to_owned(),
        );
    }
    lines
}
