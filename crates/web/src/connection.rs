//! Accepts connections and serves HTTP/1.1 on each. Every wait has a timeout. HTTP/2 is off, since hyper has no timeout
//! for an idle connection of it.
//! The number of connections is left to `visitors.rs`, the handler of each path to `server.rs`.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, http::StatusCode, response::IntoResponse};
use futures::{FutureExt, future::Either};
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    task::yield_now,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::asking;
use super::visitors::{Endpoints, Visitor, Visitors};
use crate::limits;

/// Serves all connections until the server stops. Replies in flight are then still sent, after `kept` completes, when
/// the journal has what they confirm. The server waits only a short time for a client that does not read.
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
                // Let the new connection read its first request, which may show the token, before the next one can
                // expel it.
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
    // `ended` completes once all clones of these are gone.
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
    let served = serve_http(stream, router.clone(), Arc::clone(&visitor), stopped);
    tokio::spawn(async move {
        tokio::select! {
            served = served => {
                if let Err(error) = served {
                    tracing::debug!(%error, "an HTTP connection failed");
                }
            }
            () = visitor.expelled() => {
                tracing::debug!("closed a connection over HTTP that has not shown the token");
            }
        }
    });
}

/// The back-off while no connection can be accepted, most often for want of file descriptors.
#[derive(Debug, Default)]
struct Pause(Option<Duration>);

impl Pause {
    /// Returns how long to wait. Logs the first of several failures in a row.
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

/// Serves a connection until it ends. Once `stopped` completes, the reply in flight is the last.
///
/// Handlers find the visitor in the extensions of the request.
pub(super) async fn serve_http(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    router: Router,
    visitor: Arc<Visitor>,
    stopped: impl Future<Output = ()>,
) -> Result<(), hyper::Error> {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&visitor));
        let is_named = request.headers().contains_key(asking::KEY);
        let response = router.call(request);
        if !is_named {
            return Either::Left(response);
        }
        // hyper drops the future of a client that hangs up, maybe before it was polled with the body. What has a name is
        // asked all the same.
        let asking = tokio::spawn(response);
        Either::Right(
            asking
                .map(|asked| asked.unwrap_or_else(|_| Ok(StatusCode::INTERNAL_SERVER_ERROR.into_response()))),
        )
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::HEAD)
        .max_buf_size(limits::HTTP_BUFFER)
        .serve_connection(TokioIo::new(stream), service)
        // WebSockets need upgrades.
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        served = &mut connection => served,
        () = stopped => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, time::Duration};

    use axum::{body::Bytes, middleware, routing::post};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
        time::{Instant, interval_at, timeout},
    };

    use super::*;
    use crate::{
        body::{self, Bodies},
        limits,
        visitors::Visitors,
    };

    #[test]
    fn the_pause_grows_up_to_a_limit() {
        let mut pause = Pause::default();
        let error = io::Error::other("no file descriptors");
        let pauses: Vec<_> = (0..7).map(|_| pause.next(&error).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 2000, 2000]);
        pause.end();
        assert_eq!(pause.next(&error), limits::ACCEPT_BACK_OFF);
    }

    /// Shorter than any timeout, so that a byte after each pause comes slowly, but comes.
    const PAUSE: Duration = Duration::from_secs(3);
    /// How long anything may take, by tokio's paused clock.
    const DEADLINE: Duration = Duration::from_secs(3600);

    /// Connects to a server that returns the length of a body.
    fn connect() -> DuplexStream {
        let (near, far) = duplex(1 << 16);
        let router = Router::new()
            .route("/", post(async |body: Bytes| body.len().to_string()))
            .layer(middleware::from_fn_with_state(Bodies::default(), body::whole));
        let (visitors, _) = Visitors::new();
        tokio::spawn(serve_http(far, router, visitors.admit(), pending()));
        near
    }

    /// Sends a byte after each pause, until the server closes the connection. Returns what came back, and when.
    async fn drip(mut stream: DuplexStream, text: &str) -> (String, Duration) {
        let start = Instant::now();
        let (mut reads, mut writes) = tokio::io::split(&mut stream);
        let mut pauses = interval_at(start + PAUSE, PAUSE);
        let write = async {
            for byte in text.bytes() {
                pauses.tick().await;
                if writes.write_all(&[byte]).await.is_err() {
                    break;
                }
            }
            pending::<()>().await;
        };
        let mut reply = String::new();
        tokio::select! {
            read = timeout(DEADLINE, reads.read_to_string(&mut reply)) => assert!(matches!(read, Ok(Ok(_))), "{read:?}"),
            () = write => {}
        }
        (reply, start.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_is_refused() {
        let mut stream = connect();
        stream.write_all(b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n").await.unwrap();
        let (reply, after) = drip(stream, "123456789").await;
        assert!(reply.starts_with("HTTP/1.1 408 "), "{reply}");
        for text in ["content-type: application/problem+json", "connection: close", "\"name\":\"too_slow\""] {
            assert!(reply.contains(text), "{reply}");
        }
        assert_eq!(after, limits::BODY);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_comes_in_time_is_accepted() {
        let mut stream = connect();
        let head = b"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 3\r\n\r\n";
        stream.write_all(head).await.unwrap();
        let (reply, after) = drip(stream, "123").await;
        assert!(reply.starts_with("HTTP/1.1 200 ") && reply.ends_with("\r\n\r\n3"), "{reply}");
        assert_eq!(after, 3 * PAUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_with_a_slow_head_is_closed() {
        for head in ["", "POST / HTTP/1.1\r\nHost: localhost\r\n"] {
            let (reply, after) = drip(connect(), head).await;
            assert_eq!((&*reply, after), ("", limits::HEAD), "{head:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_is_closed() {
        let mut stream = connect();
        stream.write_all(b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        let (reply, after) = drip(stream, "").await;
        assert!(reply.starts_with("HTTP/1.1 200 ") && !reply.contains("connection: close"), "{reply}");
        assert_eq!(after, limits::HEAD);
    }
}
