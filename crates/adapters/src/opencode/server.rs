//! Calls to an opencode server. They check that the server is opencode, list its open questions, answer one, and open
//! its stream of events. Each call is an HTTP/1.1 request without TLS on a separate connection. Of server-sent events,
//! only the data is used. The choice of when to call is left to `session.rs`.

use std::{future::Future, io, sync::Arc};

use askbridge_control::join::discovery::DiscoveryError;
use askbridge_core::dialect::opencode::{self, Call, OpencodeRequest, Verdict, encode};
use askbridge_settings::addresses::TrustedServers;
use axum::{
    body::{Body, BodyDataStream, Bytes, to_bytes},
    http::{
        HeaderValue, Method, Request as HttpRequest, Response,
        header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST},
    },
};
use base64::{Engine, engine::general_purpose::STANDARD};
use futures::StreamExt;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use thiserror::Error;
use tokio::{net::TcpStream, time::timeout};

use super::address::Address;
use crate::{
    answering::Delivery,
    attach::Secret,
    events::EventReader,
    limits,
    trust::{self, Untrusted},
};

/// Why a server cannot be attached to.
#[derive(Debug, Error)]
pub(super) enum ServerError {
    #[error("cannot be reached: {0}")]
    Http(HttpError),
    #[error("{0}")]
    Untrusted(HttpError),
    #[error(
        "needs a password, or a different one: set OPENCODE_SERVER_PASSWORD to the same value as for the server"
    )]
    Password,
    #[error("is not opencode: {0} did not return JSON")]
    NotOpencode(&'static str),
    #[error("has no inbox: {0}")]
    Inbox(DiscoveryError),
}

impl From<HttpError> for ServerError {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Untrusted(_) => ServerError::Untrusted(error),
            _ => ServerError::Http(error),
        }
    }
}

/// The paths of the streams of events: of all projects, and, in older versions, of the one that the server runs in.
const STREAMS: [&str; 2] = ["/global/event", "/event"];

/// Opens the stream of events. For an unknown path, opencode returns its web page and no stream.
pub(super) async fn events(client: &HttpClient) -> Result<Events, ServerError> {
    for path in STREAMS {
        let response = client.events(path).await?;
        let is_stream = response
            .headers()
            .get("content-type")
            .is_some_and(|kind| kind.to_str().is_ok_and(|kind| kind.starts_with("text/event-stream")));
        match response.status().as_u16() {
            401 | 403 => return Err(ServerError::Password),
            200 if is_stream => return Ok(Events::new(response.into_body())),
            _ => {}
        }
    }
    Err(ServerError::NotOpencode("/event"))
}

/// Returns whether an opencode server listens there.
pub(super) async fn is_opencode(client: &HttpClient) -> Result<(), ServerError> {
    #[derive(Deserialize)]
    struct Health {
        // This member is not used, but required: it tells opencode's reply from other JSON.
        #[serde(rename = "healthy")]
        _healthy: bool,
    }
    let reply = client.get("/global/health").await?;
    match reply.status {
        401 | 403 => Err(ServerError::Password),
        200 if serde_json::from_slice::<Health>(&reply.body).is_ok() => Ok(()),
        _ => Err(ServerError::NotOpencode("/global/health")),
    }
}

/// Returns the folder that the server runs in.
pub(super) async fn folder(client: &HttpClient) -> Result<String, ServerError> {
    #[derive(Deserialize)]
    struct Path {
        directory: String,
    }
    let reply = client.get("/path").await?;
    let path = serde_json::from_slice::<Path>(&reply.body).ok().filter(|_| reply.status == 200);
    path.map(|path| path.directory).ok_or(ServerError::NotOpencode("/path"))
}

/// Returns the folders of the projects that were used since this time, in milliseconds since 1970.
pub(super) async fn projects(client: &HttpClient, since: f64) -> Result<Vec<String>, ServerError> {
    let reply = client.get("/project").await?;
    Ok(opencode::used_since(&reply.body, since))
}

/// Returns the open requests of a folder.
pub(super) async fn open(client: &HttpClient, directory: &str) -> Result<Vec<OpencodeRequest>, ServerError> {
    let mut open = Vec::new();
    for (path, permissions) in [("/question", false), ("/permission", true)] {
        let reply = client.get(&in_directory(path, directory)).await?;
        let listed = opencode::list(&reply.body, permissions).filter(|_| reply.status == 200);
        open.extend(listed.ok_or(ServerError::NotOpencode(path))?);
    }
    Ok(open)
}

/// Sends an answer or a rejection.
pub(super) async fn answer(client: &HttpClient, call: Call, directory: &str) -> Delivery {
    let Call { path, body, .. } = call;
    match client.post(&in_directory(&path, directory), body).await {
        Ok(reply) => match opencode::verdict(reply.status, &reply.body) {
            Verdict::Taken => Delivery::Taken,
            Verdict::TooLate => Delivery::TooLate,
            Verdict::Failed(why) => Delivery::Refused(why),
            Verdict::Unclear(why) => Delivery::Unknown(why),
        },
        // These errors come before the first byte is sent, so it is certain that the agent has no answer.
        Err(error @ (HttpError::Connect(_) | HttpError::Untrusted(_))) => {
            Delivery::NotSent(error.to_string())
        }
        Err(error) => Delivery::Unknown(error.to_string()),
    }
}

/// Returns a path for the project in this folder.
fn in_directory(path: &str, directory: &str) -> String {
    format!("{path}?directory={}", encode(directory))
}

/// The password of a server, and the name that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Password {
    user: String,
    password: Secret,
}

impl Password {
    /// Returns a password. The default user is `opencode`, as in opencode itself.
    pub fn new(user: Option<String>, password: Secret) -> Self {
        let user = user.filter(|user| !user.is_empty()).unwrap_or_else(|| "opencode".to_owned());
        Password { user, password }
    }

    fn header(&self) -> Option<HeaderValue> {
        let encoded = STANDARD.encode(format!("{}:{}", self.user, self.password.expose()));
        let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).ok()?;
        // Keeps the password out of `Debug` output.
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

/// The client of one server. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct HttpClient {
    address: Arc<Address>,
    authorization: Option<HeaderValue>,
    /// The servers that get the password, even if other users run them.
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

    /// Requests a stream of events, and returns the response before its body is read.
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
        // Ignore the error: the response shows it, and the task ends with the response.
        tokio::spawn(async { connection.await.unwrap_or_default() });
        Ok(sender.send_request(request).await?.map(Body::new))
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T, HttpError>>) -> Result<T, HttpError> {
    let most = limits::ATTACH_CONNECT + limits::ATTACH_ANSWER;
    timeout(most, work).await.map_err(|_| HttpError::TooSlow)?
}

/// The events of a response.
pub(super) struct Events {
    body: BodyDataStream,
    /// What was received of the events that follow.
    rest: Bytes,
    reader: EventReader,
}

impl Events {
    pub(super) fn new(body: Body) -> Self {
        let reader = EventReader::new(limits::OPENCODE_REPLY);
        Events { body: body.into_data_stream(), rest: Bytes::new(), reader }
    }

    /// Returns the data of the next event. `None` if the stream has ended, broke off, or is silent for too long.
    /// Cancel safe.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        loop {
            // An event that is too long is skipped, and the next events are still read.
            while let Some(event) = self.reader.read(&mut self.rest) {
                if event.data.is_some() {
                    return event.data;
                }
            }
            self.rest = timeout(limits::OPENCODE_SILENCE, self.body.next()).await.ok()??.ok()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::stream;

    use super::*;
    use crate::limits;

    async fn read(chunks: Vec<Vec<u8>>) -> Vec<String> {
        let body = Body::from_stream(stream::iter(chunks.into_iter().map(Ok::<_, Infallible>)));
        let (mut events, mut read) = (Events::new(body), Vec::new());
        while let Some(data) = events.next().await {
            read.push(String::from_utf8(data.to_vec()).expect("text"));
        }
        read
    }

    #[tokio::test]
    async fn events_are_read_however_they_are_cut() {
        let text = b": hello\r\n\r\nid: 1\ndata: {\"a\":1}\n\nevent: x\ndata:one\ndata: two\r\n\r\n\ndata: unfinished";
        for size in 1..text.len() {
            let chunks = text.chunks(size).map(<[u8]>::to_vec).collect();
            assert_eq!(read(chunks).await, ["{\"a\":1}", "one\ntwo"], "in pieces of {size}");
        }
    }

    #[tokio::test]
    async fn an_event_that_is_too_long_is_skipped_alone() {
        let long = vec![b'x'; limits::OPENCODE_REPLY / 2];
        let mut chunks = vec![b"data: ".to_vec()];
        chunks.extend([long.clone(), long.clone(), long.clone(), b"\n\ndata: next\n\n".to_vec()]);
        assert_eq!(read(chunks).await, ["next"]);
        // As one event of several lines, too.
        let line = [b"data: ".to_vec(), long, b"\n".to_vec()].concat();
        let chunks = vec![line.clone(), line.clone(), line, b"\ndata: next\n\n".to_vec()];
        assert_eq!(read(chunks).await, ["next"]);
    }
}
