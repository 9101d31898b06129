//! `askbridge inbox`: serves the questions of all bridges of the machine over HTTP.
//! How it gets into the background is left to `background.rs`.

use std::{
    ffi::OsString,
    future::pending,
    io::{self, Write},
};

use tokio_util::sync::CancellationToken;

use super::{
    CommandError,
    background::{self, Presence},
    own::OwnInbox,
};
use crate::{
    config::ServeSettings,
    exit,
    machine::{Machine, discovery},
    origin::attach::{self, Finder, SharedInboxes},
    present::gaps,
    serve::Server,
    signals::Signals,
};

/// The name of the server's own inbox, as other commands show it.
pub(super) const SERVER: &str = "askbridge inbox";

/// What `inbox` does.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxOptions {
    /// Where it serves, and to whom.
    pub serve: ServeSettings,
    /// How it runs.
    pub mode: InboxMode,
}

/// How an inbox runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InboxMode {
    /// It runs until a signal ends it.
    Foreground,
    /// It starts one in the background, with these options of the log, and waits until that one serves.
    Detach(Vec<OsString>),
    /// It is the one in the background.
    Detached,
    /// It ends the one in the background.
    Stop,
}

/// The agents that an inbox attaches to: what finds them, and what gives each an inbox of its own.
pub type AttachTargets = (Vec<Box<dyn Finder>>, SharedInboxes);

/// Serves the questions, here or in the background, or ends that. Where it serves them, it attaches to these agents.
pub async fn inbox(options: &InboxOptions, attached: AttachTargets) -> Result<u8, CommandError> {
    let settings = &options.serve;
    match &options.mode {
        InboxMode::Foreground => serve(settings, None, attached, Signals::catch()?).await,
        InboxMode::Detach(log) => background::detach(settings, log).await,
        InboxMode::Detached => {
            // Signals are caught before a socket is bound, so that no signal leaves it behind.
            let signals = Signals::catch()?;
            let presence = Presence::begin()?;
            // The socket goes last: where it is gone, all else of this process is.
            serve(settings, Some(&presence), attached, signals).await
        }
        InboxMode::Stop => background::stop().await,
    }
}

/// Serves the questions until a signal ends it. Questions that are asked through this server wait in an inbox of its
/// own, which other commands find like that of a bridge.
async fn serve(
    settings: &ServeSettings,
    presence: Option<&Presence>,
    (finders, hosts): AttachTargets,
    mut signals: Signals,
) -> Result<u8, CommandError> {
    let server = Server::bind(settings.address, &settings.http).await?;
    let address = server.address();
    let mut own = OwnInbox::bind(SERVER)?;
    own.inbox.serves_at(address);
    own.start()?;
    let machine = Machine::open_with(&discovery::folder()?, own.inbox.clone(), own.ledger.clone()).await?;
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
    // The server runs until this function returns.
    let stop = CancellationToken::new();
    let _stop_at_the_end = stop.clone().drop_guard();
    tokio::select! {
        followed = machine.follow() => Ok(followed.map(|()| exit::OK)?),
        () = server.run(machine.clone(), None, stop) => Ok(exit::OK),
        () = report(&machine) => Ok(exit::OK),
        never = told => match never {},
        never = attach::attach(finders, hosts) => match never {},
        code = signals.next() => Ok(code),
    }
}

/// Logs what is left out, each time that this changes.
async fn report(machine: &Machine) {
    let (mut left_out, mut said) = (machine.gaps(), Vec::new());
    loop {
        let lines = gaps::gap_lines(&left_out.borrow_and_update());
        lines.iter().filter(|line| !said.contains(*line)).for_each(|line| tracing::warn!("{line}"));
        said = lines;
        if left_out.changed().await.is_err() {
            // The machine keeps the other end, so that this never happens.
            return pending().await;
        }
    }
}

/// Prints on stderr where the server listens: stdout belongs to the output of commands.
fn announce(server: &Server) {
    // If stderr is closed, the server runs all the same.
    drop(io::stderr().write_all(server.announcement().as_bytes()));
}
