//! The bridges of this machine: finds their sockets, and joins their inboxes into one. The protocol of a socket is left
//! to `rpc`.

pub mod back_off;
mod changes;
mod connections;
pub mod discovery;
mod follow;
mod gaps;
mod handshake;
mod joined;
mod link;
mod missing;
mod name;
mod over;
mod peer;
mod places;
mod reach;
pub mod remote;
mod reported;
mod seek;
mod selected;
mod stores;
mod submit;
mod tell;
mod told;

pub use gaps::Gaps;
pub use joined::JoinedInbox;
pub use missing::Missing;
pub use places::Places;
pub use reach::{Held, OwnInboxes, Reach};
pub use selected::Selected;
