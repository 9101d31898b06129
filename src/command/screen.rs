//! The terminal that a command prints to: its size and colours, a part that is drawn again and again, and its end.
//! The content is left to `list.rs`.

use std::{future::pending, io};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    termios::tcgetwinsize,
};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    task::spawn_blocking,
};

use super::runner::print;

/// Switches to the alternate screen, which has no scrollback; hides the cursor, and lets no line wrap.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
/// Undoes [`ENTER`]. The alternate screen is cleared first: if the window has grown, tmux would otherwise leave lines
/// beyond the old size on the normal screen.
const LEAVE: &str = "\x1b[H\x1b[J\x1b[?7h\x1b[?25h\x1b[?1049l";
/// Puts the cursor at the top.
const HOME: &str = "\x1b[H";
/// Clears the rest of the line, and ends it.
const END: &str = "\x1b[K\n";
/// Clears everything below the cursor.
const CLEAR_BELOW: &str = "\x1b[J";

/// The size of a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) columns: usize,
    pub(super) lines: usize,
}

impl Room {
    /// Returns the size of our terminal, or `None` if stdout is not a terminal.
    pub(super) fn now() -> Option<Self> {
        // A new pseudo-terminal has a size of zero until somebody sets another one.
        let size = tcgetwinsize(io::stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0)?;
        Some(Room { columns: size.ws_col.into(), lines: size.ws_row.into() })
    }
}

/// Returns the columns of our terminal, or `None` if stdout is not a terminal.
pub(super) fn columns() -> Option<usize> {
    Room::now().map(|room| room.columns)
}

/// Returns the column at which text on stdout is wrapped. In a pipe, no text is wrapped.
pub(super) fn wrap_column() -> usize {
    columns().unwrap_or(usize::MAX)
}

/// Returns whether text on stdout is coloured.
pub(super) fn is_coloured() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// The alternate screen of our terminal. Dropping the value restores the normal screen.
pub(super) struct Screen {
    stops: Signal,
}

impl Screen {
    /// Switches to the alternate screen. The caller catches the signals that end the process, so that the value is
    /// dropped.
    pub(super) fn enter() -> io::Result<Self> {
        // Ctrl-Z is caught: otherwise the prompt of the shell would appear in the middle of the list.
        let stops = signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?;
        let screen = Screen { stops };
        print(ENTER)?;
        Ok(screen)
    }

    /// Draws these lines in place of those before.
    pub(super) fn draw(&self, lines: &[String]) -> io::Result<()> {
        // The lines are overwritten in place: a screen that is cleared first would flicker.
        let lines: Vec<_> = lines.iter().flat_map(|line| [line, END]).collect();
        print(&format!("{HOME}{}{CLEAR_BELOW}", lines.concat()))
    }

    /// Waits until the terminal asks the process to stop, stops it, and returns once it is continued.
    pub(super) async fn stopped(&mut self) -> io::Result<()> {
        if self.stops.recv().await.is_none() {
            return pending().await;
        }
        print(LEAVE)?;
        // The signal of Ctrl-Z is caught here, so only SIGSTOP still stops the process.
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?;
        print(ENTER)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // This fails only if the terminal is gone, and then there is nothing to restore.
        print(LEAVE).unwrap_or_default();
    }
}

/// Waits until the other end of our stdout is closed. A file is never closed.
pub(super) async fn stdout_closed() {
    // `poll` reports a closed end even if it waits for no events. It blocks, so its thread ends with the process.
    let closed = spawn_blocking(|| {
        let stdout = io::stdout();
        // A signal interrupts `poll` although nothing was closed.
        while poll(&mut [PollFd::new(&stdout, PollFlags::empty())], None) == Err(Errno::INTR) {}
    });
    closed.await.unwrap_or_default();
}
