//! The lines that have gone on and are still to be read, in their order. When they are read is left to the bridge.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;

use super::{action::Line, event::Peer};
use crate::limits;

/// What a line is that goes on before it is read. Requests are named by what their ids are compared by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gist {
    /// A request of the agent.
    Request(Arc<str>),
    /// The client's response to a request of the agent.
    Response(Arc<str>),
    /// Something else.
    Other,
}

/// A line that went on before it was read.
#[derive(Debug)]
pub(super) struct UnreadLine {
    pub from: Peer,
    pub line: Line,
    /// When it came.
    pub at: Duration,
    gist: Gist,
}

/// The lines that are still to be read.
#[derive(Debug, Default)]
pub struct Unread {
    lines: VecDeque<UnreadLine>,
    bytes: usize,
}

impl Unread {
    /// Returns whether all lines were read.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the last of the lines that is this request of the agent, or the response to it.
    pub fn about(&self, request: &str) -> Option<&Gist> {
        self.lines.iter().rev().map(|unread| &unread.gist).find(|gist| match gist {
            Gist::Request(key) | Gist::Response(key) => **key == *request,
            Gist::Other => false,
        })
    }

    /// Returns whether one more line may wait. Alone, a line of any length may.
    pub(super) fn has_room(&self, line: &Line) -> bool {
        self.is_empty()
            || (self.lines.len() < limits::UNREAD_LINES
                && self.bytes + line.bytes.len() <= limits::UNREAD_BYTES)
    }

    /// Takes in a line that came now.
    pub(super) fn push(&mut self, from: Peer, mut line: Line, at: Duration, gist: Gist) {
        self.bytes += line.bytes.len();
        if line.bytes.len() <= limits::UNREAD_BYTES {
            // A copy, since the line shares its memory with a whole read.
            line.bytes = Bytes::copy_from_slice(&line.bytes);
        }
        self.lines.push_back(UnreadLine { from, line, at, gist });
    }

    /// Takes out the line that came first.
    pub(super) fn pop(&mut self) -> Option<UnreadLine> {
        let first = self.lines.pop_front()?;
        self.bytes -= first.line.bytes.len();
        Some(first)
    }

    /// Returns when the lines are to be read at the latest.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.lines.front().map(|first| first.at.saturating_add(limits::UNREAD))
    }

    /// Returns how many bytes are held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
