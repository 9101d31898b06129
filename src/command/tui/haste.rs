//! What is typed or pasted too soon, or for another program: it decides nothing here.
//! Pure. What other keys do is left to `handle.rs`, and how fast they came to `run.rs`.

use super::{
    event::{Effect, Key, QuestionItem},
    state::{App, Modal, Pane},
};

impl App {
    /// Returns whether a key may belong to a line that was typed for another program, and must not act here: a letter acts
    /// if it is pressed by itself, and so does what decides on a permission.
    pub(super) fn is_hasty(&self, key: Key) -> bool {
        let is_permission =
            self.pane == Pane::Card && self.open_item().is_some_and(QuestionItem::is_permission);
        match key {
            Key::Enter | Key::Send | Key::Control('s') => self.is_stray || self.is_rushed && is_permission,
            Key::Char('r' | 'n' | 't' | 'm' | 'u' | 'c' | 'x' | 'a' | 'l') => {
                self.is_rushed && !self.is_typing
            }
            Key::Char('q') => (self.is_stray || self.is_word) && !self.is_typing,
            Key::Char('1'..='9' | ' ') => self.is_stray && !self.is_typing,
            _ => false,
        }
    }

    /// Refuses a key that came too soon after others.
    pub(super) fn too_fast(&mut self, key: Key) -> Vec<Effect> {
        if matches!(key, Key::Char(_)) {
            self.is_stray = true;
            return Vec::new();
        }
        let again = if key == Key::Enter { "Enter" } else { "Ctrl+S" };
        self.complain(format!("Nothing was done: it came too soon after other keys. Press {again} again"));
        Vec::new()
    }

    /// Refuses a key or a click, because the person cannot have read the question yet.
    pub(super) fn too_early(&mut self) -> Vec<Effect> {
        self.complain("Nothing was done: this question has only just appeared");
        vec![self.appear()]
    }

    /// Handles a paste. It decides nothing.
    pub(super) fn pasted(&mut self, text: &str) -> Vec<Effect> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        // Whoever copies a whole line copies the line break behind it, too.
        let text = text.trim_end_matches('\n');
        match &mut self.modal {
            // A pasted word confirms nothing: only typing it shows that the person has read the warning.
            Some(Modal::Confirm(..) | Modal::Empty(_)) => {
                self.complain("Nothing was done: a paste does not confirm")
            }
            Some(
                Modal::Help(_)
                | Modal::Led(..)
                | Modal::Image(_)
                | Modal::Rule(..)
                | Modal::Together(_)
                | Modal::Leave
                | Modal::Quit,
            ) => {}
            Some(Modal::Later(typed)) => typed.insert(text, false),
            Some(Modal::Comment(_, typed)) => typed.insert(text, true),
            Some(Modal::Reason(_, typed, is_sure)) => {
                typed.insert(text, true);
                *is_sure = false;
            }
            None if self.search.is_typing => self.search_pasted(text),
            None if self.is_fresh => return self.too_early(),
            None if self.pane == Pane::List => {
                self.complain("Nothing was pasted: open a question first, by Enter")
            }
            None => self.paste(text),
        }
        Vec::new()
    }
}
