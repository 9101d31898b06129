//! Why a client's conversation failed.
//! The exit code is left to `run.rs` and `demo.rs`.

use std::{fmt, io, process::ExitStatus};

use crate::message::RpcError;

/// Why the conversation failed. `peer` is the program that the client started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("cannot start the {peer}: {source}")]
    Start { peer: &'static str, source: io::Error },
    #[error("cannot show anything: {0}")]
    Screen(#[from] io::Error),
    #[error("the {peer} ended before the turn did, with {}", ExitText(*.status))]
    Ended { peer: &'static str, status: ExitStatus },
    #[error("the turn ended well, but the {peer} ended with {}", ExitText(*.status))]
    BadEnd { peer: &'static str, status: ExitStatus },
    #[error("the connection closed before the turn ended")]
    Gone,
    #[error("no answer to {method} within {seconds} s")]
    Silence { method: &'static str, seconds: u64 },
    #[error("the turn did not end in time")]
    TimedOut,
    #[error("{method} was refused: {error}")]
    Refused { method: &'static str, error: RpcError },
    #[error("the answer to {0} was not understood")]
    Misunderstood(&'static str),
    #[error("the {peer} broke the protocol: {what}")]
    Wrong { peer: &'static str, what: String },
    #[error("the ID {0} came twice")]
    SameId(String),
    #[error("--answer: {0}")]
    DoesNotFit(String),
    #[error("--permission: {0}")]
    NotOffered(String),
    #[error("the turn ended with {0}")]
    Stopped(String),
}

/// An exit status in words.
struct ExitText(ExitStatus);

impl fmt::Display for ExitText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use std::os::unix::process::ExitStatusExt;
        match (self.0.code(), self.0.signal()) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => write!(f, "{}", self.0),
        }
    }
}
