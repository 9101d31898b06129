//! One case in detail: its rule with the source, the lines that led to the failure, and the expected and the actual message.
//! Which cases are shown is left to `summary.rs`.

use askbridge_os::terminal::{printable_line, width};

use crate::{
    suite::Outcome,
    verdict::{Failure, Verdict},
};

use super::paint::{BOLD, DIM, GREEN, PLAIN, Paint, RED, put};

/// The columns of a line where the output is no terminal.
const LONG: usize = 300;
/// The rows of the expected and of the actual message, and of the lines right before them.
const COMPARED_ROWS: usize = 4;
/// The lines of the conversation that have several rows: what one end wrote, and what the other one got. Earlier lines have
/// one; `--wire` has them whole.
const LAST_LINES: usize = 2;
/// The rows of a line of stderr.
const STDERR_ROWS: usize = 2;
/// The last lines of stderr that are shown.
const STDERR_LINES: usize = 8;
/// The characters before the first difference that are shown of two long messages.
const BEFORE: usize = 40;

/// Returns why a case failed, without colours, for tests and documents.
pub fn failure(outcome: &Outcome) -> String {
    detail(outcome, Paint { is_coloured: false, columns: None })
}

/// Returns why a case failed, or why it shows nothing.
pub(super) fn detail(outcome: &Outcome, paint: Paint) -> String {
    let case = &outcome.case;
    let mut text = String::new();
    let source = format!("{}: {}", case.level.name(), case.source);
    for (style, sentence) in [(PLAIN, case.rule.as_str()), (DIM, &source)] {
        sentence_rows(sentence, paint.columns).for_each(|row| put(&mut text, &paint.text(style, &row)));
    }
    match &outcome.verdict {
        Verdict::Failed(failure) => {
            conversation(&mut text, failure, paint);
            difference(&mut text, failure, paint);
            stderr(&mut text, failure, paint);
        }
        Verdict::Passed => {
            put(&mut text, "  passed, although it was expected to fail: take it off that list")
        }
        Verdict::Inconclusive(why) | Verdict::Skipped(why) => {
            put(&mut text, &format!("  {}: {}", outcome.verdict.name(), printable_line(why)));
        }
    }
    text
}

/// Adds the lines that led to a failure.
fn conversation(text: &mut String, failure: &Failure, paint: Paint) {
    if failure.wire.is_empty() && failure.after.is_empty() {
        return;
    }
    let head = match failure.after.as_slice() {
        [] => "  conversation".to_owned(),
        methods => format!("  conversation after {}", methods.join(" and ")),
    };
    put(text, &paint.text(DIM, &head));
    if failure.left_out > 0 {
        put(text, &paint.text(DIM, &format!("    … {} lines, which `--wire DIR` has", failure.left_out)));
    }
    for (at, line) in failure.wire.iter().enumerate() {
        if at + LAST_LINES >= failure.wire.len() {
            rows(line, paint.columns, 4, COMPARED_ROWS).for_each(|row| put(text, &row));
        } else {
            put(
                text,
                &format!("    {}", without_middle(line, paint.columns.unwrap_or(LONG).saturating_sub(4))),
            );
        }
    }
}

/// Adds what happened, and the expected and the actual message.
fn difference(text: &mut String, failure: &Failure, paint: Paint) {
    sentence_rows(&failure.what, paint.columns).for_each(|row| put(text, &paint.text(BOLD, &row)));
    let (expected, got) = near_the_difference(failure.expected.as_deref(), failure.got.as_deref());
    for (name, value, style) in [("expected", expected, GREEN), ("got", got, RED)] {
        let Some(value) = value else { continue };
        let label = paint.text(style, &format!("{name:>12}"));
        let mut rows = rows(&value, paint.columns, 14, COMPARED_ROWS);
        let first = rows.next().unwrap_or_default();
        put(text, &format!("{label}  {}", first.trim_start()));
        rows.for_each(|row| put(text, &row));
    }
    if !failure.step.is_empty() {
        put(text, &paint.text(DIM, &format!("{:>12}  {}", "step", failure.step)));
    }
    failure.breaches.iter().for_each(|breach| put(text, &format!("    {breach}")));
}

fn stderr(text: &mut String, failure: &Failure, paint: Paint) {
    let lines: Vec<_> = failure.stderr.lines().collect();
    if lines.is_empty() {
        return;
    }
    put(text, &paint.text(DIM, "  the command's stderr"));
    for line in lines.iter().skip(lines.len().saturating_sub(STDERR_LINES)) {
        rows(line, paint.columns, 4, STDERR_ROWS).for_each(|row| put(text, &row));
    }
}

/// Cuts what two long messages have in common at their beginning.
fn near_the_difference(expected: Option<&str>, got: Option<&str>) -> (Option<String>, Option<String>) {
    let (Some(one), Some(other)) = (expected, got) else {
        return (expected.map(str::to_owned), got.map(str::to_owned));
    };
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let cut = |text: &str| match same.checked_sub(BEFORE) {
        Some(left_out @ 1..) if one.len().max(other.len()) > LONG => {
            format!("…{}", text.chars().skip(left_out).collect::<String>())
        }
        _ => text.to_owned(),
    };
    (Some(cut(one)), Some(cut(other)))
}

/// Cuts the middle of a printable line that takes more columns than this: the method is near the beginning of a message, and
/// its text near the end.
fn without_middle(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return line.to_owned();
    }
    let end = columns / 3;
    let taken = |chars: &mut dyn Iterator<Item = char>, most: usize| -> String {
        let mut used = 0;
        let fits = |char: &char| {
            used += width(char.encode_utf8(&mut [0; 4]));
            used <= most
        };
        chars.take_while(fits).collect()
    };
    let first = taken(&mut line.chars(), columns.saturating_sub(end + 1));
    let last: String = taken(&mut line.chars().rev(), end).chars().rev().collect();
    format!("{first}…{last}")
}

/// Breaks a sentence into indented rows of whole words.
fn sentence_rows(sentence: &str, columns: Option<usize>) -> impl Iterator<Item = String> {
    let columns = columns.unwrap_or(usize::MAX);
    let mut rows: Vec<String> = Vec::new();
    for word in sentence.split(' ') {
        match rows.last_mut() {
            Some(row) if width(row) + 1 + width(word) <= columns => *row = format!("{row} {word}"),
            _ => rows.push(format!("  {word}")),
        }
    }
    rows.into_iter()
}

/// Breaks a printable line into indented rows. Without a terminal it is one row. What is longer ends with `…`.
fn rows(line: &str, columns: Option<usize>, indent: usize, most: usize) -> impl Iterator<Item = String> {
    let (room, most) = match columns {
        Some(columns) => (columns.saturating_sub(indent).max(20), most),
        None => (LONG * most, 1),
    };
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    for char in line.chars() {
        let columns = width(char.encode_utf8(&mut [0; 4]));
        // The last row keeps a column for the mark of a cut.
        if used + columns > room - usize::from(rows.len() + 1 == most) {
            if rows.len() + 1 == most {
                row.push('…');
                break;
            }
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        row.push(char);
        used += columns;
    }
    rows.push(row);
    rows.into_iter().map(move |row| format!("{}{row}", " ".repeat(indent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_take_some_rows_and_end_with_a_mark() {
        let line = "0123456789".repeat(8);
        let wrapped = |columns, most| rows(&line, columns, 2, most).collect::<Vec<_>>();
        assert_eq!(wrapped(None, 2), [format!("  {line}")]);
        assert_eq!(wrapped(Some(42), 3), [format!("  {}", &line[..40]), format!("  {}", &line[40..])]);
        assert_eq!(wrapped(Some(32), 2), [format!("  {}", &line[..30]), format!("  {}…", &line[30..59])]);
    }

    #[test]
    fn earlier_lines_keep_their_beginning_and_their_end() {
        assert_eq!(without_middle("0123456789", 10), "0123456789");
        assert_eq!(without_middle("0123456789", 9), "01234…789");
        assert_eq!(without_middle("格格格格格格", 9), "格格…格");
    }

    #[test]
    fn sentences_break_between_words() {
        let broken = |columns| sentence_rows("one two three", columns).collect::<Vec<_>>();
        assert_eq!(broken(None), ["  one two three"]);
        assert_eq!(broken(Some(9)), ["  one two", "  three"]);
        assert_eq!(broken(Some(4)), ["  one", "  two", "  three"]);
    }

    #[test]
    fn two_long_messages_are_shown_from_near_their_difference_on() {
        let (same, long) = ("s".repeat(100), "x".repeat(LONG));
        let both = near_the_difference(Some(&format!("{same}a{long}")), Some(&format!("{same}b")));
        let start = format!("…{}", "s".repeat(BEFORE));
        assert_eq!(both, (Some(format!("{start}a{long}")), Some(format!("{start}b"))));
        let short = near_the_difference(Some(&format!("{same}a")), Some("nothing"));
        assert_eq!(short, (Some(format!("{same}a")), Some("nothing".to_owned())));
    }
}
