//! The TCP sockets of this machine: the table in `/proc/net`, and the processes of this user that listen. On systems
//! other than Linux, there are none. What is done with a socket is left to the callers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Read},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::task::spawn_blocking;

use crate::limits;

/// A process that listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The loopback address at which it is reached.
    pub ip: IpAddr,
    /// The port.
    pub port: u16,
    /// The ID of the process that listens.
    pub pid: u32,
    /// The words of its command line.
    pub command: Vec<String>,
}

/// A listening socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ListeningSocket {
    ip: IpAddr,
    port: u16,
    inode: u64,
}

/// The listeners that the last look found, so that the next one need not read all processes again.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    known: BTreeMap<u64, Option<Listener>>,
}

impl Listeners {
    /// Returns the listeners of this user that can be reached over loopback. It blocks for some milliseconds when there is
    /// a new socket.
    pub(super) fn look(&mut self) -> Vec<Listener> {
        let user = rustix::process::geteuid().as_raw();
        let mut sockets = listening(rows(), user);
        sockets.truncate(limits::LISTENERS);
        self.known.retain(|inode, _| sockets.iter().any(|socket| socket.inode == *inode));
        let new: Vec<_> =
            sockets.into_iter().filter(|socket| !self.known.contains_key(&socket.inode)).collect();
        if !new.is_empty() {
            let owners = owners(user);
            for socket in new {
                let pid = owners.get(&socket.inode).copied();
                // A socket without a known process is kept as well, so that the next look does not search for it again.
                self.known.insert(socket.inode, pid.and_then(|pid| socket.of(pid)));
            }
        }
        self.known.values().flatten().cloned().collect()
    }
}

/// The listeners that all finders look at together, so that one walk over the processes is enough. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SharedListeners(Arc<Mutex<Listeners>>);

impl SharedListeners {
    /// Returns the listeners of this user that can be reached over loopback.
    pub async fn look(&self) -> Vec<Listener> {
        let shared = Arc::clone(&self.0);
        let look = move || shared.lock().unwrap_or_else(PoisonError::into_inner).look();
        spawn_blocking(look).await.unwrap_or_default()
    }
}

impl ListeningSocket {
    fn of(self, pid: u32) -> Option<Listener> {
        let command = read(Path::new(&format!("/proc/{pid}/cmdline"))).ok()?;
        let command = command.split_terminator('\0').map(str::to_owned).collect();
        Some(Listener { ip: self.ip, port: self.port, pid, command })
    }
}

/// Returns the process that listens on this port of this machine, if it is one of this user.
pub fn process_at(port: u16) -> Option<u32> {
    Listeners::default()
        .look()
        .into_iter()
        .find(|listener| listener.port == port)
        .map(|listener| listener.pid)
}

/// Returns the listening sockets of a user that are bound to a loopback address, or to all addresses.
fn listening(rows: impl IntoIterator<Item = TcpRow>, user: u32) -> Vec<ListeningSocket> {
    let socket = |row: TcpRow| {
        let ip = match row.local.ip() {
            ip if ip.is_loopback() => ip,
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            _ => return None,
        };
        let socket = ListeningSocket { ip, port: row.local.port(), inode: row.inode };
        (row.state == State::Listening && row.user == user).then_some(socket)
    };
    rows.into_iter().filter_map(socket).collect()
}

/// Returns the processes of this user by the inodes of their sockets. A child shares the sockets of its parent until it
/// executes another program: the process with the lowest ID counts, which is the first that `/proc` lists.
fn owners(user: u32) -> BTreeMap<u64, u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut owners = BTreeMap::new();
    for process in processes {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if process.metadata().is_ok_and(|data| data.uid() != user) {
            continue;
        }
        for inode in sockets_in(&process.path()) {
            owners.entry(inode).or_insert(pid);
        }
    }
    owners
}

/// Returns the inodes of the sockets that a process has open, whose folder in `/proc` this is.
fn sockets_in(process: &Path) -> BTreeSet<u64> {
    let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    let inode = |file: fs::DirEntry| {
        fs::read_link(file.path()).ok()?.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    files.filter_map(inode).collect()
}

fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limits::PROC_FILE as u64).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpRow {
    /// Its own address. An IPv4-mapped IPv6 address is returned as IPv4.
    pub local: SocketAddr,
    /// The address that it is connected to.
    pub remote: SocketAddr,
    /// Its TCP state.
    pub state: State,
    /// The user of the process that opened it.
    pub user: u32,
    /// The inode by which a process refers to it; 0 if no process does, such as for a connection that was not accepted
    /// yet.
    pub inode: u64,
}

/// The TCP state of a socket, as far as callers tell states apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits for connections.
    Listening,
    /// It is half of a connection that its listener has not finished opening. The user is that of the listener.
    Opening,
    /// It is an end of an open connection.
    Open,
    /// Anything else, such as a connection that is being closed.
    Other,
}

impl TcpRow {
    /// Returns whether this socket has the address `own`, and is connected to the address `other`. Both may be
    /// IPv4-mapped IPv6 addresses.
    pub fn is_end(&self, own: SocketAddr, other: SocketAddr) -> bool {
        is_same(self.local, own) && is_same(self.remote, other)
    }
}

fn is_same(row: SocketAddr, address: SocketAddr) -> bool {
    (row.ip(), row.port()) == (address.ip().to_canonical(), address.port())
}

/// Returns the user whose process has the server's end of a connection, if these rows tell it.
pub fn user_of_server(rows: &[TcpRow], client: SocketAddr, server: SocketAddr) -> Option<u32> {
    let end = rows.iter().find(|row| row.is_end(server, client))?;
    match end.state {
        State::Opening => Some(end.user),
        State::Open if end.inode != 0 => Some(end.user),
        // The connection was not accepted yet. Some kernels then name root, but it still belongs to the listener.
        State::Open => listening_user(rows, server),
        State::Listening | State::Other => None,
    }
}

/// Returns the user who listens at this address, or at all addresses; `None` if several users might be meant.
fn listening_user(rows: &[TcpRow], server: SocketAddr) -> Option<u32> {
    let ip = server.ip().to_canonical();
    let reaches = |row: &&TcpRow| row.local.ip() == ip || row.local.ip().is_unspecified();
    let at_port =
        rows.iter().filter(|row| row.state == State::Listening && row.local.port() == server.port());
    let users: BTreeSet<u32> = at_port.filter(reaches).map(|row| row.user).collect();
    users.first().copied().filter(|_| users.len() == 1)
}

/// Returns both ends of each open connection of this process to one of these ports of loopback: its own, and the
/// server's.
pub fn own_connections(rows: &[TcpRow], ports: &[u16]) -> Vec<(SocketAddr, SocketAddr)> {
    let own = sockets_in(Path::new("/proc/self"));
    let is_meant = |row: &&TcpRow| {
        row.state == State::Open
            && row.remote.ip().is_loopback()
            && ports.contains(&row.remote.port())
            && own.contains(&row.inode)
    };
    rows.iter().filter(is_meant).map(|row| (row.local, row.remote)).collect()
}

/// The tables of all TCP sockets, by the family of their addresses.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// Returns all sockets.
pub fn rows() -> Vec<TcpRow> {
    let tables = TABLES.iter().filter_map(|table| read_table(table).ok());
    tables.flat_map(|table| parse_table(&table).collect::<Vec<_>>()).collect()
}

/// Reads the rows of a table, as proc_pid_net(5) describes it.
pub fn parse_table(table: &str) -> impl Iterator<Item = TcpRow> {
    table.lines().skip(1).filter_map(|row| {
        let mut fields = row.split_ascii_whitespace().skip(1);
        let (local, remote) = (address(fields.next()?)?, address(fields.next()?)?);
        let state = state(fields.next()?);
        // Between the state and the user, the row has queues, a timer and retransmissions.
        let user = fields.nth(3)?.parse().ok()?;
        let inode = fields.nth(1)?.parse().ok()?;
        Some(TcpRow { local, remote, state, user, inode })
    })
}

/// Reads a state, as the kernel numbers them in `include/net/tcp_states.h`.
fn state(written: &str) -> State {
    match written {
        "01" => State::Open,
        "03" => State::Opening,
        "0A" => State::Listening,
        _ => State::Other,
    }
}

/// Reads an address: words in the machine's byte order, and a port.
fn address(written: &str) -> Option<SocketAddr> {
    let (host, port) = written.split_once(':')?;
    let word = |at: usize| Some(u32::from_str_radix(host.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    let ip = match host.len() {
        8 => IpAddr::from(word(0)?),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            IpAddr::from(<[u8; 16]>::try_from(words.concat()).ok()?).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

fn read_table(table: &str) -> io::Result<String> {
    let mut text = String::new();
    File::open(table)?.take(limits::PROC_FILE as u64).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const CLIENT: &str = "127.0.0.1:50000";

    #[cfg(target_endian = "little")]
    #[test]
    fn user_is_read_from_the_end_of_the_connection_or_else_from_its_listener() {
        const OPEN: &str = "0100007F:1000 0100007F:C350 01";
        const OPENING: &str = "0100007F:1000 0100007F:C350 03";
        const CLOSING: &str = "0100007F:1000 0100007F:C350 08";
        const HERE: &str = "0100007F:1000 00000000:0000 0A";
        const EVERYWHERE: &str = "00000000:1000 00000000:0000 0A";
        const ELSEWHERE: &str = "0200007F:1000 00000000:0000 0A";
        for (rows, expected) in [
            // Accepted: its owner counts, even if the listener is gone.
            (vec![(OPEN, 1000, 7)], Some(1000)),
            (vec![(HERE, 1000, 6), (OPEN, 1001, 7)], Some(1001)),
            // Not accepted yet: the listener's. The kernel may say root.
            (vec![(HERE, 1001, 6), (OPEN, 0, 0)], Some(1001)),
            (vec![(EVERYWHERE, 1001, 6), (OPEN, 1000, 0)], Some(1001)),
            (vec![(HERE, 1000, 5), (ELSEWHERE, 1001, 6), (OPEN, 0, 0)], Some(1000)),
            (vec![(HERE, 1000, 5), (EVERYWHERE, 1001, 6), (OPEN, 0, 0)], None),
            (vec![(OPEN, 1000, 0)], None),
            // A server that accepts connections only once data has arrived.
            (vec![(EVERYWHERE, 1001, 6), (OPENING, 1001, 0)], Some(1001)),
            (vec![(HERE, 1000, 6), (CLOSING, 1000, 0)], None),
            (vec![(HERE, 1000, 6)], None),
        ] {
            let row = |(addresses, user, inode)| format!("\n 0: {addresses} 0:0 0:0 0 {user} 0 {inode} 1");
            let table: String =
                std::iter::once("head".to_owned()).chain(rows.iter().copied().map(row)).collect();
            let parsed: Vec<_> = super::parse_table(&table).collect();
            assert_eq!(parsed.len(), rows.len(), "{table}");
            let user = user_of_server(&parsed, CLIENT.parse().unwrap(), "127.0.0.1:4096".parse().unwrap());
            assert_eq!(user, expected, "{table}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_connections_are_those_of_this_process_to_a_port() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let server = listener.local_addr().expect("an address");
        assert_eq!(own_connections(&rows(), &[server.port()]), []);
        let stream = std::net::TcpStream::connect(server).expect("a connection");
        let client = stream.local_addr().expect("an address");
        let rows = rows();
        assert_eq!(own_connections(&rows, &[server.port()]), [(client, server)]);
        assert_eq!(own_connections(&rows, &[]), []);
        // It was not accepted yet: its user is the listener's.
        assert_eq!(user_of_server(&rows, client, server), Some(rustix::process::geteuid().as_raw()));
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn listening_sockets_of_a_user_are_read() {
        let table =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:20E5 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 100 0 0 10 0
   1: 0100007F:20E6 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 12 1 0 100 0 0 10 0
   2: 0100007F:C350 0100007F:20E5 01 00000000:00000000 00:00000000 00000000  1000        0 13 1 0 20 4 30 10 -1
   3: 00000000:1000 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 14 1 0 100 0 0 10 0
   4: 0101A8C0:1000 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 15 1 0 100 0 0 10 0
   5: 00000000000000000000000001000000:1001 00000000000000000000000000000000:0000 0A 0:0 0:0 0 1000 0 16 1 0";
        let found: Vec<_> = listening(parse_table(table), 1000)
            .into_iter()
            .map(|ListeningSocket { ip, port, inode }| (ip.to_string(), port, inode))
            .collect();
        let expected = [("127.0.0.1", 8421, 11), ("127.0.0.1", 4096, 14), ("::1", 4097, 16)];
        assert_eq!(found, expected.map(|(ip, port, inode)| (ip.to_owned(), port, inode)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_listener_is_found_with_its_process() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        assert_eq!(process_at(port), Some(std::process::id()));
        let mut listeners = Listeners::default();
        let is_there = |listeners: &mut Listeners| listeners.look().iter().any(|found| found.port == port);
        assert!(is_there(&mut listeners) && is_there(&mut listeners));
        drop(listener);
        assert!(!is_there(&mut listeners));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn child_that_has_the_socket_as_well_is_not_the_listener() {
        use rustix::io::FdFlags;
        use rustix::io::fcntl_setfd;

        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        fcntl_setfd(&listener, FdFlags::empty()).expect("an open socket");
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("cat");
        let port = listener.local_addr().expect("an address").port();
        // IDs begin again at some point: then the child may have the lower one.
        let expected = std::process::id().min(child.id());
        assert_eq!(process_at(port), Some(expected));
        drop(child.stdin.take());
        child.wait().expect("its end");
    }
    #[cfg(target_endian = "little")]
    #[test]
    fn rows_are_read_and_others_are_left_out() {
        let table =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:20E5 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 100 0 0 10 0
   1: 0000000000000000FFFF00000100007F:C351 00000000000000000000000001000000:20E5 01 0:0 0:0 0 1002 0 12 1
   2: 0100007F:20E5 0100007F:C352 03 00000000:00000000 00:00000000 00000000  1000        0 0 1 0 100 0 0 10 0
   3: 0100007F:20E5 0100007F:C353 06 00000000:00000000 00:00000000 00000000     0        0 0 1 0 100 0 0 10 0
   4: 0100007F:20E5 00000000:0000 0A
   5: x";
        let rows: Vec<_> = super::parse_table(table).collect();
        let written = |row: &super::TcpRow| {
            format!("{} {} {:?} {} {}", row.local, row.remote, row.state, row.user, row.inode)
        };
        let expected = [
            "127.0.0.1:8421 0.0.0.0:0 Listening 1000 11",
            "127.0.0.1:50001 [::1]:8421 Open 1002 12",
            "127.0.0.1:8421 127.0.0.1:50002 Opening 1000 0",
            "127.0.0.1:8421 127.0.0.1:50003 Other 0 0",
        ];
        assert_eq!(rows.iter().map(written).collect::<Vec<_>>(), expected);
    }
}
