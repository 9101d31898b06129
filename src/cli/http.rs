//! The options about HTTP: where to listen, and which requests are accepted.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::help;
use crate::settings::kinds::address;

/// Options of `askbridge inbox`.
#[derive(Debug, Args)]
#[command(after_help = help::INBOX)]
pub struct InboxArgs {
    /// Listen on this address, or on this port of 127.0.0.1; port 0 is any that is free. An address that other
    /// machines can reach is your own risk: nothing is encrypted
    /// [default: 127.0.0.1:8421]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub addr: Option<SocketAddr>,

    /// Run in the background, once for each user, and print where it listens
    #[arg(long, conflicts_with = "stop")]
    pub detach: bool,

    /// End the inbox that runs in the background
    #[arg(long)]
    pub stop: bool,

    /// Be the inbox in the background, which `--detach` starts.
    #[arg(long, hide = true, conflicts_with_all = ["detach", "stop"])]
    pub detached: bool,

    /// Which requests are accepted.
    #[command(flatten)]
    pub http: HttpArgs,
}

/// Options of `askbridge open`.
#[derive(Debug, Args)]
#[command(after_help = help::OPEN)]
pub struct OpenArgs {
    /// The ID of the question to show first
    pub id: Option<String>,

    /// Print the address that signs a browser in, and start none; on a terminal, with a QR code for a phone if other
    /// machines can reach the inbox
    #[arg(long)]
    pub print: bool,

    /// The token file of the inbox [default: as in `askbridge inbox`]
    #[arg(long, value_name = "PATH")]
    pub token_file: Option<PathBuf>,
}

/// Options that say which requests are accepted over HTTP.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Over HTTP")]
pub struct HttpArgs {
    /// Read the token that every request has to show from this file, which is created if it does not exist
    /// [default: askbridge/token in XDG_RUNTIME_DIR, or else in XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "PATH")]
    pub token_file: Option<PathBuf>,

    /// Accept requests for this host name as well: that of a proxy, or of this machine in its network
    /// (can be repeated)
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
}
