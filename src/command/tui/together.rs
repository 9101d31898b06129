//! Permissions that are decided together: the list of all that each would do, in front of the screen, and its keys. Which
//! ones are alike is left to `askbridge_settings::rule`, what becomes of what is sent to `underway.rs`.
//! Pure.

use std::sync::Arc;

use askbridge_core::{
    desk::{QuestionId, Record, Submission},
    question::{Answer, Question, Role, Value, form},
};
use askbridge_settings::rule::like;

use super::{
    editor::Editor,
    event::{Effect, Key},
    group::{AROUND, COLUMNS, Together},
    state::{App, Modal},
};
use crate::present::caution::{WORD, confirms};

impl App {
    /// Returns the columns and lines of the list of like permissions.
    pub(super) fn list_room(&self) -> (usize, usize) {
        let columns = usize::from(self.size.0.min(COLUMNS)).saturating_sub(4).max(1);
        (columns, usize::from(self.size.1).saturating_sub(AROUND).max(1))
    }

    /// Lists the open permissions that are like the current one.
    pub(super) fn begin_together(&mut self) {
        let Some(item) = self.open_item() else { return };
        if !item.is_permission() {
            return self.say("Only permissions are decided together");
        }
        if item.record.question.risk().is_dangerous() {
            return self.say("What can do harm is decided one by one");
        }
        let current = Arc::clone(&item.record);
        let open: Vec<_> = self.world.open.iter().map(|item| Arc::clone(&item.record)).collect();
        let mut records = like(&current, &open);
        records.retain(|record| !self.sending.contains(&record.id));
        if records.is_empty() {
            return self.say("No other open permission is like this one");
        }
        records.insert(0, current);
        let list = Together { records, from: 0, is_read: false, allows: None, typed: None };
        self.show_together(list);
    }

    /// Shows the list, no further down than to its end.
    fn show_together(&mut self, mut list: Together) {
        let (columns, room) = self.list_room();
        let last = list.lines(columns).len().saturating_sub(room);
        list.from = list.from.min(last);
        list.is_read |= list.from == last;
        self.modal = Some(Modal::Together(list));
    }

    /// Leaves out what has changed or is over. Nothing is added: it was not shown.
    pub(super) fn keep_together(&mut self) {
        let Some(Modal::Together(list)) = &mut self.modal else { return };
        let open = &self.world.open;
        let is_same = |record: &Arc<Record>| {
            open.iter().any(|item| {
                let now = &item.record;
                now.id == record.id
                    && now.edition == record.edition
                    && now.state == record.state
                    && !now.turn_over
            })
        };
        let before = list.count();
        list.records.retain(is_same);
        let left = before - list.count();
        if left > 0 {
            // What stands there now is another list.
            (list.allows, list.typed) = (None, None);
            if list.records.is_empty() {
                self.modal = None;
            }
            self.complain(format!("{left} of them left out: changed, or over"));
        }
    }

    /// Handles a key while the list is shown.
    pub(super) fn together_key(&mut self, key: Key, mut list: Together) -> Vec<Effect> {
        if let Some(typed) = list.typed.take() {
            return self.together_word(key, list, typed);
        }
        let page = self.list_room().1.saturating_sub(1).max(1);
        match key {
            Key::Escape => {
                self.say("Nothing was sent");
                return Vec::new();
            }
            // One key of a line that was typed for another program chooses nothing.
            Key::Char(digit @ ('1' | '2')) if !self.is_rushed => list.allows = Some(digit == '1'),
            Key::Char('j' | ' ') | Key::Down => list.from = list.from.saturating_add(1),
            Key::Char('k') | Key::Up => list.from = list.from.saturating_sub(1),
            Key::PageDown => list.from = list.from.saturating_add(page),
            Key::PageUp => list.from = list.from.saturating_sub(page),
            Key::Enter if self.is_rushed || self.is_burst => {
                self.complain("Nothing was done: it came too soon after other keys. Press Enter again");
            }
            Key::Enter => match list.allows {
                None => self.complain("Choose first: 1 allows all, 2 rejects all"),
                Some(true) if !list.is_read => {
                    self.complain("Read the list to its end before you allow it: PgDn");
                }
                Some(_) if list.needs_word() => list.typed = Some(Editor::default()),
                Some(allows) => return self.decide_together(&list.records, allows),
            },
            _ => {}
        }
        self.show_together(list);
        Vec::new()
    }

    /// Handles a key while the word is typed that confirms it.
    fn together_word(&mut self, key: Key, mut list: Together, mut typed: Editor) -> Vec<Effect> {
        match key {
            Key::Escape => {}
            Key::Enter if !self.is_burst && confirms(typed.text()) => {
                return self.decide_together(&list.records, true);
            }
            Key::Enter => {
                self.complain(format!("Nothing was sent: type {WORD}, or press Esc to go back"));
                list.typed = Some(Editor::default());
            }
            key => {
                typed.key(key, false);
                list.typed = Some(typed);
            }
        }
        self.show_together(list);
        Vec::new()
    }

    /// Decides all of them, each as it was shown.
    fn decide_together(&mut self, records: &[Arc<Record>], allows: bool) -> Vec<Effect> {
        let submission = |record: &Arc<Record>| {
            let submission = match allows {
                true => Submission::answer(allowing(&record.question)?, record.edition),
                false => Submission::Reject(None),
            };
            Some((record.id.clone(), submission))
        };
        let submissions: Vec<(QuestionId, Submission)> = records.iter().filter_map(submission).collect();
        if submissions.len() < records.len() {
            self.complain("Nothing was sent: the agent has no single option that allows it this time");
            return Vec::new();
        }
        self.send_together(submissions, allows)
    }
}

/// Returns the answer that allows a permission this time.
fn allowing(question: &Question) -> Option<Answer> {
    let mut options = form::options_with_role(question, Role::AllowOnce);
    let (field, option) = (question.fields.first()?, options.next()?);
    let values = [(field.name.clone(), Value::Text(option.value.clone()))].into();
    options.next().is_none().then(|| Answer { values, ..Answer::default() })
}
