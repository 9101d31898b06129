//! The inbox of a process: where responders find its questions, and how a decision reaches the asker. The control
//! protocol is left to `rpc`, the bridges of the whole machine to `join`.

pub mod access;
pub mod any;
pub mod bridge;
pub mod handover;
pub mod ledger;
pub mod local_desk;
pub mod openings;
pub mod past;
pub mod real_files;
pub mod report;
pub mod status;
pub mod store;

pub use access::Inbox;
pub use any::AnyInbox;
pub use bridge::{BridgeInbox, Work};
pub use handover::Port;
pub use ledger::{Home, Ledger, LeftToClient, Life, WaitingBridge};
pub use local_desk::{LocalDesk, QuestionHandle};
pub use past::{HistoryFilter, MissingHistory, PastQuestion, PastQuestions};
pub use status::{BridgeStatus, Identity, PeerStatus, Peers, Traffic};
pub use store::{Batch, Follower, Store};
