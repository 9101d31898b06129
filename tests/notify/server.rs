//! An HTTP server of the tests: it keeps what is posted, and speaks ntfy's publishing and subscribing as they are
//! documented. It can be told to hang, to fail, to redirect, or to be a server from before messages could be replaced.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Instant,
};

use serde_json::{Value, json};

use crate::notify::stage::DEADLINE;

/// How the server behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As ntfy does since 2.16.
    Ntfy,
    /// As ntfy did before.
    OldNtfy,
    /// As ntfy does since 2.16, but it ends each stream after the messages that were there when it was asked for.
    Breaks,
    /// It never replies.
    Hangs,
    /// It sends everything elsewhere.
    Redirects,
    /// It fails at the first of so many requests, and takes the others.
    FailsFirst(usize),
}

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// The head in lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

#[derive(Default)]
struct State {
    requests: Vec<Request>,
    /// Messages of topics, each with its topic.
    messages: Vec<(String, Value)>,
}

/// The server, which runs until the test ends.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) url: String,
    manner: Manner,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Server {
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Server { url, manner, state: Arc::default() };
        let serving = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (server, stream) = (serving.clone(), stream.unwrap());
                thread::spawn(move || drop(server.serve(stream)));
            }
        });
        server
    }

    /// Waits for requests that fit, and returns the last of so many.
    #[track_caller]
    pub(crate) fn request(&self, what: &str, count: usize, fits: impl Fn(&Request) -> bool) -> Request {
        let (state, more) = &*self.state;
        let deadline = Instant::now() + DEADLINE;
        let mut now = state.lock().unwrap();
        loop {
            let found = now.requests.iter().filter(|request| fits(request)).nth(count - 1);
            if let Some(found) = found {
                return found.clone();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited too long for {what}: {:#?}", now.requests);
            now = more.wait_timeout(now, left).unwrap().0;
        }
    }

    /// Waits for a message that is published as JSON.
    #[track_caller]
    pub(crate) fn published(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let json = |request: &Request| serde_json::from_str::<Value>(&request.body).unwrap_or_default();
        let found = self.request(what, 1, |request| request.path == "/" && fits(&json(request)));
        json(&found)
    }

    /// Returns how many messages were published as JSON.
    pub(crate) fn count(&self) -> usize {
        self.requests(|request| request.path == "/")
    }

    /// Returns how many requests came that fit.
    pub(crate) fn requests(&self, fits: impl Fn(&Request) -> bool) -> usize {
        self.state.0.lock().unwrap().requests.iter().filter(|request| fits(request)).count()
    }

    /// Waits until a topic is listened to.
    #[track_caller]
    pub(crate) fn listener(&self) -> Request {
        self.request("a listener", 1, |request| request.path.contains("/json?since="))
    }

    /// Posts to an address as the app on a phone does when a button is tapped.
    pub(crate) fn tap(&self, url: &str, body: &str) {
        let path = url.strip_prefix(&self.url).expect("the same server");
        let mut stream = TcpStream::connect(self.url.trim_start_matches("http://")).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    }

    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        let body = String::from_utf8(body).unwrap();
        let request = Request { path: path.clone(), head: head.clone(), body: body.clone() };
        let (mut there, mut number) = (0, 0);
        self.change(|state| {
            there = state.messages.len();
            state.requests.push(request);
            number = state.requests.len();
        });
        match self.manner {
            Manner::Hangs => {
                // Until the other end gives up.
                let mut rest = Vec::new();
                reader.read_to_end(&mut rest).map(drop)
            }
            Manner::Redirects => {
                let head = format!(
                    "HTTP/1.1 307 Temporary Redirect\r\nLocation: {}/elsewhere\r\nContent-Length: 0\r\n\r\n",
                    self.url
                );
                (&stream).write_all(head.as_bytes())
            }
            Manner::FailsFirst(count) if number <= count => {
                (&stream).write_all(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
            }
            Manner::FailsFirst(_) => reply(&stream, &json!({})),
            Manner::Ntfy | Manner::OldNtfy | Manner::Breaks if path.contains("/json?since=") => {
                self.stream(&stream, &path, there)
            }
            Manner::Ntfy | Manner::OldNtfy | Manner::Breaks => reply(&stream, &self.publish(&path, &body)),
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let (state, more) = &*self.state;
        change(&mut state.lock().unwrap());
        more.notify_all();
    }

    /// Keeps a message, and returns it as the server does.
    fn publish(&self, path: &str, body: &str) -> Value {
        let json: Value = serde_json::from_str(body).unwrap_or_default();
        let (topic, text) = match path {
            "/" => (json["topic"].as_str().unwrap_or_default().to_owned(), json["message"].clone()),
            path => (path[1..].to_owned(), body.into()),
        };
        let mut message = Value::Null;
        self.change(|state| {
            let id = format!("m{}", state.messages.len());
            message = json!({ "id": id, "time": 1, "event": "message", "topic": topic, "message": text });
            if self.manner != Manner::OldNtfy && !json["sequence_id"].is_null() {
                message["sequence_id"] = json["sequence_id"].clone();
            }
            state.messages.push((topic.clone(), message.clone()));
        });
        message
    }

    /// Sends the messages of a topic that came after another, and those that come. Of all topics, so many messages
    /// were there when the stream was asked for.
    fn stream(&self, mut stream: &TcpStream, path: &str, there: usize) -> std::io::Result<()> {
        let (topic, since) = path[1..].split_once("/json?since=").unwrap();
        stream.write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n",
        )?;
        stream
            .write_all(format!("{}\n", json!({ "id": "o", "event": "open", "topic": topic })).as_bytes())?;
        let (state, more) = &*self.state;
        let mut now = state.lock().unwrap();
        let mut next =
            now.messages.iter().position(|(_, message)| message["id"] == since).map_or(0, |at| at + 1);
        loop {
            let end = if self.manner == Manner::Breaks { there } else { now.messages.len() };
            for (_, message) in now.messages[next..end].iter().filter(|(of, _)| of == topic) {
                stream.write_all(format!("{message}\n").as_bytes())?;
            }
            if self.manner == Manner::Breaks {
                return Ok(());
            }
            next = end;
            now = more.wait(now).unwrap();
        }
    }
}

fn reply(mut stream: &TcpStream, json: &Value) -> std::io::Result<()> {
    let body = json.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes())
}
