//! The options about HTTP: where to listen, and which requests are accepted.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use clap::Args;

use super::help;

/// Where questions are served by default.
pub(super) const DEFAULT_ADDRESS: &str = "127.0.0.1:8421";
/// Its port.
const DEFAULT_PORT: u16 = 8421;

/// Reads where to listen: an IP address and a port, or a port alone, which is one of this machine only.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    // `localhost` is not looked up: a resolver could name another machine.
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    let here = || port.parse().ok().map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let address = text.parse().ok().or_else(here);
    address.ok_or_else(|| {
        format!("give an IP address and a port, such as {DEFAULT_ADDRESS}, or a port alone, such as 8421")
    })
}

/// Options of `askbridge inbox`.
#[derive(Debug, Args)]
#[command(after_help = help::INBOX)]
pub struct InboxArgs {
    /// Listen on this address, or on this port of 127.0.0.1; port 0 is any that is free. An address that other
    /// machines can reach is your own risk: nothing is encrypted
    #[arg(long, value_name = "ADDRESS", default_value = DEFAULT_ADDRESS, value_parser = address)]
    pub addr: SocketAddr,

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

impl OpenArgs {
    /// Returns where an inbox serves that is started for this.
    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), DEFAULT_PORT)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine_only() {
        for text in ["127.0.0.1:8421", "localhost:8421", ":8421", "8421"] {
            assert_eq!(address(text), Ok(SocketAddr::from(([127, 0, 0, 1], 8421))), "{text:?}");
        }
        assert_eq!(address("[::1]:0").map(|address| address.to_string()), Ok("[::1]:0".to_owned()));
        assert_eq!(address("0.0.0.0:80").map(|address| address.to_string()), Ok("0.0.0.0:80".to_owned()));
    }

    #[test]
    fn other_names_and_ports_are_refused() {
        for text in
            ["", ":", "localhost", "localhost:", "box:8421", "127.0.0.1", "65536", "-1", "localhost::1"]
        {
            assert!(address(text).is_err_and(|error| error.contains("a port alone")), "{text:?}");
        }
    }
}
