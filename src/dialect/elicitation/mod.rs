//! The standard's own form, `elicitation/create` in form mode, with the companions in which agents take a free text
//! beside a choice.
//!
//! Source: the ACP schema, and the adapters of Claude, Codex, Kimi, oh-my-pi, Devin and opencode.

pub mod schema;

pub mod request;

pub mod companion;

pub mod content;

pub mod form;

pub mod response;

pub mod reply;

pub use companion::{Companion, Words};

/// The request's method.
pub const METHOD: &str = "elicitation/create";

/// The request's method, and the names that it had before it was stable.
pub const METHODS: [&str; 5] = [
    METHOD,
    "session/elicitation",
    "session/elicitation/create",
    "session/create_elicitation",
    "_session/elicitation",
];

/// The former names under which the result was one level deeper: `{"action":{"action":"accept",…}}`.
pub const NESTED: [&str; 2] = ["session/elicitation", "_session/elicitation"];
