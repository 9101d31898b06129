//! The HTTP server as a service of one bridge.

use std::{
    io::{self, Write},
    sync::Arc,
};

use askbridge_control::{
    inbox::{BridgeInbox, Traffic},
    rpc::host::{Service, Starts},
};
use askbridge_settings::resolved::ServeSettings;
use askbridge_web::Server;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::context::Context;

/// Serves the inbox of a bridge over HTTP. A bridge that cannot listen still runs: another bridge of the same editor
/// may have the address.
#[derive(Debug)]
pub struct HttpService {
    settings: ServeSettings,
    traffic: Option<Arc<Traffic>>,
}

impl HttpService {
    /// Returns the service of a bridge that serves its inbox over HTTP.
    pub(super) fn of(context: &Context) -> Option<Box<dyn Service>> {
        let bridge = context.bridge.as_ref()?;
        let (settings, traffic) = (bridge.inbox.serve.clone()?, bridge.traffic.clone());
        Some(Box::new(HttpService { settings, traffic }))
    }
}

impl Service for HttpService {
    fn name(&self) -> &'static str {
        "http"
    }

    fn starts(&self) -> Starts {
        Starts::AtOnce
    }

    fn run(self: Box<Self>, inbox: BridgeInbox, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            match Server::bind(self.settings.address, &self.settings.http).await {
                Ok(server) => {
                    inbox.serves_at(server.address());
                    announce(&server);
                    server.run(inbox, self.traffic, stop).await;
                }
                // The port may be in use. The agent works without HTTP, so this must not end the bridge.
                Err(error) => tracing::warn!(%error, "nothing is served over HTTP"),
            }
        })
    }
}

/// Writes the address of the server to stderr, since stdout belongs to the protocol (I5).
pub fn announce(server: &Server) {
    // Without a stderr, the server runs anyway: ignore the error.
    drop(io::stderr().write_all(server.announcement().as_bytes()));
}
