//! Peers without a model behind them, for trying askbridge and for CI: an ACP agent and client, the agents of
//! terminals, and the demo. They do not depend on the internals of the bridge.

pub mod agent;
pub mod behaviour;
pub mod claude;
pub mod client;
pub mod codex;
pub mod copilot;
pub mod demo;
mod dialects;
mod faults;
mod faulty;
mod keyboard;
mod lines;
mod message;
pub mod opencode;
mod permission;
mod permissions;
pub mod relay;
mod script;
mod session;
mod settings;
mod template;
mod turn;

pub use client::{
    Manner,
    answers::{AskConsent, Consent, ConsentReply},
};
pub use faulty::AgentFault;
pub use settings::{
    AgentSettings, ClientKind, ClientSettings, DemoSettings, Fallback, MockDialect, PermissionAnswer,
    REACTION,
};
