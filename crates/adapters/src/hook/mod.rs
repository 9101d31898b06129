//! Agents that run a program when they ask: `askbridge hook` is that program. It opens the question, waits beside the
//! agent's own dialog, and ends with whichever answer comes first.
//!
//! If anything fails, it prints nothing and succeeds: the agent's own dialog decides then.

mod claude;
mod ends;
mod led;

pub use claude::{HookSettings, run};
