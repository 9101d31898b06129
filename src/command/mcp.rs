//! The arguments of `askbridge mcp`.

use clap::Args;

use super::{arguments, help};
use crate::adapters::mcp::McpOptions;

/// Options of `askbridge mcp`.
#[derive(Debug, Args)]
#[command(after_help = help::MCP)]
pub struct McpArgs {
    /// Return a ticket after this time, such as 45s or 10m, if the person has not answered; it must be shorter than the
    /// time limit of the client [default: by the client, from 45s to 1h]
    #[arg(long, value_name = "DURATION", value_parser = arguments::duration)]
    pub wait: Option<humantime::Duration>,
}

impl McpArgs {
    /// Returns what is set for the server.
    pub fn options(&self) -> McpOptions {
        McpOptions { wait: self.wait.map(Into::into) }
    }
}
