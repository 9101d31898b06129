//! What stands in front of everything else and is only read or looked at: the keys, what led to the current question, and its
//! images. Pure. How that is drawn is left to `overlay.rs` and `image_view.rs`.

use std::sync::Arc;

use askbridge_core::{
    desk::{QuestionId, Refusal},
    question::Context,
};

use super::{
    event::{Effect, Key},
    image_view::{AROUND, ImageView},
    picture::{Picture, Wanted},
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

    /// Shows the first image of the current question.
    pub(super) fn show_images(&mut self) -> Vec<Effect> {
        match self.item().map(|item| item.record.question.images.len()) {
            None => Vec::new(),
            Some(0) => {
                self.say("The question has no images");
                Vec::new()
            }
            Some(_) => self.show_image(1),
        }
    }

    fn show_image(&mut self, number: usize) -> Vec<Effect> {
        let Some(record) = self.item().map(|item| Arc::clone(&item.record)) else { return Vec::new() };
        self.modal = Some(Modal::Image(ImageView { number, shown: None }));
        let (columns, lines) = self.size;
        vec![Effect::Picture(Wanted { record, number, columns, lines: lines.saturating_sub(AROUND) })]
    }

    /// Handles a key while an image is in front.
    pub(super) fn image_key(&mut self, key: Key, view: ImageView) -> Vec<Effect> {
        let count = self.item().map_or(0, |item| item.record.question.images.len());
        let number = match key {
            Key::Escape | Key::Char('q') => {
                self.is_stray = matches!(key, Key::Char(_));
                return Vec::new();
            }
            Key::Char('j' | ' ') | Key::Down | Key::Right | Key::Tab | Key::PageDown => view.number + 1,
            Key::Char('k') | Key::Up | Key::Left | Key::BackTab | Key::PageUp => view.number - 1,
            _ => view.number,
        };
        if number != view.number && (1..=count).contains(&number) {
            return self.show_image(number);
        }
        self.modal = Some(Modal::Image(view));
        Vec::new()
    }

    /// Shows an image that is ready, or why there is none, if the person still waits for it.
    pub(super) fn pictured(&mut self, wanted: &Wanted, made: Result<Picture, String>) {
        let is_wanted = self.current.as_ref() == Some(&wanted.record.id)
            && self.size == (wanted.columns, wanted.lines + AROUND);
        if let Some(Modal::Image(view)) = &mut self.modal
            && is_wanted
            && view.number == wanted.number
        {
            view.shown = Some(made);
        }
    }

    /// Asks for the image in front again, which has to fit to another size of the terminal.
    pub(super) fn fit_image(&mut self) -> Vec<Effect> {
        match &self.modal {
            Some(Modal::Image(ImageView { number, .. })) => self.show_image(*number),
            _ => Vec::new(),
        }
    }

    /// Returns the image in front.
    pub(super) fn picture(&self) -> Option<&Picture> {
        match &self.modal {
            Some(Modal::Image(ImageView { shown: Some(Ok(picture)), .. })) => Some(picture),
            _ => None,
        }
    }
}
