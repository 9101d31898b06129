//! One attempt to reach a machine: starts its command, and exchanges greetings with the `askbridge dial` there, or
//! returns why that failed. Keeping the connection is left to `holder.rs`.

use std::{mem, time::Duration};

use askbridge_core::desk::MachineName;
use tokio::time::timeout;

use super::{
    failure::{Failure, repeated, why_not},
    route::{Route, Running},
};
use crate::{
    inbox::BridgeStatus,
    join::name::LinkName,
    limits::remote as limit,
    rpc::client::{self, Client},
};

/// A machine that has replied.
pub(super) struct Dialed {
    pub(super) running: Running,
    pub(super) client: Client,
    /// The version of the askbridge there.
    pub(super) version: String,
}

/// What an attempt found on a machine.
#[derive(Debug)]
pub struct Found {
    /// The version of the askbridge there.
    pub version: String,
    /// Its bridges.
    pub bridges: Vec<BridgeStatus>,
}

/// Connects to a machine, and ends the connection. The error says why the machine cannot be reached.
pub async fn attempt(name: &MachineName, route: &Route, patience: Duration) -> Result<Found, Failure> {
    let Dialed { mut client, version, .. } = dial(name, route, patience).await?;
    Ok(Found { version, bridges: own(mem::take(&mut client.greeting)) })
}

/// Connects to a machine, which may take this long. The error says why it cannot be reached.
pub(super) async fn dial(name: &MachineName, route: &Route, patience: Duration) -> Result<Dialed, Failure> {
    let mut running =
        route.start().map_err(|error| Failure::new(format!("its command cannot be started: {error}")))?;
    let Some(stream) = running.stream() else { return Err(Failure::new("its command has no stdin")) };
    let mut skipped = 0;
    let greeted = client::connect_dial(stream, |line| {
        skipped += 1;
        tracing::debug!(machine = %name, line = repeated(line), "skipped a line before the greeting");
        skipped < limit::BANNER
    });
    match timeout(patience, greeted).await {
        Ok(Ok((client, version))) => Ok(Dialed { running, client, version: repeated(&version) }),
        Ok(Err(_)) if skipped >= limit::BANNER => {
            Err(Failure::new(format!("none of its first {skipped} lines is the greeting of askbridge")))
        }
        // The stderr of the command explains more.
        Ok(Err(_)) => Err(why_not(name.as_str(), &running.end().await)),
        Err(_) => match running.end().await {
            ended if ended.said.is_empty() => {
                Err(Failure::new(format!("no askbridge replied within {} s", patience.as_secs())))
            }
            ended => Err(why_not(name.as_str(), &ended)),
        },
    }
}

/// Returns the machine's own bridges, up to the limit.
pub(super) fn own(mut statuses: Vec<BridgeStatus>) -> Vec<BridgeStatus> {
    statuses.retain(|status| LinkName::Dialed.has(&status.bridge));
    statuses.truncate(limit::BRIDGES);
    statuses
}
