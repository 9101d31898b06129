//! Why the process that serves all questions could not begin, or could not go on.

use std::io;

use askbridge_control::join::discovery::DiscoveryError;
use askbridge_web::ServeError;
use thiserror::Error;

/// Why the process cannot run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HubError {
    /// The directory of the sockets cannot be used or searched.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// The server could not be set up.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// A socket or a signal of this process failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}
