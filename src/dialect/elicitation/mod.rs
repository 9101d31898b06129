//! Forms: `elicitation/create` of the ACP standard in form mode, and the companion fields in which agents take a free
//! text beside a choice.
//!
//! Source: the ACP schema, and the adapters of Claude, Codex, Kimi, oh-my-pi, Devin and opencode.

pub mod schema;

pub mod companion;

pub mod form_reply;

pub mod request;

pub mod content;

pub mod form;

pub mod response;

pub mod reply;

mod entry;

pub use companion::Companion;
pub use form_reply::FormReply;
