//! The HTTP server and the page, over the questions of all bridges.

use std::io::{self, Write};

use askbridge_web::Server;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::service::{HubContext, HubService, Stops};

/// Serves HTTP.
pub(super) struct HttpService(pub(super) Server);

impl HubService for HttpService {
    fn name(&self) -> &'static str {
        "http"
    }

    fn stops(&self) -> Stops {
        Stops::AfterTheLast
    }

    fn run(self: Box<Self>, context: HubContext, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(self.0.run(context.joined, None, stop))
    }
}

/// Prints on stderr where the server listens: stdout belongs to the output of commands.
pub(super) fn announce(server: &Server) {
    // If stderr is closed, the server runs anyway.
    drop(io::stderr().write_all(server.announcement().as_bytes()));
}
