//! The clients that can start an agent, and where each keeps its settings.
//! Which of them is installed is left to `command`.

use std::path::{Path, PathBuf};

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
    /// Exists where the client has run.
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

    /// Returns the member of the settings that holds the agents, or `None` where the settings are a program.
    pub fn key(self) -> Option<&'static str> {
        match self {
            SetupClient::Zed | SetupClient::JetBrains => Some("agent_servers"),
            // The dot is part of the name.
            SetupClient::VsCode => Some("acp.agents"),
            SetupClient::Emacs | SetupClient::Neovim => None,
        }
    }

    /// Returns whether an entry says that it is a command, and not an agent of the client's registry.
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
