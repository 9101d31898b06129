//! Requests over HTTP/1.1 as the mock reads and answers them: one for each connection.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
};

/// Bytes of a head or a body that are read.
const LONGEST: u64 = 1 << 20;

/// A request.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub directory: Option<String>,
    pub authorization: Option<String>,
    pub body: Vec<u8>,
}

/// Reads a request.
pub(super) fn read(stream: &TcpStream) -> io::Result<Request> {
    let mut input = BufReader::new(stream.take(LONGEST));
    let mut line = String::new();
    input.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (method, target) = words.next().zip(words.next()).ok_or(io::ErrorKind::InvalidData)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let directory = pairs.find(|(name, _)| *name == "directory").map(|(_, value)| decoded(value));
    let mut request =
        Request { method: method.to_owned(), path: path.to_owned(), directory, ..Request::default() };
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => request.authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    input.take(length).read_to_end(&mut request.body)?;
    Ok(request)
}

/// Writes a whole response, after which the connection closes.
pub(super) fn respond(mut stream: &TcpStream, status: u16, kind: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} Mock\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Writes the head of a stream of events.
pub(super) fn begin_events(mut stream: &TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
}

fn decoded(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
