//! The two ends of a connection, and which user of this machine is at the other one. The kernel tells that on Linux, for
//! connections that begin on this machine; elsewhere it is not known.

use std::net::SocketAddr;

use crate::control::tcp_table::{self, TcpRow};

/// The user that can be every other one.
const ROOT: u32 = 0;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Endpoints {
    /// The address of the client.
    pub(super) client: SocketAddr,
    /// The address of the server that it has connected to.
    pub(super) server: SocketAddr,
}

impl Endpoints {
    /// Returns whether the client is a process of another user of this machine, as far as that is known.
    pub(super) fn are_of_two_users(&self) -> bool {
        let ours = rustix::process::geteuid().as_raw();
        self.users_in(tcp_table::rows()).iter().any(|user| *user != ours && *user != ROOT)
    }

    /// Returns the users of the client's socket, which is in one of these rows if it is on this machine.
    fn users_in(&self, rows: impl IntoIterator<Item = TcpRow>) -> Vec<u32> {
        rows.into_iter().filter(|row| row.is_end(self.client, self.server)).map(|row| row.user).collect()
    }
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
            let ends = Endpoints { client: client.parse().unwrap(), server: server.parse().unwrap() };
            ends.users_in(tcp_table::parse_table(table)).first().copied()
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
            let ends =
                Endpoints { client: client.local_addr().unwrap(), server: client.peer_addr().unwrap() };
            assert!(!ends.are_of_two_users());
            if cfg!(target_os = "linux") {
                assert_eq!(ends.users_in(tcp_table::rows()), [rustix::process::geteuid().as_raw()]);
            }
        }
    }
}
