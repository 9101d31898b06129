//! The clients that can start an agent, where each keeps its settings, and the lines for Emacs and Neovim, whose
//! settings are programs.
//! Which clients are installed is left to `environment.rs`.

use std::path::{Path, PathBuf};

use super::plan::AvailableAgent;

/// A client that starts agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupClient {
    /// Zed.
    Zed,
    /// The IDEs of JetBrains.
    JetBrains,
    /// Visual Studio Code with the extension ACP Client.
    VsCode,
    /// Emacs with agent-shell.
    Emacs,
    /// Neovim with CodeCompanion.
    Neovim,
}

/// The folders of a person's settings.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The home directory.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME`, or `.config` in the home directory.
    pub config: PathBuf,
    /// Where applications keep their settings on macOS; on Linux, the same as `config`.
    pub applications: PathBuf,
}

/// A place where a client may keep its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsPath {
    /// The settings file.
    pub file: PathBuf,
    /// A path that exists if the client has run.
    pub mark: PathBuf,
}

impl SetupClient {
    /// All clients.
    pub const ALL: [SetupClient; 5] = [
        SetupClient::Zed,
        SetupClient::JetBrains,
        SetupClient::VsCode,
        SetupClient::Emacs,
        SetupClient::Neovim,
    ];

    /// Returns the name that a person types.
    pub fn name(self) -> &'static str {
        match self {
            SetupClient::Zed => "zed",
            SetupClient::JetBrains => "jetbrains",
            SetupClient::VsCode => "vscode",
            SetupClient::Emacs => "emacs",
            SetupClient::Neovim => "neovim",
        }
    }

    /// Returns the name of the program.
    pub fn title(self) -> &'static str {
        match self {
            SetupClient::Zed => "Zed",
            SetupClient::JetBrains => "JetBrains",
            SetupClient::VsCode => "VS Code",
            SetupClient::Emacs => "Emacs",
            SetupClient::Neovim => "Neovim",
        }
    }

    /// Returns the client of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Returns the member of the settings that holds the agents, or `None` if the settings are a program.
    pub fn key(self) -> Option<&'static str> {
        match self {
            SetupClient::Zed | SetupClient::JetBrains => Some("agent_servers"),
            // The dot is part of the name.
            SetupClient::VsCode => Some("acp.agents"),
            SetupClient::Emacs | SetupClient::Neovim => None,
        }
    }

    /// Returns whether entries have a type, which tells a command from an agent of the client's registry.
    pub fn has_types(self) -> bool {
        self == SetupClient::Zed
    }

    /// Returns the places where the client may keep its settings, the likeliest first.
    pub fn places(self, folders: &Folders) -> Vec<SettingsPath> {
        let Folders { home, config, applications } = folders;
        let place =
            |folder: &Path, file: &str| SettingsPath { file: folder.join(file), mark: folder.to_owned() };
        match self {
            // Zed keeps its settings in .config on macOS, too.
            SetupClient::Zed => vec![
                place(&config.join("zed"), "settings.json"),
                // The Flatpak of Zed keeps them here.
                place(&home.join(".var/app/dev.zed.Zed/config/zed"), "settings.json"),
            ],
            SetupClient::JetBrains => {
                let file = home.join(".jetbrains/acp.json");
                vec![
                    SettingsPath { file: file.clone(), mark: home.join(".jetbrains") },
                    SettingsPath { file, mark: applications.join("JetBrains") },
                ]
            }
            SetupClient::VsCode => ["Code", "Code - Insiders", "VSCodium"]
                .map(|name| place(&applications.join(name).join("User"), "settings.json"))
                .to_vec(),
            SetupClient::Emacs => {
                [home.join(".emacs.d"), config.join("emacs")].map(|folder| place(&folder, "init.el")).to_vec()
            }
            SetupClient::Neovim => vec![place(&config.join("nvim"), "init.lua")],
        }
    }
}

/// Returns the lines that start this agent through askbridge, for Emacs or Neovim. `None` for other clients.
pub fn snippet(client: SetupClient, found: &AvailableAgent, askbridge: &str) -> Option<String> {
    match client {
        SetupClient::Emacs => Some(emacs(found, askbridge)),
        SetupClient::Neovim => Some(neovim(found, askbridge)),
        SetupClient::Zed | SetupClient::JetBrains | SetupClient::VsCode => None,
    }
}

fn emacs(found: &AvailableAgent, askbridge: &str) -> String {
    let Some(variable) = found.agent.emacs else {
        // agent-shell puts this prefix before the command of every agent.
        return format!(
            ";; agent-shell, in init.el: for all agents\n(setq agent-shell-command-prefix '({}))\n",
            list(&words(askbridge, &["run", "--"]), " ")
        );
    };
    let launch = found.launch.wrapped(askbridge);
    let command: Vec<_> = std::iter::once(launch.command).chain(launch.args).collect();
    format!(";; agent-shell, in init.el\n(setq {variable}\n      '({}))\n", list(&command, " "))
}

fn neovim(found: &AvailableAgent, askbridge: &str) -> String {
    let launch = found.launch.wrapped(askbridge);
    let command: Vec<_> = std::iter::once(launch.command).chain(launch.args).collect();
    let adapter = found.agent.neovim.unwrap_or(found.agent.key);
    let lines = [
        "-- CodeCompanion, in init.lua",
        "require(\"codecompanion\").setup({ adapters = { acp = {",
        &format!("  {adapter} = function()"),
        &format!("    return require(\"codecompanion.adapters\").extend(\"{adapter}\", {{"),
        &format!("      commands = {{ default = {{ {} }} }},", list(&command, ", ")),
        "    })",
        "  end,",
        "} } })",
        "",
    ];
    lines.join("\n")
}

fn words(first: &str, rest: &[&str]) -> Vec<String> {
    std::iter::once(first).chain(rest.iter().copied()).map(str::to_owned).collect()
}

/// Returns the words as strings of Lisp or Lua, which escape a backslash and a quote in the same way.
fn list(words: &[String], between: &str) -> String {
    let quoted = words.iter().map(|word| format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")));
    quoted.collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::setup::agents::{self, Launch};

    fn shown(client: SetupClient, key: &str) -> String {
        let agent = agents::named(key).unwrap();
        let launch = Launch::new("/b/\"x\"", &["--acp"]);
        snippet(client, &AvailableAgent { agent, launch, is_installed: true }, "/b/askbridge").unwrap()
    }

    #[test]
    fn a_snippet_has_the_whole_command() {
        let emacs = shown(SetupClient::Emacs, "claude");
        assert!(emacs.contains(r#"'("/b/askbridge" "run" "--" "/b/\"x\"" "--acp"))"#), "{emacs}");
        assert!(shown(SetupClient::Emacs, "grok").contains("agent-shell-command-prefix"));
        let neovim = shown(SetupClient::Neovim, "codex");
        assert!(neovim.contains(r#"{ "/b/askbridge", "run", "--", "/b/\"x\"", "--acp" }"#), "{neovim}");
    }
}
