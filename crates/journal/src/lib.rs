//! The journal: one SQLite file of the user with every question, its decision, and how it ended. The inbox decides when
//! a question is recorded, and knows the journal as an [`askbridge_control::inbox::Ledger`]; the use of what is read is
//! left to the commands.
//!
//! Two guarantees (I9). A submission is in the file before the asker gets it, so that a killed process does not lose
//! it. A settlement is in the file and synced before its responder learns of it, so that a power loss does not lose it.
//! Where the file fails, questions continue without it: a warning is logged, and missing entries are counted.

mod again;
mod callbacks;
mod chain;
mod connection;
mod entries;
pub mod export;
#[cfg(test)]
mod failing_disk;
mod handle;
mod led;
pub mod limits;
mod prune;
mod reading;
#[cfg(test)]
mod samples;
mod schema;
mod shared;
mod standing;
mod stored;
mod used;
mod verify;
mod writer;

pub use handle::Journal;
pub use prune::prune;
pub use reading::{Gap, History, UnsettledQuestions};
pub use schema::JournalError;
pub use shared::{LifeLookup, Options};
pub use verify::{Break, BreakKind, Verification};
