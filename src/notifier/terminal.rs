//! The terminal that the bridge was started in: a bell, its title, and its own notification where it is known to have
//! one.

use std::{
    env,
    fs::{File, OpenOptions},
    io::{self, IsTerminal, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::OFlags;

use crate::{notify::Message, present::attention::TerminalKind};

/// Keeps the title on the terminal's stack, and takes it from there again.
const KEEP_TITLE: &str = "\x1b[22;0t";
const TAKE_TITLE: &str = "\x1b[23;0t";

/// Draws the person's attention.
pub(super) fn ring_terminal(terminal: &Path, message: &Message) -> io::Result<()> {
    let known = known();
    let title = match known {
        TerminalKind::Plain => String::new(),
        _ => KEEP_TITLE.to_owned() + &known.title(1),
    };
    open_terminal(terminal)?.write_all((known.tell(&message.title) + &title).as_bytes())
}

/// Says something, and leaves the title alone.
pub(super) fn ring_briefly(terminal: &Path, message: &Message) -> io::Result<()> {
    open_terminal(terminal)?.write_all(known().tell(&message.title).as_bytes())
}

/// Gives back the title.
pub(super) fn restore_title(terminal: &Path) -> io::Result<()> {
    match known() {
        TerminalKind::Plain => Ok(()),
        _ => open_terminal(terminal)?.write_all(TAKE_TITLE.as_bytes()),
    }
}

fn known() -> TerminalKind {
    TerminalKind::of(|name| env::var(name).ok())
}

/// Opens a terminal, without taking it as our own and without waiting for one that hangs.
fn open_terminal(terminal: &Path) -> io::Result<File> {
    let flags = (OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file = OpenOptions::new().write(true).custom_flags(flags).open(terminal)?;
    if file.is_terminal() { Ok(file) } else { Err(io::Error::other("it is not a terminal")) }
}
