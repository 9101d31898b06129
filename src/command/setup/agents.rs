//! The agents that speak ACP, the command that starts each, and the same command behind `askbridge run --`.
//! Whether an agent is installed is left to `environment.rs`.

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

/// Programs that fetch a package and run it.
const LAUNCHERS: [&str; 4] = ["npx", "bunx", "pnpx", "uvx"];

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

impl Launch {
    /// Starts this program with these arguments.
    pub fn new(command: &str, args: &[&str]) -> Self {
        Launch { command: command.to_owned(), args: args.iter().map(|&arg| arg.to_owned()).collect() }
    }

    /// Returns the command that starts the agent through askbridge, which is at this path.
    #[must_use]
    pub fn wrapped(&self, askbridge: &str) -> Self {
        let args = prefix(&self.command).into_iter().chain(self.args.clone()).collect();
        Launch { command: askbridge.to_owned(), args }
    }

    /// Returns the index of the agent's command in the arguments, or `None` if askbridge does not start the agent.
    pub fn agent_at(&self) -> Option<usize> {
        let is_run = file_name(&self.command) == env!("CARGO_PKG_NAME") && self.args.first()? == "run";
        let dashes = self.args.iter().position(|arg| arg == "--")?;
        (is_run && dashes + 1 < self.args.len()).then_some(dashes + 1)
    }

    /// Returns whether askbridge starts the agent.
    pub fn is_wrapped(&self) -> bool {
        self.agent_at().is_some()
    }

    /// Returns the agent's own command.
    #[must_use]
    pub fn agent(&self) -> Self {
        match self.agent_at() {
            Some(at) => Launch { command: self.args[at].clone(), args: self.args[at + 1..].to_vec() },
            None => self.clone(),
        }
    }

    /// Returns the known agent that this starts.
    pub fn known(&self) -> Option<&'static KnownAgent> {
        let Launch { command, args } = self.agent();
        let mut program = file_name(&command);
        if LAUNCHERS.contains(&program) {
            program = package(args.iter().find(|arg| !arg.starts_with('-'))?);
        }
        AGENTS.iter().find(|agent| {
            agent.programs.contains(&program) || agent.package.is_some_and(|known| package(known) == program)
        })
    }
}

/// Returns the arguments of askbridge before those of an agent with this command.
pub(super) fn prefix(command: &str) -> [String; 3] {
    ["run".to_owned(), "--".to_owned(), command.to_owned()]
}

/// Returns the name of a package without its scope and version: one agent is published in several scopes.
fn package(name: &str) -> &str {
    let name = file_name(name);
    name.split_once('@').map_or(name, |(name, _)| name)
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_command_has_the_agent_inside() {
        let npx = Launch::new("npx", &["-y", "@agentclientprotocol/claude-agent-acp@0.9"]);
        let wrapped = npx.wrapped("/opt/bin/askbridge");
        assert_eq!(wrapped.args[..4], ["run", "--", "npx", "-y"]);
        assert!(wrapped.is_wrapped() && !npx.is_wrapped());
        assert_eq!(wrapped.agent(), npx);
        assert_eq!(wrapped.known().map(|agent| agent.key), Some("claude"));
    }

    #[test]
    fn only_a_whole_command_of_run_is_a_wrapped_agent() {
        for args in [&["list"][..], &["run"], &["run", "--"], &["run", "--timeout", "1m"]] {
            assert!(!Launch::new("askbridge", args).is_wrapped(), "{args:?}");
        }
        let with_options = Launch::new("askbridge", &["run", "--timeout", "1m", "--", "qwen", "--acp"]);
        assert_eq!(with_options.agent(), Launch::new("qwen", &["--acp"]));
        assert!(!Launch::new("notaskbridge", &["run", "--", "qwen"]).is_wrapped());
    }

    #[test]
    fn another_program_is_not_a_known_agent() {
        for launch in [Launch::new("node", &["index.js"]), Launch::new("npx", &["pi-acp-tools"])] {
            assert_eq!(launch.known(), None, "{launch:?}");
        }
        for (package, key) in [
            ("pi-acp", "pi"),
            ("@zed-industries/codex-acp@latest", "codex"),
            ("@zed-industries/claude-code-acp", "claude"),
            ("@google/gemini-cli@0.61.0", "gemini"),
        ] {
            let launch = Launch::new("/usr/bin/npx", &["-y", package, "--acp"]);
            assert_eq!(launch.known().map(|agent| agent.key), Some(key), "{package}");
        }
    }
}
