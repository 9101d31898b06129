//! The runtime of a bridge, and the order of its start: signals are caught first, so that none can end the process and
//! leave a socket or an agent behind. Serving the connections to the inbox is left to [`Host`].

use std::{convert::Infallible, ffi::OsString, future::pending, process::ExitCode, sync::Arc};

use askbridge_control::{
    inbox::{Port, Traffic},
    rpc::host::Host,
};
use askbridge_core::engine::{Bridge, Protocol};
use askbridge_os::signals::{self, Signals};

use super::{
    FatalError, pump,
    shell::{Shell, Timeouts},
};

/// The parts of a bridge, beside its peers. `P` is the core of their protocol, `S` keeps the file of the inbox's
/// socket.
#[derive(Debug)]
pub struct BridgeParts<P: Protocol, S> {
    /// The bridge.
    pub bridge: Bridge<P>,
    /// The bridge's port to its inbox.
    pub port: Port,
    /// The host of the inbox; `None` if only the client can answer.
    pub host: Option<Host<S>>,
    /// Receives each new timeout from the settings; `None` if the timeout is fixed.
    pub timeouts: Option<Timeouts>,
}

/// Runs the bridge around the agent until it has ended. Returns the agent's exit code as ours.
///
/// `open` opens the inbox of the agent's questions. It is called after the signals are caught. The process becomes a
/// child subreaper, and all of its children are reaped, however they were started.
pub fn run<P: Protocol, S>(
    agent: &[OsString],
    traffic: Arc<Traffic>,
    open: impl FnOnce() -> BridgeParts<P, S>,
) -> Result<ExitCode, FatalError> {
    start(|signals| {
        let BridgeParts { bridge, port, host, timeouts } = open();
        let shell = Shell::new(port, host.is_some(), timeouts);
        (pump::run(bridge, shell, traffic, agent, signals), host)
    })
}

/// Runs the bridge as a component of a conductor until the conductor has left. `open` is as in [`run`].
pub fn proxy<P: Protocol, S>(open: impl FnOnce() -> BridgeParts<P, S>) -> Result<ExitCode, FatalError> {
    start(|signals| {
        let BridgeParts { bridge, port, host, timeouts } = open();
        let shell = Shell::new(port, host.is_some(), timeouts);
        (pump::run_under_conductor(bridge, shell, signals), host)
    })
}

/// Runs a bridge, and serves its inbox until it has ended. `set_up` makes both; when it is called, signals no longer
/// end the process by themselves, so that it may bind the inbox's socket and start the agent (I8).
fn start<B, S>(set_up: impl FnOnce(Signals) -> (B, Option<Host<S>>)) -> Result<ExitCode, FatalError>
where
    B: Future<Output = Result<ExitCode, FatalError>>,
{
    let failed = |what| move |source| FatalError::SetUp { what, source };
    let runtime = signals::runtime().map_err(failed("the runtime"))?;
    let signals = {
        // Tokio's signal handlers can only be installed within a runtime.
        let _context = runtime.enter();
        Signals::catch().map_err(failed("the signals"))?
    };
    let (bridge, mut host) = set_up(signals);
    let code = runtime.block_on(async {
        tokio::select! {
            // The bridge is polled first, so that a visitor of the inbox never delays a line (I7).
            biased;
            code = bridge => code,
            never = serve_visitors(host.as_mut()) => match never {},
        }
    });
    // A blocking read of a terminal cannot be cancelled, so its thread is not waited for.
    runtime.shutdown_background();
    code
}

/// Serves the inbox. If that fails, the bridge runs without it.
async fn serve_visitors<S>(host: Option<&mut Host<S>>) -> Infallible {
    if let Some(host) = host {
        let Err(error) = host.serve_visitors().await;
        tracing::warn!(%error, "only the client can answer questions");
    }
    pending().await
}
