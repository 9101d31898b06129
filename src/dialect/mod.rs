//! The ways to say a question on the wire, each as pure functions between JSON and [`crate::question`].
//! Which one is used when is left to `acp`.
//!
//! A dialect is read where an agent speaks it: a request becomes a question, and an outcome becomes the response
//! in the same agent's words ([`Words`]). Three of them are written as well, for clients: the native one, forms, and
//! permission prompts.

pub mod asked;

pub mod sandboxagent;

pub mod elicitation;

pub mod permission;

pub mod cursor;

pub mod grok;

pub mod kiro;

mod entries;

mod joined;

mod meta;

pub use asked::{Asked, Reply, Words, may_ask, read};
pub use meta::{Additions, Meta};
