//! The runtime of a bridge, and the order in which a bridge starts: first the signals, then all that they must not
//! leave behind. Serving the connections to the inbox is left to [`Host`].

use std::{convert::Infallible, future::pending, process::ExitCode};

use super::FatalError;
use crate::{
    control::old::host::Host,
    signals::{self, Signals},
};

/// Runs a bridge, and serves its inbox until it has ended. `set_up` makes both; when it is called, signals no longer
/// end the process by themselves, so that it may bind the inbox's socket and start the agent (I8).
pub(super) fn start<B>(set_up: impl FnOnce(Signals) -> (B, Option<Host>)) -> Result<ExitCode, FatalError>
where
    B: Future<Output = Result<ExitCode, FatalError>>,
{
    let failed = |what| move |source| FatalError::SetUp { what, source };
    let runtime = signals::runtime().map_err(failed("the runtime"))?;
    let signals = {
        let _context = runtime.enter();
        Signals::catch().map_err(failed("the signals"))?
    };
    let (bridge, mut host) = set_up(signals);
    let code = runtime.block_on(async {
        tokio::select! {
            biased;
            code = bridge => code,
            never = serve_visitors(host.as_mut()) => match never {},
        }
    });
    // A blocking read of a terminal cannot be cancelled: do not wait for its thread.
    runtime.shutdown_background();
    code
}

/// Serves the inbox. If that fails, the bridge goes on without it.
async fn serve_visitors(host: Option<&mut Host>) -> Infallible {
    if let Some(host) = host
        && let Err(error) = host.serve_visitors().await
    {
        tracing::warn!(%error, "questions can be answered by the client only");
    }
    pending().await
}
