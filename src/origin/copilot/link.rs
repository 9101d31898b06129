//! One connection to Copilot's server: calls and their results, and what it tells by itself.
//!
//! What Copilot asks its clients by requests is left to those that registered for it. This one registers for nothing, and
//! replies to nothing: an error could settle what is meant for another client.

use std::{collections::BTreeMap, io, time::Duration};

use futures::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value as Json, json, value::RawValue};
use thiserror::Error;
use tokio::{
    net::TcpStream,
    sync::{mpsc, oneshot},
    task::AbortHandle,
    time::timeout,
};
use tokio_util::codec::Framed;

use super::frame::Frames;
use crate::{
    dialect::copilot::{CopilotEvent, read_event},
    limits,
};

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum CallError {
    /// Copilot returned an error.
    #[error("{0}")]
    Refused(String),
    /// The connection broke, or Copilot did not reply in time.
    #[error("{0}")]
    Lost(String),
}

type Result<T, E = CallError> = std::result::Result<T, E>;

/// What Copilot tells by itself.
#[derive(Debug)]
pub(super) enum Notification {
    /// An event of a session.
    Event(String, CopilotEvent),
    /// The session that the terminal shows.
    Foreground(String),
}

struct Call {
    method: &'static str,
    params: Json,
    told: oneshot::Sender<Result<String>>,
}

/// Calls over one connection. Dropping it closes the connection.
#[derive(Debug)]
pub(super) struct Link {
    calls: mpsc::Sender<Call>,
    task: AbortHandle,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Link {
    /// Makes calls over this connection. What Copilot tells comes in the channel, which ends with the connection.
    pub(super) fn over(stream: TcpStream) -> (Self, mpsc::Receiver<Notification>) {
        let (calls, called) = mpsc::channel(limits::ATTACH_CALLS);
        let (tell, heard) = mpsc::channel(limits::ATTACH_CALLS);
        let task = tokio::spawn(async move {
            if let Err(error) = serve(Framed::new(stream, Frames::default()), called, tell).await {
                tracing::debug!(%error, "the connection to Copilot ended");
            }
        });
        (Link { calls, task: task.abort_handle() }, heard)
    }

    /// Calls a method, and returns its result as JSON.
    pub(super) async fn call(&self, method: &'static str, params: Json) -> Result<String> {
        self.call_within(limits::ATTACH_CALL, method, params).await
    }

    /// Calls a method that takes no longer than this, and returns its result as JSON.
    pub(super) async fn call_within(
        &self,
        most: Duration,
        method: &'static str,
        params: Json,
    ) -> Result<String> {
        let (told, result) = oneshot::channel();
        let lost = |why: &str| CallError::Lost(format!("{method}: {why}"));
        let calling = async {
            let call = Call { method, params, told };
            self.calls.send(call).await.map_err(|_| lost("the connection has ended"))?;
            result.await.map_err(|_| lost("the connection has ended"))?
        };
        timeout(most, calling).await.map_err(|_| lost("no reply in time"))?
    }
}

/// A message of Copilot's: a response, or a notification. Requests have both an ID and a method.
#[derive(Deserialize)]
struct LinkMessage<'a> {
    id: Option<Json>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    code: i64,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionEvent<'a> {
    session_id: String,
    #[serde(borrow)]
    event: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lifecycle {
    session_id: String,
    #[serde(rename = "type")]
    kind: String,
}

async fn serve(
    mut stream: Framed<TcpStream, Frames>,
    mut calls: mpsc::Receiver<Call>,
    tell: mpsc::Sender<Notification>,
) -> io::Result<()> {
    let (mut waiting, mut last) = (BTreeMap::new(), 0_u64);
    loop {
        tokio::select! {
            call = calls.recv() => {
                let Some(Call { method, params, told }) = call else { return Ok(()) };
                // The caller of each of these has given up.
                waiting.retain(|_, told: &mut oneshot::Sender<Result<String>>| !told.is_closed());
                last += 1;
                waiting.insert(last, told);
                let request = json!({ "jsonrpc": "2.0", "id": last, "method": method, "params": params });
                stream.send(request.to_string().into_bytes()).await?;
            }
            message = stream.next() => {
                let Some(message) = message else { return Ok(()) };
                let message = message?;
                let Ok(message) = serde_json::from_slice::<LinkMessage<'_>>(&message) else { continue };
                match &message {
                    LinkMessage { id: Some(id), method: None, .. } => {
                        if let Some(told) = id.as_u64().and_then(|id| waiting.remove(&id)) {
                            // A caller that has given up need not be told.
                            told.send(result(message)).unwrap_or_default();
                        }
                    }
                    LinkMessage { id: None, method: Some(method), params: Some(params), .. } => {
                        if let Some(heard) = notification(method, params.get())
                            && tell.send(heard).await.is_err()
                        {
                            return Ok(());
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

fn result(message: LinkMessage<'_>) -> Result<String> {
    match message.error {
        Some(Failure { code, message }) => Err(CallError::Refused(format!("{code} {message}"))),
        None => Ok(message.result.map(|result| result.get().to_owned()).unwrap_or_default()),
    }
}

fn notification(method: &str, params: &str) -> Option<Notification> {
    match method {
        "session.event" => {
            let SessionEvent { session_id, event } = serde_json::from_str(params).ok()?;
            Some(Notification::Event(session_id, read_event(event.get()))).filter(|heard| {
                // Most events are texts of the model.
                !matches!(heard, Notification::Event(_, CopilotEvent::Other))
            })
        }
        "session.lifecycle" => {
            let Lifecycle { session_id, kind } = serde_json::from_str(params).ok()?;
            (kind == "session.foreground").then_some(Notification::Foreground(session_id))
        }
        _ => None,
    }
}
