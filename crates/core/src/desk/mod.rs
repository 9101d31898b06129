//! One question's life, in any protocol and for any responder: open, on its way to the asker, settled.
//! How a question is asked and delivered on some wire is left to the rooms above. Pure: time is passed in.

pub mod callbacks;
mod contexts;
pub mod event;
pub mod id;
mod images;
pub mod input;
#[cfg(test)]
mod model;
mod progress;
pub mod record;
pub mod refusal;
#[cfg(test)]
mod samples;
mod settled;
pub mod snapshot;
pub mod state;
pub mod time;

pub use callbacks::{AfterCallback, Callback, Callbacks};
pub use event::{Changes, Event, EventLog, Notice};
pub use id::{Asker, BridgeName, IdPrefix, MachineName, QuestionId};
pub use input::{Opening, Room, Setup, Submission, Ticket, TicketedSubmission};
pub use record::{
    EarlierDecision, Grant, LostQuestion, Record, Report, ReportStatus, Settlement, State, Use,
};
pub use refusal::{Refusal, RefusalKind};
pub use snapshot::Snapshot;
pub use state::Desk;
pub use time::Timestamp;
