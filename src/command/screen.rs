//! The size of the terminal that a command prints to.

use std::io;

use rustix::termios::tcgetwinsize;

/// How much a terminal shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) columns: usize,
    pub(super) lines: usize,
}

impl Room {
    /// Returns the size of our terminal. If stdout is none, there is room for everything.
    pub(super) fn now() -> Self {
        let size = tcgetwinsize(io::stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or(Room { columns: usize::MAX, lines: usize::MAX }, |size| Room {
            columns: size.ws_col.into(),
            lines: size.ws_row.into(),
        })
    }
}
