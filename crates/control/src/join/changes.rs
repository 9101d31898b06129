//! Copies the messages that arrive from a bridge or a machine into the store.
//! Connecting is left to `connections.rs`.

use std::{collections::BTreeSet, future::pending, iter::repeat, sync::Arc, time::Duration};

use askbridge_core::desk::{IdPrefix, QuestionId, Record, Refusal, State};
use futures::{StreamExt, stream};
use tokio::time::{Instant, sleep};

use super::{
    connections::Connections,
    handshake::{BridgeConnection, Feed, TimedStatus, get, subscribe},
    link::{LinkState, Stored, lost, put_all},
    name::LinkName,
    peer::{LinkEnd, Peer},
};
use crate::{
    limits,
    rpc::{
        client::CallError,
        protocol::{Delta, ReadableList},
    },
};

impl Connections {
    /// Stores the first snapshot of a new connection. Returns whether one arrived.
    pub(super) async fn begin(
        &self,
        name: &LinkName,
        end: &LinkEnd,
        connection: Box<BridgeConnection>,
        mut feed: Box<Feed>,
    ) -> bool {
        let mut pause = limits::DEBOUNCE;
        loop {
            match feed.next().await {
                Some(delta) if delta.snapshot => {
                    let more = delta.more;
                    if !self.apply(name, end, &connection.peer, &mut feed, delta).await {
                        return false;
                    }
                    if !more {
                        self.change(name, end, |link| {
                            link.report.clone_from(&connection.report);
                            link.state = LinkState::Connected(connection, Some(feed));
                        });
                        return true;
                    }
                }
                // A subscription begins with a snapshot. A change before that cannot be applied to anything.
                Some(_) => return false,
                // The subscription also ends if we read too slowly, so the bridge may still run.
                None => {
                    let Some(again) = subscribe(&connection.peer, pause).await else { return false };
                    *feed = again;
                    pause = longer(pause);
                }
            }
        }
    }

    /// Stores the changes of a connected bridge, until the connection ends.
    pub(super) async fn keep_up(&self, name: &LinkName, end: &LinkEnd) {
        let Some((peer, feed)) = self.take_feed(name) else { return };
        tokio::select! {
            () = self.keep_up_questions(name, end, &peer, feed) => {}
            () = self.keep_up_report(name, end, &peer) => {}
        }
    }

    /// Copies the state of the connection to a machine, its gaps and its bridges, each time that one of them changes.
    async fn keep_up_report(&self, name: &LinkName, end: &LinkEnd, peer: &Peer) {
        if let LinkName::Bridge(_) = name {
            return pending().await;
        }
        let mut known = self.lock().get(name).and_then(|link| link.report.revision());
        loop {
            let report = match (name, peer.report_over(name, known).await) {
                (_, Ok(report)) => report,
                // It is of an earlier version.
                (LinkName::Dialed, Err(CallError::Refused(_))) => return pending().await,
                (_, Err(_)) => return,
            };
            let statuses = match name {
                // Which bridges it has is read with each heartbeat.
                LinkName::Bridge(_) | LinkName::Dialed => None,
                LinkName::Machine(_) | LinkName::Elsewhere => peer.statuses().await.ok(),
            };
            known = report.revision();
            let before = self.lock().get(name).and_then(|link| link.report.connected_at());
            // Who hears that a machine is connected finds its questions.
            if report.connected_at().is_some_and(|since| before != Some(since))
                && let Some(questions) = peer.list_within()
            {
                self.take_over(name, end, false, questions);
            }
            self.change(name, end, |link| {
                link.report = report;
                if let (LinkState::Connected(connection, _), Some(statuses)) = (&mut link.state, statuses) {
                    connection.greeted = TimedStatus::now(statuses);
                }
            });
            // A machine that replies at once each time must not keep us busy.
            sleep(limits::DEBOUNCE).await;
        }
    }

    async fn keep_up_questions(&self, name: &LinkName, end: &LinkEnd, peer: &Peer, feed: Option<Box<Feed>>) {
        let mut pause = limits::DEBOUNCE;
        let mut next = match feed {
            Some(feed) => Some(*feed),
            // Only single questions were asked for until now.
            None => Box::pin(subscribe(peer, pause)).await,
        };
        while let Some(mut feed) = next {
            let since = Instant::now();
            while let Some(delta) = feed.next().await {
                // A process has thousands of links, most of which are idle: a boxed future is freed before the next wait.
                if !Box::pin(self.apply(name, end, peer, &mut feed, delta)).await {
                    return;
                }
            }
            // The subscription also ends if we read too slowly: a new one begins with a snapshot.
            if feed.has_lost() {
                self.change(name, end, |link| link.has_lost = true);
            }
            if since.elapsed() > limits::RECONNECT_BACK_OFF {
                pause = limits::DEBOUNCE;
            }
            next = Box::pin(subscribe(peer, pause)).await;
            pause = longer(pause);
        }
    }

    fn take_feed(&self, name: &LinkName) -> Option<(Peer, Option<Box<Feed>>)> {
        match &mut self.lock().get_mut(name)?.state {
            LinkState::Connected(connection, feed) => Some((connection.peer.clone(), feed.take())),
            _ => None,
        }
    }

    /// Applies one message of a bridge. Returns false if the message breaks a limit.
    async fn apply(
        &self,
        name: &LinkName,
        end: &LinkEnd,
        peer: &Peer,
        feed: &mut Feed,
        delta: Delta,
    ) -> bool {
        let Delta { snapshot, more, questions, .. } = delta;
        let begins = snapshot && feed.listed.is_none();
        if snapshot {
            let listed = feed.listed.get_or_insert_default();
            let own = |id: &&QuestionId| name.has(&id.bridge);
            listed.extend(questions.items.iter().map(|record| &record.id).filter(own).cloned());
            listed
                .extend(questions.unreadable.iter().filter_map(|item| item.id.as_ref()).filter(own).cloned());
            // A snapshot comes in any number of messages, so a hostile bridge could send IDs without end.
            if listed.len() > name.most_listed() {
                tracing::warn!(bridge = %name, "a bridge lists more questions than are allowed");
                return false;
            }
        }
        let has_strange = self.take_over(name, end, begins, questions);
        if has_strange && !std::mem::replace(&mut feed.warned, true) {
            tracing::warn!(bridge = %name, "a bridge lists questions of another bridge; they are left out");
        }
        self.heard.send_replace(());
        if snapshot && !more {
            let listed = feed.listed.take().unwrap_or_default();
            self.ask_about_missing(name, peer, &listed).await;
            self.change(name, end, |link| link.has_lost = feed.has_lost());
        }
        true
    }

    /// Stores the questions of a bridge's message. Leaves out questions of other bridges, for which this bridge cannot
    /// speak, and returns whether there were any.
    pub(super) fn take_over(
        &self,
        name: &LinkName,
        end: &LinkEnd,
        begins: bool,
        questions: ReadableList<Record>,
    ) -> bool {
        let has_foreign = questions.items.iter().any(|record| !name.owns(record));
        let stored = self.put(name, questions);
        self.change(name, end, |link| link.count(begins, stored));
        has_foreign
    }

    /// Stores questions of a bridge, and returns what its link has to count.
    pub(super) fn put(&self, name: &LinkName, questions: ReadableList<Record>) -> Stored {
        let ReadableList { items, sizes, mut unreadable, .. } = questions;
        let sizes = sizes.into_iter().map(Some).chain(repeat(None));
        let mut items: Vec<_> = items.into_iter().zip(sizes).collect();
        items.retain(|(record, _)| name.owns(record));
        unreadable.retain(|item| item.id.as_ref().is_none_or(|id| name.has(&id.bridge)));
        let left_out =
            self.stores.edit(name.is_here(), |editor| put_all(editor, name.room(), &items, &unreadable));
        Stored { records: items.into_iter().map(|(record, _)| record).collect(), unreadable, left_out }
    }

    /// Asks the bridge how questions ended that were open or lost before, and that the snapshot lacks.
    async fn ask_about_missing(&self, name: &LinkName, peer: &Peer, listed: &BTreeSet<QuestionId>) {
        let missing: Vec<_> = self.stores.all().read(|_, snapshot| {
            let known = snapshot.open_ids().chain(snapshot.lost_ids());
            known.filter(|id| name.has(&id.bridge) && !listed.contains(id)).cloned().collect()
        });
        let asked = stream::iter(missing).map(async |id| {
            let answer = get(peer, &IdPrefix::from(&id)).await;
            (id, answer)
        });
        let answers: Vec<_> = asked.buffer_unordered(limits::LOOK_UPS).collect().await;
        let told = lost();
        self.stores.edit(name.is_here(), |editor| {
            for (id, answer) in &answers {
                match answer {
                    Ok(Some(record)) if record.id == *id && name.owns(record) => {
                        match record.state {
                            // Followers get a settlement, which the record of a lost question lacks.
                            State::Lost => editor.lose_one(id, &told),
                            _ => editor.put(Arc::clone(record)),
                        }
                    }
                    // The question is settled, but its outcome is forgotten or cannot be read.
                    Ok(_) | Err(CallError::Refused(Refusal::NotFound)) => editor.forget(id),
                    Err(_) => editor.lose_one(id, &told),
                }
            }
        });
    }
}

/// Returns the pause before the next new subscription. A bridge that sends faster than this process reads would keep it
/// busy with snapshots.
fn longer(pause: Duration) -> Duration {
    limits::RECONNECT_BACK_OFF.min(2 * pause)
}
