//! `askbridge mock codex-daemon`: Codex' app server without a model, on a separate socket, with a keyboard on stdin.

pub mod daemon;
mod samples;
pub mod server;
