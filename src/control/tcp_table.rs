//! The TCP sockets of this machine, as Linux tells them under `/proc`; elsewhere, there are none. What follows from
//! them is left to the callers.

use std::{
    fs::File,
    io::{self, Read},
    net::{IpAddr, SocketAddr},
};

use crate::limits;

/// A socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpRow {
    /// Its own address. An address of IPv4 that is written as one of IPv6 is one of IPv4.
    pub local: SocketAddr,
    /// The address that it is connected to.
    pub remote: SocketAddr,
    /// What it is doing.
    pub state: State,
    /// The user of the process that opened it.
    pub user: u32,
    /// The number by which a process has it; 0 where none has it, such as a connection that was not accepted yet.
    pub inode: u64,
}

/// What a socket is doing, as far as callers tell states apart.
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
    /// Returns whether this is the end of a connection that has this address, and that one at the other end. An address of
    /// IPv4 may be written as one of IPv6.
    pub fn is_end(&self, own: SocketAddr, other: SocketAddr) -> bool {
        is_same(self.local, own) && is_same(self.remote, other)
    }
}

fn is_same(row: SocketAddr, address: SocketAddr) -> bool {
    (row.ip(), row.port()) == (address.ip().to_canonical(), address.port())
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
        // Queues, a timer and retransmissions stand between.
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
