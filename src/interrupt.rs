//! The signals that end what waits: a command, or a server. Those that a bridge gets are its driver's.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit;

/// SIGINT, SIGTERM and SIGHUP. From when they are caught on, none of them ends the process by itself.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Catches them.
    pub fn catch() -> io::Result<Self> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for one, and returns the exit code that says it.
    pub async fn next(&mut self) -> u8 {
        let number = tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.hangup.recv() => SignalKind::hangup(),
        };
        u8::try_from(number.as_raw_value()).map_or(exit::FAILED, |number| 128 + number)
    }
}
