//! Puts the full-screen inbox on its terminal: the title, the frames, the rows that are painted again, and images.
//! What a frame has is left to `view.rs`, how the terminal is taken and given back to `screen.rs`.

use std::io::{self, Stdout};

use ratatui::{Terminal, backend::CrosstermBackend, layout::Rect};

use super::{
    event::{Effect, TuiEvent},
    image_view::room,
    picture::Picture,
    repaint::{self, Repainter},
    screen::Screen,
    state::App,
    theme::Theme,
    view::draw,
};

/// The terminal, and what is on it.
pub(super) struct Painter {
    theme: Theme,
    // The fields are dropped in this order: drawing ends before the terminal is given back.
    terminal: Terminal<CrosstermBackend<Stdout>>,
    pub(super) screen: Screen,
    repainter: Repainter,
    /// The number in the title.
    titled: Option<usize>,
    /// The image that is on the screen.
    pictured: Option<Picture>,
}

impl Painter {
    /// Draws on this terminal, which was taken.
    pub(super) fn new(theme: Theme, terminal: Terminal<CrosstermBackend<Stdout>>, screen: Screen) -> Self {
        Painter { theme, terminal, screen, repainter: Repainter::default(), titled: None, pictured: None }
    }

    /// Draws everything, and returns what another size of the terminal leads to.
    pub(super) fn draw(&mut self, app: &mut App) -> io::Result<Vec<Effect>> {
        let open = app.world.open.len() - app.aside();
        if self.titled != Some(open) {
            self.screen.title(open)?;
            self.titled = Some(open);
        }
        let (mut effects, size) = (Vec::new(), self.terminal.size()?);
        if (size.width, size.height) != app.size {
            // The terminal paints the whole screen now, so what the repainter knows of it is stale.
            self.repainter = Repainter::default();
            effects = app.handle(TuiEvent::Resize(size.width, size.height));
        }
        let is_new = app.picture() != self.pictured.as_ref();
        if is_new {
            // Nothing else takes an image from the screen, or from the terminal's memory.
            self.screen.write(self.pictured.take().map_or("", |old| old.forget()))?;
            self.clear()?;
            self.pictured = app.picture().cloned();
        }
        let drawn = self.terminal.draw(|frame| draw(app, self.theme, frame))?;
        let area = drawn.area;
        let again = self.repainter.changed(drawn.buffer);
        match self.pictured.as_ref() {
            None => repaint::paint(&again, self.terminal.backend_mut())?,
            // A row that is cleared would lose its part of the image.
            Some(picture) if is_new => self.screen.write(&picture.sequence(room(area)))?,
            Some(_) => {}
        }
        Ok(effects)
    }

    /// Draws everything again with the next frame. `Terminal::clear` would ask the terminal where the cursor is, and wait for
    /// the reply.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.repainter = Repainter::default();
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }

    /// Stops the process as Ctrl-Z does, and draws everything again once it is continued.
    pub(super) fn stop(&mut self) -> io::Result<()> {
        self.screen.stop()?;
        self.titled = None;
        self.clear()
    }
}
