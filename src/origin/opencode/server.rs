//! The calls to an opencode server that are needed: what it is, what is open, and how something is answered.

use serde::Deserialize;
use thiserror::Error;

use super::{
    http::{HttpClient, HttpError},
    stream::Events,
};
use crate::{
    dialect::opencode::{self, Call, OpencodeRequest, Verdict, encode},
    machine::discovery::DiscoveryError,
    origin::answering::Delivery,
};

/// Why a server cannot be attached to.
#[derive(Debug, Error)]
pub(super) enum ServerError {
    #[error("cannot be reached: {0}")]
    Http(HttpError),
    #[error("{0}")]
    Untrusted(HttpError),
    #[error("wants a password, or another one: set OPENCODE_SERVER_PASSWORD as for the server")]
    Password,
    #[error("is not opencode: {0} has no JSON")]
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

/// Begins to read the events. An unknown path is answered with the web page, and no stream.
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

/// Returns what is open in a folder.
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
