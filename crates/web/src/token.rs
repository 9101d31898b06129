//! The token that every request must show, and the file that keeps it.
//! Which requests need the token is left to `guard.rs`.

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use askbridge_control::join::discovery::{self, DiscoveryError};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use rustix::fs::OFlags;
use sha2::Sha256;
use subtle::ConstantTimeEq;
use thiserror::Error;

/// Bytes of a token: 256 bits cannot be guessed.
const BYTES: usize = 32;

/// The token that a client must show. It is never printed or logged: a program that is allowed to have it reads the
/// file.
#[derive(Clone)]
pub struct Token([u8; 2 * BYTES]);

/// Why there is no token.
#[derive(Debug, Error)]
pub enum TokenError {
    /// The file cannot be read or created.
    #[error("cannot read or make the token file {path:?}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Others may read the file.
    #[error("the token file {0:?} can be read by others: it must be yours, with mode 0600")]
    NotPrivate(PathBuf),
    /// It is a directory, a pipe or a device.
    #[error("the token file {0:?} is no regular file")]
    NotAFile(PathBuf),
    /// The file contains something else.
    #[error("{0:?} contains no token: remove the file, and askbridge makes a new one")]
    NoToken(PathBuf),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes for a token")]
    NoRandom,
}

impl Token {
    /// Returns the path of the token file: `chosen`, or else the default in the directory of the sockets.
    pub fn file(chosen: Option<&Path>) -> Result<PathBuf, DiscoveryError> {
        match chosen {
            Some(path) => Ok(path.to_owned()),
            None => Ok(Self::in_folder(&discovery::folder()?)),
        }
    }

    /// Returns the path of the default token file of an inbox whose socket is in this directory.
    pub fn in_folder(folder: &Path) -> PathBuf {
        folder.join("token")
    }

    /// Reads the token from this file. If there is no file, creates it with a new token.
    pub fn read_or_make(path: &Path) -> Result<Self, TokenError> {
        let at = |source| TokenError::File { path: path.to_owned(), source };
        match open(path) {
            Ok(file) => Self::read(file, path),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make(path)?;
                // Another process may have created the file first: its token counts.
                Self::read(open(path).map_err(at)?, path)
            }
            Err(error) => Err(at(error)),
        }
    }

    fn read(file: File, path: &Path) -> Result<Self, TokenError> {
        let at = |source| TokenError::File { path: path.to_owned(), source };
        let metadata = file.metadata().map_err(at)?;
        if !metadata.is_file() {
            return Err(TokenError::NotAFile(path.to_owned()));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o077 != 0 {
            return Err(TokenError::NotPrivate(path.to_owned()));
        }
        let mut text = String::new();
        // A longer text is not a token anyway.
        file.take(4 * BYTES as u64).read_to_string(&mut text).map_err(at)?;
        let token: Option<[u8; 2 * BYTES]> = text.trim_end().as_bytes().try_into().ok();
        let token = token.filter(|token| token.iter().all(u8::is_ascii_hexdigit));
        token.map(Token).ok_or_else(|| TokenError::NoToken(path.to_owned()))
    }

    /// Returns whether this is the token, in constant time.
    pub(super) fn is(&self, shown: &[u8]) -> bool {
        self.0.ct_eq(shown).into()
    }

    /// Returns the MAC of a text under this token. It discloses nothing of the token, and cannot be computed without
    /// it.
    pub(super) fn mac(&self, text: &str) -> [u8; 32] {
        Hmac::<Sha256>::new(&self.0.into()).chain_update(text).finalize().into_bytes().into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

/// Opens the file for reading. Without `NONBLOCK`, opening a pipe would wait for a writer.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

/// Creates the file atomically. Another process may do so at the same time; then its token is used.
fn make(path: &Path) -> Result<(), TokenError> {
    let at = |source| TokenError::File { path: path.to_owned(), source };
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).map_err(|_| TokenError::NoRandom)?;
    let text = HEXLOWER.encode(&random);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", discovery::name()));
    let draft = PathBuf::from(name);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).map_err(at)?;
    // A link fails if the file exists, where a rename would replace the token that others have read already.
    let written = writeln!(file, "{text}").and_then(|()| fs::hard_link(&draft, path));
    // If this fails, only a draft remains, which only its owner can read.
    drop(fs::remove_file(&draft));
    match written {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(at(error)),
        _ => Ok(()),
    }
}
