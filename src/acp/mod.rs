//! ACP between an agent and a client: what the bridge intercepts, how it asks the client, and when it ends. Bytes,
//! events and the time go in; bytes and outputs come out ([`Bridge`]). The lives of the questions are left to
//! [`crate::desk`], and how they are spelled to [`crate::dialect`].

pub mod event;

mod action;

mod presentation;

pub mod config;

mod pending;

mod turns;

mod sessions;

mod tool_calls;

mod known_clients;

mod capabilities;

mod lifecycle;

mod core;

mod route;

mod client;

mod agent;

mod asking;

mod response;

mod settle;

mod hint;

mod silence;

mod announce;

mod link;

mod component;

pub mod bridge;

pub use bridge::Bridge;
pub use capabilities::{Introduction, Introductions};
pub use component::NO_CONDUCTOR;
pub use config::Config;
pub use event::{Event, Output, Peer, Unanswered};
pub use presentation::Tier;
