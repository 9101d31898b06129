//! A connection to one machine, which another process holds.

use std::sync::Arc;

use tokio::time::timeout;

use crate::{
    inbox::report::MachineReport,
    limits::remote as limit,
    rpc::client::{CallError, Client},
};

/// A connection to one machine, which another process holds.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The connection, which is that of this machine alone.
    pub client: Arc<Client>,
    /// How the machine was connected when it was asked last.
    pub report: MachineReport,
}

impl Selected {
    /// Lets the process that holds the machine try it now if it is not connected, and waits until it has. It takes no longer
    /// than an answer waits for a connection.
    pub async fn try_now(&mut self) {
        if self.report.connected_at.is_some() {
            return;
        }
        let trying = async {
            tokio::select! {
                // What was lost is asked for over a connection, which this call makes the process try.
                _ = self.client.lost() => self.client.report(None).await,
                report = self.tried() => report,
            }
        };
        // What it has led to is shown by what is listed next.
        if let Ok(Ok(report)) = timeout(limit::CONNECT, trying).await {
            self.report = report;
        }
    }

    /// Waits until the machine is connected, or an attempt has failed.
    async fn tried(&self) -> Result<MachineReport, CallError> {
        let MachineReport { retry_at, mut revision, .. } = self.report.clone();
        loop {
            let report = self.client.report(Some(revision)).await?;
            if report.connected_at.is_some() || (report.retry_at.is_some() && report.retry_at != retry_at) {
                return Ok(report);
            }
            revision = report.revision;
        }
    }
}
