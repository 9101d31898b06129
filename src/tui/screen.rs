//! The terminal of the full-screen inbox: it is taken, and given back as it was, whatever ends the program.

use std::{
    io::{self, Write},
    panic,
    sync::Once,
};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use super::attention::Known;

/// Switches to the alternate screen, hides the cursor, and asks for pastes and for the focus to be reported.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?1004h";
/// Undoes [`ENTER`], [`MOUSE`] and the looks of what was drawn last.
const LEAVE: &str = "\x1b[0m\x1b[?1000l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[H\x1b[J\x1b[?25h\x1b[?1049l";
/// Asks for clicks and the wheel.
const MOUSE: &str = "\x1b[?1000h\x1b[?1006h";
/// Keeps the title, and asks for keys with their modifiers, in terminals that are known to do so.
const KEEP_TITLE: &str = "\x1b[22;2t";
const GIVE_TITLE_BACK: &str = "\x1b[23;2t";
const MODIFIERS: &str = "\x1b[>1u";
const NO_MODIFIERS: &str = "\x1b[<u";

/// The terminal, until this is dropped.
pub(super) struct Screen {
    known: Known,
    mouse: bool,
}

impl Screen {
    /// Takes the terminal. What ends the process has to be caught, so that this is dropped.
    pub(super) fn enter(known: Known, mouse: bool) -> io::Result<Self> {
        give_back_on_panic();
        let screen = Screen { known, mouse };
        screen.take()?;
        Ok(screen)
    }

    fn take(&self) -> io::Result<()> {
        enable_raw_mode()?;
        let mouse = if self.mouse { MOUSE } else { "" };
        let title = if self.known == Known::Plain { "" } else { KEEP_TITLE };
        let modifiers = if self.known.tells_modifiers() { MODIFIERS } else { "" };
        write(&format!("{title}{ENTER}{modifiers}{mouse}"))
    }

    fn give(&self) {
        let title = if self.known == Known::Plain { "" } else { GIVE_TITLE_BACK };
        let modifiers = if self.known.tells_modifiers() { NO_MODIFIERS } else { "" };
        // A terminal that is gone needs nothing undone.
        write(&format!("{modifiers}{LEAVE}{title}")).unwrap_or_default();
        disable_raw_mode().unwrap_or_default();
    }

    /// Gives the terminal back, stops the process, and takes the terminal again once the process goes on.
    pub(super) fn stop(&self) -> io::Result<()> {
        self.give();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?;
        self.take()
    }

    /// Tells the person, as this terminal does.
    pub(super) fn tell(&self, text: &str) -> io::Result<()> {
        write(&self.known.tell(text))
    }

    /// Sets the title for so many open questions.
    pub(super) fn title(&self, open: usize) -> io::Result<()> {
        write(&self.known.title(open))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.give();
    }
}

/// Gives the terminal back before a panic is reported: the report would be lost with the alternate screen.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            write(LEAVE).unwrap_or_default();
            disable_raw_mode().unwrap_or_default();
            before(info);
        }));
    });
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
