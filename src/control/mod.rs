//! How responders reach the questions of one bridge: its inbox, the bridge's port to that, and the control protocol.
//! Which bridges there are on the machine is left to `machine`, HTTP to `serve`.

pub mod traffic;

pub mod store;

pub mod home;

pub mod ledger;

pub mod handover;

pub mod outline;

pub mod protocol;

pub mod processes;

pub mod tcp_table;

pub mod agent_tree;

pub mod inbox;

pub mod local_desk;

mod presence;

pub mod bridge_inbox;

pub mod budget;

mod deltas;

mod connection;

pub mod methods;

pub mod session;

pub mod lines;

pub mod socket;

pub mod client;

pub mod host;

pub mod recall;

#[cfg(test)]
pub(crate) mod played;

#[cfg(test)]
mod crashes;

pub use bridge_inbox::{BridgeInbox, Work};
pub use handover::Port;
pub use home::{Home, Life, WaitingBridge};
pub use inbox::Inbox;
pub use ledger::{Ledger, LeftToClient};
pub use local_desk::{LocalDesk, QuestionHandle};
pub use recall::LedgerService;
pub use store::{Batch, Follower, Store};
pub use traffic::Traffic;
pub use traffic::{BridgeStatus, Identity, PeerStatus, Peers};
