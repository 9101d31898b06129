//! Every way to answer a question that is not the client's own, each as its program does it: the command line, the
//! terminal's inbox, the control protocol, REST and the page. A notification's is with its servers, in `tests/notify`.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::net::UnixStream,
};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{self, Message, client::IntoClientRequest};

use crate::answers::machine::TestMachine;
use crate::answers::terminal::Terminal;
use crate::support::{DEADLINE, Process};

/// The value of the option that each of them chooses: the first.
pub(crate) const CHOICE: &str = "SQLite";

/// Answers at the inbox in a terminal.
pub(crate) fn at_the_terminal(machine: &TestMachine) {
    let mut terminal = Terminal::start(machine, &["tui"], 80, 24);
    terminal.list("1 question waits");
    terminal.types("\r");
    terminal.screen(&format!("( ) 1  {CHOICE}"));
    terminal.types("1\r");
    terminal.screen("nothing waits");
    terminal.types("q");
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
}

/// Answers over the bridge's socket, as a program does that speaks the control protocol.
pub(crate) fn over_the_socket(machine: &TestMachine, id: &str) {
    let (bridge, _) = id.split_once('-').unwrap();
    let mut stream = UnixStream::connect(machine.sockets().join(format!("{bridge}.sock"))).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(format!("{}\n", call(id)).as_bytes()).unwrap();
    let mut reply = Vec::new();
    while !reply.ends_with(b"\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        reply.extend(byte);
    }
    accepted(&String::from_utf8(reply).unwrap());
}

/// Answers with a request to the REST interface that this bridge serves.
pub(crate) fn over_http(machine: &TestMachine, bridge: &Process, id: &str) {
    let served = Served::by(machine, bridge);
    let body = json!({ "answers": [[CHOICE]] }).to_string();
    let bearer = format!("Authorization: Bearer {}", served.token);
    let reply = served.post(&format!("/v1/questions/{id}/reply"), &bearer, &body);
    assert!(reply.starts_with("HTTP/1.1 204 "), "{reply}");
}

/// Answers as the page does that this bridge serves: signed in, over its WebSocket.
pub(crate) fn on_the_page(machine: &TestMachine, bridge: &Process, id: &str) {
    let served = Served::by(machine, bridge);
    let origin = format!("http://{}", served.address);
    let token = json!({ "token": served.token }).to_string();
    let reply = served.post("/login", &format!("Origin: {origin}"), &token);
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    let key = serde_json::from_str::<Value>(body).unwrap()["key"].as_str().unwrap().to_owned();

    let mut request = format!("ws://{}/rpc", served.address).into_client_request().unwrap();
    for (name, value) in [
        ("cookie", cookie.split(';').next().unwrap()),
        ("origin", &origin),
        ("sec-websocket-protocol", &format!("askbridge, key.{key}")),
    ] {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    let (mut socket, _) = tungstenite::client(request, served.connect()).unwrap();
    socket.send(Message::text(call(id))).unwrap();
    // A busy server's reply may come after a ping of the WebSocket.
    let reply = std::iter::repeat_with(|| socket.read().unwrap()).find(Message::is_text).unwrap();
    accepted(reply.to_text().unwrap());
}

fn call(id: &str) -> String {
    let params = json!({ "id": id, "answer": { "answers": [[CHOICE]] }, "by": { "responder": "rpc" } });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "question_answer", "params": params }).to_string()
}

#[track_caller]
fn accepted(reply: &str) {
    let reply: Value = serde_json::from_str(reply).unwrap();
    assert_eq!(reply["result"]["settlement"]["outcome"]["status"], "answered", "{reply}");
}

/// The HTTP server of a bridge.
struct Served {
    address: SocketAddr,
    token: String,
}

impl Served {
    /// Waits until the bridge says where it listens.
    fn by(machine: &TestMachine, bridge: &Process) -> Self {
        let said = bridge.expect_stderr("an address", |text| {
            text.split_once("listening on http://").is_some_and(|(_, rest)| rest.contains('\n'))
        });
        let (_, rest) = said.split_once("listening on http://").unwrap();
        let address = rest.split(',').next().unwrap().parse().unwrap();
        let token = fs::read_to_string(machine.sockets().join("token")).unwrap().trim_end().to_owned();
        Served { address, token }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// Sends a JSON text with this header, and returns the whole response.
    fn post(&self, path: &str, header: &str, body: &str) -> String {
        let (mut stream, host, length) = (self.connect(), self.address, body.len());
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {host}\r\n{header}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }
}
