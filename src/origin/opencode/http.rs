//! Requests over HTTP/1.1, without TLS, each on a connection of its own. What they mean is left to `server.rs`.

use std::{future::Future, io, sync::Arc};

use axum::{
    body::{Body, Bytes, to_bytes},
    http::{
        HeaderValue, Method, Request as HttpRequest, Response,
        header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST},
    },
};
use base64::{Engine, engine::general_purpose::STANDARD};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::{net::TcpStream, time::timeout};

use super::address::Address;
use crate::{
    limits,
    origin::{
        Secret,
        trust::{self, Untrusted},
    },
    settings::attached::TrustedServers,
};

/// The password of a server, and the name that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Password {
    user: String,
    password: Secret,
}

impl Password {
    /// Returns a password. Without a user, it is that of `opencode`, as in opencode itself.
    pub fn new(user: Option<String>, password: Secret) -> Self {
        let user = user.filter(|user| !user.is_empty()).unwrap_or_else(|| "opencode".to_owned());
        Password { user, password }
    }

    fn header(&self) -> Option<HeaderValue> {
        let encoded = STANDARD.encode(format!("{}:{}", self.user, self.password.expose()));
        let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Why a request failed.
#[derive(Debug, Error)]
pub(super) enum HttpError {
    /// There is no connection: nothing was sent.
    #[error("{0}")]
    Connect(io::Error),
    /// The server must not get the password: nothing was sent.
    #[error("does not get OPENCODE_SERVER_PASSWORD: {0}")]
    Untrusted(#[from] Untrusted),
    #[error("{0}")]
    Http(#[from] hyper::Error),
    #[error("no reply in time")]
    TooSlow,
    #[error("the reply is too long, or broke off")]
    Body,
    #[error("the path is not valid")]
    Path,
}

/// A response that was read as a whole.
pub(super) struct HttpReply {
    pub status: u16,
    pub body: Bytes,
}

/// What sends requests to one server. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct HttpClient {
    address: Arc<Address>,
    authorization: Option<HeaderValue>,
    /// The servers that get the password whoever runs them.
    trusted: Arc<TrustedServers>,
}

impl HttpClient {
    pub(super) fn new(address: Address, password: Option<&Password>, trusted: Arc<TrustedServers>) -> Self {
        let authorization = password.and_then(Password::header);
        HttpClient { address: Arc::new(address), authorization, trusted }
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Sends a request without a body, and reads the response.
    pub(super) async fn get(&self, path: &str) -> Result<HttpReply, HttpError> {
        in_time(self.exchange(self.request(Method::GET, path, "application/json", Body::empty())?)).await
    }

    /// Sends a body of JSON, and reads the response.
    pub(super) async fn post(&self, path: &str, body: Option<String>) -> Result<HttpReply, HttpError> {
        let body = body.map_or_else(Body::empty, Body::from);
        in_time(self.exchange(self.request(Method::POST, path, "application/json", body)?)).await
    }

    /// Begins to read events, and returns the response without its body.
    pub(super) async fn events(&self, path: &str) -> Result<Response<Body>, HttpError> {
        in_time(self.send(self.request(Method::GET, path, "text/event-stream", Body::empty())?)).await
    }

    async fn exchange(&self, request: HttpRequest<Body>) -> Result<HttpReply, HttpError> {
        let (head, body) = self.send(request).await?.into_parts();
        let body = to_bytes(body, limits::OPENCODE_REPLY).await.map_err(|_| HttpError::Body)?;
        Ok(HttpReply { status: head.status.as_u16(), body })
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        accept: &'static str,
        body: Body,
    ) -> Result<HttpRequest<Body>, HttpError> {
        let path = format!("{}{path}", self.address.prefix);
        let mut request =
            HttpRequest::builder().method(method).uri(path).header(HOST, self.address.authority());
        request = request.header(ACCEPT, accept).header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        request.body(body).map_err(|_| HttpError::Path)
    }

    async fn send(&self, request: HttpRequest<Body>) -> Result<Response<Body>, HttpError> {
        let connect = TcpStream::connect((&*self.address.host, self.address.port));
        let connected = timeout(limits::ATTACH_CONNECT, connect).await.map_err(|_| HttpError::TooSlow)?;
        let stream = connected.map_err(HttpError::Connect)?;
        if self.authorization.is_some() {
            trust::check(&stream, (&self.address.host, self.address.port), &self.trusted).await?;
        }
        // A small request must not wait for the acknowledgement of an earlier one.
        stream.set_nodelay(true).map_err(HttpError::Connect)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // It ends with the response: what is wrong with it is seen there.
        tokio::spawn(async { connection.await.unwrap_or_default() });
        Ok(sender.send_request(request).await?.map(Body::new))
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T, HttpError>>) -> Result<T, HttpError> {
    let most = limits::ATTACH_CONNECT + limits::ATTACH_ANSWER;
    timeout(most, work).await.map_err(|_| HttpError::TooSlow)?
}
