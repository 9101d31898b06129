//! What is known of one bridge: whether it can be asked, and which of its questions are not shown.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    gaps::{Gaps, HiddenQuestions},
    handshake::{BridgeConnection, Feed, TimedStatus},
};
use crate::{
    control::protocol::UnreadableItem,
    control::traffic::BridgeStatus,
    desk::{QuestionId, Record},
};

/// One bridge whose socket was found.
#[derive(Debug)]
pub(super) struct BridgeLink {
    pub path: PathBuf,
    pub peer: LinkState,
    /// Open questions that need a newer askbridge.
    pub unreadable: HiddenQuestions,
    /// Open questions that there is no room for.
    pub left_out: HiddenQuestions,
}

#[derive(Debug)]
pub(super) enum LinkState {
    /// The bridge is being connected to for the first time.
    New,
    /// The feed is here until it is followed. Until then it is kept: a connection whose subscription was cancelled may
    /// be closed before the reply to an answer is read.
    Connected(Box<BridgeConnection>, Option<Box<Feed>>),
    /// The bridge was read once, and is not connected.
    Read(Box<TimedStatus>),
    Unreachable,
    Busy,
    Older,
}

impl BridgeLink {
    pub(super) fn new(path: &Path) -> Self {
        let (unreadable, left_out) = (HiddenQuestions::default(), HiddenQuestions::default());
        BridgeLink { path: path.to_owned(), peer: LinkState::New, unreadable, left_out }
    }

    pub(super) fn status(&self) -> Option<BridgeStatus> {
        let mut status = match &self.peer {
            LinkState::Connected(connection, _) => connection.greeted.status(),
            LinkState::Read(greeted) => greeted.status(),
            LinkState::New | LinkState::Unreachable | LinkState::Busy | LinkState::Older => return None,
        };
        status.unreadable = self.unreadable.count();
        Some(status)
    }

    /// Counts the questions of a message that are not shown. A snapshot begins anew.
    pub(super) fn count(
        &mut self,
        begins: bool,
        items: &[Arc<Record>],
        unreadable: Vec<UnreadableItem>,
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
pub(super) fn gaps<'a>(links: impl Iterator<Item = &'a BridgeLink>) -> Gaps {
    let mut gaps = Gaps::default();
    for link in links {
        match link.peer {
            LinkState::Unreachable => gaps.unreachable.push(link.path.clone()),
            LinkState::Busy => gaps.busy.push(link.path.clone()),
            LinkState::Older => gaps.older.push(link.path.clone()),
            LinkState::New | LinkState::Connected(..) | LinkState::Read(_) => {}
        }
        gaps.unreadable += link.unreadable.count();
        gaps.left_out += link.left_out.count();
    }
    gaps
}
