//! `askbridge hook`: one call of an agent's hook. What the hook does is left to `adapters`.

use std::process::ExitCode;

use askbridge_adapters::{
    AgentInboxes,
    hook::{self, HookSettings},
};
use askbridge_settings::{Settings, keys, words::Permissions};
use clap::{Args, ValueEnum};

use super::Context;

/// The purpose of `askbridge hook`, and its exit code.
const HELP: &str = "\
Claude Code runs it when it asks a question: the plugin that `askbridge setup claude` installs tells it to. Its \
dialog in the terminal stays usable, and the first answer counts. The hook reads the call as JSON on stdin, and \
prints the decision if there is one. If anything fails, it prints nothing, and the dialog decides.

Exit codes:
  0    always, since Claude Code would take another code for a decision";

/// Options of `askbridge hook`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct HookArgs {
    /// The agent whose hook this is
    pub agent: HookedAgent,
    /// Keep running until the transcript shows whether the responder's decision counted, and report that: the caller
    /// waits only for the output
    #[arg(long)]
    pub confirm: bool,
}

/// The agents with hooks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum HookedAgent {
    /// Claude Code in a terminal
    Claude,
}

impl HookArgs {
    fn settings(&self, settings: &Settings) -> HookSettings {
        // A second agent does not compile here until it has its own settings.
        let HookedAgent::Claude = self.agent;
        HookSettings {
            is_on: settings.get(&keys::CLAUDE_ENABLED) && settings.get(&keys::BRIDGE_INBOX),
            permissions: settings.get(&keys::BRIDGE_PERMISSIONS) == Permissions::Inbox,
            grace: settings.get(&keys::CLAUDE_GRACE),
            pass_after: settings.get(&keys::CLAUDE_PASS_AFTER),
            confirms: self.confirm,
        }
    }
}

/// Runs one call of an agent's hook. The exit code is always 0: the agent would take a failure as an answer.
pub fn hook(context: &Context, args: &HookArgs, hosts: &impl AgentInboxes) -> ExitCode {
    hook::run(&args.settings(&context.settings), hosts);
    ExitCode::SUCCESS
}
