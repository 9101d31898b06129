//! `askbridge setup`: puts askbridge between a client and its agents, in the client's settings, and takes it out
//! again.
//! `agents`, `clients`, `document`, `tree`, `splice` and `plan` decide what changes, without I/O; the other files read,
//! ask and write. MCP servers are left to `mcp`.

pub mod agents;
mod args;
pub mod change;
pub(super) mod claude;
pub mod clients;
pub mod document;
pub(super) mod environment;
mod flow;
pub mod keep;
pub mod mcp;
pub mod plan;
pub(super) mod settings_file;
mod splice;
pub(super) mod target;
mod terminals;
pub mod tree;

pub use args::SetupArgs;
pub use flow::setup;
