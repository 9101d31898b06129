//! What a permission is for, as lines of the screen. They are made once for a question and a width, because comparing the
//! texts of a change takes time, and the screen is drawn at each key. Pure. Their looks are left to `card.rs`.

use super::wrapped::{MEASURE, folded};
use crate::{
    desk::{QuestionId, Record},
    present::subject::SubjectText,
    question::Question,
};

/// What a line is in the change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineChange {
    /// It stays, or is not of a change.
    None,
    /// The change adds it.
    Added,
    /// The change removes it.
    Removed,
}

/// The lines of one question at one width.
#[derive(Clone, Debug)]
pub(super) struct SubjectLines {
    id: QuestionId,
    columns: usize,
    lines: Vec<(String, LineChange)>,
}

impl SubjectLines {
    /// Makes the lines of this question.
    pub(super) fn new(record: &Record, columns: usize) -> Self {
        SubjectLines { id: record.id.clone(), columns, lines: subject_lines(&record.question, columns) }
    }

    /// Returns the lines, if they are those of this question and this width.
    pub(super) fn of(&self, id: &QuestionId, columns: usize) -> Option<&[(String, LineChange)]> {
        (self.id == *id && self.columns == columns).then_some(&*self.lines)
    }
}

/// Returns what a permission is for, as lines of so many columns.
pub(super) fn subject_lines(question: &Question, columns: usize) -> Vec<(String, LineChange)> {
    // The only escape sequences are those of our own colours: text of the agent is printable.
    let about = SubjectText { question, columns: columns.min(MEASURE), colour: true }.to_string();
    about.lines().flat_map(|line| of_line(line, columns)).collect()
}

fn of_line(line: &str, columns: usize) -> impl Iterator<Item = (String, LineChange)> {
    let change = match () {
        () if line.contains("\x1b[31m") => LineChange::Removed,
        () if line.contains("\x1b[32m") => LineChange::Added,
        () => LineChange::None,
    };
    let plain = line.replace("\x1b[31m", "").replace("\x1b[32m", "").replace("\x1b[0m", "");
    let indent = plain.len() - plain.trim_start_matches(' ').len();
    folded(&plain, indent.max(4), columns).into_iter().map(move |line| (line, change))
}
