//! The HTTP server: it listens, and serves an inbox until it is stopped. It maps each path to its handler, behind the
//! layers that every request passes: the guard, and the limits on the size and the time of the body.
//! Single connections are left to `connection.rs`, serving one bridge to `service/http.rs`.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, time::SystemTime};

use askbridge_control::{
    inbox::{Inbox, Traffic},
    join::discovery::{self, DiscoveryError},
    rpc::deferrals::Deferrals,
};
use askbridge_os::program;
use askbridge_settings::resolved::HttpSettings;
use axum::{Router, middleware};
use thiserror::Error;
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;

use super::{
    aap,
    app::{App, Feeds},
    body::{self, Bodies},
    connection, events,
    guard::{self, Guard, UnauthorizedReply},
    host::is_loopback,
    metrics::{self, Metrics},
    opencode,
    origins::Origins,
    problem, public, rest, rpc,
    token::{Token, TokenError},
    visitors::Rate,
};
use crate::{
    limits,
    page::{
        sign_in::{self, SignIn},
        site as page,
    },
};

/// The most connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// Why the server cannot start.
#[derive(Debug, Error)]
pub enum ServeError {
    /// It cannot listen on the address.
    #[error("cannot listen on {address}: {source}{}", hint(source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        source: io::Error,
    },
    /// There is no directory for the token.
    #[error(transparent)]
    Folder(#[from] DiscoveryError),
    /// There is no token.
    #[error(transparent)]
    Token(#[from] TokenError),
}

fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::AddrInUse => {
            "; another program listens there already: choose another address (`askbridge config set inbox.address \
            ADDRESS` \
             does so for the inbox), or port 0 for any free port"
        }
        _ => "",
    }
}

/// A server that listens, but does not serve yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
    token_file: PathBuf,
    settings: HttpSettings,
    started: SystemTime,
    rate: u32,
    deferrals: Deferrals,
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restarted server must get its address again while old connections are in TIME_WAIT.
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit this size. By default, the kernel buffers megabytes for each client that does not
    // read.
    socket.set_send_buffer_size(u32::try_from(limits::REPLY_WINDOW).unwrap_or(u32::MAX))?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Server {
    /// Listens on an address. Creates the token file if it does not exist.
    pub async fn bind(address: SocketAddr, settings: &HttpSettings) -> Result<Self, ServeError> {
        // Each program that waits, and each person, has a connection.
        program::raise_open_files();
        let token_file = Token::file(settings.token_file.as_deref())?;
        let token = Token::read_or_make(&token_file)?;
        let failed = |source| ServeError::Listen { address, source };
        let listener = listen(address).map_err(failed)?;
        // The port may have been 0, which the system has replaced by a free one.
        let address = listener.local_addr().map_err(failed)?;
        let settings = settings.clone();
        let (started, rate) = (SystemTime::now(), limits::REQUESTS_PER_SECOND);
        let deferrals = Deferrals::new(settings.undo);
        Ok(Server { listener, address, token, token_file, settings, started, rate, deferrals })
    }

    /// Returns the server with another limit on requests in a second.
    #[must_use]
    pub fn with_rate(self, rate: u32) -> Self {
        Server { rate, ..self }
    }

    /// Returns what people have sent by the page and can still take back.
    pub fn deferrals(&self) -> Deferrals {
        self.deferrals.clone()
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the message for the user: the address, the token file, the other sites whose pages may use it, and a
    /// warning if other machines can reach the address.
    pub fn announcement(&self) -> String {
        let Server { address, token_file, settings, .. } = self;
        let mut text =
            format!("askbridge: listening on http://{address}, with the token in {}\n", token_file.display());
        if !settings.allowed_origins.is_empty() {
            let origins = settings.allowed_origins.join(", ");
            text.push_str(&format!("askbridge: web pages of {origins} can use that token as well\n"));
        }
        if !is_loopback(address.ip()) {
            text.push_str(
                "askbridge: other machines can reach this address. Nothing is encrypted: anyone who has the token, \
                or reads it in transit, can answer for you. Put it behind a proxy that speaks TLS, or a tunnel.\n",
            );
        }
        text
    }

    /// Serves an inbox until `stop` is cancelled. Replies in flight are still sent.
    ///
    /// `traffic` has the counters of the bridge behind the inbox, if it runs in this process.
    pub async fn run<I: Inbox>(self, inbox: I, traffic: Option<Arc<Traffic>>, stop: CancellationToken) {
        let rate = Arc::new(Rate::new(self.rate));
        let guard = Guard {
            sign_in: Arc::new(SignIn::new(self.token.clone(), self.address.port(), self.started)),
            token: self.token,
            address: self.address,
            origins: Origins::new(&self.settings.allowed_origins),
            hosts: self.settings.allowed_hosts,
            rate: Arc::clone(&rate),
            unauthorized: Arc::new(UnauthorizedReply::new(self.address.ip(), &self.token_file)),
        };
        let metrics = Arc::new(Metrics::new(traffic));
        let feeds = Feeds::new(&discovery::name(), stop.clone());
        let waiting = Arc::new(Semaphore::new(limits::WAITING));
        let app = App { inbox: inbox.clone(), feeds, metrics: Arc::clone(&metrics), waiting };
        let deferrals = self.deferrals;
        let router = router(app, &deferrals, Arc::new(guard), rate, &stop);
        let kept = async {
            deferrals.flush().await;
            inbox.kept().await;
        };
        tokio::select! {
            () = connection::accept(self.listener, router, stop, kept) => {}
            () = deferrals.run(&inbox) => {}
            // Counting ends with the store, but that must not end the server: calls in flight still get their replies.
            () = async {
                metrics::count(&metrics, inbox.store()).await;
                std::future::pending().await
            } => {}
        }
    }
}

/// Returns the router.
pub(super) fn router<I: Inbox>(
    app: App<I>,
    deferrals: &Deferrals,
    guard: Arc<Guard>,
    rate: Arc<Rate>,
    stop: &CancellationToken,
) -> Router {
    let rpc = rpc::Rpc::new(app.inbox.clone(), deferrals.clone(), rate, stop.clone());
    Router::new()
        .merge(rest::routes())
        .merge(events::routes())
        .merge(rpc::routes(rpc))
        .merge(opencode::routes())
        .merge(aap::routes())
        .merge(public::health_routes())
        .merge(public::document_routes())
        .merge(page::routes())
        .merge(sign_in::routes(Arc::clone(&guard.sign_in)))
        // The last layer is the outermost: the guard refuses a request before its body is read.
        .layer(middleware::from_fn_with_state(Bodies::default(), body::whole))
        .layer(middleware::from_fn_with_state(guard, guard::check))
        .layer(middleware::from_fn(problem::everywhere))
        .with_state(app)
}

#[cfg(test)]
mod tests {
    use askbridge_control::rpc::played::{PlayedBridge, soon};
    use futures::{SinkExt, StreamExt};
    use serde_json::{Value, json};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
        time::timeout,
    };
    use tokio_tungstenite::{
        client_async,
        tungstenite::{Message, client::IntoClientRequest},
    };

    use super::*;
    use crate::limits;

    /// As on a disk that is slow while a build runs: an answer is still being noted when the bridge ends.
    #[tokio::test]
    async fn what_was_accepted_is_confirmed_over_http_and_websocket_though_the_server_stops() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        let ids = [bridge.open("First?").await, bridge.open("Second?").await];
        let settings =
            HttpSettings { token_file: Some(folder.path().join("token")), ..HttpSettings::default() };
        let server = Server::bind("127.0.0.1:0".parse().unwrap(), &settings).await.unwrap();
        let (address, token) =
            (server.address(), std::fs::read_to_string(server.token_file.clone()).unwrap());
        let bearer = format!("Bearer {}", token.trim_end());
        let stop = CancellationToken::new();
        let mut served = tokio::spawn(server.run(bridge.inbox.clone(), None, stop.clone()));

        let mut rest = TcpStream::connect(address).await.unwrap();
        let body = json!({ "answers": [["a"]] }).to_string();
        let request = format!(
            "POST /v1/questions/b-{}/reply HTTP/1.1\r\nHost: {address}\r\nAuthorization: {bearer}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            ids[0],
            body.len()
        );
        rest.write_all(request.as_bytes()).await.unwrap();
        let over_rest = bridge.submitted().await;

        let mut request = format!("ws://{address}/rpc").into_client_request().unwrap();
        request.headers_mut().insert("authorization", bearer.parse().unwrap());
        let (mut socket, _) =
            client_async(request, TcpStream::connect(address).await.unwrap()).await.unwrap();
        let params = json!({ "id": format!("b-{}", ids[1]), "answer": { "answers": [["b"]] }, "by": { "responder": "rpc" } });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "question_answer", "params": params });
        socket.send(Message::text(call.to_string())).await.unwrap();
        let over_socket = bridge.submitted().await;

        stop.cancel();
        let mut head = [0; 13];
        let early = timeout(2 * limits::LAST_REPLIES, async {
            tokio::select! {
                read = rest.read(&mut head) => format!("{read:?}"),
                message = socket.next() => format!("{message:?}"),
                served = &mut served => format!("{served:?}"),
            }
        });
        early.await.expect_err("nothing ends before it is kept");
        bridge.carry_out(over_rest).await;
        bridge.carry_out(over_socket).await;
        soon(rest.read_exact(&mut head)).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 204 ");
        let reply = soon(socket.next()).await.unwrap().unwrap();
        let reply: Value = serde_json::from_str(reply.to_text().unwrap()).unwrap();
        assert_eq!(reply["result"]["settlement"]["outcome"]["status"], "answered", "{reply}");
        soon(served).await.unwrap();
    }
}
