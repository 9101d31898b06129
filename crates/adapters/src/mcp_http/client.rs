//! The HTTP client: connections, encryption with the certificates that the system trusts, the headers of each call. Which
//! calls are made is left to the relay, and how a response is read to `talk.rs`.

use std::{
    convert::Infallible,
    error::Error,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{
        HeaderMap, HeaderValue, Method, Request, Response, Uri,
        header::{ACCEPT, CONTENT_TYPE, USER_AGENT},
    },
};
use hyper::body::{Frame, SizeHint};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo, TokioTimer},
};
use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::{net::TcpStream, sync::oneshot, time::timeout};
use tower_service::Service;

use super::{
    address::ServerAddress,
    call::{Call, End, Sends},
};
use crate::limits::mcp_http as limits;

/// The client of one server. Cheap to clone.
#[derive(Clone)]
pub(super) struct HttpClient {
    client: Client<Connector, MessageBody>,
    /// The headers that the user's settings name.
    headers: HeaderMap,
}

impl HttpClient {
    /// Returns a client for this server.
    ///
    /// # Errors
    /// The certificates of the system cannot be used.
    pub(super) fn new(server: &ServerAddress, headers: HeaderMap) -> Result<Self, rustls::Error> {
        let mut client = Client::builder(TokioExecutor::new());
        client.pool_timer(TokioTimer::new()).pool_idle_timeout(limits::IDLE).http1_max_buf_size(limits::HEAD);
        Ok(HttpClient { client: client.build(Connector::new(server)?), headers })
    }

    /// Sends a call to this address, and returns the response before its body is read. `sent` is dropped once all of
    /// the message was written.
    ///
    /// # Errors
    /// Fails with the way in which the call ended.
    pub(super) async fn send(
        &self,
        to: &ServerAddress,
        call: &Call,
        sent: oneshot::Sender<Infallible>,
    ) -> Result<Response<Body>, End> {
        let (method, body) = match &call.sends {
            Sends::Message(line) => (Method::POST, line.clone()),
            Sends::Listen => (Method::GET, Bytes::new()),
            Sends::End => (Method::DELETE, Bytes::new()),
        };
        let mut request = Request::new(MessageBody { bytes: Some(body), _sent: sent });
        let headers = request.headers_mut();
        *headers = self.headers.clone();
        let accepted = match method {
            Method::POST => "application/json, text/event-stream",
            _ => "text/event-stream",
        };
        headers.insert(ACCEPT, HeaderValue::from_static(accepted));
        if method == Method::POST {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        headers
            .entry(USER_AGENT)
            .or_insert(HeaderValue::from_static(concat!("askbridge/", env!("CARGO_PKG_VERSION"))));
        headers.extend(call.headers.clone());
        (*request.method_mut(), *request.uri_mut()) = (method, to.uri());
        match self.client.request(request).await {
            Ok(response) => Ok(response.map(Body::new)),
            Err(error) if error.is_connect() => Err(End::Unreached(cause(&error))),
            Err(error) => Err(End::Broken(cause(&error))),
        }
    }
}

/// Returns the innermost cause of an error. The words of the outer ones say where it was found, not what it is.
pub(super) fn cause(error: &(dyn Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// The body of a request: one message.
pub(super) struct MessageBody {
    bytes: Option<Bytes>,
    /// Dropped with the body, which is when the message has been written.
    _sent: oneshot::Sender<Infallible>,
}

impl HttpBody for MessageBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.bytes.take().filter(|bytes| !bytes.is_empty()).map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.as_ref().is_none_or(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// Connects to the server, with encryption if its address asks for it.
#[derive(Clone)]
enum Connector {
    Plain(HttpConnector),
    Tls(HttpsConnector<HttpConnector>),
}

impl Connector {
    fn new(server: &ServerAddress) -> Result<Self, rustls::Error> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        // A small message must not wait for the acknowledgement of an earlier one.
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(limits::KEEP_ALIVE));
        tcp.set_keepalive_interval(Some(limits::KEEP_ALIVE));
        tcp.set_keepalive_retries(Some(limits::KEEP_ALIVE_LOOKS));
        if !server.is_tls() {
            return Ok(Connector::Plain(tcp));
        }
        // A server of the user's own may have a certificate of an authority that only this machine trusts.
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_platform_verifier()?
            .with_no_client_auth();
        Ok(Connector::Tls(HttpsConnector::from((tcp, config))))
    }
}

type Connection = MaybeHttpsStream<TokioIo<TcpStream>>;
type Failure = Box<dyn Error + Send + Sync>;

impl Service<Uri> for Connector {
    type Response = Connection;
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Connection, Failure>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        match self {
            Connector::Plain(tcp) => tcp.poll_ready(context).map_err(Into::into),
            Connector::Tls(tls) => tls.poll_ready(context),
        }
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting: Self::Future = match self {
            Connector::Plain(tcp) => {
                let connecting = tcp.call(uri);
                Box::pin(async { Ok(MaybeHttpsStream::Http(connecting.await?)) })
            }
            Connector::Tls(tls) => Box::pin(tls.call(uri)),
        };
        Box::pin(async {
            let late = || format!("no connection within {} s", limits::CONNECT.as_secs());
            timeout(limits::CONNECT, connecting).await.map_err(|_| late())?
        })
    }
}
