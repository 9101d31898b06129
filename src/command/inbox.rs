//! `askbridge inbox`: serves the questions of all bridges of the machine over HTTP. Also the inbox of this process,
//! for commands that ask: other commands find its questions as they find those of a bridge.
//! How the inbox gets into the background is left to `background.rs`.

use std::{
    future::pending,
    io::{self, Write},
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
};

use askbridge_adapters::{
    self,
    attach::{Finder, SharedInboxes},
};
use askbridge_control::{
    inbox::{BridgeInbox, Inbox as _, Ledger, Port},
    join::{
        JoinedInbox, Places, Reach,
        discovery::{DiscoveryError, LocalInbox, Socket},
        remote,
    },
    rpc::host::Host,
};
use askbridge_os::{exit, signals::Signals};
use askbridge_settings::{
    Settings,
    addresses::address,
    files, keys,
    resolved::{HttpSettings, ServeSettings},
};
use askbridge_web::Server;
use clap::Args;
use futures::FutureExt;
use tokio::{join, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    CommandError,
    arguments::LogArgs,
    attach,
    background::{self, Presence},
    held_machines::HeldMachines,
};
use crate::{
    limits,
    present::listing,
    service::{Context, services},
};

/// The background mode, and the exit codes of `askbridge inbox`.
const HELP: &str = "\
With --detach, the inbox survives the terminal. If it runs already, a second --detach prints its address.

Exit codes:
  0        with --detach, the inbox runs; with --stop, no inbox runs
  128 + N  signal N ended the server
  2        the command line was not understood
  125      the server could not be set up, or failed";

/// Options of `askbridge inbox`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct InboxArgs {
    /// Listen on this address, or on this port of 127.0.0.1; port 0 means any free port. Use an address that other
    /// machines can reach at your own risk: nothing is encrypted
    /// [default: 127.0.0.1:8421]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
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
        HttpSettings { token_file, allowed_hosts, allowed_origins }
    }
}

/// The name of the server's own inbox, as other commands show it.
pub(super) const SERVER: &str = "askbridge inbox";

/// Serves the questions, here or in the background, or stops the inbox in the background. The server attaches to the
/// agents that the settings name, and `hosts` gives each of them an inbox.
pub async fn inbox(
    args: &InboxArgs,
    settings: &Settings,
    log: &LogArgs,
    hosts: SharedInboxes,
) -> Result<u8, CommandError> {
    let address = args.addr.unwrap_or_else(|| settings.get(&keys::INBOX_ADDRESS));
    let serve_at = ServeSettings { address, http: args.http.settings(settings) };
    if args.stop {
        return background::stop().await;
    }
    if args.detach {
        return background::detach(&serve_at, &log.words()).await;
    }
    // Signals are caught before a socket is bound, so that no signal leaves it behind.
    let signals = Signals::catch()?;
    // `presence` is dropped last: a command that waits for the end of the process then finds nothing else of this
    // process.
    let presence = if args.detached { Some(Presence::begin()?) } else { None };
    let kinds = settings.get(&keys::INBOX_ATTACH);
    let finders = attach::finders(settings, |kind| kinds.has(kind));
    serve(&serve_at, presence.as_ref(), finders, hosts, signals).await
}

/// Serves the questions until a signal ends it. Questions that are asked through this server wait in the server's own
/// inbox, which other commands find like a bridge's inbox.
async fn serve(
    settings: &ServeSettings,
    presence: Option<&Presence>,
    finders: Vec<Box<dyn Finder>>,
    hosts: SharedInboxes,
    mut signals: Signals,
) -> Result<u8, CommandError> {
    let server = Server::bind(settings.address, &settings.http).await?;
    let address = server.address();
    let mut own = OwnInbox::bind(SERVER)?;
    // The address is set before the socket is served, so that every status of this inbox has it.
    own.inbox.serves_at(address);
    own.start()?;
    // The machine reads the journal that the inbox writes: if the settings want no journal, none is opened for lost
    // questions.
    let places = Places::here()?;
    // This comes before the machine looks at their sockets: otherwise, a question of theirs would seem not to exist.
    let mut machines = HeldMachines::shared(&places);
    machines.set().await;
    let fleet = Some(machines.fleet_problem());
    let reach = Reach { machines: remote::folders(&places), fleet, ..Reach::from(&places) };
    let machine = JoinedInbox::open_with(reach, Some(own.inbox.clone()), own.ledger.clone()).await?;
    announce(&server);
    if let Some(presence) = presence {
        presence.serves_at(address)?;
    }
    let told = async {
        match presence {
            Some(presence) => presence.tell(address).await,
            None => pending().await,
        }
    };
    let stop = CancellationToken::new();
    let serving = server.run(machine.clone(), None, stop.clone()).fuse();
    let following = machine.follow();
    tokio::pin!(serving, following);
    let leaves_fleet = CancellationToken::new();
    let in_fleet = serve_fleet(places.own().to_owned(), own.ledger.clone(), &leaves_fleet);
    tokio::pin!(in_fleet);
    let ended = tokio::select! {
        followed = &mut following => return Ok(followed.map(|()| exit::OK)?),
        () = &mut serving => Ok(exit::OK),
        () = report(&machine) => Ok(exit::OK),
        never = machines.keep() => match never {},
        () = &mut in_fleet => Ok(exit::OK),
        () = notify_elsewhere(&machine, &own.inbox) => Ok(exit::OK),
        never = told => match never {},
        never = askbridge_adapters::attach::attach(finders, hosts) => match never {},
        code = signals.next() => Ok(code),
    };
    leaves_fleet.cancel();
    own.end();
    let farewell = async {
        settled(&machine, &own.inbox).await;
        stop.cancel();
        serving.await;
    };
    tokio::select! {
        // The questions of this process reach the server as those of any bridge.
        followed = following => drop(followed),
        _ = async { join!(timeout(limits::SERVICE_STOP, farewell), timeout(limits::fleet::FAREWELL, in_fleet)) } => {}
    }
    ended
}

/// Waits until the server knows that the questions of programs are over, so that the last events say so.
async fn settled(machine: &JoinedInbox, own: &BridgeInbox) {
    let bridge = &own.identity().bridge;
    let mut follower = machine.store().follow();
    let has_open = || machine.store().read(|_, snapshot| snapshot.open_in(bridge).next().is_some());
    timeout(limits::LAST_REPLIES, async { while has_open() && follower.next().await.is_some() {} })
        .await
        .unwrap_or_default();
}

/// Notifies the user of the questions of other machines: their own notifiers are told that this is done here.
#[cfg(feature = "notify")]
async fn notify_elsewhere(machine: &JoinedInbox, own: &BridgeInbox) {
    use crate::service::notify;

    notify::notify_elsewhere(machine.store().clone(), own.clone()).await;
}

#[cfg(not(feature = "notify"))]
async fn notify_elsewhere(_: &JoinedInbox, _: &BridgeInbox) {
    pending().await
}

/// Serves the questions of this machine to the fleet until `stop` is cancelled, if the settings name one.
#[cfg(feature = "fleet")]
async fn serve_fleet(folder: PathBuf, ledger: Option<Arc<dyn Ledger>>, stop: &CancellationToken) {
    super::fleet::keep(folder, ledger, stop).await;
}

#[cfg(not(feature = "fleet"))]
async fn serve_fleet(_: PathBuf, _: Option<Arc<dyn Ledger>>, stop: &CancellationToken) {
    stop.cancelled().await;
}

/// Logs which bridges are left out, each time that this changes.
async fn report(machine: &JoinedInbox) {
    let (mut left_out, mut said) = (machine.gaps(), Vec::new());
    loop {
        // The value is marked as seen before it is waited for, so that no change is missed.
        let lines = listing::gap_lines(&left_out.borrow_and_update().clone().without_new());
        lines.iter().filter(|line| !said.contains(*line)).for_each(|line| tracing::warn!("{line}"));
        said = lines;
        if left_out.changed().await.is_err() {
            // The machine holds the sender, so this never happens.
            return pending().await;
        }
    }
}

/// Prints on stderr where the server listens: stdout belongs to the output of commands.
fn announce(server: &Server) {
    // If stderr is closed, the server runs anyway.
    drop(io::stderr().write_all(server.announcement().as_bytes()));
}

/// The inbox of this process, and the host that serves it on a socket. Dropping the value ends both.
pub(super) struct OwnInbox {
    /// The handle that keeps the inbox open. It is dropped first, since the services of the host end when the inbox is
    /// closed.
    port: Option<Port>,
    pub(super) inbox: BridgeInbox,
    /// The ledger that keeps its questions beyond this process, if the settings want one.
    pub(super) ledger: Option<Arc<dyn Ledger>>,
    host: Host<Socket>,
}

impl OwnInbox {
    /// Listens on a new socket. `agent` is the name that lists show for its questions.
    pub(super) fn bind(agent: &str) -> Result<Self, DiscoveryError> {
        let settings = files::read(None);
        let ledger = super::ledger(settings.journal());
        let guarding = settings.guarding();
        let (inbox, port, host) = LocalInbox::new(agent.to_owned()).bind(ledger.clone(), guarding)?;
        let host = host.with(services(&Context::new(ledger.clone())));
        Ok(OwnInbox { port: Some(port), inbox, ledger, host })
    }

    /// Ends the inbox: the programs that wait are told so. Its socket is served until the value is dropped.
    fn end(&mut self) {
        self.port = None;
    }

    /// Serves the inbox from now on, and times the questions in it.
    pub(super) fn start(&mut self) -> io::Result<()> {
        self.host.start()
    }
}

/// Returns no ledger: this program is built without the journal.
#[cfg(not(feature = "journal"))]
pub fn ledger(_: Option<askbridge_settings::resolved::JournalSettings>) -> Option<Arc<dyn Ledger>> {
    None
}
