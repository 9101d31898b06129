//! A client over plain TCP: it sends exactly what a test says, malformed or not. Every wait has a deadline.

use std::{fmt::Write, net::SocketAddr, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::timeout,
};

/// A generous hang guard. No correct run comes near it, on any machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// Waits for a future that must become ready.
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(DEADLINE, future).await.unwrap_or_else(|_| panic!("waited too long: {what}"))
}

/// The address and the token of a server.
#[derive(Clone)]
pub(crate) struct Http {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Reply {
    /// Reads what a server sent. Returns whether it is the whole response, or `None` if even the head is not.
    fn read(text: &str) -> Option<(Self, bool)> {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let (status, headers) = head.split_once("\r\n").unwrap_or((head, ""));
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let headers = headers.to_lowercase().replace("\r\n", "\n");
        let is_chunked = headers.lines().any(|line| line == "transfer-encoding: chunked");
        let length = headers.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length = length.map_or(0, |length| length.parse().expect("a length"));
        let (body, is_whole) =
            if is_chunked { unchunked(body) } else { (body.to_owned(), body.len() == length) };
        Some((Reply { status, headers, body }, is_whole))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    pub(crate) fn has(&self, header: &str) -> bool {
        self.headers.lines().any(|line| line == header)
    }

    /// Checks the status, and what every response and every error has.
    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{self:?}");
        assert!(self.has("cache-control: no-store"), "{self:?}");
        assert!(!self.headers.contains("access-control"), "{self:?}");
        if status >= 400 {
            assert!(self.has("content-type: application/problem+json"), "{self:?}");
            let problem = self.json();
            assert_eq!(problem["status"], status, "{self:?}");
            assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{self:?}");
        }
        self
    }
}

impl Http {
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Reply {
        self.send("POST", path, &["Content-Type: application/json"], body).await
    }

    /// Sends a request with the token, these headers and this body.
    pub(crate) async fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Reply {
        let (host, bearer) = (format!("Host: {}", self.address), self.bearer());
        self.send_only(method, path, &[&[host.as_str(), &bearer], headers].concat(), body).await
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    /// Sends a request with these headers, and that of its length.
    pub(crate) async fn send_only(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Reply {
        let text = self.raw(&request(method, path, headers, body)).await;
        let (reply, is_whole) = Reply::read(&text).unwrap_or_else(|| panic!("no response: {text:?}"));
        assert!(is_whole || method == "HEAD", "the response is cut off: {text:?}");
        reply
    }

    /// Sends a request with the token. Returns `None` if the server ends before the whole response is here.
    pub(crate) async fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &str,
    ) -> Option<Reply> {
        let (host, bearer) = (format!("Host: {}", self.address), self.bearer());
        let request = request(method, path, &[&[host.as_str(), &bearer], headers].concat(), body);
        let mut stream = TcpStream::connect(self.address).await.ok()?;
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut text = Vec::new();
        soon("a response", stream.read_to_end(&mut text)).await.ok()?;
        let (reply, is_whole) = Reply::read(&String::from_utf8(text).expect("a text"))?;
        is_whole.then_some(reply)
    }

    /// Sends a text, and returns all that comes back.
    pub(crate) async fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A server that has refused the request need not read the rest.
        stream.write_all(request.as_bytes()).await.unwrap_or_default();
        let mut reply = Vec::new();
        soon("a response", stream.read_to_end(&mut reply)).await.unwrap_or_default();
        String::from_utf8(reply).expect("a text")
    }

    /// Returns the status, and does not wait for the end of the response.
    pub(crate) async fn get_head(&self, path: &str) -> u16 {
        self.status(path, &[&format!("Host: {}", self.address), &self.bearer()]).await
    }

    /// Sends what a browser sends to open a WebSocket, with these headers, and returns the status.
    pub(crate) async fn open_websocket(&self, headers: &[&str]) -> u16 {
        let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
        let upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", key];
        self.status("/rpc", &[&upgrade, headers].concat()).await
    }

    async fn status(&self, path: &str, headers: &[&str]) -> u16 {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\n{}\r\n\r\n", headers.join("\r\n"));
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut status = [0; 12];
        soon("a status", stream.read_exact(&mut status)).await.unwrap();
        std::str::from_utf8(&status[9..]).unwrap().parse().unwrap()
    }

    /// Listens to events.
    pub(crate) async fn listen(&self, path: &str, headers: &[&str]) -> Listener {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let (bearer, more) =
            (self.bearer(), headers.iter().map(|header| format!("{header}\r\n")).collect::<String>());
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{bearer}\r\n{more}\r\n", self.address);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut listener = Listener { stream: BufReader::new(stream), head: String::new(), text: Vec::new() };
        let head = &mut listener.head;
        while !head.ends_with("\r\n\r\n") {
            assert!(soon("headers", listener.stream.read_line(head)).await.unwrap() > 0, "{head}");
        }
        assert!(
            head.starts_with("HTTP/1.1 200 ") && head.contains("content-type: text/event-stream"),
            "{head}"
        );
        listener
    }
}

/// Returns the text of a request with these headers, and that of its length.
pub(crate) fn request(method: &str, path: &str, headers: &[&str], body: &str) -> String {
    let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !body.is_empty() {
        write!(request, "Content-Length: {}\r\n", body.len()).unwrap();
    }
    format!("{request}{}\r\n\r\n{body}", headers.join("\r\n"))
}

/// Returns the body of a response that came in chunks, as far as it came, and whether that is all of it.
fn unchunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        if size == 0 {
            return (body, true);
        }
        let Some((chunk, after)) = after.split_at_checked(size) else { break };
        body.push_str(chunk);
        rest = after.strip_prefix("\r\n").unwrap_or_default();
    }
    (body, false)
}

/// A stream of events.
pub(crate) struct Listener {
    stream: BufReader<TcpStream>,
    /// The status and the headers of the response.
    pub(crate) head: String,
    /// What was received, and is not returned yet.
    text: Vec<u8>,
}

/// One event.
#[derive(Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) event: String,
    pub(crate) id: Option<String>,
    pub(crate) data: Value,
}

impl Listener {
    pub(crate) async fn next(&mut self) -> Event {
        let end = loop {
            match self.text.windows(2).position(|bytes| bytes == b"\n\n") {
                Some(end) => break end,
                None => soon("an event", self.chunk()).await,
            }
        };
        let text: Vec<_> = self.text.drain(..end + 2).collect();
        let text = String::from_utf8(text).unwrap();
        let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        let data = line("data: ").unwrap_or_else(|| panic!("no data: {text:?}"));
        Event {
            event: line("event: ").unwrap_or_default(),
            id: line("id: "),
            data: serde_json::from_str(&data).unwrap(),
        }
    }

    /// Waits for the next question, and returns its ID.
    pub(crate) async fn requested(&mut self) -> String {
        loop {
            let event = self.next().await;
            if event.event == "question.requested" {
                return event.data["question"]["id"].as_str().unwrap().to_owned();
            }
        }
    }

    /// Waits for the end of the stream.
    pub(crate) async fn end(&mut self) {
        let mut rest = Vec::new();
        soon("the end of the stream", self.stream.read_to_end(&mut rest)).await.unwrap();
    }

    async fn chunk(&mut self) {
        let mut size = String::new();
        self.stream.read_line(&mut size).await.unwrap();
        let size = usize::from_str_radix(size.trim(), 16)
            .unwrap_or_else(|_| panic!("the stream ended: {}", String::from_utf8_lossy(&self.text)));
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).await.unwrap();
        self.text.extend_from_slice(&chunk[..size]);
    }
}
