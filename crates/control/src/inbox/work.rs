//! The work that has to run for an inbox beside its sessions: it takes over what its bridge has changed, and times the
//! questions on the desks of this process.

use std::future::pending;

use super::{handover::Intake, local_desk::LocalDesk};

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
}

impl Work {
    /// Waits until the agent asks a question, or returns at once if one opened since the last call. Cancel safe.
    /// Pending forever if the questions are on a desk of this process, whose thread runs from the start.
    pub async fn opened(&self) {
        match &self.asker {
            AskerWork::Bridge(intake) => intake.opened().await,
            AskerWork::Desk(_) => pending().await,
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
            }
        };
        tokio::select! {
            () = asker => {}
            () = programs.run() => {}
        }
    }
}
