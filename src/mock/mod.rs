//! Peers without a model behind them, for trying the bridge and for CI.
//! They speak ACP over their own stdin and stdout and know nothing of the bridge's inside.

mod settings;

mod message;
mod ordered_map;
mod template;

mod lines;

pub(crate) mod behaviour;
mod dialects;
mod permissions;

mod permission_outcome;
mod session;

pub mod agent;
mod permission;
mod turn;

mod script;

pub mod client;

mod keyboard;

pub mod claude;

pub mod codex;

pub mod copilot;

pub mod opencode;

pub mod demo;

mod tour;

mod consent;

pub use consent::{AskConsent, Consent, ConsentReply};
pub use settings::{
    AgentSettings, ClientKind, ClientSettings, DemoSettings, Fallback, MockDialect, PermissionAnswer,
};
