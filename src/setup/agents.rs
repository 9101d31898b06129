//! The agents that speak ACP, and how each is started.
//! Whether one is installed is left to `command`.

/// An agent that is known by name.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownAgent {
    /// The name that a person types.
    pub key: &'static str,
    /// The name that an entry in a client's settings gets.
    pub title: &'static str,
    /// Its programs, the one to prefer first.
    pub programs: &'static [&'static str],
    /// The arguments with which it speaks ACP.
    pub args: &'static [&'static str],
    /// The npm package that `npx` can start it from.
    pub package: Option<&'static str>,
    /// Its IDs in the ACP registry.
    pub registry: &'static [&'static str],
    /// The variable of agent-shell, for Emacs, that holds its command.
    pub emacs: Option<&'static str>,
    /// The adapter of CodeCompanion, for Neovim, that starts it.
    pub neovim: Option<&'static str>,
}

/// Starts a row of the table, with no package, variable or adapter.
const fn agent(
    key: &'static str,
    title: &'static str,
    programs: &'static [&'static str],
    args: &'static [&'static str],
    registry: &'static [&'static str],
) -> KnownAgent {
    KnownAgent { key, title, programs, args, package: None, registry, emacs: None, neovim: None }
}

/// The known agents, the ones that ask most first.
pub const AGENTS: [KnownAgent; 13] = [
    KnownAgent {
        package: Some("@agentclientprotocol/claude-agent-acp"),
        emacs: Some("agent-shell-anthropic-claude-acp-command"),
        neovim: Some("claude_code"),
        ..agent(
            "claude",
            "Claude Agent",
            &["claude-agent-acp", "claude-code-acp"],
            &[],
            &["claude-acp", "claude-code-acp"],
        )
    },
    KnownAgent {
        package: Some("@agentclientprotocol/codex-acp"),
        emacs: Some("agent-shell-openai-codex-acp-command"),
        neovim: Some("codex"),
        ..agent("codex", "Codex", &["codex-acp"], &[], &["codex-acp"])
    },
    KnownAgent {
        package: Some("@google/gemini-cli"),
        emacs: Some("agent-shell-google-gemini-acp-command"),
        neovim: Some("gemini_cli"),
        ..agent("gemini", "Gemini CLI", &["gemini"], &["--acp"], &["gemini"])
    },
    KnownAgent {
        package: Some("@qwen-code/qwen-code"),
        ..agent("qwen", "Qwen Code", &["qwen"], &["--acp"], &["qwen-code"])
    },
    KnownAgent {
        package: Some("opencode-ai"),
        emacs: Some("agent-shell-opencode-acp-command"),
        neovim: Some("opencode"),
        ..agent("opencode", "OpenCode", &["opencode"], &["acp"], &["opencode"])
    },
    KnownAgent { neovim: Some("kimi_cli"), ..agent("kimi", "Kimi CLI", &["kimi"], &["acp"], &["kimi"]) },
    KnownAgent {
        package: Some("@github/copilot"),
        neovim: Some("copilot_acp"),
        ..agent("copilot", "GitHub Copilot", &["copilot"], &["--acp", "--stdio"], &["github-copilot-cli"])
    },
    KnownAgent {
        neovim: Some("cursor_cli"),
        ..agent("cursor", "Cursor", &["cursor-agent"], &["acp"], &["cursor"])
    },
    agent("grok", "Grok Build", &["grok"], &["agent", "stdio"], &["grok-build"]),
    KnownAgent { neovim: Some("kiro"), ..agent("kiro", "Kiro CLI", &["kiro-cli"], &["acp"], &["kiro"]) },
    KnownAgent {
        emacs: Some("agent-shell-goose-acp-command"),
        neovim: Some("goose"),
        ..agent("goose", "goose", &["goose"], &["acp"], &["goose"])
    },
    KnownAgent {
        package: Some("@augmentcode/auggie"),
        neovim: Some("auggie_cli"),
        ..agent("auggie", "Auggie CLI", &["auggie"], &["--acp"], &["auggie"])
    },
    KnownAgent {
        package: Some("pi-acp"),
        emacs: Some("agent-shell-pi-acp-command"),
        ..agent("pi", "Pi", &["pi-acp"], &[], &["pi-acp"])
    },
];

/// Returns the agent with this name, program or ID in the registry.
pub fn named(name: &str) -> Option<&'static KnownAgent> {
    let is = |agent: &&KnownAgent| {
        agent.key.eq_ignore_ascii_case(name)
            || agent.title.eq_ignore_ascii_case(name)
            || agent.programs.contains(&name)
            || agent.registry.contains(&name)
    };
    AGENTS.iter().find(is)
}

/// Returns the agent that a client's registry has under this ID. Some registries take the name that a person types.
pub fn registered(id: &str) -> Option<&'static KnownAgent> {
    AGENTS.iter().find(|agent| agent.registry.contains(&id) || agent.key == id)
}

/// Returns the names of all agents, as a person types them.
pub fn keys() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().map(|agent| agent.key)
}
