//! One server from its start to its end: on stdin and stdout, until stdin ends or a signal comes.

use std::sync::PoisonError;

use rmcp::{
    ServiceExt,
    service::ServerInitializeError,
    transport::{StdioReader, StdioWriter, stdio_pipes},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{sleep, timeout},
};

use super::{
    server::{McpOptions, Server, ServerState},
    transport::ClientConnection,
};
use crate::{limits, origin::AgentInboxes};

/// Serves one client on these streams until it has closed its end, or until `stop` is done, whose output is returned
/// then. Every question that is open at the end is withdrawn.
pub async fn serve<H, R, W, T>(
    options: McpOptions,
    hosts: H,
    (reader, writer): (R, W),
    stop: impl Future<Output = T>,
) -> Option<T>
where
    H: AgentInboxes + Send + Sync + 'static,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let shared = ServerState::default();
    let connection = ClientConnection::new(reader, writer, shared.in_flight.clone());
    let server = Server::new(options, hosts, shared.clone());
    let stopped = tokio::select! {
        () = converse(server, connection) => None,
        () = leave(&shared) => None,
        stopped = stop => Some(stopped),
    };
    shared.tickets.withdraw();
    shared.in_flight.end();
    // A reply that cannot be written must not keep the process: its question is withdrawn by force.
    if timeout(limits::SERVICE_STOP, shared.tickets.ended()).await.is_err() {
        tracing::debug!("a reply was not read");
    }
    // The inbox ends last: by now it has told every responder what became of its question.
    let hosted = shared.hosted.lock().unwrap_or_else(PoisonError::into_inner).take();
    drop(hosted);
    stopped
}

/// Withdraws what is open once stdin has ended, and lets the last replies be read: a client may close its end, read no
/// more, and leave the pipe open.
async fn leave(shared: &ServerState) {
    shared.in_flight.over().await;
    shared.tickets.withdraw();
    sleep(limits::FLUSH).await;
}

/// Returns the standard streams of this process.
pub fn stdio() -> (StdioReader, StdioWriter) {
    stdio_pipes()
}

/// Speaks with the client until it has closed its end. `rmcp` then writes the replies that are left, for at most 5 s; for at
/// most 2 s where the future is dropped.
async fn converse<H, R, W>(server: Server<H>, connection: ClientConnection<R, W>)
where
    H: AgentInboxes + Send + Sync + 'static,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    match server.serve(connection).await {
        Ok(running) => {
            if let Err(error) = running.waiting().await {
                tracing::warn!(%error, "the MCP server failed");
            }
        }
        // The other errors may have the client's message in their text.
        Err(ServerInitializeError::TransportError { error, .. }) => {
            tracing::warn!(%error, "no MCP client began to speak");
        }
        Err(_) => tracing::warn!("no MCP client began to speak"),
    }
}
