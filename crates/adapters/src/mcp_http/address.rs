//! The address of an MCP server: which ones may be used, what of it may be shown, and which redirects are followed.

use std::{fmt, str::FromStr};

use axum::http::Uri;
use thiserror::Error;
use url::{Host, Url};

/// The address of a server. Two that differ in case or by the default port are the same.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerAddress(Url);

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
    /// Returns the address, unless it is none of a server over HTTP.
    fn new(mut url: Url) -> Result<Self, AddressError> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Password);
        }
        if !matches!(url.scheme(), "http" | "https") || url.port() == Some(0) {
            return Err(AddressError::Shape);
        }
        url.set_fragment(None);
        Ok(ServerAddress(url))
    }

    /// Returns whether what is sent there can be read on the way: it leaves the machine without TLS.
    pub fn is_open(&self) -> bool {
        let is_loopback = match self.0.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        };
        !self.is_tls() && !is_loopback
    }

    pub(super) fn is_tls(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Returns the address for a request.
    pub(super) fn uri(&self) -> Uri {
        // Whatever a browser reads as an address of HTTP, the client reads as well.
        self.0.as_str().parse().unwrap_or_default()
    }

    /// Returns where a response of this server redirects to, if that is at the same origin: no other gets the headers.
    ///
    /// # Errors
    /// Fails with the other address, or with `None` if it cannot be read.
    pub(super) fn redirected(&self, location: &str) -> Result<ServerAddress, Option<ServerAddress>> {
        let target = self.0.join(location).ok().and_then(|url| ServerAddress::new(url).ok()).ok_or(None)?;
        if target.0.origin() == self.0.origin() { Ok(target) } else { Err(Some(target)) }
    }
}

impl FromStr for ServerAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        Url::parse(text).map_err(|_| AddressError::Shape).and_then(ServerAddress::new)
    }
}

/// Without what follows a question mark, which may be a secret.
impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.0.clone();
        shown.set_query(None);
        fmt::Display::fmt(&shown, formatter)
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
            ("https://Mcp.Example.org", "https://mcp.example.org/", "https://mcp.example.org/"),
            (
                "https://a.example:443/mcp?key=s3cret#x",
                "https://a.example/mcp",
                "https://a.example/mcp?key=s3cret",
            ),
            ("http://[::1]:8000/mcp", "http://[::1]:8000/mcp", "http://[::1]:8000/mcp"),
            ("HTTP://localhost/", "http://localhost/", "http://localhost/"),
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
        for text in
            ["", "mcp", "a.example/mcp", "ftp://a.example/", "https://a:0/", "https://a:b/", "https://[::1/"]
        {
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
            ("http://2130706433/", false),
            ("http://ｌocalhost/", false),
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
            ("/ü x", "https://a.example/%C3%BC%20x"),
        ] {
            assert_eq!(from.redirected(location), Ok(address(to)), "{location}");
        }
        for location in
            ["http://a.example/v1/mcp/", "https://b.example/v1/mcp", "https://a.example:444/", "//b.example/"]
        {
            assert!(matches!(from.redirected(location), Err(Some(_))), "{location}");
        }
        for location in ["https://ada@a.example/", "ftp://a.example/", "https://"] {
            assert_eq!(from.redirected(location), Err(None), "{location}");
        }
    }
}
