//! The address of an opencode server, as a person writes it.

use std::{fmt, net::IpAddr, str::FromStr};

use thiserror::Error;

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The name or the IP address, without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// The prefix of each path; empty, or with a slash at its beginning and none at its end.
    pub(super) prefix: String,
}

/// The default port of `opencode serve`.
const PORT: u16 = 4096;

/// Why a text is not an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It asks for TLS.
    #[error("https is not supported: give an http:// address, such as that of a tunnel to the server")]
    Https,
    /// It has a user or a password in it.
    #[error("a password in the address would be seen by others: set OPENCODE_SERVER_PASSWORD instead")]
    Password,
    /// It has another shape.
    #[error("must be http://HOST:PORT, HOST:PORT or PORT")]
    Shape,
}

impl Address {
    /// Returns the address of a port on this machine.
    pub(super) fn local(ip: IpAddr, port: u16) -> Self {
        Address { host: ip.to_string(), port, prefix: String::new() }
    }

    /// Returns the port if the server is on this machine.
    pub(super) fn local_port(&self) -> Option<u16> {
        let is_loopback =
            self.host == "localhost" || self.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        is_loopback.then_some(self.port)
    }

    /// Returns the host and the port in the spelling of a `Host` header.
    pub(super) fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "http://{}{}", self.authority(), self.prefix)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if let Ok(port) = text.parse() {
            return Ok(Address { host: "127.0.0.1".to_owned(), port, prefix: String::new() });
        }
        let rest = match text.split_once("://") {
            Some(("http", rest)) => rest,
            Some(("https", _)) => return Err(AddressError::Https),
            Some(_) => return Err(AddressError::Shape),
            None => text,
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(AddressError::Password);
        }
        let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, rest)) => (host, rest.strip_prefix(':').or(rest.is_empty().then_some(""))),
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, Some("")),
            },
        };
        let port = match port.ok_or(AddressError::Shape)? {
            "" => PORT,
            port => port.parse().map_err(|_| AddressError::Shape)?,
        };
        let is_plain =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\"<>\\".contains(&byte));
        if host.is_empty() || !is_plain(host) || !is_plain(path) {
            return Err(AddressError::Shape);
        }
        Ok(Address { host: host.to_owned(), port, prefix: path.trim_end_matches('/').to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for (text, expected) in [
            ("4096", "http://127.0.0.1:4096"),
            ("http://localhost:4100/", "http://localhost:4100"),
            ("http://127.0.0.1", "http://127.0.0.1:4096"),
            ("box.lan:80/x/", "http://box.lan:80/x"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("[::1]", "http://[::1]:4096"),
        ] {
            assert_eq!(text.parse::<Address>().map(|address| address.to_string()).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_cannot_be_called_is_refused() {
        for (text, expected) in [
            ("https://a", AddressError::Https),
            ("http://opencode:secret@a:1", AddressError::Password),
            ("ftp://a", AddressError::Shape),
            ("http://", AddressError::Shape),
            ("a:b", AddressError::Shape),
            ("a b", AddressError::Shape),
            ("a/x?y", AddressError::Shape),
            ("[::1]x", AddressError::Shape),
        ] {
            assert_eq!(text.parse::<Address>(), Err(expected), "{text}");
        }
    }

    #[test]
    fn only_a_loopback_address_is_local() {
        let port = |text: &str| text.parse::<Address>().expect("an address").local_port();
        assert_eq!(port("4096"), Some(4096));
        assert_eq!(port("[::1]:7"), Some(7));
        assert_eq!(port("192.0.2.1:7"), None);
    }
}
