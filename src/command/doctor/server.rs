//! Checks the server of `askbridge inbox`: at the address that a running inbox reports, otherwise at that of the
//! settings.

use std::{
    io::{Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream},
    time::Duration,
};

use askbridge_control::inbox::BridgeStatus;
use askbridge_settings::{Settings, keys};

use crate::{
    hub::SERVER,
    present::doctor::{Level, Report},
};

const AREA: &str = "inbox";
/// The timeout of each step with a server on this machine. It is this long because a machine that builds may let an
/// inbox wait for its turn.
const PATIENCE: Duration = Duration::from_secs(5);
/// The number of bytes of a reply in which our own server is recognised.
const REPLY: u64 = 16 * 1024;
/// How many ports are tried to find one that is free.
const PORTS: u16 = 32;

/// The inbox of this user.
pub(super) struct Inbox {
    /// The address at which it serves, or would serve.
    pub(super) address: SocketAddr,
    /// Whether it runs.
    pub(super) runs: bool,
}

/// Checks what listens at the address.
pub(super) fn look(settings: &Settings, statuses: &[BridgeStatus], report: &mut Report) -> Inbox {
    let set = settings.get(&keys::INBOX_ADDRESS);
    let origins = settings.get(&keys::INBOX_ALLOW_ORIGIN).0;
    if !origins.is_empty() {
        let text = format!("inbox.allow-origin: web pages of {} can use the token", origins.join(", "));
        report.add(AREA, Level::Ok, text, None);
    }
    let hosts = settings.get(&keys::CALLBACKS_HOSTS).written();
    match (hosts.is_empty(), settings.get(&keys::CALLBACKS_SECRET)) {
        (true, _) => {}
        (false, Some(_)) => {
            let text = format!("callbacks.hosts: programs can have outcomes sent to {}", hosts.join(", "));
            report.add(AREA, Level::Ok, text, None);
        }
        (false, None) => report.add(
            AREA,
            Level::Problem,
            "callbacks.hosts: nothing is sent without callbacks.secret, 24 to 64 random bytes in Base64"
                .to_owned(),
            Some("`askbridge config edit`"),
        ),
    }
    let served = statuses.iter().filter(|status| status.agent == SERVER).filter_map(|status| {
        let address = status.address.as_deref()?;
        address.parse::<SocketAddr>().ok()
    });
    let served: Vec<_> = served.collect();
    for address in &served {
        serves(*address, report);
    }
    if let Some(address) = served.iter().find(|address| **address == set).or(served.first()) {
        // Port 0 stands for any free port, so whichever one it became is the one that was set.
        if *address != set && set.port() != 0 {
            let text = format!("it was started with another address than inbox.address, {set}");
            report.add(AREA, Level::Note, text, None);
        }
        return Inbox { address: *address, runs: true };
    }
    let runs = stopped(set, report);
    Inbox { address: set, runs }
}

fn serves(address: SocketAddr, report: &mut Report) {
    match TcpStream::connect_timeout(&reached(address), PATIENCE).is_ok_and(is_ours) {
        true => report.add(AREA, Level::Ok, format!("http://{address} is served by askbridge"), None),
        false => report.add(
            AREA,
            Level::Problem,
            format!("`askbridge inbox` runs, and does not reply at http://{address}"),
            Some("`askbridge inbox --stop`, then `askbridge inbox --detach`"),
        ),
    }
}

/// Checks the address of the settings if no inbox has reported its own. Returns whether one serves there anyway.
fn stopped(set: SocketAddr, report: &mut Report) -> bool {
    let advice = "`askbridge inbox --detach` serves all questions over HTTP";
    if set.port() == 0 {
        report.add(
            AREA,
            Level::Note,
            format!("no inbox runs; inbox.address is {set}, any free port"),
            Some(advice),
        );
        return false;
    }
    let Ok(stream) = TcpStream::connect_timeout(&reached(set), PATIENCE) else {
        report.add(AREA, Level::Note, format!("nothing listens on {set}"), Some(advice));
        return false;
    };
    // An inbox that was started with another folder for its sockets is not among the bridges found here.
    let is_ours = is_ours(stream);
    let free = (1..=PORTS).filter_map(|more| set.port().checked_add(more));
    // Only binding a port shows that it is free.
    let free = free.map(|port| SocketAddr::new(set.ip(), port)).find(|it| TcpListener::bind(it).is_ok());
    let advice = match free {
        Some(free) => format!("`askbridge config set inbox.address {free}`"),
        None => "`askbridge config edit`: set `address` in [inbox] to another one".to_owned(),
    };
    let text = match is_ours {
        true => format!(
            "http://{set} is served by an askbridge that is not found here: that of another user, or one with another folder"
        ),
        false => format!("another program listens on {set}"),
    };
    report.add(AREA, Level::Warning, text, Some(&advice));
    is_ours
}

/// Returns the address by which a program on this machine reaches a server that listens on `address`.
pub(super) fn reached(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn is_ours(mut stream: TcpStream) -> bool {
    let mut asked = || -> std::io::Result<Vec<u8>> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let host = stream.peer_addr()?;
        // The server closes the connection after its reply, so the read does not last until the timeout.
        write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
        let mut reply = Vec::new();
        // An error is ignored: the part of the reply before it is enough to recognise the server.
        drop(Read::by_ref(&mut stream).take(REPLY).read_to_end(&mut reply));
        Ok(reply)
    };
    let reply = asked().unwrap_or_default();
    let reply = String::from_utf8_lossy(&reply);
    reply.starts_with("HTTP/1.1 200") && reply.contains("askbridge")
}
