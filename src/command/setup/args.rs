//! The arguments of `askbridge setup`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::{
    mcp::SetupMcpArgs,
    target::{candidates, known},
};

/// The files that `askbridge setup` writes, and its exit codes.
const HELP: &str = "\
Sets up an editor, or an agent that you run in a terminal; without a name, all that are installed. It shows the \
change, and writes it once you confirm; comments and order are kept. A second run changes nothing.

  askbridge setup                 all that is installed
  askbridge setup claude          Claude Code in a terminal: a plugin
  askbridge setup codex           Codex in a terminal: the inbox attaches to it; so do opencode and copilot
  askbridge setup zed             an editor: all agents in its settings, and those on PATH
  askbridge setup zed claude      an editor, and one of its agents: run by npx if it is not installed
  askbridge setup emacs codex     print what to put into init.el
  askbridge setup zed --undo      undo what `askbridge setup zed` changed
  askbridge setup mcp             MCP servers: what they ask is in the inbox

Editors: zed, jetbrains, vscode (the extension ACP Client), emacs (agent-shell), neovim (CodeCompanion).
Their agents: claude, codex, gemini, qwen, opencode, kimi, copilot, cursor, grok, kiro, goose, auggie, pi, or \
the name of one in the settings. For any other agent, `askbridge mcp --help`.

Exit codes:
  0    done, or there was nothing to change
  1    nothing was written: the answer was no, or stdin is not a terminal
  2    the command line was not understood, or no such editor or agent
  125  the settings cannot be read or written; nothing was changed";

/// Options of `askbridge setup`.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = HELP, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct SetupArgs {
    /// What is not an editor or an agent.
    #[command(subcommand)]
    pub part: Option<SetupPart>,

    /// The editor whose settings are changed, or the agent that you run in a terminal [default: all that are installed]
    #[arg(value_name = "EDITOR|AGENT", value_parser = known, add = ArgValueCandidates::new(candidates))]
    pub client: Option<String>,

    /// The agent to start through askbridge in that editor [default: all]
    pub agent: Option<String>,

    /// Write without asking
    #[arg(long, short)]
    pub yes: bool,

    /// Only show the change, even for an editor or agent that is not installed
    #[arg(long, conflicts_with = "yes")]
    pub print: bool,

    /// Undo an earlier setup
    #[arg(long)]
    pub undo: bool,

    /// The settings file, if it is not in its usual place
    #[arg(long, value_name = "PATH", requires = "client")]
    pub file: Option<PathBuf>,
}

/// What `askbridge setup` sets up besides editors and agents.
#[derive(Clone, Debug, Subcommand)]
pub enum SetupPart {
    /// Put askbridge before MCP servers, in the settings of the programs that start them
    Mcp(SetupMcpArgs),
}
