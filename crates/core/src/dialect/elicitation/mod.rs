//! Forms: `elicitation/create` of the ACP standard in form mode, and the companion fields in which agents take a free
//! text beside a choice.
//!
//! Source: the ACP schema, and the adapters of Claude, Codex, Kimi, oh-my-pi, Devin and opencode.

pub mod companion;
pub mod form;
pub mod reply;
pub mod request;
pub mod schema;

pub use companion::Companion;
pub use reply::FormReply;
