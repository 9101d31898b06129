//! Agents that ask the program that hosts them, each in a protocol of its own: Claude Code over stream-json, and Codex'
//! app-server. Each of their lines reaches the host unchanged. Their requests are also questions at the desk, and the
//! first answer wins. Bytes and the end of processes are left to [`crate::engine`], the format of each question to
//! [`crate::dialect`].

mod claude;
mod codex;
mod core;
mod pending;
mod protocol;
mod settle;

pub use claude::Claude;
pub use codex::Codex;
pub use core::{ClaudeBridge, CodexBridge, Core};
pub use protocol::{AgentMessage, AgentRequest, HostProtocol, LineClass, Place};
