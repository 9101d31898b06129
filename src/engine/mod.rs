//! A bridge between an agent and a client, whatever protocol they speak: bytes, events and the time go in; bytes and
//! outputs come out ([`Bridge`]). It cuts lines, keeps their order, applies back-pressure, tells when an outcome was
//! delivered, and ends the agent's process. What a line means is left to the [`Protocol`], which is the core of
//! [`crate::acp`] or of another room.

pub mod event;

pub mod action;

pub mod introduction;

pub mod config;

pub mod sessions;

pub mod lifecycle;

pub mod base;

pub mod link;

pub mod protocol;

pub mod steps;

pub mod bridge;

pub use action::{Action, Line};
pub use base::{Base, HasBase};
pub use bridge::Bridge;
pub use config::Config;
pub use event::{Event, Output, Peer, UnansweredReason};
pub use introduction::{Introduction, Introductions};
pub use link::Link;
pub use protocol::{Protocol, SharedConnection};
pub use sessions::Sessions;
