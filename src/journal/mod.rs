//! The journal: one SQLite file of the user with every question, its decision, and what became of it.
//! When a question is noted is left to `control`, which knows the journal as a [`crate::control::Ledger`]; what is done
//! with what was read is left to the commands.
//!
//! Two guarantees (I9). A submission is in the file before the asker gets it, so that a killed process does not lose it.
//! A settlement is in the file and synced before its responder hears of it, so that a power loss does not lose it. Where
//! the file fails, questions go on without it: a warning is logged, and what is missing is counted.

mod chain;

mod fingerprint;

mod stored;

pub mod error;

mod schema;

mod connection;

mod lock;

mod entries;

mod homes;

mod again;

mod prune;

mod queue;

mod health;

mod shared;

mod writer;

pub mod options;

pub mod handle;

pub mod reading;

pub mod export;

pub mod verify;

#[cfg(test)]
mod samples;

#[cfg(test)]
mod power;

#[cfg(test)]
mod full;

pub use error::JournalError;
pub use handle::Journal;
pub use options::Options;
pub use prune::prune;
pub use reading::{Filter, Gap, History, PastQuestion, UnsettledQuestions};
pub use verify::{Break, BreakKind, Verification};
