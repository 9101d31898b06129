//! The open questions as a table, a line for each, as a person reads it on a terminal.
//! When it is printed is left to `command`.

use std::sync::Arc;

use super::text::{self, place, short, since, span, until};
use crate::{
    desk::Record,
    terminal::{cut, padded, width},
};

/// The longest session that is listed.
const SESSION: usize = 20;

/// Lists the open questions, each on a line that takes no more columns than this.
pub fn table(open: &[Arc<Record>], columns: usize) -> String {
    if open.is_empty() {
        return "no question is open\n".to_owned();
    }
    let heads = ["ID", "AGE", "ENDS", "SHOWN", "SESSION", "QUESTION"].map(str::to_owned);
    let rows: Vec<_> = [heads].into_iter().chain(open.iter().map(|record| row(record))).collect();
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let widths = [0, 1, 2, 3, 4].map(widest).into_iter().chain([0]).collect::<Vec<_>>();
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| padded(cell, *width));
        cut(cells.collect::<Vec<_>>().join("  ").trim_end(), columns).into_owned() + "\n"
    });
    lines.collect()
}

/// Returns the cells of one question: its ID, age, time left, place, session and text.
pub fn row(record: &Record) -> [String; 6] {
    let ends = record.deadline.map(|deadline| span(until(deadline)));
    [
        record.id.to_string(),
        span(since(record.opened_at)),
        ends.unwrap_or_else(|| "-".to_owned()),
        place(record).to_owned(),
        session(record),
        text::heading(record),
    ]
}

fn session(record: &Record) -> String {
    record.question.session.as_ref().map_or_else(|| "-".to_owned(), |session| short(session, SESSION))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(session: &str, message: &str) -> Record {
        let question = json!({
            "questionId": "q", "sessionId": session, "message": message, "fields": [], "origin": "kiro",
            "dangerous": false, "blocking": true,
        });
        let record = json!({ "id": "k3f9q2-1", "bridge": "k3f9q2", "question": question, "openedAt": "2026-11-21T12:00:00Z" });
        serde_json::from_value(record).expect("a record")
    }

    #[test]
    fn row_cannot_break_its_layout() {
        let [id, _, ends, shown, session, question] = row(&record("s\n1", "Sure?\x1b[2J\nReally?"));
        assert_eq!([&*id, &*ends, &*shown], ["k3f9q2-1", "-", "client"]);
        assert_eq!(session, "s\u{240a}1");
        assert_eq!(question, "Sure?\u{241b}[2J\u{240a}Really?");
    }

    #[test]
    fn long_session_is_cut() {
        let [.., session, _] = row(&record(&"s".repeat(50), "Sure?"));
        assert_eq!(width(&session), SESSION);
    }

    #[test]
    fn stacked_marks_are_cut() {
        let marks = "e".to_owned() + &"\u{301}".repeat(3001);
        for cell in row(&record(&marks, &marks)) {
            assert!(cell.chars().count() < 40, "{} characters", cell.chars().count());
        }
    }

    #[test]
    fn empty_inbox_is_said() {
        assert_eq!(table(&[], 80), "no question is open\n");
    }
}
