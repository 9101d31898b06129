//! What listens at the address of `askbridge inbox`.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::Duration,
};

use crate::present::doctor::{Level, Report};

const AREA: &str = "inbox";
/// The port of `askbridge inbox` unless it is told another.
const PORT: u16 = 8421;
/// The time that a server on this machine has for one step.
const PATIENCE: Duration = Duration::from_secs(1);
/// The bytes of a reply by which our own server is told from others.
const REPLY: u64 = 16 * 1024;

/// Looks at what listens at the address.
pub(super) fn look(report: &mut Report) {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
    let Ok(stream) = TcpStream::connect_timeout(&address, PATIENCE) else {
        let advice = "`askbridge inbox` serves all questions over HTTP";
        return report.add(AREA, Level::Note, format!("nothing listens on {address}"), Some(advice));
    };
    match is_ours(stream) {
        true => report.add(AREA, Level::Ok, format!("http://{address} is served by askbridge"), None),
        false => report.add(
            AREA,
            Level::Warning,
            format!("another program listens on {address}"),
            Some("give `askbridge inbox` another address: --addr 8422"),
        ),
    }
}

fn is_ours(mut stream: TcpStream) -> bool {
    let mut asked = || -> std::io::Result<Vec<u8>> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let host = stream.peer_addr()?;
        write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
        let mut reply = Vec::new();
        // What came before a timeout says enough.
        drop(Read::by_ref(&mut stream).take(REPLY).read_to_end(&mut reply));
        Ok(reply)
    };
    let reply = asked().unwrap_or_default();
    let reply = String::from_utf8_lossy(&reply);
    reply.starts_with("HTTP/1.1 200") && reply.contains("askbridge")
}
