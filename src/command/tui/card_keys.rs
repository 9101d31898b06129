//! The keys of the current question: they move between fields and rows, choose, and type.
//! Pure. Sending is left to `handle.rs`.

use std::sync::Arc;

use askbridge_core::question::{Field, Kind, Question};

use super::{
    draft::{Draft, Row, is_many, is_multiline, labels},
    event::{Effect, Key},
    state::{App, Modal, Pane},
};

impl App {
    /// Moves the focus to the current question.
    pub(super) fn enter(&mut self) {
        if self.item().is_some() {
            self.told = None;
            self.pane = Pane::Card;
            self.begin_typing();
        }
    }

    /// Begins to type if the cursor is on the text of a field without options.
    fn begin_typing(&mut self) {
        let Some((record, draft)) = self.draft_mut() else { return };
        self.is_typing = draft.row(&record.question) == Some(Row::Text);
    }

    /// Handles a key in the current question while the person is not typing.
    pub(super) fn card_key(&mut self, key: Key) -> Vec<Effect> {
        self.said = None;
        match key {
            Key::Up => self.move_row(-1),
            Key::Down => self.move_row(1),
            Key::Right | Key::Tab => self.move_tab(1),
            Key::Left | Key::BackTab => self.move_tab(-1),
            Key::PageDown => self.scroll(self.page()),
            Key::PageUp => self.scroll(-self.page()),
            Key::Char(' ') => self.toggle(),
            Key::Enter => return self.accept(),
            Key::Send | Key::Control('s') => return self.send(),
            Key::Char(letter @ ('n' | 'r' | 't' | 'f' | 'c' | 'a' | 'l')) => {
                // A line for another program may begin with it: its Enter must not send what is chosen here.
                self.is_stray = true;
                match letter {
                    'n' => self.begin_note(),
                    'r' => self.reject(),
                    'f' => self.unfold(),
                    'c' => self.begin_comment(),
                    'a' => self.begin_together(),
                    'l' => return self.set_aside(),
                    _ => return self.give_time(),
                }
            }
            Key::Char(digit @ '1'..='9') => {
                let number = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
                self.choose(number.unwrap_or_default());
            }
            Key::Escape => self.leave(),
            _ => return self.common_key(key),
        }
        Vec::new()
    }

    /// Leaves the question, and asks whether to keep the draft.
    fn leave(&mut self) {
        // What was typed for a settled question can never be sent, so there is nothing to keep.
        let is_touched = self.draft().is_some_and(|draft| draft.is_touched) && self.open_item().is_some();
        if is_touched {
            self.modal = Some(Modal::Leave);
        } else {
            self.pane = Pane::List;
        }
    }

    fn move_row(&mut self, by: isize) {
        let Some((record, draft)) = self.draft_mut() else { return self.scroll(by) };
        draft.scroll = None;
        let tab = draft.tab;
        let Some((field, entry)) = record.question.fields.get(tab).zip(draft.entries.get_mut(tab)) else {
            return self.scroll(by);
        };
        let last = entry.rows(field).len().saturating_sub(1);
        entry.row = Some(match entry.row {
            Some(row) => row.saturating_add_signed(by).min(last),
            None if by < 0 => last,
            None => 0,
        });
    }

    /// Shows another field. Behind the last one is the review of all of them.
    pub(super) fn move_tab(&mut self, by: isize) {
        let Some((record, draft)) = self.draft_mut() else { return };
        let count = record.question.fields.len();
        if count == 1 {
            return self.move_row(by);
        }
        (draft.tab, draft.scroll) = (draft.tab.saturating_add_signed(by).min(count), None);
        self.begin_typing();
    }

    /// Chooses the option with this number; in the review, shows the field with it.
    pub(super) fn choose(&mut self, number: usize) {
        let Some((record, draft)) = self.draft_mut() else { return };
        let (question, place) = (&record.question, number.saturating_sub(1));
        let tab = draft.tab;
        let Some((field, entry)) = question.fields.get(tab).zip(draft.entries.get_mut(tab)) else {
            draft.tab = place.min(question.fields.len());
            return self.begin_typing();
        };
        if place < labels(field).len() {
            entry.toggle(field, place);
            entry.row = Some(place);
            (draft.is_touched, draft.scroll) = (true, None);
        }
    }

    fn toggle(&mut self) {
        let Some((record, draft)) = self.draft_mut() else { return };
        let row = draft.row(&record.question);
        let tab = draft.tab;
        match (row, record.question.fields.get(tab).zip(draft.entries.get_mut(tab))) {
            (Some(Row::Option(place)), Some((field, entry))) => {
                entry.toggle(field, place);
                draft.is_touched = true;
            }
            (Some(Row::Null), Some((_, entry))) => {
                entry.toggle_null();
                draft.is_touched = true;
            }
            (Some(_), _) => self.is_typing = true,
            (None, _) => {}
        }
    }

    /// Takes the row with the cursor, and moves to the next field, or sends.
    fn accept(&mut self) -> Vec<Effect> {
        let Some((record, draft)) = self.draft_mut() else { return Vec::new() };
        let row = draft.row(&record.question);
        let tab = draft.tab;
        if let (Some(Row::Option(place)), Some((field, entry))) =
            (row, record.question.fields.get(tab).zip(draft.entries.get_mut(tab)))
            // Where several options can be chosen, Enter only moves on: it would add the one with the cursor unasked.
            && !is_many(field)
        {
            draft.is_touched |= !entry.chosen.contains(&place);
            entry.choose(field, place);
        }
        if let (Some(Row::Null), Some(entry)) = (row, draft.entries.get_mut(tab))
            && !entry.shows_null()
        {
            entry.toggle_null();
            draft.is_touched = true;
        }
        match row {
            Some(Row::Other | Row::Text | Row::Note) => {
                self.is_typing = true;
                Vec::new()
            }
            _ => self.advance(&record.question),
        }
    }

    fn advance(&mut self, question: &Question) -> Vec<Effect> {
        let in_review = self.draft().is_some_and(|draft| draft.tab >= question.fields.len());
        if in_review || question.fields.len() == 1 {
            return self.send();
        }
        self.move_tab(1);
        Vec::new()
    }

    /// Shows the note of the field, and types into it.
    fn begin_note(&mut self) {
        let Some((record, draft)) = self.draft_mut() else { return };
        let tab = draft.tab;
        let Some((field, entry)) = record.question.fields.get(tab).zip(draft.entries.get_mut(tab)) else {
            return;
        };
        if !record.question.notes || record.question.subject.is_some() {
            return self.say("This agent accepts no notes");
        }
        entry.has_note = true;
        entry.row = Some(entry.rows(field).len() - 1);
        draft.scroll = None;
        self.is_typing = true;
    }

    /// Scrolls the question by this number of lines.
    pub(super) fn scroll(&mut self, by: isize) {
        let most = self.overflow();
        let from = self.first_line();
        // `draft_mut` has no draft of a settled question, which scrolls as well.
        let Some(record) = self.item().map(|item| Arc::clone(&item.record)) else { return };
        let draft = self.drafts.entry(record.id.clone()).or_insert_with(|| Draft::new(&record));
        let first = from.saturating_add_signed(by).min(most);
        draft.scroll = Some(first);
        // What was read stays read, even if the person scrolls back (I12).
        draft.is_read |= first == most;
    }

    /// Shows the unchanged lines that are folded, or folds them again. What is longer now was not read to its end.
    fn unfold(&mut self) {
        if !self.is_unfolded() && !self.has_folds() {
            return self.say("Nothing is folded here");
        }
        let Some(record) = self.item().map(|item| Arc::clone(&item.record)) else { return };
        let draft = self.drafts.entry(record.id.clone()).or_insert_with(|| Draft::new(&record));
        (draft.is_unfolded, draft.is_read) = (!draft.is_unfolded, false);
    }

    /// Handles a key while the person types a text.
    pub(super) fn typing_key(&mut self, key: Key) -> Vec<Effect> {
        self.said = None;
        let Some((record, draft)) = self.draft_mut() else {
            self.is_typing = false;
            return Vec::new();
        };
        let (question, row) = (&record.question, draft.row(&record.question));
        let Some((row, field)) = row.zip(question.fields.get(draft.tab)) else {
            self.is_typing = false;
            return Vec::new();
        };
        let is_multiline = row == Row::Text && is_multiline(field);
        match key {
            Key::Escape => self.end_typing(field, row),
            Key::Send | Key::Control('s') => {
                self.end_typing(field, row);
                return self.send();
            }
            Key::Enter if !is_multiline => {
                self.end_typing(field, row);
                if row != Row::Note {
                    return self.advance(question);
                }
            }
            Key::Tab | Key::BackTab => {
                self.end_typing(field, row);
                self.move_tab(if key == Key::Tab { 1 } else { -1 });
            }
            Key::Up | Key::Down => {
                if !self.edit(row, key, is_multiline) {
                    self.end_typing(field, row);
                    self.move_row(if key == Key::Up { -1 } else { 1 });
                }
            }
            key => _ = self.edit(row, key, is_multiline),
        }
        Vec::new()
    }

    /// Inserts a pasted text, with its line breaks, into the row that is typed, or else where the field takes a text.
    pub(super) fn paste(&mut self, text: &str) {
        let is_typing = self.is_typing;
        let Some((record, draft)) = self.draft_mut() else { return };
        let (question, tab) = (&record.question, draft.tab);
        let row = draft.row(question).filter(|_| is_typing);
        let Some((field, entry)) = question.fields.get(tab).zip(draft.entries.get_mut(tab)) else {
            return self.complain("Nothing was pasted: go to the field for it first");
        };
        let rows = entry.rows(field);
        let is_text = |row: &Row| matches!(row, Row::Text | Row::Other);
        let Some(row) = row.or_else(|| rows.iter().copied().find(is_text)) else {
            return self.complain("Nothing was pasted: choose an option, by its number");
        };
        let lines = text.lines().count();
        if lines > 1 && matches!(field.kind, Kind::Number { .. } | Kind::Unknown(_)) {
            return self.complain(format!("Nothing was pasted: {lines} lines are no number"));
        }
        entry.row = rows.iter().position(|other| *other == row);
        if let Some(editor) = entry.editor(row) {
            editor.insert(text, true);
        }
        (draft.is_touched, draft.scroll) = (true, None);
        self.is_typing = true;
        if !is_typing {
            self.say("Pasted: Ctrl+S sends it");
        }
    }

    fn end_typing(&mut self, field: &Field, row: Row) {
        self.is_typing = false;
        let Some((_, draft)) = self.draft_mut() else { return };
        let tab = draft.tab;
        match (draft.entries.get_mut(tab), row) {
            (Some(entry), Row::Other) => entry.choose_other(field),
            (Some(entry), Row::Note) => entry.has_note = !entry.note.text().trim().is_empty(),
            _ => {}
        }
    }

    /// Changes the text of a row; returns whether the key did something.
    fn edit(&mut self, row: Row, key: Key, is_multiline: bool) -> bool {
        let Some((_, draft)) = self.draft_mut() else { return false };
        let tab = draft.tab;
        let Some(editor) = draft.entries.get_mut(tab).and_then(|entry| entry.editor(row)) else {
            return false;
        };
        let before = editor.text().len();
        let moved = editor.key(key, is_multiline);
        draft.is_touched |= editor.text().len() != before;
        draft.scroll = None;
        moved
    }
}
