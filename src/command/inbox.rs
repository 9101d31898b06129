//! `askbridge inbox`: serves the questions of all bridges of the machine over HTTP.

use std::io::{self, Write};

use super::{CommandError, own::Own};
use crate::{
    config::ServeSettings,
    control::stop::Stopper,
    exit,
    machine::{Machine, discovery},
    serve::Server,
    signals::Signals,
};

/// The name of the server's own inbox, as other commands show it.
const SERVER: &str = "askbridge inbox";

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
        code = signals.next() => Ok(code),
    }
}

/// Prints on stderr where the server listens: stdout belongs to the output of commands.
fn announce(server: &Server) {
    // If stderr is closed, the server runs all the same.
    drop(io::stderr().write_all(server.announcement().as_bytes()));
}
