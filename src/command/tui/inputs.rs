//! What comes from the terminal: keys and other inputs as a stream, and the replies to a query.
//! What the replies mean is left to `graphics.rs`, what inputs do to `run.rs`.

use std::{
    io::{self, Write},
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};

use crossterm::event::{Event as Input, EventStream};
use futures::Stream;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read},
    stdio::stdin,
    termios::tcgetwinsize,
};

use super::graphics::{Cell, QUERY, Replies};
use crate::limits;

/// The inputs of the terminal.
pub(super) struct Inputs {
    /// It is always there, but for the moment in which it is replaced.
    stream: Option<EventStream>,
}

impl Inputs {
    pub(super) fn new() -> Self {
        Inputs { stream: Some(EventStream::new()) }
    }

    /// Asks the terminal what images it shows, and waits a bounded time for its replies. Meanwhile nothing else reads what it
    /// sends.
    pub(super) fn query(&mut self) -> io::Result<Replies> {
        // The thread that reads for the stream ends with it. A new stream begins once that one has left the terminal alone, and
        // begins to read with the first input that is waited for.
        self.stream = None;
        self.stream = Some(EventStream::new());
        let mut stdout = io::stdout().lock();
        stdout.write_all(QUERY.as_bytes())?;
        stdout.flush()?;
        let (end, mut sent) = (Instant::now() + limits::TERMINAL_REPLY, Vec::new());
        let mut replies = Replies::default();
        while !replies.is_whole && sent.len() < limits::TERMINAL_REPLIES && is_ready(end)? {
            let mut chunk = [0; 512];
            match read(stdin(), &mut chunk) {
                Ok(0) => break,
                Ok(count) => sent.extend_from_slice(&chunk[..count]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
            replies = Replies::read(&sent);
        }
        Ok(replies)
    }
}

impl Stream for Inputs {
    type Item = io::Result<Input>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.stream {
            Some(stream) => Pin::new(stream).poll_next(context),
            None => Poll::Ready(None),
        }
    }
}

/// Waits until the terminal has sent something, or until this time; returns whether it has.
fn is_ready(end: Instant) -> io::Result<bool> {
    loop {
        let Ok(left) = Timespec::try_from(end.saturating_duration_since(Instant::now())) else {
            return Ok(false);
        };
        let stdin = stdin();
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&left)) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns the size of a cell, as the kernel knows it: many terminals tell it, and ssh takes it along.
pub(super) fn cell() -> Option<Cell> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    Cell::of(size.ws_xpixel.checked_div(size.ws_col)?, size.ws_ypixel.checked_div(size.ws_row)?)
}
