//! What waits in the input queue of a terminal in its usual mode, where the kernel hands on whole lines.
//! Raw mode is left to `taken.rs`.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    termios::{QueueSelector, tcflush},
};

use super::taken::Keyboard;
use crate::limits;

/// Throws away what was typed and not read, until nothing has come for this long. Does nothing where stdin is no terminal.
pub fn forget(quiet: Duration) {
    let until = Instant::now() + limits::DRAIN;
    // A pipe or a file has no queue that could be flushed.
    while tcflush(io::stdin(), QueueSelector::IFlush).is_ok() {
        thread::sleep(quiet);
        if !is_ready(Timespec::default()) || Instant::now() > until {
            break;
        }
    }
    tcflush(io::stdin(), QueueSelector::IFlush).unwrap_or_default();
}

/// Returns whether another line is there, or comes so soon that nobody typed it.
pub fn more_lines() -> bool {
    is_ready(Timespec::try_from(limits::BURST).unwrap_or_default())
}

fn is_ready(within: Timespec) -> bool {
    let stdin = io::stdin();
    poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&within)).is_ok_and(|ready| ready > 0)
}

/// Throws away what a person still types while a command ends, until nothing has come for this long: it would run in the
/// shell. Does nothing where stdin is no terminal.
pub fn drain(quiet: Duration) {
    // In raw mode, the beginning of a line counts as well.
    let Ok(keyboard) = Keyboard::take(|_| false) else { return };
    let until = Instant::now() + limits::DRAIN;
    while let Some(left) = keyboard.noise(quiet).filter(|_| Instant::now() < until) {
        thread::sleep(left);
    }
}
