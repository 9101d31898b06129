//! A client of the control protocol over a WebSocket.

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest},
};

use crate::http::client::{Http, soon};

/// A connection.
pub(crate) struct WebSocket {
    pub(crate) stream: WebSocketStream<TcpStream>,
    last: u64,
}

impl WebSocket {
    pub(crate) async fn connect(http: &Http) -> Self {
        Self::try_connect(http).await.unwrap_or_else(|status| panic!("HTTP status {status}"))
    }

    /// Connects, or returns the HTTP status that says why not.
    pub(crate) async fn try_connect(http: &Http) -> Result<Self, u16> {
        let mut request = format!("ws://{}/rpc", http.address).into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {}", http.token).parse().unwrap());
        let stream = TcpStream::connect(http.address).await.unwrap();
        match soon("a WebSocket", client_async(request, stream)).await {
            Ok((stream, _)) => Ok(WebSocket { stream, last: 0 }),
            Err(tokio_tungstenite::tungstenite::Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        let message = Message::text(message.to_string());
        soon("the message is sent", self.stream.send(message)).await.unwrap();
    }

    /// Returns the next message.
    pub(crate) async fn receive(&mut self) -> Value {
        loop {
            match soon("a message", self.stream.next()).await.unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(text.as_str()).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Sends a call, and returns its ID.
    pub(crate) async fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        let call = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        self.send(&call).await;
        self.last
    }

    /// Calls a method, and returns the response to it. Notifications until then are left out.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, &params).await;
        loop {
            let message = self.receive().await;
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Subscribes.
    pub(crate) async fn subscribe(&mut self) {
        let reply = self.call("question_subscribe", json!({})).await;
        assert!(reply["error"].is_null(), "{reply}");
    }

    /// Returns what the next notification says has changed.
    pub(crate) async fn changed(&mut self) -> Value {
        loop {
            let mut message = self.receive().await;
            if message["method"] == "question_changed" {
                return message["params"]["result"].take();
            }
        }
    }
}
