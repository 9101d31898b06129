//! A bridge between an agent and a client, in any protocol: bytes, events and the time go in; bytes and
//! outputs come out ([`Bridge`]). It cuts lines, keeps their order, applies back-pressure, tells when an outcome was
//! delivered, and ends the agent's process. What a line means is left to the [`Protocol`], which is the core of
//! [`crate::acp`] or of another room.

pub mod base;
pub mod bridge;
pub mod event;
pub mod heard;
pub mod lifecycle;
pub mod link;
pub mod protocol;
pub mod sessions;
pub mod settled_ids;

pub use base::{Base, Config, HasBase, Introduction, Introductions};
pub use bridge::Bridge;
pub use event::{Action, Event, Line, Output, Peer, UnansweredReason};
pub use heard::Heard;
pub use link::Link;
pub use protocol::{Protocol, SharedConnection};
pub use sessions::Sessions;
pub use settled_ids::SettledIds;
