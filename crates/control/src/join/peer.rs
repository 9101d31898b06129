//! The other end of a link: a process at the other end of a connection, or an inbox of this process, which is handed over
//! instead of being connected to. Both understand the same calls.

use std::{path::PathBuf, sync::Arc};

use askbridge_core::{
    desk::{IdPrefix, LostQuestion, MachineName, QuestionId, Record, Refusal, Submission},
    question::{Context, Provenance},
};

use super::{name::LinkName, reported::LinkReport};
use crate::{
    inbox::{AnyInbox, BridgeStatus, Follower, HistoryFilter, PastQuestions, report::MachineReport},
    rpc::{
        client::{CallError, Changes, Client},
        on_machine::OnMachine,
        protocol::{Delta, ReadableList, delta},
    },
};

/// Where the other end of a link is found.
#[derive(Clone, Debug)]
pub(super) enum LinkEnd {
    /// A process that listens at this socket.
    Socket(PathBuf),
    /// An inbox of this process.
    Within(Arc<dyn AnyInbox>),
    /// An `askbridge dial`, over a stream that is made elsewhere.
    Dialed,
}

impl LinkEnd {
    /// Returns the socket, where there is one.
    pub(super) fn socket(&self) -> Option<&PathBuf> {
        match self {
            LinkEnd::Socket(path) => Some(path),
            LinkEnd::Within(_) | LinkEnd::Dialed => None,
        }
    }
}

/// The other end of a link that is up.
#[derive(Clone, Debug)]
pub(super) enum Peer {
    /// A process at the other end of a connection.
    Connected(Arc<Client>),
    /// An inbox of this process.
    Within(Within),
}

/// An inbox of this process, and the name of the machine whose questions it has, if that is another one.
#[derive(Clone, Debug)]
pub(super) struct Within {
    inbox: Arc<dyn AnyInbox>,
    machine: Option<MachineName>,
}

impl Within {
    pub(super) fn new(inbox: Arc<dyn AnyInbox>, machine: Option<MachineName>) -> Self {
        Within { inbox, machine }
    }

    /// Returns whether the inbox still has an asker.
    pub(super) fn is_open(&self) -> bool {
        !self.inbox.store().has_ended()
    }

    pub(super) fn statuses(&self) -> Vec<BridgeStatus> {
        self.here(self.inbox.status())
    }

    /// Returns the open questions.
    pub(super) fn list(&self) -> ReadableList<Record> {
        self.here(self.inbox.store().read(|_, snapshot| snapshot.open()).into())
    }

    /// Returns a value of the inbox, with the names that are used here.
    fn here<T: OnMachine>(&self, said: T) -> T {
        match &self.machine {
            Some(machine) => said.on(machine),
            None => said,
        }
    }

    fn refused(&self, refusal: Refusal) -> CallError {
        CallError::Refused(self.here(refusal))
    }

    fn there(&self, typed: &IdPrefix) -> IdPrefix {
        if self.machine.is_some() { typed.own() } else { typed.clone() }
    }
}

impl Peer {
    /// Returns whether the other end is still there, as far as is known.
    pub(super) fn is_there(&self) -> bool {
        match self {
            Peer::Connected(client) => client.is_connected(),
            Peer::Within(within) => within.is_open(),
        }
    }

    /// See [`Client::statuses`].
    pub(super) async fn statuses(&self) -> Result<Vec<BridgeStatus>, CallError> {
        match self {
            Peer::Connected(client) => client.statuses().await,
            Peer::Within(within) => Ok(within.statuses()),
        }
    }

    /// See [`Client::report`].
    pub(super) async fn report(&self, known: Option<u64>) -> Result<MachineReport, CallError> {
        match self {
            Peer::Connected(client) => client.report(known).await,
            Peer::Within(within) => Ok(within.inbox.report(known).await),
        }
    }

    /// Asks what the other end of a link reports of machines, if it reports anything. With a known revision, the reply comes
    /// with the next one.
    pub(super) async fn report_over(
        &self,
        name: &LinkName,
        known: Option<u64>,
    ) -> Result<LinkReport, CallError> {
        match (name, self) {
            (LinkName::Bridge(_), _) => Ok(LinkReport::Nothing),
            (LinkName::Machine(_) | LinkName::Dialed, _) => self.report(known).await.map(LinkReport::from),
            (LinkName::Elsewhere, Peer::Connected(client)) => {
                client.machine_list(known).await.map(LinkReport::Machines)
            }
            // A process hands each of its machines over by itself.
            (LinkName::Elsewhere, Peer::Within(_)) => Ok(LinkReport::Nothing),
        }
    }

    /// Returns the open questions, if the other end is in this process.
    pub(super) fn list_within(&self) -> Option<ReadableList<Record>> {
        match self {
            Peer::Connected(_) => None,
            Peer::Within(within) => Some(within.list()),
        }
    }

    /// See [`Client::watch`].
    pub(super) async fn watch(&self) -> Result<(), CallError> {
        match self {
            Peer::Connected(client) => client.watch().await,
            Peer::Within(within) => {
                within.inbox.watch().await;
                Ok(())
            }
        }
    }

    /// Returns one question, by its ID or a prefix of it. `None` if it needs a newer askbridge.
    pub(super) async fn get(&self, typed: &IdPrefix) -> Result<Option<Arc<Record>>, CallError> {
        match self {
            Peer::Connected(client) => Ok(client.get(typed).await?.value.map(Arc::new)),
            Peer::Within(within) => {
                let found = within.inbox.look_up(&within.there(typed)).await;
                found.map(|record| Some(within.here(record))).map_err(|refusal| within.refused(refusal))
            }
        }
    }

    /// Returns what led to a question: see [`Inbox::context`](crate::inbox::Inbox::context).
    pub(super) async fn context(&self, record: &Record) -> Result<Arc<Context>, CallError> {
        match self {
            Peer::Connected(client) => client.context(&record.id).await.map(Arc::new),
            Peer::Within(within) => {
                let known = within.inbox.look_up(&within.there(&IdPrefix::from(&record.id))).await;
                let known = known.map_err(|refusal| within.refused(refusal))?;
                within.inbox.context(&known).await.map_err(|refusal| within.refused(refusal))
            }
        }
    }

    /// Returns an image of a question: see [`Inbox::image`](crate::inbox::Inbox::image).
    pub(super) async fn image(&self, record: &Record, number: usize) -> Result<Arc<Vec<u8>>, CallError> {
        match self {
            Peer::Connected(client) => client.image(&record.id, number).await.map(Arc::new),
            Peer::Within(within) => {
                let known = within.inbox.look_up(&within.there(&IdPrefix::from(&record.id))).await;
                let known = known.map_err(|refusal| within.refused(refusal))?;
                within.inbox.image(&known, number).await.map_err(|refusal| within.refused(refusal))
            }
        }
    }

    /// See [`Client::settled`].
    pub(super) async fn settled(&self, limit: usize) -> Result<Vec<Arc<Record>>, CallError> {
        match self {
            Peer::Connected(client) => client.settled(limit).await,
            Peer::Within(within) => Ok(within.here(within.inbox.settled(limit).await)),
        }
    }

    /// See [`Client::lost`].
    pub(super) async fn lost(&self) -> Result<Vec<LostQuestion>, CallError> {
        match self {
            Peer::Connected(client) => client.lost().await,
            Peer::Within(within) => {
                let lost = within.inbox.lost().await;
                lost.map(|lost| within.here(lost)).map_err(|refusal| within.refused(refusal))
            }
        }
    }

    /// See [`Client::past`].
    pub(super) async fn past(&self, filter: HistoryFilter) -> Result<PastQuestions, CallError> {
        match self {
            Peer::Connected(client) => client.past(&filter.into()).await,
            Peer::Within(within) => {
                let past = within.inbox.past(filter).await;
                let here = |past: PastQuestions| PastQuestions {
                    questions: within.here(past.questions),
                    missing: past.missing,
                };
                past.map(here).map_err(|refusal| within.refused(refusal))
            }
        }
    }

    /// Submits to a question, and waits until its asker has read the answer. `None` if the question as it is then needs a
    /// newer askbridge.
    pub(super) async fn submit(
        &self,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> Result<Option<Arc<Record>>, CallError> {
        match self {
            Peer::Connected(client) => Ok(client.submit(id, submission, by).await?.value.map(Arc::new)),
            Peer::Within(within) => {
                let own = if within.machine.is_some() { id.own() } else { id.clone() };
                let done = tokio::select! {
                    // What is known counts, even if the inbox ends at the same moment.
                    biased;
                    done = within.inbox.submit(&own, submission, by) => done,
                    () = within.inbox.store().ended() => return Err(CallError::Gone),
                };
                done.map(|record| Some(within.here(record))).map_err(|refusal| within.refused(refusal))
            }
        }
    }

    /// Follows the changes. The first one is a snapshot.
    pub(super) async fn follow(&self) -> Result<Flow, CallError> {
        match self {
            Peer::Connected(client) => Ok(Flow::Subscribed(client.subscribe().await?)),
            Peer::Within(within) => Ok(Flow::Within(within.inbox.store().follow_within(), within.clone())),
        }
    }
}

/// The changes at the other end of a link.
#[derive(Debug)]
pub(super) enum Flow {
    /// A subscription over a connection.
    Subscribed(Changes),
    /// What changes in an inbox of this process.
    Within(Follower, Within),
}

impl Flow {
    /// Waits for the next message. `None` once the other end is gone, or after we read a subscription too slowly.
    pub(super) async fn next(&mut self) -> Option<Delta> {
        match self {
            Flow::Subscribed(changes) => changes.next().await,
            Flow::Within(follower, within) => {
                let delta = delta(&follower.next().await?);
                Some(Delta { questions: within.here(delta.questions), ..delta })
            }
        }
    }

    /// Returns whether messages were lost, because we read a subscription too slowly.
    pub(super) fn has_lost(&self) -> bool {
        match self {
            Flow::Subscribed(changes) => changes.have_lost(),
            Flow::Within(..) => false,
        }
    }
}
