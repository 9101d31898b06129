//! The inbox of a process: where responders find its questions, and how a decision reaches the asker. The control
//! protocol is left to `rpc`, the bridges of the whole machine to `join`.

mod access;
mod any;
pub mod asked;
mod bridge;
pub mod deferral;
mod handover;
mod kept;
mod kept_desk;
mod ledger;
mod local_desk;
pub mod openings;
mod past;
#[cfg(feature = "images")]
pub mod picture;
pub mod real_files;
pub mod report;
mod standing;
mod status;
mod store;
mod work;

pub use access::Inbox;
pub use any::AnyInbox;
pub use bridge::BridgeInbox;
pub(crate) use bridge::assumed;
pub use handover::Port;
pub(crate) use kept::NO_STANDING;
pub use kept::{CallbackSender, Consuming, Kept, KeptBy, NoCallbacks, NotKept, NotUsed, Standing};
pub use ledger::{
    AskedUnder, CallbackNote, Home, Keeping, KeptBefore, KeptCallback, KeptQuestions, Ledger, LeftToClient,
    Life, Used, Using, WaitingBridge,
};
pub(crate) use ledger::{latest_lost, latest_past, recall};
pub use local_desk::{LocalDesk, QuestionHandle};
pub use past::{HistoryFilter, MissingHistory, PastQuestion, PastQuestions, SearchWords};
pub use standing::StandingInbox;
pub(crate) use status::is_zero;
pub use status::{BridgeStatus, Count, Identity, PROTOCOL, PeerStatus, Peers, Traffic};
pub use store::{Batch, Editor, Follower, Store, wait_until};
pub use work::Work;
