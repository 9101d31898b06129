//! One question's life, whatever asked it and wherever it is answered: open, on its way to the asker, settled.
//! How a question is asked and delivered on some wire is left to the rooms above. Pure: time is passed in.

pub mod time;

pub mod id;

pub mod submission;

pub mod record;

pub mod refusal;

pub mod notice;

pub mod changes;

mod memory;

pub mod opening;

pub mod earlier;

pub mod lost;

pub mod state;

mod deadlines;

mod delivery;

pub mod event_log;

pub mod snapshot;

#[cfg(test)]
mod samples;

#[cfg(test)]
mod model;

pub use changes::Changes;
pub use earlier::EarlierDecision;
pub use event_log::{Event, EventLog};
pub use id::{Asker, BridgeName, IdPrefix, QuestionId};
pub use lost::LostQuestion;
pub use notice::Notice;
pub use opening::{Opening, Setup};
pub use record::{Record, Settlement, State};
pub use refusal::{Refusal, RefusalKind};
pub use snapshot::Snapshot;
pub use state::Desk;
pub use submission::{Submission, Ticket, TicketedSubmission};
pub use time::Timestamp;
