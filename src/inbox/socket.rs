//! An inbox over a UNIX socket, and the other end of it.

use std::{io, os::unix::net};

use jsonrpsee::{
    client_transport::ws::{Url, WsHandshakeError, WsTransportClientBuilder},
    core::client::{Client, ClientBuilder},
    server::{Server, ServerConfig, ServerHandle, serve_with_graceful_shutdown, stop_channel},
};
use tokio::{
    net::{UnixListener, UnixStream},
    sync::oneshot,
    time::{sleep, timeout},
};

use super::{
    rpc::{Methods, QuestionsServer},
    source::Source,
};
use crate::{limits, question::Responder};

/// Serves an inbox until it is told to stop, to the `first` who connected, if somebody did, and to all who do from now
/// on. Who waits for a reply by then still gets it.
pub async fn serve<S: Source>(
    listener: net::UnixListener,
    first: Option<net::UnixStream>,
    source: S,
    mut stopped: oneshot::Receiver<()>,
) -> io::Result<()> {
    let listener = UnixListener::from_std(listener)?;
    let mut first = first.map(UnixStream::from_std);
    let methods = Methods::new(source, Responder::CommandLine).into_rpc();
    let (stop, running) = stop_channel();
    let config = ServerConfig::builder()
        .max_connections(limits::CONNECTIONS)
        .max_request_body_size(limits::REQUEST)
        .build();
    let services = Server::builder().set_config(config).to_service_builder();
    loop {
        let accepted = tokio::select! {
            _ = &mut stopped => break,
            accepted = accept(&listener, &mut first) => accepted,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                tracing::debug!(%error, "a connection to the inbox was not taken");
                sleep(limits::REST).await;
                continue;
            }
        };
        if !is_own(&stream) {
            tracing::warn!("another user's connection to the inbox was refused");
            continue;
        }
        let service = services.clone().build(methods.clone(), stop.clone());
        let served = serve_with_graceful_shutdown(stream, service, stop.clone().shutdown());
        tokio::spawn(async move {
            if let Err(error) = served.await {
                tracing::debug!(%error, "a connection to the inbox failed");
            }
        });
    }
    // From here on nobody connects any more.
    drop((listener, stop));
    end(running).await;
    Ok(())
}

async fn accept(
    listener: &UnixListener,
    first: &mut Option<io::Result<UnixStream>>,
) -> io::Result<UnixStream> {
    match first.take() {
        Some(first) => first,
        None => listener.accept().await.map(|(stream, _)| stream),
    }
}

/// Ends a server. Who waits for a reply still gets it, but whoever does not read is left alone.
pub async fn end(running: ServerHandle) {
    // It cannot have been told before.
    running.stop().unwrap_or_default();
    timeout(limits::LAST_REPLIES, running.stopped()).await.unwrap_or_default();
}

/// Says whether the other end is of our own user: the folder's mode may have been changed.
fn is_own(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
}

/// Speaks with an inbox at the other end of a socket. Its methods are those of [`super::rpc::QuestionsClient`].
pub async fn connect(stream: UnixStream) -> Result<Client, WsHandshakeError> {
    // The name stands in the handshake only.
    let url =
        Url::parse("ws://localhost/").map_err(|error| WsHandshakeError::Url(error.to_string().into()))?;
    let (sender, receiver) = WsTransportClientBuilder::default().build_with_stream(url, stream).await?;
    let builder = ClientBuilder::default().request_timeout(limits::WAIT);
    Ok(builder.build_with_tokio(sender, receiver))
}
