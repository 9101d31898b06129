//! The HTTP server: it listens, and serves an inbox until it is told to stop. Which path leads where is left to the
//! router.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, time::SystemTime};

use thiserror::Error;
use tokio::net::{TcpListener, TcpSocket};

use super::{
    accept,
    address::is_loopback,
    app::App,
    feed::Feeds,
    guard::Guard,
    metrics::{self, Metrics},
    page::sign_in::SignIn,
    rate::Rate,
    router,
    token::{Token, TokenError},
    unauthorized::Unauthorized,
};
use crate::{
    config::HttpSettings,
    control::{inbox::Inbox, stop::Stop, traffic::Traffic},
    limits,
    machine::discovery::{self, DiscoveryError},
};

/// Connections that wait to be accepted.
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
            "; something listens there already: choose another address, or port 0 for any"
        }
        _ => "",
    }
}

/// A server that listens, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
    token_file: PathBuf,
    hosts: Vec<String>,
    started: SystemTime,
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // So that a server that was restarted gets its address again.
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit it. By default the kernel takes megabytes for each client that does not read.
    socket.set_send_buffer_size(u32::try_from(limits::REPLY_WINDOW).unwrap_or(u32::MAX))?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Server {
    /// Listens on an address. Creates the token file where there is none.
    pub async fn bind(address: SocketAddr, settings: &HttpSettings) -> Result<Self, ServeError> {
        let token_file = Token::file(settings.token_file.as_deref())?;
        let token = Token::read_or_make(&token_file)?;
        let failed = |source| ServeError::Listen { address, source };
        let listener = listen(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let hosts = settings.allowed_hosts.clone();
        Ok(Server { listener, address, token, token_file, hosts, started: SystemTime::now() })
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns what a person has to know: where it listens, where the token is, and whether others can reach it.
    pub fn announcement(&self) -> String {
        let Server { address, token_file, .. } = self;
        let mut text =
            format!("askbridge: listening on http://{address}, with the token in {}\n", token_file.display());
        if !is_loopback(address.ip()) {
            text.push_str(
                "askbridge: other machines can reach this address. Whoever has the token, or reads it on its way, can \
                 answer for you: nothing is encrypted. Put it behind a proxy that speaks TLS, or a tunnel.\n",
            );
        }
        text
    }

    /// Serves an inbox until it is told to stop. Replies that are under way by then are still sent.
    ///
    /// `traffic` counts what goes through the bridge behind the inbox, if there is one in this process.
    pub async fn run<I: Inbox>(self, inbox: I, traffic: Option<Arc<Traffic>>, stop: Stop) {
        let rate = Arc::new(Rate::new(limits::REQUESTS_PER_SECOND));
        let guard = Guard {
            sign_in: Arc::new(SignIn::new(self.token.clone(), self.address.port(), self.started)),
            token: self.token,
            address: self.address,
            hosts: self.hosts,
            rate: Arc::clone(&rate),
            unauthorized: Arc::new(Unauthorized::new(self.address.ip(), &self.token_file)),
        };
        let metrics = Arc::new(Metrics::new(traffic));
        let feeds = Feeds::new(&discovery::name(), stop.clone());
        let app = App { inbox: inbox.clone(), feeds, metrics: Arc::clone(&metrics) };
        let router = router::router(app, Arc::new(guard), rate, &stop);
        tokio::select! {
            () = accept::accept(self.listener, router, stop) => {}
            // It ends with the store. Calls that are under way by then still get their replies.
            () = async {
                metrics::count(&metrics, inbox.store()).await;
                std::future::pending().await
            } => {}
        }
    }
}
