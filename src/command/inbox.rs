//! `askbridge inbox`: serves the questions of all bridges over HTTP.
//! How the inbox gets into the background is left to `background.rs`, what runs in it to `hub`.

use std::{net::SocketAddr, path::PathBuf};

use askbridge_adapters::attach::SharedInboxes;
use askbridge_os::signals::Signals;
use askbridge_settings::{
    Settings,
    addresses::address,
    keys,
    resolved::{HttpSettings, ServeSettings},
};
use clap::Args;

use super::{CommandError, Context, arguments::with_default, attach, background};
use crate::hub::{self, Attached, presence::Presence};

/// The background mode, and the exit codes of `askbridge inbox`.
const HELP: &str = "\
With --detach, the inbox survives the terminal. If it runs already, a second --detach prints its address.

Exit codes:
  0        with --detach, the inbox runs; with --stop, no inbox runs
  128 + N  signal N ended the server
  2        the command line was not understood
  125      the server could not be set up, or failed";

/// What the address of the server may be.
const ADDRESS: &str = "Listen on this address, or on this port of 127.0.0.1; port 0 means any free port. Use an address \
                       that other machines can reach at your own risk: nothing is encrypted";

/// Options of `askbridge inbox`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct InboxArgs {
    /// The setting `inbox.address`.
    #[arg(long, value_name = "ADDRESS", value_parser = address, help = with_default(ADDRESS, &keys::INBOX_ADDRESS))]
    pub addr: Option<SocketAddr>,

    /// Run in the background, once for each user, and print where it listens
    #[arg(long, conflicts_with = "stop")]
    pub detach: bool,

    /// End the inbox that runs in the background
    #[arg(long)]
    pub stop: bool,

    /// Run as the process in the background that `--detach` starts.
    #[arg(long, hide = true, conflicts_with_all = ["detach", "stop"])]
    pub detached: bool,

    /// Which requests are accepted.
    #[command(flatten)]
    pub http: HttpArgs,
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

impl HttpArgs {
    /// Returns the settings that say which requests are accepted. The option adds to the host names of the settings:
    /// several proxies may stand before one server.
    pub(super) fn settings(&self, settings: &Settings) -> HttpSettings {
        let mut allowed_hosts = settings.get(&keys::INBOX_ALLOW_HOST).0;
        allowed_hosts.extend(self.allow_host.iter().cloned());
        let token_file = self.token_file.clone().or_else(|| settings.path(&keys::INBOX_TOKEN_FILE));
        let allowed_origins = settings.get(&keys::INBOX_ALLOW_ORIGIN).0;
        HttpSettings { token_file, allowed_hosts, allowed_origins, undo: settings.get(&keys::SEND_UNDO).0 }
    }
}

/// Serves the questions, here or in the background, or stops the inbox in the background. The server attaches to the
/// agents that the settings name, and `hosts` gives each of them an inbox.
pub async fn inbox(context: &Context, args: &InboxArgs, hosts: SharedInboxes) -> Result<u8, CommandError> {
    let settings = &context.settings;
    let address = args.addr.unwrap_or_else(|| settings.get(&keys::INBOX_ADDRESS));
    let serve_at = ServeSettings { address, http: args.http.settings(settings) };
    if args.stop {
        return background::stop(context.places()?).await;
    }
    if args.detach {
        return background::detach(context, &serve_at).await;
    }
    // Signals are caught before a socket is bound, so that no signal leaves it behind.
    let signals = Signals::catch()?;
    // `presence` is dropped last: a command that waits for the end of the process then finds nothing else of this
    // process.
    let presence = if args.detached { Some(Presence::begin()?) } else { None };
    let kinds = settings.get(&keys::INBOX_ATTACH);
    let attached = Attached { finders: attach::finders(settings, |kind| kinds.has(kind)), hosts };
    Ok(hub::run(settings, &serve_at, presence.as_ref(), attached, signals).await?)
}
