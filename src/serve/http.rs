//! The server: where it listens, how many may connect, and what each path leads to.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc};

use axum::{Router, extract::DefaultBodyLimit, middleware};
use jsonrpsee::server::{StopHandle, stop_channel};
use thiserror::Error;
use tokio::{net::TcpListener, sync::Semaphore, time::sleep};

use super::{
    body, connection, documents,
    events::{self, Events},
    guard::{self, Guard},
    metrics::{self, Metrics},
    opencode, problem,
    rate::Rate,
    rest, rpc,
    token::{Token, TokenError},
};
use crate::control::traffic::Traffic;
use crate::{
    config::HttpSettings,
    control::old::{Record, Refusal, Source, socket},
    limits,
    machine::discovery::{self, DiscoveryError},
};

/// What every path knows.
#[derive(Clone, Debug)]
pub(super) struct App<S> {
    pub(super) source: S,
    pub(super) events: Events,
    pub(super) metrics: Arc<Metrics>,
}

impl<S: Source> App<S> {
    /// Returns what is open, oldest first, and at which revision.
    pub(super) fn open(&self) -> (u64, Vec<Arc<Record>>) {
        let book = self.source.book();
        let book = book.borrow();
        (book.revision, book.open())
    }

    /// Returns the question of this name, also where only its bridge remembers it.
    pub(super) async fn look_up(&self, id: &str) -> Result<Arc<Record>, Refusal> {
        let known = self.find(id);
        if !matches!(known, Err(Refusal::NotFound)) {
            return known;
        }
        self.source.look_up(id).await.ok().filter(|view| view.id == id).map_or(known, Ok)
    }

    /// Returns the question of this name. Over HTTP the beginning of one is not enough: what is answered is what was
    /// read.
    pub(super) fn find(&self, id: &str) -> Result<Arc<Record>, Refusal> {
        let found = self.source.book().borrow().find(id).cloned();
        found.ok_or_else(|| self.source.missing(id))
    }
}

/// Why nothing is served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address cannot be had.
    #[error("cannot listen on {address}: {source}{}", hint(source))]
    Listen {
        /// Which address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// There is no folder for the token.
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

/// What listens, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
    token_file: PathBuf,
    hosts: Vec<String>,
}

impl Server {
    /// Begins to listen. Makes the token, where there is none yet.
    pub async fn bind(address: SocketAddr, settings: &HttpSettings) -> Result<Self, ServeError> {
        let token_file = match &settings.token_file {
            Some(path) => path.clone(),
            None => discovery::folder()?.join("token"),
        };
        let token = Token::read_or_make(&token_file)?;
        let listen = async |address| {
            let listener = TcpListener::bind(address).await?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) =
            listen(address).await.map_err(|source| ServeError::Listen { address, source })?;
        Ok(Server { listener, address, token, token_file, hosts: settings.allowed_hosts.clone() })
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Says where it listens, where the token is, and what follows from it.
    pub fn announcement(&self) -> String {
        let Server { address, token_file, .. } = self;
        let mut text =
            format!("askbridge: listening on http://{address}, with the token in {}\n", token_file.display());
        if !guard::is_loopback(address.ip()) {
            text.push_str(
                "askbridge: other machines can reach this address. Whoever has the token, or reads it on its way, can \
                 answer for you: nothing is encrypted. Put it behind a proxy that speaks TLS, or a tunnel.\n",
            );
        }
        text
    }

    /// Serves an inbox until it is told to end. Who waits for a reply by then still gets it.
    /// `traffic` is what goes through the bridge behind it, if there is one in this process.
    pub async fn run<S: Source>(
        self,
        source: S,
        traffic: Option<Arc<Traffic>>,
        ended: impl Future<Output = ()>,
    ) {
        let (stop, running) = stop_channel();
        let rate = Arc::new(Rate::new());
        let guard =
            Guard { token: self.token, address: self.address, hosts: self.hosts, rate: Arc::clone(&rate) };
        let metrics = Arc::new(Metrics::new(traffic));
        let (events, follows) = Events::start(&source, Arc::clone(&metrics));
        let router: Router = Router::new()
            .merge(rest::routes())
            .merge(events::routes())
            .merge(rpc::routes(source.clone(), rate, stop.clone()))
            .merge(opencode::routes())
            .merge(metrics::routes())
            .merge(documents::routes())
            .layer(middleware::from_fn(body::whole))
            .layer(DefaultBodyLimit::max(limits::REQUEST))
            .layer(middleware::from_fn_with_state(Arc::new(guard), guard::check))
            .layer(middleware::from_fn(problem::everywhere))
            .with_state(App { source, events, metrics });
        tokio::select! {
            () = accept(self.listener, router, stop) => {}
            () = ended => {}
        }
        follows.abort();
        socket::end(running).await;
    }
}

/// Serves whoever connects. Beyond the most that may, a connection is closed at once.
async fn accept(listener: TcpListener, router: Router, stop: StopHandle) {
    let connections = Arc::new(Semaphore::new(limits::CONNECTIONS));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // Most often there are no file descriptors left, until somebody closes some.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(limits::REST).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else { continue };
        let stream = socket::Connection::new(stream, permit);
        let served = connection::serve(stream, router.clone(), stop.clone().shutdown());
        tokio::spawn(async move {
            if let Err(error) = served.await {
                tracing::debug!(%error, "a connection failed");
            }
        });
    }
}
