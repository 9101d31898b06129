//! ACP between an agent and a client: what the bridge intercepts, how it asks the client, and how questions end
//! ([`Bridge`]). Bytes and the end of processes are left to [`crate::engine`], the lives of the questions to
//! [`crate::desk`], and their forms in JSON to [`crate::dialect`].

mod agent;
mod amend;
mod announce;
mod asking;
pub mod bridge;
mod capabilities;
mod client;
mod component;
pub mod config;
mod core;
mod heard;
mod hint;
#[cfg(test)]
mod life;
mod pending;
mod reading;
mod responding;
mod route;
mod sessions;
mod settle;
mod tool_calls;
mod unread;

pub use bridge::Bridge;
pub use component::{Component, NO_CONDUCTOR};
pub use config::{Config, Tier};
pub use core::Core;
