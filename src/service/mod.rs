//! The services that run beside the socket of an inbox, one file each. Each follows the inbox's questions, and submits
//! answers as any responder does. [`services`] lists them.

#[cfg(feature = "notify")]
mod callbacks;
mod context;
#[cfg(test)]
pub mod crashes;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod http;
mod ledger;
mod list;
#[cfg(feature = "notify")]
pub mod notify;
mod own;
pub mod recall;
pub mod rules;
pub mod settings;
mod standing;
pub mod unattended;

pub use context::{AgentEndFlag, BridgeContext, Context, Renewal};
pub use ledger::ledger;
#[cfg(feature = "journal")]
pub use ledger::of_user;
pub use list::services;
pub use own::OwnInbox;
pub use standing::StandingHost;
