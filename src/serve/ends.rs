//! The two ends of a connection, and which user of this machine is at the other one. The kernel tells that on Linux, for
//! connections that begin on this machine; elsewhere it is not known.

use std::{
    fs::File,
    io::{self, Read},
    net::{IpAddr, SocketAddr},
};

/// The tables of all TCP sockets, by the family of their addresses.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// Bytes of a table that are read: many times those of a busy machine.
const TABLE: u64 = 16 << 20;
/// The user that can be every other one.
const ROOT: u32 = 0;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    /// The address of the client.
    pub(super) client: SocketAddr,
    /// The address of the server that it has connected to.
    pub(super) server: SocketAddr,
}

impl Ends {
    /// Returns whether the client is a process of another user of this machine, as far as that is known.
    pub(super) fn are_of_two_users(&self) -> bool {
        let ours = rustix::process::geteuid().as_raw();
        TABLES.iter().any(|table| {
            let user = read(table).ok().and_then(|table| self.user_in(&table));
            user.is_some_and(|user| user != ours && user != ROOT)
        })
    }

    /// Returns the user of the client's socket, if it is in this table.
    fn user_in(&self, table: &str) -> Option<u32> {
        let rows = table.lines().skip(1).map(|row| row.split_ascii_whitespace());
        let mut users = rows.filter_map(|mut row| {
            let (client, server) = (row.nth(1)?, row.next()?);
            let is_meant = is_same(client, self.client) && is_same(server, self.server);
            is_meant.then(|| row.nth(4)?.parse().ok()).flatten()
        });
        users.next()
    }
}

fn read(table: &str) -> io::Result<String> {
    let mut text = String::new();
    File::open(table)?.take(TABLE).read_to_string(&mut text)?;
    Ok(text)
}

/// Returns whether a table means this address: in words of the machine's byte order, and an address of IPv4 perhaps as
/// one of IPv6.
fn is_same(written: &str, address: SocketAddr) -> bool {
    let words = |bytes: &[u8]| -> String {
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|word| format!("{:08X}", u32::from_ne_bytes(*word))).collect()
    };
    let Some((host, port)) = written.split_once(':') else { return false };
    let is_host = match address.ip().to_canonical() {
        IpAddr::V4(address) => {
            host == words(&address.octets()) || host == words(&address.to_ipv6_mapped().octets())
        }
        IpAddr::V6(address) => host == words(&address.octets()),
    };
    is_host && port == format!("{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[cfg(target_endian = "little")]
    #[test]
    fn user_of_the_client_is_read() {
        let table =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:20E5 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 0100007F:20E5 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 20 4 30 10 -1
   2: 0100007F:C350 0100007F:20E5 01 00000000:00000000 00:00000000 00000000  1001        0 3 1 0 20 4 30 10 -1
   3: 0000000000000000FFFF00000100007F:C351 0000000000000000FFFF00000100007F:20E5 01 0:0 0:0 0 1002 0 4 1";
        let user = |client: &str, server: &str| {
            Ends { client: client.parse().unwrap(), server: server.parse().unwrap() }.user_in(table)
        };
        assert_eq!(user("127.0.0.1:50000", "127.0.0.1:8421"), Some(1001));
        assert_eq!(user("[::ffff:127.0.0.1]:50000", "[::ffff:127.0.0.1]:8421"), Some(1001));
        assert_eq!(user("127.0.0.1:50001", "127.0.0.1:8421"), Some(1002));
        assert_eq!(user("127.0.0.1:50002", "127.0.0.1:8421"), None);
        assert_eq!(user("192.0.2.1:50000", "127.0.0.1:8421"), None);
    }

    #[test]
    fn own_connection_is_of_one_user() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A machine may have no IPv6.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let ends = Ends { client: client.local_addr().unwrap(), server: client.peer_addr().unwrap() };
            assert!(!ends.are_of_two_users());
            let tables = TABLES.iter().filter_map(|table| read(table).ok());
            let users: Vec<_> = tables.filter_map(|table| ends.user_in(&table)).collect();
            if cfg!(target_os = "linux") {
                assert_eq!(users, [rustix::process::geteuid().as_raw()]);
            }
        }
    }
}
