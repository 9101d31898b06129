//! Puts the parts together: the inbox of a bridge, its host with the services beside the socket, and the driver.
//! What the settings are is left to `cli`; what the parts do is left to them.

use std::{future::pending, io, process::ExitCode, sync::Arc};

use askbridge::{
    config::{InboxSettings, ProxySettings, RunSettings, ServeSettings},
    control::{
        self, Traffic,
        old::{Feed, Inbox, Owner, host::Host},
    },
    driver::{self, FatalError},
    exit,
    machine::{
        bridges::Machine,
        discovery::{self, DiscoveryError},
    },
    serve::{self, ServeError, Server},
    signals::{self, Signals},
};
use thiserror::Error;

/// Runs a bridge around an agent that it starts.
pub(crate) fn run(settings: &RunSettings) -> Result<ExitCode, FatalError> {
    let words: Vec<_> = settings.agent.iter().map(|word| word.to_string_lossy()).collect();
    let traffic = Arc::new(Traffic::default());
    let counted = Some(Arc::clone(&traffic));
    driver::run(settings, traffic, || open(&settings.inbox, words.join(" "), counted))
}

/// Runs a bridge under a conductor.
pub(crate) fn proxy(settings: &ProxySettings) -> Result<ExitCode, FatalError> {
    // Only the conductor knows the agent's command. One connection carries both directions, so traffic is not counted.
    let agent = "an agent under an ACP conductor".to_owned();
    driver::proxy(settings, || open(&settings.inbox, agent, None))
}

/// Makes the inbox of this agent's questions, and serves it as the settings say. A bridge without a socket still
/// bridges: what is wrong is logged.
fn open(settings: &InboxSettings, agent: String, traffic: Option<Arc<Traffic>>) -> (Feed, Option<Host>) {
    let (inbox, feed) = control::old::new(Owner::here(agent));
    let host = if settings.no_inbox { None } else { host(settings, inbox, traffic) };
    (feed, host)
}

fn host(settings: &InboxSettings, inbox: Inbox, traffic: Option<Arc<Traffic>>) -> Option<Host> {
    let mut host = Host::bind(inbox)
        .inspect_err(|error| {
            let also = if settings.serve.is_some() { ", and --serve serves nothing" } else { "" };
            tracing::warn!(%error, "questions can be answered by the client only{also}");
        })
        .ok()?;
    if let Some(settings) = &settings.serve
        && let Err(error) = host.serve(serve::run::beside(settings.clone(), traffic))
    {
        tracing::warn!(%error, "nothing is served over HTTP");
    }
    Some(host)
}

/// Why `askbridge inbox` ended.
#[derive(Debug, Error)]
pub(crate) enum InboxError {
    /// The runtime or the signals could not be set up.
    #[error("cannot set up the runtime: {0}")]
    Runtime(io::Error),
    /// The server could not be set up.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The bridges cannot be followed.
    #[error("cannot follow the bridges: {0}")]
    Follow(#[from] DiscoveryError),
}

/// The name of the server's own inbox, as other commands show it.
const SERVER: &str = "askbridge inbox";

/// Serves the questions of all bridges of the machine over HTTP, until a signal ends it. Questions that are asked through
/// this server wait in an inbox of its own, which other commands find like that of a bridge.
pub(crate) fn inbox(settings: &ServeSettings) -> Result<ExitCode, InboxError> {
    let runtime = signals::runtime().map_err(InboxError::Runtime)?;
    runtime.block_on(async {
        // Signals are caught before the socket is bound, so that no signal leaves the socket behind.
        let mut signals = Signals::catch().map_err(InboxError::Runtime)?;
        let server = Server::bind(settings.address, &settings.http).await?;
        // The inbox stays open while the feed exists.
        let (own, _feed) = control::old::new(Owner::here(SERVER.to_owned()));
        let mut host = Host::bind(own.clone())?;
        host.serve(async |_, _| ()).map_err(InboxError::Runtime)?;
        let machine = Machine::open_with(&discovery::folder()?, own).await?;
        serve::run::announce(&server);
        let code = tokio::select! {
            followed = machine.follow() => followed.map(|()| exit::OK)?,
            () = server.run(machine.clone(), None, pending()) => exit::OK,
            code = signals.next() => code,
        };
        Ok(ExitCode::from(code))
    })
}
