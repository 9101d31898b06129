//! Comments at lines of the current question: the keys of a cursor that goes from part to part, and of what is written there.
//! Which parts there are is left to `present/passage.rs`, where comments are shown to `commented.rs`, and how they go to the
//! agent to `question::comments`.
//! Pure.

use std::sync::Arc;

use askbridge_core::question::Comment;

use super::{
    card::card,
    draft::{Draft, DraftComment},
    editor::Editor,
    event::{Effect, Key},
    state::{App, Modal},
    theme::Theme,
};
use crate::present::passage::Passage;

impl App {
    /// Returns the parts of the current question, each with its first and its last line.
    fn passages(&self) -> Vec<(Arc<Passage>, usize, usize)> {
        let mut all: Vec<(Arc<Passage>, usize, usize)> = Vec::new();
        for (place, line) in card(self, Theme { colour: false }, self.card_columns()).into_iter().enumerate()
        {
            let Some(of) = line.of else { continue };
            match all.last_mut().filter(|(last, ..)| *last == of) {
                Some((.., end)) => *end = place,
                None => all.push((of, place, place)),
            }
        }
        all
    }

    /// Begins to choose what to comment, at the first part in view.
    pub(super) fn begin_comment(&mut self) {
        let (first, passages) = (self.first_line(), self.passages());
        let Some((_, begin, end)) = passages.iter().find(|(_, begin, _)| *begin >= first).or(passages.last())
        else {
            return self.say("There is nothing to comment here");
        };
        let (begin, end) = (*begin, *end);
        self.at = passages.iter().find(|(_, at, _)| *at == begin).map(|(of, ..)| of.at.clone());
        self.bring(begin, end);
    }

    /// Handles a key while a part is chosen. None of them decides anything.
    pub(super) fn comment_key(&mut self, key: Key) -> Vec<Effect> {
        self.said = None;
        match key {
            Key::Down | Key::Char('j') => self.move_at(1),
            Key::Up | Key::Char('k') => self.move_at(-1),
            Key::Home | Key::Char('g') => self.move_at(isize::MIN),
            Key::End | Key::Char('G') => self.move_at(isize::MAX),
            Key::PageDown => self.move_page(self.page()),
            Key::PageUp => self.move_page(-self.page()),
            Key::Enter | Key::Char('c') => self.write_comment(),
            Key::Delete | Key::Char('x') => self.remove_comment(),
            Key::Escape => self.at = None,
            Key::Char(_) => self.is_stray = true,
            _ => {}
        }
        Vec::new()
    }

    fn move_at(&mut self, by: isize) {
        let passages = self.passages();
        let at = passages.iter().position(|(of, ..)| Some(&of.at) == self.at.as_ref());
        let Some(last) = passages.len().checked_sub(1) else { return };
        let (of, begin, end) = &passages[at.unwrap_or_default().saturating_add_signed(by).min(last)];
        self.at = Some(of.at.clone());
        self.bring(*begin, *end);
    }

    /// Scrolls by a page, and goes to the first part in view then.
    fn move_page(&mut self, by: isize) {
        self.scroll(by);
        let (first, passages) = (self.first_line(), self.passages());
        let seen = passages.iter().find(|(_, begin, _)| *begin >= first).or(passages.last());
        self.at = seen.map(|(of, ..)| of.at.clone());
    }

    /// Scrolls until these lines are in view, or as many of them as there is room for.
    fn bring(&mut self, begin: usize, end: usize) {
        let first = self.first_line();
        // Where it scrolls, two lines say whose question it is, and one how much is below.
        let room = usize::try_from(self.page()).unwrap_or(1).saturating_sub(2).max(1);
        if begin < first {
            self.scroll(begin.cast_signed() - first.cast_signed());
        } else if end >= first + room {
            let to = (end + 1).saturating_sub(room).min(begin);
            self.scroll(to.cast_signed() - first.cast_signed());
        }
    }

    fn write_comment(&mut self) {
        let chosen = self.passages().into_iter().find(|(of, ..)| Some(&of.at) == self.at.as_ref());
        let Some((of, ..)) = chosen else { return };
        let text = self.draft().and_then(|draft| draft.comment_at(&of)).map(|comment| &*comment.text);
        let typed = Editor::new(text.unwrap_or_default());
        self.modal = Some(Modal::Comment(of, typed));
    }

    fn remove_comment(&mut self) {
        let at = self.at.clone();
        let Some((_, draft)) = self.draft_mut() else { return };
        let before = draft.comments.len();
        draft.comments.retain(|comment| Some(&comment.of.at) != at.as_ref());
        if draft.comments.len() < before {
            draft.is_touched = true;
            self.say("The comment is removed");
        }
    }

    /// Handles a key while a comment is typed. It is kept as it is typed, as a part of the draft.
    pub(super) fn typed_comment(&mut self, key: Key, of: Arc<Passage>, mut typed: Editor) {
        if matches!(key, Key::Enter | Key::Escape) {
            return self.keep_comment(of, typed.text());
        }
        typed.key(key, false);
        self.modal = Some(Modal::Comment(of, typed));
    }

    fn keep_comment(&mut self, of: Arc<Passage>, text: &str) {
        // The order is that of the question.
        let order: Vec<_> = self.passages().into_iter().map(|(of, ..)| of.at.clone()).collect();
        let Some((_, draft)) = self.draft_mut() else { return };
        draft.is_touched |= draft.comment_at(&of).map_or("", |comment| &comment.text) != text;
        draft.comments.retain(|comment| comment.of.at != of.at);
        if !text.trim().is_empty() {
            draft.comments.push(DraftComment { of, text: text.to_owned() });
        }
        draft.comments.sort_by_key(|comment| order.iter().position(|at| *at == comment.of.at));
    }

    /// Returns the comments that go with a rejection of the current question.
    pub(super) fn comments(&self) -> Vec<Comment> {
        self.draft().map(Draft::sent).unwrap_or_default()
    }
}
