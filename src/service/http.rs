//! The HTTP server as a service of one bridge.

use std::{
    future::Future,
    io::{self, Write},
    pin::Pin,
    sync::Arc,
};

use tokio_util::sync::CancellationToken;

use crate::{
    inbox::{bridge::BridgeInbox, status::Traffic},
    rpc::host::Service,
    serve::server::Server,
    settings::resolved::ServeSettings,
};

/// Serves the inbox of a bridge over HTTP. A bridge that cannot listen still bridges: another bridge of the same editor
/// may have the address.
#[derive(Debug)]
pub struct HttpService {
    /// The settings of the server.
    pub settings: ServeSettings,
    /// What goes through the bridge.
    pub traffic: Option<Arc<Traffic>>,
}

impl Service for HttpService {
    fn name(&self) -> &'static str {
        "http"
    }

    fn run(
        self: Box<Self>,
        inbox: BridgeInbox,
        stop: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            match Server::bind(self.settings.address, &self.settings.http).await {
                Ok(server) => {
                    inbox.serves_at(server.address());
                    announce(&server);
                    server.run(inbox, self.traffic, stop).await;
                }
                Err(error) => tracing::warn!(%error, "nothing is served over HTTP"),
            }
        })
    }
}

/// Writes where it listens to stderr: stdout belongs to the protocol (I5).
pub fn announce(server: &Server) {
    // Without a stderr, it serves all the same.
    drop(io::stderr().write_all(server.announcement().as_bytes()));
}
