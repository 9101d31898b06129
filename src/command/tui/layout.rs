//! Where the parts of the screen are, and which part of a long list or question is in view.
//! Pure. Drawing is left to `view.rs`.

use ratatui::layout::Rect;

use super::{
    card::{card, summary},
    draft::{Draft, Row},
    event::QuestionItem,
    lines::CardLine,
    prose::SubjectLines,
    state::{App, Pane},
    theme::Theme,
};

/// The columns of the list beside a question, at least and at most.
const LIST: (u16, u16) = (36, 60);

/// The parts of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Areas {
    pub(super) header: Rect,
    pub(super) list: Option<Rect>,
    pub(super) card: Option<Rect>,
    pub(super) footer: Rect,
}

impl App {
    pub(super) fn areas(&self) -> Areas {
        let (columns, lines) = self.size;
        // A window may be smaller than the parts that are always there.
        let body = Rect::new(0, 1.min(lines), columns, lines.saturating_sub(2));
        let header = Rect::new(0, 0, columns, lines.min(1));
        let footer = Rect::new(0, lines.saturating_sub(1), columns, lines.saturating_sub(1).min(1));
        if !self.is_wide() {
            // A question fills the width of a narrow terminal, but for a column on each side.
            let card = Rect { x: 1.min(columns), width: columns.saturating_sub(2), ..body };
            let (list, card) = if self.pane == Pane::List { (Some(body), None) } else { (None, Some(card)) };
            return Areas { header, list, card, footer };
        }
        let width = self.list_columns();
        let list = Rect { width, ..body };
        // A line and a space are between the list and the question.
        let card = Rect { x: width + 2, width: columns.saturating_sub(width + 3), ..body };
        Areas { header, list: Some(list), card: Some(card), footer }
    }

    /// Caches the lines of the current permission, if it is shown.
    pub(super) fn prepare(&mut self) {
        if self.areas().card.is_none() {
            return;
        }
        let columns = self.card_columns();
        let Some(item) = self.item().filter(|item| item.is_permission()) else { return };
        let whole = self.is_unfolded();
        let is_ready = |about: &SubjectLines| about.of(&item.record, columns, whole).is_some();
        if !self.about.as_ref().is_some_and(is_ready) {
            self.about = Some(SubjectLines::new(&item.record, columns, whole));
        }
    }

    /// Returns the columns of the current question.
    pub(super) fn card_columns(&self) -> usize {
        self.areas().card.map_or(self.size.0, |area| area.width).max(1).into()
    }

    /// Returns the columns of the list beside a question.
    pub(super) fn list_columns(&self) -> u16 {
        (self.size.0 / 3).clamp(LIST.0, LIST.1)
    }

    /// Returns the lines between the header and the footer.
    pub(super) fn height(&self) -> usize {
        self.size.1.saturating_sub(2).into()
    }

    fn in_view(&self) -> Viewport {
        // Colours do not change which lines are in view.
        Viewport::new(self, Theme { colour: false }, self.card_columns(), self.height())
    }

    /// Returns by how many lines the question is longer than its part of the screen.
    pub(super) fn overflow(&self) -> usize {
        self.in_view().most
    }

    /// Returns the first line of the question that is in view.
    pub(super) fn first_line(&self) -> usize {
        self.in_view().first
    }

    /// Returns how many lines the keys for pages move by. The last line in view says how many more there are, and the one
    /// above it stays in view, so that no line is passed unseen.
    pub(super) fn page(&self) -> isize {
        self.in_view().height.saturating_sub(2).max(1).cast_signed()
    }

    /// Returns the option that is drawn on this line of the screen.
    pub(super) fn option_at(&self, line: u16) -> Option<usize> {
        let (line, in_view) = (usize::from(line).checked_sub(1)?, self.in_view());
        let line = line.checked_sub(in_view.summary.len())?;
        let shown = match line.checked_sub(in_view.height) {
            Some(below) => in_view.pinned.get(below),
            None => in_view.scrolled.get(line + in_view.first),
        };
        let record = &self.open_item()?.record;
        let draft = self.drafts.get(&record.id).cloned().unwrap_or_else(|| Draft::new(record));
        let (field, entry) = draft.at(&record.question)?;
        match entry.rows(field).get(shown?.row?)? {
            Row::Option(option) => Some(*option),
            Row::Other | Row::Text | Row::Null | Row::Note => None,
        }
    }
}

/// The lines of a question in view: a part that scrolls, and what stays above and below it.
pub(super) struct Viewport {
    /// The lines on who asks what, for when the beginning of the question is scrolled out of view.
    pub(super) summary: Vec<CardLine>,
    /// The part that scrolls.
    pub(super) scrolled: Vec<CardLine>,
    /// The index of the first scrolled line in view.
    pub(super) first: usize,
    /// The highest value of `first`, at the end of the question.
    most: usize,
    /// The number of scrolled lines in view.
    pub(super) height: usize,
    /// The options of a permission, which stay in view below its subject.
    pub(super) pinned: Vec<CardLine>,
}

impl Viewport {
    /// Returns the part of the current question that is in view in this many columns and lines.
    pub(super) fn new(app: &App, theme: Theme, columns: usize, height: usize) -> Self {
        let mut lines = card(app, theme, columns);
        let is_long = lines.len() > height && app.open_item().is_some_and(QuestionItem::is_permission);
        let options = lines.iter().position(|line| line.row.is_some()).filter(|_| is_long);
        // Where the options alone would fill the screen, they scroll as well.
        let options = options.filter(|at| lines.len() - at <= height / 2);
        let pinned = options.map(|at| lines.split_off(at)).unwrap_or_default();
        let height = height - pinned.len();
        if lines.len() <= height {
            let (summary, scrolled) = (Vec::new(), lines);
            return Viewport { summary, scrolled, first: 0, most: 0, height, pinned };
        }
        let mut summary = summary(app, theme, columns);
        // If space is short, the line with the asker is dropped first, and then the line with the question.
        summary.drain(..summary.len().saturating_sub(height.saturating_sub(3) / 3));
        // The height includes the summary even where it is hidden, so that every line was in view once the end is
        // reached (I12).
        let below = height - summary.len();
        let most = lines.len() - below;
        let first = first_in_view(app, &lines, height, below).min(most);
        let (summary, height) = if first == 0 { (Vec::new(), height) } else { (summary, below) };
        Viewport { summary, scrolled: lines, first, most, height, pinned }
    }
}

/// Returns the first line to show: the one that the person scrolled to, or else one with the cursor in view. At the
/// beginning, `height` lines fit; below the summary, `below` lines.
fn first_in_view(app: &App, lines: &[CardLine], height: usize, below: usize) -> usize {
    let draft = app.draft();
    if let Some(scroll) = draft.and_then(|draft| draft.scroll) {
        return scroll;
    }
    if app.pane == Pane::List {
        return 0;
    }
    let typed = lines.iter().position(|line| line.cursor.is_some());
    let row = draft.and_then(|draft| draft.entries.get(draft.tab)?.row);
    let is_row = |line: &&CardLine| row.is_some() && line.row == row;
    let first = typed.or_else(|| lines.iter().position(|line| is_row(&line)));
    let last = typed.or_else(|| lines.iter().rposition(|line| is_row(&line)));
    let Some((first, last)) = first.zip(last) else { return 0 };
    // The error is the last of the lines, and must be in view.
    let is_wrong = draft.is_some_and(|draft| !draft.errors.is_empty());
    let last = if is_wrong { lines.len().saturating_sub(2).max(last) } else { last };
    // The line that counts the lines below takes the place of the last line, so one more line is needed.
    if last + 2 <= height {
        return 0;
    }
    // The lines above stay in view as long as that does not hide the beginning of the row.
    (last + 2).saturating_sub(below).min(first)
}
