//! The address of an MCP server: which ones may be used, what of it may be shown, and which redirects are followed.

use std::{fmt, net::IpAddr, str::FromStr};

use axum::http::{Uri, uri::PathAndQuery};
use thiserror::Error;

/// The address of a server. Two that differ in case or by the default port are the same.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerAddress {
    is_tls: bool,
    /// In small letters, with brackets around an IPv6 address.
    host: String,
    port: u16,
    path: PathAndQuery,
}

/// Why a text is not the address of a server.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It has another shape.
    #[error("the address must be https://HOST/PATH, or http://HOST:PORT/PATH")]
    Shape,
    /// It has a user or a password in it.
    #[error(
        "a password in the address would be seen by others: set the header Authorization of this server in the settings"
    )]
    Password,
}

impl ServerAddress {
    /// Returns whether what is sent there can be read on the way: it leaves the machine without TLS.
    pub fn is_open(&self) -> bool {
        let name = self.host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        !self.is_tls && !is_loopback
    }

    pub(super) fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Returns the address for a request.
    pub(super) fn uri(&self) -> Uri {
        let scheme = if self.is_tls { "https" } else { "http" };
        let builder = Uri::builder().scheme(scheme).authority(self.authority());
        // All parts were read from an address.
        builder.path_and_query(self.path.clone()).build().unwrap_or_default()
    }

    /// Returns where a response of this server redirects to, if that is at the same origin: no other gets the headers.
    ///
    /// # Errors
    /// Fails with the other address, or with `None` if it cannot be read.
    pub(super) fn redirected(&self, location: &str) -> Result<ServerAddress, Option<ServerAddress>> {
        let target = match location.split_once(':') {
            Some(_) if !location.starts_with('/') => location.parse().map_err(|_| None)?,
            _ if location.starts_with("//") => {
                let scheme = if self.is_tls { "https" } else { "http" };
                format!("{scheme}:{location}").parse().map_err(|_| None)?
            }
            _ => ServerAddress { path: self.relative(location).ok_or(None)?, ..self.clone() },
        };
        let is_same = (target.is_tls, &target.host, target.port) == (self.is_tls, &self.host, self.port);
        if is_same { Ok(target) } else { Err(Some(target)) }
    }

    /// Returns a path, or a path relative to the folder of this one.
    fn relative(&self, path: &str) -> Option<PathAndQuery> {
        let path = path.split('#').next().unwrap_or_default();
        if path.starts_with('/') {
            return path.parse().ok();
        }
        let own = self.path.path();
        let folder = own.rfind('/').map_or("/", |slash| &own[..=slash]);
        format!("{folder}{path}").parse().ok()
    }

    fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

impl FromStr for ServerAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let uri: Uri = text.parse().map_err(|_| AddressError::Shape)?;
        let authority = uri.authority().ok_or(AddressError::Shape)?;
        if authority.as_str().contains('@') {
            return Err(AddressError::Password);
        }
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(AddressError::Shape),
        };
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => {
                if is_tls {
                    443
                } else {
                    80
                }
            }
            _ => authority.port_u16().filter(|port| *port > 0).ok_or(AddressError::Shape)?,
        };
        let host = authority.host().to_ascii_lowercase();
        let path = uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        if host.is_empty() {
            Err(AddressError::Shape)
        } else {
            Ok(ServerAddress { is_tls, host, port, path })
        }
    }
}

/// Without what follows a question mark, which may be a secret.
impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = if self.is_tls { ("https", 443) } else { ("http", 80) };
        write!(formatter, "{scheme}://{}", self.host)?;
        if self.port != usual {
            write!(formatter, ":{}", self.port)?;
        }
        formatter.write_str(self.path.path())
    }
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> ServerAddress {
        text.parse().expect(text)
    }

    #[test]
    fn addresses_are_shown_without_secrets() {
        for (text, shown, uri) in [
            ("https://Mcp.Example.org", "https://mcp.example.org/", "https://mcp.example.org:443/"),
            (
                "https://a.example:443/mcp?key=s3cret#x",
                "https://a.example/mcp",
                "https://a.example:443/mcp?key=s3cret",
            ),
            ("http://[::1]:8000/mcp", "http://[::1]:8000/mcp", "http://[::1]:8000/mcp"),
            ("HTTP://localhost/", "http://localhost/", "http://localhost:80/"),
        ] {
            let address = address(text);
            assert_eq!((address.to_string(), address.uri().to_string()), (shown.to_owned(), uri.to_owned()));
            assert!(!format!("{address:?}").contains("s3cret"));
        }
        assert_eq!(address("https://a.example"), address("HTTPS://A.Example:443/"));
        assert_ne!(address("https://a.example/mcp"), address("https://a.example/mcp/"));
    }

    #[test]
    fn other_texts_are_no_addresses() {
        for text in [
            "",
            "mcp",
            "a.example/mcp",
            "ftp://a.example/",
            "https:///mcp",
            "https://a:0/",
            "https://a:b/",
            "https://ä.example/",
        ] {
            assert_eq!(text.parse::<ServerAddress>(), Err(AddressError::Shape), "{text}");
        }
        for text in ["https://ada@a.example/", "https://ada:s3cret@a.example/"] {
            assert_eq!(text.parse::<ServerAddress>(), Err(AddressError::Password), "{text}");
        }
    }

    #[test]
    fn only_what_leaves_the_machine_without_tls_is_open() {
        for (text, is_open) in [
            ("https://a.example", false),
            ("http://a.example", true),
            ("http://localhost:1", false),
            ("http://127.0.0.1:1", false),
            ("http://127.9.9.9", false),
            ("http://[::1]", false),
            ("http://0.0.0.0", true),
            ("http://192.168.1.1", true),
            ("http://localhost.a.example", true),
            ("http://[::ffff:10.0.0.1]", true),
        ] {
            assert_eq!(address(text).is_open(), is_open, "{text}");
        }
    }

    #[test]
    fn redirects_stay_at_the_same_origin() {
        let from = address("https://a.example/v1/mcp?key=1");
        for (location, to) in [
            ("/v1/mcp/", "https://a.example/v1/mcp/"),
            ("mcp/", "https://a.example/v1/mcp/"),
            ("https://A.example:443/x:y", "https://a.example/x:y"),
            ("//a.example/z", "https://a.example/z"),
            ("/a:b", "https://a.example/a:b"),
        ] {
            assert_eq!(from.redirected(location), Ok(address(to)), "{location}");
        }
        for location in
            ["http://a.example/v1/mcp/", "https://b.example/v1/mcp", "https://a.example:444/", "//b.example/"]
        {
            assert!(matches!(from.redirected(location), Err(Some(_))), "{location}");
        }
        for location in ["https://ada@a.example/", "ftp://a.example/", "https://", "/ü x"] {
            assert_eq!(from.redirected(location), Err(None), "{location}");
        }
    }
}
