//! The headers that the user's settings name for a server: which names may be used, and where a value comes from. No
//! value is in any error.

use std::{
    env,
    fs::File,
    io::{self, Read},
    path::PathBuf,
};

use axum::http::{HeaderName, HeaderValue};
use thiserror::Error;

use crate::limits::mcp_http as limits;

/// Headers that the protocol or the connection sets.
const OWN: [&str; 11] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// Where the value of a header comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum HeaderSource {
    /// It is this text.
    Text(String),
    /// It is the value of this environment variable.
    Variable(String),
    /// It is in this file.
    File(PathBuf),
}

/// Why a header cannot be sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// It cannot be the name of a header.
    #[error("`{0}` cannot be the name of a header")]
    Name(String),
    /// The protocol needs this header itself.
    #[error("the header {0} is set by askbridge itself: remove it from the settings")]
    Own(String),
    /// The variable is not set.
    #[error("the header {0} has no value: the environment variable {1} is not set where askbridge runs")]
    Variable(String, String),
    /// The file cannot be read.
    #[error("the header {name} has no value: {} cannot be read: {error}", path.display())]
    File {
        /// The name of the header.
        name: String,
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The value is empty, or has characters that no header may have.
    #[error(
        "the value of the header {0} cannot be sent: it is empty, or has a line end or another control character"
    )]
    Value(String),
}

/// A header with its value.
pub struct Header {
    name: HeaderName,
    value: HeaderValue,
    /// The value, and the part of it that comes from a variable or a file.
    secrets: [String; 2],
}

impl Header {
    /// Reads the value of a header.
    ///
    /// # Errors
    /// Fails if the header cannot be sent.
    pub fn read(name: &str, prefix: &str, source: &HeaderSource) -> Result<Self, HeaderError> {
        let parsed =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| HeaderError::Name(name.to_owned()))?;
        if OWN.contains(&parsed.as_str()) || parsed.as_str().starts_with("mcp-param-") {
            return Err(HeaderError::Own(name.to_owned()));
        }
        let secret = match source {
            HeaderSource::Text(text) => text.clone(),
            HeaderSource::Variable(variable) => {
                let value = env::var(variable).ok().filter(|value| !value.is_empty());
                value.ok_or_else(|| HeaderError::Variable(name.to_owned(), variable.clone()))?
            }
            HeaderSource::File(path) => read_file(path).map_err(|error| HeaderError::File {
                name: name.to_owned(),
                path: path.clone(),
                error,
            })?,
        };
        let secret = secret.trim();
        let whole = format!("{prefix}{secret}");
        let mut value = HeaderValue::from_str(&whole)
            .ok()
            .filter(|_| !secret.is_empty())
            .ok_or_else(|| HeaderError::Value(name.to_owned()))?;
        value.set_sensitive(true);
        Ok(Header { name: parsed, value, secrets: [whole.clone(), secret.to_owned()] })
    }

    pub(super) fn secrets(&self) -> impl Iterator<Item = String> {
        self.secrets.iter().cloned()
    }

    pub(super) fn into_pair(self) -> (HeaderName, HeaderValue) {
        (self.name, self.value)
    }
}

fn read_file(path: &PathBuf) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(limits::HEADER_FILE).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, prefix: &str, source: &HeaderSource) -> Result<String, String> {
        let header = Header::read(name, prefix, source).map_err(|error| error.to_string())?;
        assert!(!format!("{:?}", header.value).contains("s3cret"));
        Ok(format!("{}: {}", header.name, header.value.to_str().expect("text")))
    }

    #[test]
    fn a_value_comes_from_a_text_or_a_file() {
        let text = |text: &str| HeaderSource::Text(text.to_owned());
        assert_eq!(read("X-Key", "", &text("s3cret")).as_deref(), Ok("x-key: s3cret"));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        std::fs::write(&path, "s3cret\n").expect("a file");
        let file = HeaderSource::File(path.clone());
        assert_eq!(read("Authorization", "Bearer ", &file).as_deref(), Ok("authorization: Bearer s3cret"));
        std::fs::remove_file(&path).expect("removed");
        let missing = read("Authorization", "", &file).expect_err("no file");
        assert!(missing.contains(&*path.to_string_lossy()) && missing.contains("Authorization"), "{missing}");
    }

    #[test]
    fn what_cannot_be_sent_is_named_without_its_value() {
        let text = |text: &str| HeaderSource::Text(text.to_owned());
        for (name, source, said) in [
            ("", text("s3cret"), "`` cannot be the name"),
            ("a b", text("s3cret"), "`a b` cannot be the name"),
            ("Host", text("s3cret"), "the header Host is set by askbridge"),
            ("MCP-Session-Id", text("s3cret"), "is set by askbridge"),
            ("Mcp-Param-X", text("s3cret"), "is set by askbridge"),
            ("X-Key", text("s3cret\r\nHost: x"), "the value of the header X-Key cannot be sent"),
            ("X-Key", text(" "), "the value of the header X-Key cannot be sent"),
            (
                "X-Key",
                HeaderSource::Variable("ASKBRIDGE_NO_SUCH_VARIABLE".to_owned()),
                "the environment variable ASKBRIDGE_NO_SUCH_VARIABLE is not set",
            ),
        ] {
            let refused = read(name, "Bearer ", &source).expect_err(name);
            assert!(refused.contains(said) && !refused.contains("s3cret"), "{refused}");
        }
    }
}
