//! The clients that can start an agent, and where each keeps its settings.
//! Which of them is installed is left to `command`.

use std::path::{Path, PathBuf};

/// A client that starts agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
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
pub struct Place {
    /// The settings file.
    pub file: PathBuf,
    /// Exists where the client has run.
    pub mark: PathBuf,
}

impl Client {
    /// All clients.
    pub const ALL: [Client; 5] =
        [Client::Zed, Client::JetBrains, Client::VsCode, Client::Emacs, Client::Neovim];

    /// Returns the name that a person types.
    pub fn name(self) -> &'static str {
        match self {
            Client::Zed => "zed",
            Client::JetBrains => "jetbrains",
            Client::VsCode => "vscode",
            Client::Emacs => "emacs",
            Client::Neovim => "neovim",
        }
    }

    /// Returns the name of the program.
    pub fn title(self) -> &'static str {
        match self {
            Client::Zed => "Zed",
            Client::JetBrains => "JetBrains",
            Client::VsCode => "VS Code",
            Client::Emacs => "Emacs",
            Client::Neovim => "Neovim",
        }
    }

    /// Returns the client of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Returns the member of the settings that holds the agents, or `None` where the settings are a program.
    pub fn key(self) -> Option<&'static str> {
        match self {
            Client::Zed | Client::JetBrains => Some("agent_servers"),
            // The dot is part of the name.
            Client::VsCode => Some("acp.agents"),
            Client::Emacs | Client::Neovim => None,
        }
    }

    /// Returns whether an entry says that it is a command, and not an agent of the client's registry.
    pub fn has_types(self) -> bool {
        self == Client::Zed
    }

    /// Returns the places where the client may keep its settings, the likeliest first.
    pub fn places(self, folders: &Folders) -> Vec<Place> {
        let Folders { home, config, applications } = folders;
        let place = |folder: &Path, file: &str| Place { file: folder.join(file), mark: folder.to_owned() };
        match self {
            // Zed keeps its settings in .config on macOS, too.
            Client::Zed => vec![
                place(&config.join("zed"), "settings.json"),
                place(&home.join(".var/app/dev.zed.Zed/config/zed"), "settings.json"),
            ],
            Client::JetBrains => {
                let file = home.join(".jetbrains/acp.json");
                vec![
                    Place { file: file.clone(), mark: home.join(".jetbrains") },
                    Place { file, mark: applications.join("JetBrains") },
                ]
            }
            Client::VsCode => ["Code", "Code - Insiders", "VSCodium"]
                .map(|name| place(&applications.join(name).join("User"), "settings.json"))
                .to_vec(),
            Client::Emacs => {
                [home.join(".emacs.d"), config.join("emacs")].map(|folder| place(&folder, "init.el")).to_vec()
            }
            Client::Neovim => vec![place(&config.join("nvim"), "init.lua")],
        }
    }
}
