//! The server of a bridge for its own questions, beside the bridge's socket. `askbridge inbox` is put together elsewhere.

use std::{
    io::{self, Write},
    sync::Arc,
};

use futures::FutureExt;
use tokio::sync::oneshot;

use super::http::Server;
use crate::{
    config::ServeSettings,
    control::{old::Inbox, traffic::Traffic},
};

/// Returns what serves the inbox of one bridge until it is told to end. `traffic` is where the bridge counts its traffic,
/// if it does. A bridge that cannot listen still bridges: another bridge of the same editor may have the address.
pub fn beside(
    settings: ServeSettings,
    traffic: Option<Arc<Traffic>>,
) -> impl AsyncFnOnce(Inbox, Ended) + Send + 'static {
    async move |inbox: Inbox, ended: Ended| match Server::bind(settings.address, &settings.http).await {
        Ok(server) => {
            announce(&server);
            server.run(inbox, traffic, ended.map(drop)).await;
        }
        Err(error) => tracing::warn!(%error, "nothing is served over HTTP"),
    }
}

/// Tells, by its end, that it is time to end.
type Ended = oneshot::Receiver<()>;

/// Prints on stderr where the server listens: stdout belongs to the protocol (I5).
pub fn announce(server: &Server) {
    // If stderr is closed, the server runs all the same.
    drop(io::stderr().write_all(server.announcement().as_bytes()));
}
