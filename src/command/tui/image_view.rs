//! An image of the current question, in front of everything else: where it is drawn, and what is said around it.
//! Pure but for the buffer that it draws into. Making an image ready is left to `picture.rs`, its keys to `front.rs`.

use askbridge_core::desk::Record;
use askbridge_os::terminal::cut;
use ratatui::{
    Frame,
    layout::Rect,
    text::Line,
    widgets::{Clear, Paragraph},
};

use super::{lines::lines, picture::Picture, theme::Theme};
use crate::present::images;

/// The lines around an image: what it is, and the keys.
pub(super) const AROUND: u16 = 2;

/// An image in front of the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageView {
    /// Its number, from 1 on.
    pub(super) number: usize,
    /// The image, or why there is none; `None` until that is known.
    pub(super) shown: Option<Result<Picture, String>>,
}

/// Returns the part of the screen that an image is in.
pub(super) fn room(screen: Rect) -> Rect {
    Rect { y: 1, height: screen.height.saturating_sub(AROUND), ..screen }.intersection(screen)
}

impl ImageView {
    /// Draws the image on the whole screen.
    pub(super) fn draw(&self, record: &Record, theme: Theme, frame: &mut Frame<'_>) {
        let area = frame.area();
        frame.render_widget(Clear, area);
        let columns = usize::from(area.width);
        let count = record.question.images.len();
        let facts = images::lines(&record.question).nth(self.number - 1).unwrap_or_default();
        let row = |y: u16| Rect { y, height: 1, ..area }.intersection(area);
        let line = |text: &str, style| Paragraph::new(Line::styled(cut(text, columns).into_owned(), style));
        frame.render_widget(line(&facts, theme.muted()), row(0));
        let keys = if count > 1 {
            format!(" {} of {count}  j/k next, before  Esc closes", self.number)
        } else {
            " Esc closes".to_owned()
        };
        frame.render_widget(line(&keys, theme.muted()), row(area.height.saturating_sub(1)));
        let room = room(area);
        let said = match &self.shown {
            Some(Ok(picture)) => return picture.draw(room, frame.buffer_mut()),
            Some(Err(why)) => {
                let file = record.image(self.number).map_or("png", |image| images::ending(image.format));
                let id = &record.id;
                format!(
                    "The image is not shown: {why}. `askbridge show {id} --image {} > image.{file}` writes it.",
                    self.number
                )
            }
            None => "…".to_owned(),
        };
        let said: Vec<_> = lines(&said, 0, columns).into_iter().map(Line::raw).collect();
        frame.render_widget(Paragraph::new(said), room);
    }
}
