//! Agents that ask the program that hosts them, each in a protocol of its own: Claude Code over stream-json, and Codex'
//! app-server. Every line of theirs reaches the host as it came. What they ask is also a question at the desk, and the
//! first answer wins. Bytes and the end of processes are left to [`crate::engine`], how each question is spelled to
//! [`crate::dialect`].

mod pending;

mod requested;

mod spoken;

mod core;

mod settle;

mod bridge;

mod claude;

mod codex;

pub use bridge::{ClaudeBridge, CodexBridge};
pub use claude::Claude;
pub use codex::Codex;
pub use core::Core;
pub use spoken::{AgentMessage, AgentRequest, HostProtocol, LineClass};
