//! The person at this terminal, who types at prompts of plain lines. What was typed before a prompt could be read answers
//! nothing, and nothing of it is left to the shell.
//! The prompts are left to `converse.rs`, and what keys do in a line to `keyboard` of `crates/os`.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use askbridge_os::{
    keyboard::{Entry, Keyboard, Takes, drain},
    limits,
};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc::{Receiver, channel},
    time::sleep,
};

use super::runner::print;

/// Entries that may wait. There is one at a time: the keyboard takes nothing until the next prompt.
const WAITING: usize = 1;

/// Returns whether a person can be asked: stdin and stdout are terminals.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// What a person may have typed ahead of a command that asks. It is thrown away at the end of the command, even if
/// nothing was asked: otherwise it would run in the shell.
pub(super) struct Leftovers(bool);

impl Leftovers {
    /// Begins at the start of a command.
    pub(super) fn of_person() -> Self {
        Leftovers(can_ask())
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        if self.0 {
            drain(limits::BURST);
        }
    }
}

/// The person and their keyboard. Dropping the value gives the terminal back.
pub(super) struct Typist {
    keyboard: Keyboard,
    entries: Receiver<Entry>,
    stops: Signal,
    prompt: String,
}

impl Typist {
    /// Takes the terminal. The caller catches the signals that end the process.
    pub(super) fn begin(mut leftovers: Leftovers) -> io::Result<Self> {
        // The signal of Ctrl-Z is caught before the terminal is taken, so that a stop gives it back.
        let stops = signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?;
        let (give, entries) = channel(WAITING);
        let keyboard = Keyboard::take(move |entry| give.blocking_send(entry).is_ok())?;
        // From now on, the keyboard throws away what is left.
        leftovers.0 = false;
        Ok(Typist { keyboard, entries, stops, prompt: String::new() })
    }

    /// Throws away what was typed, until nothing has been typed for this long.
    pub(super) async fn quiet(&self, time: Duration) {
        self.keyboard.hush();
        while let Some(left) = self.keyboard.noise(time) {
            sleep(left).await;
        }
    }

    /// Shows a prompt, and takes what is typed from now on.
    pub(super) fn ask(&mut self, prompt: String, takes: Takes) {
        self.keyboard.ask(&prompt, takes);
        self.prompt = prompt;
    }

    /// Shows the prompt again, with what is typed so far.
    pub(super) fn ask_again(&self) -> io::Result<()> {
        print(&format!("{}{}", self.prompt, self.keyboard.typed()))
    }

    /// Waits for what the person gives at the prompt. Dropping the future loses nothing.
    pub(super) async fn entry(&mut self) -> io::Result<Entry> {
        loop {
            tokio::select! {
                entry = self.entries.recv() => return Ok(entry.unwrap_or(Entry::End)),
                Some(()) = self.stops.recv() => {
                    self.keyboard.stop()?;
                    self.ask_again()?;
                }
            }
        }
    }
}
