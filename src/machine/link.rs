//! What is known of one bridge: whether it can be asked, and which of its questions are not shown.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    gaps::{Counted, Gaps},
    handshake::{Connection, Feed, Greeted},
};
use crate::{
    control::protocol::{BridgeStatus, Unreadable},
    desk::{QuestionId, Record},
};

/// One bridge whose socket was found.
#[derive(Debug)]
pub(super) struct Link {
    pub path: PathBuf,
    pub peer: Peer,
    /// Open questions that need a newer askbridge.
    pub unreadable: Counted,
    /// Open questions that there is no room for.
    pub left_out: Counted,
}

#[derive(Debug)]
pub(super) enum Peer {
    /// The bridge is being connected to for the first time.
    New,
    /// The feed is here until it is followed. Until then it is kept: a connection whose subscription was cancelled may
    /// be closed before the reply to an answer is read.
    Connected(Box<Connection>, Option<Box<Feed>>),
    /// The bridge was read once, and is not connected.
    Read(Box<Greeted>),
    Unreachable,
    Busy,
    Older,
}

impl Link {
    pub(super) fn new(path: &Path) -> Self {
        let (unreadable, left_out) = (Counted::default(), Counted::default());
        Link { path: path.to_owned(), peer: Peer::New, unreadable, left_out }
    }

    pub(super) fn status(&self) -> Option<BridgeStatus> {
        let mut status = match &self.peer {
            Peer::Connected(connection, _) => connection.greeted.status(),
            Peer::Read(greeted) => greeted.status(),
            Peer::New | Peer::Unreachable | Peer::Busy | Peer::Older => return None,
        };
        status.unreadable = self.unreadable.count();
        Some(status)
    }

    /// Counts the questions of a message that are not shown. A snapshot begins anew.
    pub(super) fn count(
        &mut self,
        begins: bool,
        items: &[Arc<Record>],
        unreadable: Vec<Unreadable>,
        left_out: Vec<QuestionId>,
    ) {
        if begins {
            self.unreadable.clear();
            self.left_out.clear();
        }
        for record in items {
            self.unreadable.remove(&record.id);
            self.left_out.remove(&record.id);
        }
        for item in unreadable {
            if let Some(id) = &item.id {
                self.left_out.remove(id);
                self.unreadable.remove(id);
            }
            if !item.is_over {
                self.unreadable.insert(item.id);
            }
        }
        for id in left_out {
            self.left_out.insert(Some(id));
        }
    }
}

/// Returns what is left out because of these bridges.
pub(super) fn gaps<'a>(links: impl Iterator<Item = &'a Link>) -> Gaps {
    let mut gaps = Gaps::default();
    for link in links {
        match link.peer {
            Peer::Unreachable => gaps.unreachable.push(link.path.clone()),
            Peer::Busy => gaps.busy.push(link.path.clone()),
            Peer::Older => gaps.older.push(link.path.clone()),
            Peer::New | Peer::Connected(..) | Peer::Read(_) => {}
        }
        gaps.unreadable += link.unreadable.count();
        gaps.left_out += link.left_out.count();
    }
    gaps
}
