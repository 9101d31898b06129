//! An HTTP server that a test plays: it hands each request to the test, which replies as it likes.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::DEADLINE;

/// The number of requests that wait for the test.
const REQUESTS: usize = 1 << 10;

/// The server.
pub(crate) struct Server {
    port: u16,
    received: Receiver<Request>,
    /// Requests that the test did not ask for yet.
    early: Vec<Request>,
}

/// A request, which waits for its response.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The headers, with their names in small letters.
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    connection: TcpStream,
    more: SyncSender<Request>,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn on(listener: TcpListener) -> Self {
        let port = listener.local_addr().unwrap().port();
        let (sender, received) = sync_channel(REQUESTS);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let sender = sender.clone();
                thread::spawn(move || read(connection, &sender));
            }
        });
        Server { port, received, early: Vec::new() }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Waits for the next request with this method that fits, and leaves others for later.
    pub(crate) fn take(&mut self, method: &str, fits: impl Fn(&Request) -> bool) -> Request {
        let is_it = |request: &Request| request.method == method && fits(request);
        if let Some(place) = self.early.iter().position(is_it) {
            return self.early.remove(place);
        }
        let deadline = Instant::now() + DEADLINE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let request = self.received.recv_timeout(left).unwrap_or_else(|_| {
                let early: Vec<_> = self.early.iter().map(Request::shown).collect();
                panic!("no {method} came; but these did: {early:#?}")
            });
            if is_it(&request) {
                return request;
            }
            self.early.push(request);
        }
    }

    /// Waits for the message with this method.
    pub(crate) fn message(&mut self, name: &str) -> Request {
        self.take("POST", |request| request.json()["method"] == name)
    }

    /// Returns whether no request but those that were taken has come so far.
    pub(crate) fn is_silent(&mut self) -> bool {
        self.early.extend(self.received.try_iter());
        self.early.is_empty()
    }
}

/// Reads one request, and hands it over.
fn read(connection: TcpStream, sender: &SyncSender<Request>) -> Option<()> {
    let mut reader = BufReader::new(connection.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, length)| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let more = sender.clone();
    sender.send(Request { method, path, headers, body, connection, more }).ok()
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| &**value)
    }

    /// Returns the message.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn shown(&self) -> String {
        format!("{} {}", self.method, String::from_utf8_lossy(&self.body))
    }

    /// Replies with a status, headers and a body, after which the connection may be used again.
    pub(crate) fn reply(mut self, status: u16, headers: &[&str], body: &[u8]) {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let head = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        // The client may be gone, which the test sees elsewhere.
        if self.connection.write_all(head.as_bytes()).is_ok() && self.connection.write_all(body).is_ok() {
            thread::spawn(move || read(self.connection, &self.more));
        }
    }

    /// Replies with JSON.
    pub(crate) fn respond(self, body: &str) {
        self.reply(200, &["Content-Type: application/json"], body.as_bytes());
    }

    /// Begins a stream of events.
    pub(crate) fn stream(mut self, headers: &[&str]) -> Stream {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n{headers}\r\n"
        );
        self.connection.write_all(head.as_bytes()).unwrap();
        Stream(self.connection)
    }

    /// Breaks the connection off without a response.
    pub(crate) fn break_off(self) {
        drop(self);
    }
}

/// A stream of events.
pub(crate) struct Stream(TcpStream);

impl Stream {
    /// Sends the lines of an event.
    pub(crate) fn event(&mut self, lines: &str) {
        self.0.write_all(format!("{lines}\n\n").as_bytes()).unwrap();
    }

    /// Sends bytes until the client does not read for this long. Returns how many it took.
    pub(crate) fn flood(&mut self, piece: &[u8], pause: Duration) -> usize {
        self.0.set_write_timeout(Some(pause)).unwrap();
        let mut taken = 0;
        while let Ok(count) = self.0.write(&piece[taken % piece.len()..]) {
            taken += count;
        }
        taken
    }

    /// Waits until the client has closed the stream.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.0.set_read_timeout(Some(DEADLINE)).unwrap();
        match self.0.read(&mut [0]) {
            Ok(count) => count == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }
}
