//! The arguments of `askbridge setup mcp`.

use clap::Args;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use super::hosts::Host;

/// What is wrapped, and the exit codes of `askbridge setup mcp`.
const HELP: &str = "\
What an MCP server asks (elicitation) is then in the inbox, whether or not its host can show it. The change is shown, \
and written once you confirm; comments, order and everything else of an entry are kept. A second run changes nothing.

  askbridge setup mcp                         all servers of all hosts
  askbridge setup mcp --print                 only show the changes
  askbridge setup mcp github --host cursor    one server of one host
  askbridge setup mcp --undo                  give every entry back as it was
  askbridge setup mcp --project               the servers of the project in this folder, which others share

A command becomes `askbridge mcp-proxy --name NAME -- COMMAND`, an address `askbridge mcp-proxy --name NAME --url URL`. \
A server stays as it is, and the reason is said, if it is switched off, has headers or a sign-in of its own, or runs \
elsewhere; one on another machine is wrapped only if you name it.

Hosts: claude-code, claude-desktop, cursor, vscode, zed, opencode, codex.

Exit codes:
  0    done, or there was nothing to change
  1    nothing was written: the answer was no, or stdin is not a terminal
  2    the command line was not understood, or no such server
  125  the settings cannot be read or written; nothing was changed in that file";

/// Options of `askbridge setup mcp`.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = HELP)]
pub struct SetupMcpArgs {
    /// The servers to put askbridge before [default: all]
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,

    /// The program whose settings are changed [default: all that are installed]
    #[arg(long, value_name = "HOST", value_parser = known, add = ArgValueCandidates::new(candidates))]
    pub host: Option<Host>,

    /// Change the settings of the project in this folder, which are shared with others, and not your own
    #[arg(long)]
    pub project: bool,

    /// Write without asking
    #[arg(long, short)]
    pub yes: bool,

    /// Only show the change
    #[arg(long, conflicts_with = "yes")]
    pub print: bool,

    /// Give the entries back as they were
    #[arg(long)]
    pub undo: bool,
}

/// Parses the name of a host, as it was typed.
fn known(text: &str) -> Result<Host, String> {
    let names = || Host::ALL.into_iter().map(Host::name);
    Host::named(text).ok_or_else(|| match askbridge_settings::closest(text, names()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("it is none of {}", names().collect::<Vec<_>>().join(", ")),
    })
}

/// Returns the names of all hosts, for the completion of shells.
fn candidates() -> Vec<CompletionCandidate> {
    Host::ALL.into_iter().map(|host| CompletionCandidate::new(host.name())).collect()
}
