//! The texts in front of everything else that are only read: the keys, and what led to the current question. Pure. How they
//! are drawn is left to `view.rs`.

use std::sync::Arc;

use askbridge_core::{
    desk::{QuestionId, Refusal},
    question::Context,
};

use super::{
    event::{Effect, Key},
    state::{App, Modal},
};

/// How many lines a page of such a text has.
const PAGE: usize = 10;

impl App {
    /// Returns the line that a text in front begins with after a key; `None` if the key closes it.
    pub(super) fn scrolled(&mut self, key: Key, line: usize) -> Option<usize> {
        match key {
            Key::Char('j' | ' ') | Key::Down => Some(line.saturating_add(1)),
            Key::Char('k') | Key::Up => Some(line.saturating_sub(1)),
            Key::PageDown => Some(line.saturating_add(PAGE)),
            Key::PageUp => Some(line.saturating_sub(PAGE)),
            key => {
                self.is_stray = matches!(key, Key::Char(_));
                None
            }
        }
    }

    /// Asks what led to the current question.
    pub(super) fn lead(&mut self) -> Vec<Effect> {
        let Some(record) = self.item().map(|item| Arc::clone(&item.record)) else { return Vec::new() };
        if !record.has_context {
            self.say("It is not known what led to this question");
            return Vec::new();
        }
        self.modal = Some(Modal::Led(None, 0));
        vec![Effect::Lead(record)]
    }

    /// Shows what led to a question, if the person still waits for it.
    pub(super) fn led(&mut self, id: &QuestionId, led: Result<Arc<Context>, Refusal>) {
        if let Some(Modal::Led(shown, _)) = &mut self.modal
            && self.current.as_ref() == Some(id)
        {
            *shown = Some(led.map_err(|refusal| refusal.to_string()));
        }
    }
}
