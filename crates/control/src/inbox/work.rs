//! The work that has to run for an inbox beside its sessions: it takes over what its bridge has changed, and times the
//! questions on the desks of this process.

use std::{future::pending, sync::Arc};

use askbridge_core::desk::Record;
use futures::{StreamExt, stream::FuturesUnordered};
use tokio::{sync::mpsc, time::sleep};

use super::{handover::Intake, kept::CallbackSender, ledger::Ledger, local_desk::LocalDesk};
use crate::limits;

/// The background work of an inbox.
#[derive(Debug)]
pub struct Work {
    pub(super) asker: AskerWork,
    pub(super) programs: LocalDesk,
}

#[derive(Debug)]
pub(super) enum AskerWork {
    Bridge(Intake),
    Desk(LocalDesk),
    /// The decisions about questions that are kept, the ledger that keeps them, and what sends them to callbacks.
    Kept(mpsc::Receiver<Arc<Record>>, Arc<dyn Ledger>, Arc<dyn CallbackSender>),
}

impl Work {
    /// Waits until the agent asks a question, or returns at once if one opened since the last call. Cancel safe.
    /// Pending forever if the questions are on a desk of this process, whose thread runs from the start.
    pub async fn opened(&self) {
        match &self.asker {
            AskerWork::Bridge(intake) => intake.opened().await,
            AskerWork::Desk(_) | AskerWork::Kept(..) => pending().await,
        }
    }

    /// Returns whether the bridge has handed over changes that were not taken yet.
    pub(crate) fn has_news(&self) -> bool {
        matches!(&self.asker, AskerWork::Bridge(intake) if intake.has_news())
    }

    /// Takes over the bridge's changes, and enforces the deadlines of the questions on desks of this process, until the
    /// bridge has ended.
    pub async fn run(self) {
        let programs = &self.programs;
        let asker = async {
            match self.asker {
                // The journal has to get the end of the programs' questions as well.
                AskerWork::Bridge(intake) => intake.run(|| programs.close()).await,
                AskerWork::Desk(desk) => desk.run().await,
                AskerWork::Kept(decisions, ledger, callbacks) => {
                    keep(decisions, &*ledger, &*callbacks, programs).await
                }
            }
        };
        tokio::select! {
            () = asker => {}
            () = programs.run() => {}
        }
    }
}

/// Writes each decision, several at a time, so that they share a sync. It is told once it survives a power loss.
async fn keep(
    mut decisions: mpsc::Receiver<Arc<Record>>,
    ledger: &dyn Ledger,
    callbacks: &dyn CallbackSender,
    desk: &LocalDesk,
) {
    let mut writing = FuturesUnordered::new();
    loop {
        tokio::select! {
            Some(record) = decisions.recv() => writing.push(written(record, ledger)),
            Some(record) = writing.next(), if !writing.is_empty() => {
                desk.written(record.id.number);
                callbacks.over(&record);
            }
            else => return,
        }
    }
}

/// Writes a decision, however long the ledger fails, and returns it.
async fn written(record: Arc<Record>, ledger: &dyn Ledger) -> Arc<Record> {
    while !ledger.settled(&record).await {
        // What a ledger that fails was given waits in its queue: it need not be given again until that is written.
        while !ledger.flush().await {
            sleep(limits::KEPT_BACK_OFF).await;
        }
    }
    record
}
