//! The runtime that a bridge runs in, beside what waits for the visitors of its inbox.

use std::{convert::Infallible, future::pending, process::ExitCode};

use super::FatalError;
use crate::control::host::Host;

/// Runs a bridge, whose inbox is served until it has ended.
pub(super) fn start(
    bridge: impl Future<Output = Result<ExitCode, FatalError>>,
    mut host: Option<Host>,
) -> Result<ExitCode, FatalError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| FatalError::SetUp { what: "the runtime", source })?;
    let code = runtime.block_on(async {
        tokio::select! {
            biased;
            code = bridge => code,
            never = serve_visitors(host.as_mut()) => match never {},
        }
    });
    // A read of a terminal cannot be taken back: it must not keep us.
    runtime.shutdown_background();
    code
}

/// A bridge that cannot be reached still bridges.
async fn serve_visitors(host: Option<&mut Host>) -> Infallible {
    if let Some(host) = host
        && let Err(error) = host.serve_visitors().await
    {
        tracing::warn!(%error, "questions can be answered by the client only");
    }
    pending().await
}
