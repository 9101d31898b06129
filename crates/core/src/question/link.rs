//! A page that an asker wants the person to open. The bridge shows its address, and never fetches it.

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::limits;

/// A page that the person is asked to open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Link {
    /// The address, as a browser writes it: `http` or `https`, and the name of the host in ASCII.
    pub url: String,
    /// The host, with its port where that is not the usual one. It is what a person has to trust.
    pub host: String,
}

impl Link {
    /// Reads an address as an asker sent it.
    ///
    /// # Errors
    /// It is no address of a page, or it is made to be taken for another one.
    pub fn read(address: &str) -> Result<Self, String> {
        if address.len() > limits::LINK {
            return Err(format!(
                "an address has at most {} bytes, this one has {}",
                limits::LINK,
                address.len()
            ));
        }
        let url = Url::parse(address).map_err(|error| format!("{error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("only http and https are opened, not {}", url.scheme()));
        }
        // What stands before an `@` looks like the host.
        if !url.username().is_empty() || url.password().is_some() {
            return Err("an address with a user name or a password is not opened".to_owned());
        }
        let host = match (url.host(), url.port()) {
            (Some(Host::Domain("")) | None, _) => return Err("it names no host".to_owned()),
            (Some(host), None) => host.to_string(),
            (Some(host), Some(port)) => format!("{host}:{port}"),
        };
        Ok(Link { url: url.into(), host })
    }

    /// Returns about how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.url.len() + self.host.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_what_a_browser_would_open() {
        for (address, url, host) in [
            ("https://example.org", "https://example.org/", "example.org"),
            ("HTTPS://Example.ORG:443/a?b#c", "https://example.org/a?b#c", "example.org"),
            ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x", "127.0.0.1:8080"),
            ("http://2130706433/", "http://127.0.0.1/", "127.0.0.1"),
            ("http://[::1]:81/", "http://[::1]:81/", "[::1]:81"),
            // The letter е is Cyrillic.
            ("https://\u{435}xample.org/", "https://xn--xample-2of.org/", "xn--xample-2of.org"),
            ("https:\\\\example.org\\a", "https://example.org/a", "example.org"),
            (" https://exam\nple.org/ ", "https://example.org/", "example.org"),
        ] {
            let expected = Link { url: url.to_owned(), host: host.to_owned() };
            assert_eq!(Link::read(address), Ok(expected), "{address:?}");
        }
    }

    #[test]
    fn what_is_no_page_or_is_made_to_deceive_is_refused() {
        for (address, why) in [
            ("", "relative URL without a base"),
            ("example.org", "relative URL without a base"),
            ("javascript:alert(1)", "only http and https are opened, not javascript"),
            ("file:///etc/passwd", "only http and https are opened, not file"),
            ("https://", "empty host"),
            ("https://example.org@example.com/", "an address with a user name or a password is not opened"),
            ("https://:x@example.com/", "an address with a user name or a password is not opened"),
        ] {
            assert_eq!(Link::read(address), Err(why.to_owned()), "{address:?}");
        }
        let long = format!("https://example.org/{}", "a".repeat(limits::LINK));
        assert!(Link::read(&long).is_err_and(|why| why.starts_with("an address has at most")));
    }
}
