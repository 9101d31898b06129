//! Who serves: `askbridge inbox` for all the bridges of the machine, or a bridge for itself.

use std::{
    future::pending,
    io::{self, Write},
    net::SocketAddr,
    process::ExitCode,
    sync::Arc,
};

use futures::FutureExt;
use thiserror::Error;
use tokio::sync::oneshot;

use super::http::{ServeError, Server};
use crate::control::traffic::Traffic;
use crate::{
    cli::{HttpArgs, InboxArgs},
    control::{
        self,
        old::{Inbox, Owner, host::Host},
    },
    exit,
    machine::{
        bridges::Machine,
        discovery::{self, DiscoveryError},
    },
    signals::{self, Signals},
};

/// What ends `askbridge inbox`.
#[derive(Debug, Error)]
pub enum InboxError {
    /// The runtime could not be set up.
    #[error("cannot set up the runtime: {0}")]
    Runtime(io::Error),
    /// It cannot be served.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The bridges cannot be followed.
    #[error("cannot follow the bridges: {0}")]
    Follow(#[from] DiscoveryError),
}

/// Who asks, as others show it, where somebody asks by this server.
const ASKER: &str = "askbridge inbox";

/// Serves the inboxes of all the bridges of the machine, until a signal ends it. What is asked here waits in an inbox
/// of its own, which others find like that of a bridge.
pub fn inbox(args: &InboxArgs) -> Result<ExitCode, InboxError> {
    let runtime = signals::runtime().map_err(InboxError::Runtime)?;
    runtime.block_on(async {
        // Before there is a socket, so that none is left.
        let mut signals = Signals::catch().map_err(InboxError::Runtime)?;
        let server = Server::bind(args.addr, &args.http).await?;
        // As long as the feed is there, the inbox is open.
        let (own, _feed) = control::old::new(Owner::here(ASKER.to_owned()));
        let mut host = Host::bind(own.clone())?;
        host.serve(async |_, _| ()).map_err(InboxError::Runtime)?;
        let joined = Machine::open_with(&discovery::folder()?, own).await?;
        announce(&server);
        let code = tokio::select! {
            followed = joined.follow() => followed.map(|()| exit::OK)?,
            () = server.run(joined.clone(), None, pending()) => exit::OK,
            code = signals.next() => code,
        };
        Ok(ExitCode::from(code))
    })
}

/// Returns what serves the inbox of one bridge until it is told to end. `traffic` is where the bridge says how much goes
/// through it, if it does. A bridge that cannot listen still bridges: another one of the same editor may have the
/// address.
pub fn beside(
    address: SocketAddr,
    args: HttpArgs,
    traffic: Option<Arc<Traffic>>,
) -> impl AsyncFnOnce(Inbox, Ended) + Send + 'static {
    async move |inbox: Inbox, ended: Ended| match Server::bind(address, &args).await {
        Ok(server) => {
            announce(&server);
            server.run(inbox, traffic, ended.map(drop)).await;
        }
        Err(error) => tracing::warn!(%error, "nothing is served over HTTP"),
    }
}

/// Tells, by its end, that it is time to end.
type Ended = oneshot::Receiver<()>;

/// Says on stderr where it listens: stdout belongs to the protocol (I5).
fn announce(server: &Server) {
    // If stderr is gone, it is served all the same.
    drop(io::stderr().write_all(server.announcement().as_bytes()));
}
