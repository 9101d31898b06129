//! The change of a file, line by line: what stays, is removed and is added, the words that differ within a line, and long
//! runs of unchanged lines folded. Pure. How a line looks is left to `subject.rs`. The page shows the same (`diff.js`).

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use askbridge_core::question::Diff;
use askbridge_markdown::code;
use similar::{Algorithm, ChangeTag, DiffTag, TextDiff, capture_diff_slices_deadline};

use super::styled::{Token, code_lines, code_text};

/// Unchanged lines that are shown around a change. More are folded where that hides at least two lines.
const AROUND: usize = 3;
/// The time after which the comparison of two texts becomes approximate: the agent chooses both, and could choose a pair
/// that takes very long.
const PATIENCE: Duration = Duration::from_millis(200);

/// Words are compared in a table of so many cells at most.
const PAIRS: usize = 1_000_000;

/// A part of a line, and whether it differs from the line that it replaces, or is replaced by.
pub(super) type Part = (String, bool);

/// A line of a change.
pub(super) struct ChangedLine {
    /// Whether it stays, is removed or is added.
    pub(super) tag: ChangeTag,
    /// Its number in the file after the change; of a removed line, in the file before. None in a patch.
    pub(super) number: Option<usize>,
    /// Its text, which is printable.
    pub(super) parts: Vec<Part>,
    /// The same text with the roles of its code.
    pub(super) tokens: Vec<Token>,
}

impl ChangedLine {
    fn new(tag: ChangeTag, number: Option<usize>, text: &str) -> Self {
        let text = shown(text);
        ChangedLine { tag, number, tokens: vec![(text.clone(), None)], parts: vec![(text, false)] }
    }

    /// Takes the roles of its code from the lines of its file. Lines are split in other ways for a comparison, where a
    /// file has the line breaks of several systems: such a line keeps what it is, which is its text.
    fn coloured(mut self, lines: &[Vec<Token>], at: usize) -> Self {
        let is_same = |line: &&Vec<Token>| {
            let text: String = line.iter().map(|(text, _)| &**text).collect();
            self.parts.iter().map(|(text, _)| &**text).eq([&*text])
        };
        if let Some(line) = lines.get(at).filter(is_same) {
            self.tokens.clone_from(line);
        }
        self
    }
}

/// What stands in a row of a change.
pub(super) enum Row {
    Line(ChangedLine),
    /// So many unchanged lines, which are not shown.
    Fold(usize),
}

/// Returns the lines of a change.
pub(super) fn changed(diff: &Diff) -> Vec<ChangedLine> {
    let first = usize::try_from(diff.line).unwrap_or_default();
    let tokens = |text: &str| code_lines(&code(&diff.path, text));
    let new = tokens(&diff.new);
    let Some(old) = &diff.old else {
        let added =
            |(at, line)| ChangedLine::new(ChangeTag::Insert, Some(first + at), line).coloured(&new, at);
        return diff.new.lines().enumerate().map(added).collect();
    };
    let removed = tokens(old);
    let deadline = Instant::now() + PATIENCE;
    let compared = TextDiff::configure()
        .algorithm(Algorithm::Patience)
        .deadline(deadline)
        .diff_lines(&**old, &*diff.new);
    let mut lines = Vec::new();
    for op in compared.ops() {
        let from = lines.len();
        lines.extend(compared.iter_changes(op).map(|change| {
            let side = change.new_index().map(|at| (&new, at));
            let (side, at) = side.or(change.old_index().map(|at| (&removed, at))).unwrap_or((&new, 0));
            ChangedLine::new(change.tag(), Some(first + at), change.value()).coloured(side, at)
        }));
        if op.tag() == DiffTag::Replace {
            mark(&mut lines[from..], op.old_range().len(), deadline);
        }
    }
    lines
}

/// Returns the lines of a patch in the format of Git.
pub(super) fn patched(patch: &str) -> Vec<ChangedLine> {
    let of_line = |line: &str| {
        let tag = match line.as_bytes().first() {
            Some(b'+') => ChangeTag::Insert,
            Some(b'-') => ChangeTag::Delete,
            _ => ChangeTag::Equal,
        };
        ChangedLine::new(tag, None, line)
    };
    let coloured = code_lines(&askbridge_markdown::patch(patch));
    patch.lines().enumerate().map(|(at, line)| of_line(line).coloured(&coloured, at)).collect()
}

/// Folds long runs of unchanged lines.
pub(super) fn folded(lines: Vec<ChangedLine>) -> Vec<Row> {
    let all = lines.len();
    let (mut rows, mut run) = (Vec::with_capacity(all), Vec::new());
    for (at, line) in lines.into_iter().enumerate() {
        if line.tag == ChangeTag::Equal {
            run.push(line);
        } else {
            fold(std::mem::take(&mut run), at, true, &mut rows);
            rows.push(Row::Line(line));
        }
    }
    fold(run, all, false, &mut rows);
    rows
}

/// Adds a run of unchanged lines, which ends before this line, and before a change or the end.
fn fold(mut run: Vec<ChangedLine>, end: usize, is_before_change: bool, rows: &mut Vec<Row>) {
    // The first lines of a patch name the file.
    let is_behind = end > run.len() || run.first().is_some_and(|line| line.number.is_none());
    let (head, tail) = (if is_behind { AROUND } else { 0 }, if is_before_change { AROUND } else { 0 });
    let hidden = run.len().saturating_sub(head + tail);
    let rest = if hidden > 1 { run.split_off(head + hidden) } else { Vec::new() };
    if hidden > 1 {
        run.truncate(head);
    }
    rows.extend(run.into_iter().map(Row::Line));
    if hidden > 1 {
        rows.push(Row::Fold(hidden));
    }
    rows.extend(rest.into_iter().map(Row::Line));
}

/// Returns a line of a file as it is shown.
fn shown(line: &str) -> String {
    code_text(line.trim_end_matches(['\n', '\r']))
}

/// Marks the words that differ between the first `removed` of these lines and the others, which replace them.
fn mark(lines: &mut [ChangedLine], removed: usize, deadline: Instant) {
    let texts: Vec<String> =
        lines.iter().flat_map(|line| line.parts.iter().map(|(text, _)| text.clone())).collect();
    let words: Vec<Vec<&str>> = texts.iter().map(|text| words(text)).collect();
    let (old, new) = (words[..removed].concat(), words[removed..].concat());
    let [mut differs, added] = differing(&old, &new, deadline);
    if !is_alike(&old, &differs, &new, &added) {
        return;
    }
    differs.extend(added);
    let mut from = 0;
    for (line, words) in lines.iter_mut().zip(&words) {
        if let Some(differs) = differs.get(from..from + words.len()) {
            line.parts = parts(words, differs);
        }
        from += words.len();
    }
}

/// Returns which words of both texts the other one lacks.
fn differing(old: &[&str], new: &[&str], deadline: Instant) -> [Vec<bool>; 2] {
    let mut differs = [vec![true; old.len()], vec![true; new.len()]];
    let stays = |differs: &mut [bool], range: Range<usize>| {
        if let Some(stay) = differs.get_mut(range) {
            stay.fill(false);
        }
    };
    if old.len().saturating_mul(new.len()) > PAIRS {
        return differs;
    }
    for op in capture_diff_slices_deadline(Algorithm::Lcs, old, new, Some(deadline)) {
        if op.tag() == DiffTag::Equal {
            stays(&mut differs[0], op.old_range());
            stays(&mut differs[1], op.new_range());
        }
    }
    differs
}

/// Returns whether at least half of the shorter text stays: marks between unlike lines say nothing.
fn is_alike(old: &[&str], removed: &[bool], new: &[&str], added: &[bool]) -> bool {
    let size = |words: &[&str], differs: &[bool], which: bool| {
        let counted = words.iter().zip(differs).filter(|(word, differs)| **differs == which && is_word(word));
        counted.map(|(word, _)| word.chars().count()).sum::<usize>()
    };
    size(new, added, false) >= size(old, removed, true).min(size(new, added, true))
}

/// Returns the words of a line, with what differs in them. A space between two that differ does as well. A line of which
/// no word stays has no marks: it is marked as a whole.
fn parts(words: &[&str], differs: &[bool]) -> Vec<Part> {
    let is_whole = words.iter().zip(differs).all(|(word, differs)| *differs || !is_word(word));
    let mut parts: Vec<Part> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_beside = |at: Option<usize>| at.and_then(|at| differs.get(at)).is_some_and(|differs| *differs);
        let is_between = is_blank(word) && is_beside(at.checked_sub(1)) && is_beside(Some(at + 1));
        let is_marked = !is_whole && (differs[at] || is_between);
        match parts.last_mut() {
            Some((text, last)) if *last == is_marked => text.push_str(word),
            _ => parts.push(((*word).to_owned(), is_marked)),
        }
    }
    parts
}

fn is_blank(word: &str) -> bool {
    word.chars().all(char::is_whitespace)
}

/// Returns whether this is a run of letters and digits.
fn is_word(word: &str) -> bool {
    word.starts_with(is_letter)
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the words of a line: runs of letters and digits, runs of spaces, and each other character.
fn words(line: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if is_letter(c) => 1,
        c if c.is_whitespace() => 2,
        _ => 0,
    };
    let (mut words, mut start, mut last) = (Vec::new(), 0, None);
    for (at, c) in line.char_indices() {
        if last.is_some_and(|last| last == 0 || last != kind(c)) {
            words.push(&line[start..at]);
            start = at;
        }
        last = Some(kind(c));
    }
    if start < line.len() {
        words.push(&line[start..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rows of a change, with `[…]` around the words that are marked, and folds as `~N`.
    fn drawn(old: &str, new: &str) -> Vec<String> {
        let diff =
            Diff { path: "f".into(), line: 1, old: Some(old.into()), new: new.into(), replaces: false };
        let mark = |(text, is_marked): &Part| if *is_marked { format!("[{text}]") } else { text.clone() };
        let row = |row: Row| match row {
            Row::Fold(count) => format!("~{count}"),
            Row::Line(line) => format!("{}{}", line.tag, line.parts.iter().map(mark).collect::<String>()),
        };
        folded(changed(&diff)).into_iter().map(row).collect()
    }

    /// The page shows the same: `tests/page/diffs.rs`.
    #[test]
    fn words_that_differ_are_marked_and_long_runs_of_unchanged_lines_are_folded() {
        let cases: serde_json::Value =
            serde_json::from_str(include_str!("../../fixtures/changes.json")).expect("cases");
        let cases = cases.as_array().expect("a list");
        assert!(cases.len() > 15);
        for case in cases {
            let [old, new] = [&case["old"], &case["new"]].map(|text| text.as_str().expect("a text"));
            assert_eq!(serde_json::json!(drawn(old, new)), case["rows"], "{old:?} {new:?}");
        }
    }

    #[test]
    fn no_line_of_a_patch_and_no_character_is_lost() {
        let patch = "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n 1\n 2\n 3\n 4\n 5\n 6\n 7\n 8\n 9\n-old\n+new\n";
        let rows = folded(patched(patch));
        let count = |row: &Row| if let Row::Fold(count) = row { *count } else { 1 };
        assert_eq!(rows.iter().map(count).sum::<usize>(), patch.lines().count());
        assert!(rows.iter().any(|row| matches!(row, Row::Fold(4))));
        let line = "a_b1  (é)\u{301}\t→x";
        assert_eq!(words(line).concat(), line);
        assert_eq!(words("a_b1  (c).."), ["a_b1", "  ", "(", "c", ")", ".", "."]);
    }
}
