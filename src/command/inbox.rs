//! `askbridge inbox`: serves the questions of all bridges of the machine over HTTP.

use std::{
    future::pending,
    io::{self, Write},
};

use super::{CommandError, own::Own};
use crate::{
    config::ServeSettings,
    control::stop::Stopper,
    exit,
    machine::{Machine, discovery},
    present::gaps,
    serve::Server,
    signals::Signals,
};

/// The name of the server's own inbox, as other commands show it.
pub(super) const SERVER: &str = "askbridge inbox";

/// Serves the questions until a signal ends it. Questions that are asked through this server wait in an inbox of its
/// own, which other commands find like that of a bridge.
pub async fn inbox(settings: &ServeSettings) -> Result<u8, CommandError> {
    // Signals are caught before the socket is bound, so that no signal leaves the socket behind.
    let mut signals = Signals::catch()?;
    let server = Server::bind(settings.address, &settings.http).await?;
    let mut own = Own::bind(SERVER)?;
    own.start()?;
    let machine = Machine::open_with(&discovery::folder()?, own.inbox.clone()).await?;
    announce(&server);
    // The server runs until this function returns.
    let (_stopper, stop) = Stopper::new();
    tokio::select! {
        followed = machine.follow() => Ok(followed.map(|()| exit::OK)?),
        () = server.run(machine.clone(), None, stop) => Ok(exit::OK),
        () = report(&machine) => Ok(exit::OK),
        code = signals.next() => Ok(code),
    }
}

/// Logs what is left out, each time that this changes.
async fn report(machine: &Machine) {
    let (mut left_out, mut said) = (machine.gaps(), Vec::new());
    loop {
        let lines = gaps::lines(&left_out.borrow_and_update());
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
