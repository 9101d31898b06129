//! What a permission is for, as lines of the screen. They are made once for a question and a width, because comparing the
//! texts of a change takes time, and the screen is drawn at each key. Pure. Their looks are left to `card.rs`.

use super::{event::Item, state::App, wrapped::folded};
use crate::{
    desk::QuestionId,
    present::subject::About,
    question::Question,
};

/// What a line is in the change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It stays, or is not of a change.
    None,
    /// The change adds it.
    Added,
    /// The change removes it.
    Removed,
}

/// The lines of one question at one width.
#[derive(Clone, Debug)]
pub(super) struct AboutLines {
    id: QuestionId,
    columns: usize,
    lines: Vec<(String, Change)>,
}

impl App {
    /// Makes the lines of the current question ready, if it is shown and has any.
    pub(super) fn prepare(&mut self) {
        let Some(columns) = self.areas().card.map(|area| usize::from(area.width).max(1)) else { return };
        let Some(item) = self.item().filter(|item| item.is_permission()) else { return };
        if self.about(item, columns).is_none() {
            let lines = lines(&item.record.question, columns);
            self.about = Some(AboutLines { id: item.record.id.clone(), columns, lines });
        }
    }

    /// Returns the lines that are ready for this question and this width.
    pub(super) fn about(&self, item: &Item, columns: usize) -> Option<&[(String, Change)]> {
        let about = self.about.as_ref()?;
        (about.id == item.record.id && about.columns == columns).then_some(&*about.lines)
    }
}

/// Returns what a permission is for, as lines of so many columns.
pub(super) fn lines(question: &Question, columns: usize) -> Vec<(String, Change)> {
    // The only escape sequences are those of our own colours: text of the agent is printable.
    let about = About { question, columns: columns.min(super::card::MEASURE), colour: true }.to_string();
    about.lines().flat_map(|line| of_line(line, columns)).collect()
}

fn of_line(line: &str, columns: usize) -> impl Iterator<Item = (String, Change)> {
    let change = match () {
        () if line.contains("\x1b[31m") => Change::Removed,
        () if line.contains("\x1b[32m") => Change::Added,
        () => Change::None,
    };
    let plain = line.replace("\x1b[31m", "").replace("\x1b[32m", "").replace("\x1b[0m", "");
    let indent = plain.len() - plain.trim_start_matches(' ').len();
    folded(&plain, indent.max(4), columns).into_iter().map(move |line| (line, change))
}
