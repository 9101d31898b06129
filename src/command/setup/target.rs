//! The targets of `askbridge setup`, by their names on the command line: editors, and agents in terminals.

use askbridge_settings::closest;
use clap_complete::engine::CompletionCandidate;

use super::clients::SetupClient;

/// The name of Claude Code in a terminal.
pub(super) const CLAUDE: &str = "claude";

/// An agent that the inbox attaches to.
#[derive(Debug)]
pub(in crate::command) struct AttachableAgent {
    /// Its name.
    pub(in crate::command) title: &'static str,
    /// Its program, which is also its name in `inbox.attach`.
    pub(in crate::command) program: &'static str,
    /// The command that starts it with a server to attach to. `None` if its usual command does.
    pub(in crate::command) started: Option<&'static str>,
}

/// The agents that the inbox attaches to.
pub(in crate::command) const ATTACHABLE: [AttachableAgent; 3] = [
    AttachableAgent { title: "Codex", program: "codex", started: None },
    AttachableAgent { title: "opencode", program: "opencode", started: Some("opencode --port 4096") },
    AttachableAgent {
        title: "Copilot CLI",
        program: "copilot",
        started: Some("copilot --ui-server --port 8850"),
    },
];

/// Something that can be set up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// An editor that starts agents.
    Editor(SetupClient),
    /// Claude Code in a terminal.
    Claude,
    /// An agent in a terminal, to which the inbox attaches.
    Terminal(&'static AttachableAgent),
}

impl Target {
    /// Returns the target of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            CLAUDE => Some(Target::Claude),
            name => SetupClient::named(name)
                .map(Target::Editor)
                .or_else(|| ATTACHABLE.iter().find(|agent| agent.program == name).map(Target::Terminal)),
        }
    }
}

/// Returns the names of all targets, editors first.
fn names() -> impl Iterator<Item = &'static str> {
    let terminals = ATTACHABLE.iter().map(|agent| agent.program);
    SetupClient::ALL.into_iter().map(SetupClient::name).chain([CLAUDE]).chain(terminals)
}

/// Parses the name of a target, as it was typed.
pub(super) fn known(text: &str) -> Result<String, String> {
    if Target::named(text).is_some() {
        return Ok(text.to_owned());
    }
    Err(match closest(text, names()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("it is none of {}", names().collect::<Vec<_>>().join(", ")),
    })
}

/// Returns the names of all targets, for the completion of shells.
pub(super) fn candidates() -> Vec<CompletionCandidate> {
    names().map(CompletionCandidate::new).collect()
}
