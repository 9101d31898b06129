//! The loop that accepts connections, until the server stops.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use tokio::{
    net::{TcpListener, TcpStream},
    task::yield_now,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{connection, ends::Endpoints, visitors::Visitors};
use crate::limits;

/// Serves all connections until the server stops. Then replies that are under way are still sent, once `kept` says that
/// the journal has what they confirm; a client that does not read them is not waited for.
pub(super) async fn accept(
    listener: TcpListener,
    router: Router,
    stop: CancellationToken,
    kept: impl Future<Output = ()>,
) {
    let (visitors, ended) = Visitors::new();
    let mut pause = Pause::default();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok((stream, client)) => {
                pause.end();
                serve(stream, client, &router, &visitors, stop.clone());
                // It reads what is there already before the next connection may take its place.
                yield_now().await;
            }
            Err(error) => {
                tokio::select! {
                    () = sleep(pause.next(&error)) => {}
                    () = stop.cancelled() => break,
                }
            }
        }
    }
    drop((listener, visitors, router));
    kept.await;
    timeout(limits::LAST_REPLIES, ended.wait()).await.unwrap_or_default();
}

fn serve(
    stream: TcpStream,
    client: SocketAddr,
    router: &Router,
    visitors: &Arc<Visitors>,
    stop: CancellationToken,
) {
    let visitor = visitors.admit();
    if let Ok(server) = stream.local_addr() {
        visitor.comes_over(Endpoints { client, server });
    }
    let stopped = async move { stop.cancelled().await };
    let served = connection::serve_http(stream, router.clone(), Arc::clone(&visitor), stopped);
    tokio::spawn(async move {
        tokio::select! {
            served = served => {
                if let Err(error) = served {
                    tracing::debug!(%error, "a connection over HTTP failed");
                }
            }
            () = visitor.expelled() => {
                tracing::debug!("closed a connection over HTTP that has not shown the token");
            }
        }
    });
}

/// Pauses while no connection can be accepted. Most often that is for want of file descriptors.
#[derive(Debug, Default)]
struct Pause(Option<Duration>);

impl Pause {
    /// Returns how long to wait. The first failure in a row is logged.
    fn next(&mut self, error: &io::Error) -> Duration {
        if self.0.is_none() {
            tracing::warn!(%error, "connections over HTTP cannot be accepted; trying again");
        }
        let pause =
            self.0.map_or(limits::ACCEPT_BACK_OFF, |before| (2 * before).min(limits::ACCEPT_BACK_OFF_MOST));
        self.0 = Some(pause);
        pause
    }

    /// Records that a connection was accepted.
    fn end(&mut self) {
        if self.0.take().is_some() {
            tracing::info!("connections over HTTP are accepted again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_grows_up_to_a_limit() {
        let mut pause = Pause::default();
        let error = io::Error::other("no file descriptors");
        let pauses: Vec<_> = (0..7).map(|_| pause.next(&error).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 2000, 2000]);
        pause.end();
        assert_eq!(pause.next(&error), limits::ACCEPT_BACK_OFF);
    }
}
