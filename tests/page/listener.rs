//! A server of the test's own: it answers every request with the same page, and keeps the first line of each.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

pub(crate) struct Listener {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    pub(crate) fn start(page: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, page) = (Arc::clone(&requests), page.to_owned());
        // It ends with the process of the test.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, page) = (Arc::clone(&kept), page.clone());
                thread::spawn(move || reply(stream, &kept, &page));
            }
        });
        Listener { port, requests }
    }

    /// Returns the first lines of all requests, and an empty one for each connection that asked nothing.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn reply(mut stream: TcpStream, kept: &Mutex<Vec<String>>, page: &str) {
    let mut request = vec![0; 4096];
    let read = stream.read(&mut request).unwrap_or_default();
    let request = String::from_utf8_lossy(&request[..read]);
    kept.lock().unwrap().push(request.lines().next().unwrap_or_default().to_owned());
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n", page.len());
    let reply = format!("{head}Connection: close\r\n\r\n{page}");
    stream.write_all(reply.as_bytes()).unwrap_or_default();
}
