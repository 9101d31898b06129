//! ACP between an agent and a client: what the bridge intercepts, how it asks the client, and how questions end
//! ([`Bridge`]). Bytes and the end of processes are left to [`crate::engine`], the lives of the questions to
//! [`crate::desk`], and how they are spelled to [`crate::dialect`].

mod presentation;

pub mod config;

mod pending;

mod turns;

mod tool_calls;

mod known_clients;

mod capabilities;

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

mod component;

pub mod bridge;

pub use bridge::Bridge;
pub use component::{Component, NO_CONDUCTOR};
pub use config::Config;
pub use core::Core;
pub use presentation::Tier;

pub use crate::engine::{Event, Introduction, Introductions, Output, Peer, UnansweredReason};
