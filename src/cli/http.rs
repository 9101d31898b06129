//! The options about HTTP: where to listen, and which requests are accepted.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

/// Where questions are served, unless the user says otherwise.
pub(super) const DEFAULT_ADDRESS: &str = "127.0.0.1:8421";

/// Reads where to listen.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("it takes an IP address and a port, as in {DEFAULT_ADDRESS}"))
}

/// Options of `askbridge inbox`.
#[derive(Debug, Args)]
pub struct InboxArgs {
    /// Where to listen; port 0 is any that is free. An address that other machines can reach is your own risk:
    /// nothing is encrypted
    #[arg(long, value_name = "ADDRESS", default_value = DEFAULT_ADDRESS, value_parser = address)]
    pub addr: SocketAddr,

    /// Which requests are accepted.
    #[command(flatten)]
    pub http: HttpArgs,
}

/// Options that say which requests are accepted over HTTP.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Over HTTP")]
pub struct HttpArgs {
    /// Where the token is that every request has to show; it is made if it is not there
    /// [default: askbridge/token in XDG_RUNTIME_DIR, or else in XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "PATH")]
    pub token_file: Option<PathBuf>,

    /// Answer requests under this host name as well: that of a proxy, or of this machine in its network
    /// (can be repeated)
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
}
