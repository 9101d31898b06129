//! `askbridge mcp`: an MCP server whose tool asks the user. What it serves is left to `adapters`.

use askbridge_adapters::{
    AgentInboxes,
    mcp::{self, McpOptions},
};
use askbridge_os::{exit, signals::Signals};
use clap::Args;

use super::{CommandError, arguments};

/// The tools and the exit codes of `askbridge mcp`.
const HELP: &str = "\
An agent starts it, and speaks MCP to it on stdin. Its tool ask_user_question asks you, and waits; after a time \
it returns a ticket, and the tool wait_for_answer takes the ticket and waits further. The question is withdrawn \
when the agent cancels the call or ends.

  claude mcp add --scope user askbridge -- askbridge mcp
  codex mcp add askbridge -- askbridge mcp

Exit codes:
  0        the agent closed stdin
  2        the command line was not understood
  125      the server could not be started
  128 + N  signal N ended the server";

/// Options of `askbridge mcp`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct McpArgs {
    /// Return a ticket after this time, such as 45s or 10m, if the person has not answered; it must be shorter than the
    /// time limit of the client [default: by the client, from 45s to 1h]
    #[arg(long, value_name = "DURATION", value_parser = arguments::duration)]
    pub wait: Option<humantime::Duration>,
}

/// Runs an MCP server until its client has left.
pub async fn mcp(
    args: &McpArgs,
    hosts: impl AgentInboxes + Send + Sync + 'static,
) -> Result<u8, CommandError> {
    let mut signals = Signals::catch()?;
    let options = McpOptions { wait: args.wait.map(Into::into) };
    // No exit code means that no signal came: the client has closed its end.
    Ok(mcp::serve(options, hosts, mcp::stdio(), signals.next()).await.unwrap_or(exit::OK))
}
