//! Decides about questions that no person can answer, beside the socket of a bridge: they are rejected, or the agent is
//! ended. No answer is ever made up. When no person can answer is left to the settings.

use std::{
    collections::BTreeSet,
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::process::{Signal, getpid, kill_process};
use tokio::time::{Instant, sleep_until};

use crate::{
    config::Unattended,
    control::{Batch, BridgeInbox, Inbox, host::Service, stop::Stop},
    desk::{QuestionId, Record, Submission},
    limits, log,
    question::{Provenance, Responder},
    terminal::{cut, printable_line},
};

/// The name under which it rejects, beside those of the person's rules.
const NAME: &str = "unattended";
/// What the agent is told, where it has a place for that.
const REASON: &str = "no person can answer here";
/// The most columns of a question in the log.
const HEADLINE: usize = 200;

/// Whether the agent was ended because of a question. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Failed(Arc<AtomicBool>);

impl Failed {
    /// Returns whether it was.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Decides about the questions of one bridge.
#[derive(Debug)]
pub struct UnattendedService {
    then: Unattended,
    /// Whether it is for questions that the client does not show, and no others.
    no_client: bool,
    failed: Failed,
}

impl UnattendedService {
    /// Returns a service that does this about questions, or about those alone that no client shows. What ends the agent
    /// sets `failed`.
    pub fn new(then: Unattended, no_client: bool, failed: Failed) -> Self {
        UnattendedService { then, no_client, failed }
    }

    async fn follow(self, inbox: BridgeInbox) {
        let mut follower = inbox.store().follow();
        // Rules, and answers from before, come first.
        let mut waiting: Vec<(Instant, QuestionId)> = Vec::new();
        let mut seen = BTreeSet::new();
        loop {
            let due = waiting.first().map(|(due, _)| *due);
            tokio::select! {
                batch = follower.next() => {
                    let Some(batch) = batch else { return };
                    let changed: Vec<_> = match batch {
                        Batch::Snapshot { open, .. } => open,
                        Batch::Events { events, .. } => {
                            events.into_iter().map(|(_, event)| Arc::clone(event.record())).collect()
                        }
                    };
                    let due = Instant::now() + limits::UNATTENDED;
                    let new = changed.iter().filter(|record| self.concerns(record));
                    waiting.extend(
                        new.filter(|record| seen.insert(record.id.clone())).map(|record| (due, record.id.clone())),
                    );
                    seen.retain(|id| inbox.store().read(|_, now| now.get(id).is_some_and(|it| it.is_open())));
                }
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    let (_, id) = waiting.remove(0);
                    self.decide(&inbox, &id).await;
                }
            }
        }
    }

    fn concerns(&self, record: &Record) -> bool {
        record.is_open() && (record.elsewhere || !self.no_client)
    }

    async fn decide(&self, inbox: &BridgeInbox, id: &QuestionId) {
        let known = inbox.store().read(|_, now| now.get(id).cloned());
        let Some(record) = known.filter(|record| self.concerns(record)) else { return };
        match self.then {
            Unattended::Wait => {}
            Unattended::Reject => {
                let by = Provenance { responder: Responder::Rule, name: Some(NAME.to_owned()) };
                let rejected = inbox.submit(id, Submission::Reject(Some(REASON.to_owned())), by).await;
                if let Err(error) = rejected {
                    tracing::debug!(%id, %error, "a question was settled before it was rejected");
                }
            }
            Unattended::Fail => {
                let headline = record.question.headline();
                let asked = printable_line(headline.trim());
                log::notice(&format!("no person can answer question {id}: {}", cut(&asked, HEADLINE)));
                self.failed.0.store(true, Ordering::Relaxed);
                // As if the person had ended the bridge: the agent has its time to end.
                if let Err(error) = kill_process(getpid(), Signal::TERM) {
                    tracing::warn!(%error, "the agent is not ended");
                }
            }
        }
    }
}

impl Service for UnattendedService {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(self: Box<Self>, inbox: BridgeInbox, mut stop: Stop) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            tokio::select! {
                () = self.follow(inbox) => {}
                () = stop.stopped() => {}
            }
        })
    }
}
