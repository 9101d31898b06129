//! A WebSocket over the control socket of Codex' app server: one message of JSON in each text frame.
//! The meaning of the messages is left to `core.rs`.

use std::{io, path::Path, time::Duration};

use futures::{SinkExt, StreamExt};
use thiserror::Error;
use tokio::{
    net::UnixStream,
    time::{Instant, error::Elapsed, timeout},
};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{self, Bytes, Message, protocol::WebSocketConfig},
};

use crate::limits;

/// The address that the handshake names. The server looks at its path alone.
const ADDRESS: &str = "ws://localhost/";

/// A connection to an app server.
#[derive(Debug)]
pub(super) struct CodexConnection {
    socket: WebSocketStream<UnixStream>,
    pid: Option<u32>,
    heard: Instant,
}

/// Why a connection failed or ended.
#[derive(Debug, Error)]
pub(super) enum ConnectionError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    WebSocket(#[from] Box<tungstenite::Error>),
    #[error("the socket belongs to another user")]
    OtherUser,
    #[error("it closed the connection")]
    Closed,
    #[error("it does not read or write in time")]
    Late(#[from] Elapsed),
}

impl From<tungstenite::Error> for ConnectionError {
    fn from(error: tungstenite::Error) -> Self {
        Box::new(error).into()
    }
}

impl CodexConnection {
    /// Connects to the socket at this path, and performs the WebSocket handshake.
    pub(super) async fn open(path: &Path) -> Result<Self, ConnectionError> {
        timeout(limits::ATTACH_CONNECT, Self::connect(path)).await?
    }

    async fn connect(path: &Path) -> Result<Self, ConnectionError> {
        let stream = UnixStream::connect(path).await?;
        let peer = stream.peer_cred()?;
        // Anyone who can write to the folder could listen there, and must not get the user's answers.
        if peer.uid() != rustix::process::geteuid().as_raw() {
            return Err(ConnectionError::OtherUser);
        }
        let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
        let config = WebSocketConfig::default()
            .max_message_size(Some(limits::CODEX_MESSAGE))
            .max_frame_size(Some(limits::CODEX_MESSAGE));
        let (socket, _) = client_async_with_config(ADDRESS, stream, Some(config)).await?;
        Ok(CodexConnection { socket, pid, heard: Instant::now() })
    }

    /// Returns the ID of the server's process, where the system tells it.
    pub(super) fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Returns the next message. Cancel safe.
    pub(super) async fn next(&mut self) -> Result<String, ConnectionError> {
        loop {
            let message = self.socket.next().await.ok_or(ConnectionError::Closed)??;
            self.heard = Instant::now();
            match message {
                Message::Text(text) => return Ok(text.as_str().to_owned()),
                Message::Close(_) => return Err(ConnectionError::Closed),
                // Pings are answered by the library.
                _ => {}
            }
        }
    }

    /// Sends a message.
    pub(super) async fn send(&mut self, text: String) -> Result<(), ConnectionError> {
        self.write(Message::text(text), limits::ATTACH_ANSWER).await
    }

    /// Checks that the server is still there: sends a ping, and fails if the server was silent for [`limits::PONG`].
    pub(super) async fn check(&mut self) -> Result<(), ConnectionError> {
        if self.heard.elapsed() > limits::PONG {
            return Err(ConnectionError::Closed);
        }
        self.write(Message::Ping(Bytes::new()), limits::ATTACH_ANSWER).await
    }

    async fn write(&mut self, message: Message, time: Duration) -> Result<(), ConnectionError> {
        Ok(timeout(time, self.socket.send(message)).await??)
    }
}
