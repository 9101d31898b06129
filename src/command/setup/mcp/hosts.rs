//! The hosts, which are the programs that start MCP servers; where each keeps its settings, and what an entry of a
//! server looks like there. Each row says where this was read.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::command::setup::{clients::Folders, tree::Language};

/// A program that starts MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Claude Code: code.claude.com/docs/en/mcp, and runs of 2.1.332.
    ClaudeCode,
    /// Claude Desktop: modelcontextprotocol.io/docs/develop/connect-local-servers.
    ClaudeDesktop,
    /// Cursor: cursor.com/docs/mcp.
    Cursor,
    /// VS Code: code.visualstudio.com/docs/agents/reference/mcp-configuration, and `mcpConfiguration.ts`.
    VsCode,
    /// Zed: zed.dev/docs/ai/mcp, and `ContextServerSettingsContent` in `project.rs`.
    Zed,
    /// opencode: opencode.ai/docs/mcp-servers, its version 2 at opencode.ai/v2/docs/mcp-servers, and runs of 1.18.33.
    Opencode,
    /// Codex: `mcp_types.rs`, and runs of 0.171.0.
    Codex,
}

/// What becomes of a question that an MCP server asks through a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Asked {
    /// The host shows it, in its own window alone.
    Shown,
    /// The host shows it in its terminal, and declines it unseen elsewhere.
    Sometimes,
    /// The host cannot ask at all.
    Dropped,
}

/// A settings file in which a host may name servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::command) struct Place {
    pub(in crate::command) file: PathBuf,
    pub(in crate::command) language: Language,
    /// The members that hold servers, each by its path; `*` is any member.
    pub(in crate::command) sections: &'static [&'static [&'static str]],
    /// Whether the file belongs to a project, and is shared with others.
    pub(in crate::command) is_shared: bool,
}

const CLAUDE_USER: &[&[&str]] = &[&["mcpServers"], &["projects", "*", "mcpServers"]];
const MCP_SERVERS: &[&[&str]] = &[&["mcpServers"]];
const VS_CODE: &[&[&str]] = &[&["servers"]];
/// Settings of VS Code before `mcp.json` existed. The dot is a part of the name.
const OLD_VS_CODE: &[&[&str]] = &[&["mcp", "servers"], &["mcp.servers"]];
const ZED: &[&[&str]] = &[&["context_servers"]];
/// Version 2 of opencode has the servers one level deeper.
const OPENCODE: &[&[&str]] = &[&["mcp", "servers"], &["mcp"]];
const CODEX: &[&[&str]] = &[&["mcp_servers"]];

impl Host {
    /// All hosts.
    pub(in crate::command) const ALL: [Host; 7] = [
        Host::ClaudeCode,
        Host::ClaudeDesktop,
        Host::Cursor,
        Host::VsCode,
        Host::Zed,
        Host::Opencode,
        Host::Codex,
    ];

    /// Returns the name that a person types.
    pub(in crate::command) fn name(self) -> &'static str {
        match self {
            Host::ClaudeCode => "claude-code",
            Host::ClaudeDesktop => "claude-desktop",
            Host::Cursor => "cursor",
            Host::VsCode => "vscode",
            Host::Zed => "zed",
            Host::Opencode => "opencode",
            Host::Codex => "codex",
        }
    }

    /// Returns the name of the program.
    pub(in crate::command) fn title(self) -> &'static str {
        match self {
            Host::ClaudeCode => "Claude Code",
            Host::ClaudeDesktop => "Claude Desktop",
            Host::Cursor => "Cursor",
            Host::VsCode => "VS Code",
            Host::Zed => "Zed",
            Host::Opencode => "opencode",
            Host::Codex => "Codex",
        }
    }

    /// Returns the host of this name.
    pub(in crate::command) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.name() == name)
    }

    /// Returns what becomes of a question that a server asks.
    pub(in crate::command) fn asked(self) -> Asked {
        match self {
            // claude-code#41292, #79174, #89858: declined unseen in VS Code, in its desktop and in its SDK.
            Host::ClaudeCode => Asked::Sometimes,
            // claude-code#41347, anomalyco/opencode#23066; zed.dev/docs/ai/mcp names tools and prompts alone.
            Host::ClaudeDesktop | Host::Opencode | Host::Zed => Asked::Dropped,
            Host::Cursor | Host::VsCode | Host::Codex => Asked::Shown,
        }
    }

    /// Returns the type of an entry that is a command, where entries have a type.
    pub(super) fn command_type(self) -> &'static str {
        if self.has_list() { "local" } else { "stdio" }
    }

    /// Returns whether the command and its arguments are one list.
    pub(super) fn has_list(self) -> bool {
        self == Host::Opencode
    }

    /// Returns the settings files of the person that may name servers.
    pub(in crate::command) fn places(self, folders: &Folders) -> Vec<Place> {
        let Folders { home, config, applications } = folders;
        let json = |file: PathBuf, sections| place(file, Language::Json, sections);
        match self {
            Host::ClaudeCode => {
                let folder = folder_in("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.clone());
                vec![json(folder.join(".claude.json"), CLAUDE_USER)]
            }
            Host::ClaudeDesktop => {
                vec![json(applications.join("Claude/claude_desktop_config.json"), MCP_SERVERS)]
            }
            Host::Cursor => vec![json(home.join(".cursor/mcp.json"), MCP_SERVERS)],
            Host::VsCode => ["Code", "Code - Insiders", "VSCodium"]
                .iter()
                .flat_map(|name| vs_code(&applications.join(name).join("User")))
                .collect(),
            Host::Zed => vec![
                json(config.join("zed/settings.json"), ZED),
                // The Flatpak of Zed keeps them here.
                json(home.join(".var/app/dev.zed.Zed/config/zed/settings.json"), ZED),
            ],
            Host::Opencode => {
                let folder = config.join("opencode");
                let usual = ["opencode.json", "opencode.jsonc", "config.json"].map(|name| folder.join(name));
                let named = folder_in("OPENCODE_CONFIG");
                usual.into_iter().chain(named).map(|file| json(file, OPENCODE)).collect()
            }
            Host::Codex => {
                let folder = folder_in("CODEX_HOME").unwrap_or_else(|| home.join(".codex"));
                vec![place(folder.join("config.toml"), Language::Toml, CODEX)]
            }
        }
    }

    /// Returns the settings files of the project in this folder that may name servers.
    pub(in crate::command) fn project_places(self, folder: &Path) -> Vec<Place> {
        let (files, language, sections): (&[&str], _, _) = match self {
            Host::ClaudeCode => (&[".mcp.json"], Language::Json, MCP_SERVERS),
            Host::ClaudeDesktop => (&[], Language::Json, MCP_SERVERS),
            Host::Cursor => (&[".cursor/mcp.json"], Language::Json, MCP_SERVERS),
            Host::VsCode => (&[".vscode/mcp.json"], Language::Json, VS_CODE),
            Host::Zed => (&[".zed/settings.json"], Language::Json, ZED),
            Host::Opencode => (
                &["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"],
                Language::Json,
                OPENCODE,
            ),
            Host::Codex => (&[".codex/config.toml"], Language::Toml, CODEX),
        };
        let shared = |file: &&str| Place { is_shared: true, ..place(folder.join(file), language, sections) };
        files.iter().map(shared).collect()
    }
}

fn place(file: PathBuf, language: Language, sections: &'static [&'static [&'static str]]) -> Place {
    Place { file, language, sections, is_shared: false }
}

/// Returns the settings files in the user folder of a Visual Studio Code, with those of its profiles.
fn vs_code(user: &Path) -> Vec<Place> {
    let mut profiles: Vec<_> = fs::read_dir(user.join("profiles")).into_iter().flatten().flatten().collect();
    profiles.sort_by_key(fs::DirEntry::file_name);
    let folders = [user.to_owned()].into_iter().chain(profiles.iter().map(fs::DirEntry::path));
    let places = |folder: PathBuf| {
        let file = |name: &str, sections| place(folder.join(name), Language::Json, sections);
        [file("mcp.json", VS_CODE), file("settings.json", OLD_VS_CODE)]
    };
    folders.flat_map(places).collect()
}

/// Returns the path in a variable of the environment.
fn folder_in(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
