//! The programs of this machine that setup has to know: askbridge itself, agents and clients.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use askbridge_os::xdg;

use super::{
    agents::{AGENTS, KnownAgent, Launch, named},
    clients::{Folders, SettingsPath, SetupClient},
    plan::AvailableAgent,
};

/// The extension of Visual Studio Code that is an ACP client.
const EXTENSION: &str = "formulahendry.acp-client-";
/// The folders in which the kinds of Visual Studio Code keep their extensions.
const EXTENSIONS: [&str; 3] = [".vscode/extensions", ".vscode-insiders/extensions", ".vscode-oss/extensions"];

/// The machine as the environment of this process shows it.
#[derive(Debug)]
pub(in crate::command) struct Environment {
    pub(in crate::command) folders: Folders,
    /// The folder for the state of this program.
    pub(in crate::command) state: PathBuf,
    /// The folder for files of this program that other programs read.
    pub(in crate::command) data: PathBuf,
    path: Vec<PathBuf>,
}

impl Environment {
    /// Reads the environment. Returns `None` without a home directory.
    pub(in crate::command) fn look() -> Option<Self> {
        let (home, config) = (xdg::home()?, xdg::config()?);
        let applications = match cfg!(target_os = "macos") {
            true => home.join("Library/Application Support"),
            false => config.clone(),
        };
        let (state, data) = (xdg::state()?.join("askbridge"), xdg::data()?.join("askbridge"));
        let path = env::var_os("PATH").unwrap_or_default();
        // What is found goes into settings, where a relative path would mean another program.
        let path = env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
        Some(Environment { folders: Folders { home, config, applications }, state, data, path })
    }

    /// Returns the first program of this name on `PATH`, with symlinks unresolved.
    pub(in crate::command) fn program(&self, name: &str) -> Option<PathBuf> {
        self.path.iter().map(|folder| folder.join(name)).find(|path| is_program(path))
    }

    /// Returns whether the program of a command exists. As in a shell, a name without a slash is looked up on `PATH`.
    pub(in crate::command) fn has_program(&self, command: &str) -> bool {
        match command.contains('/') {
            true => is_program(Path::new(command)),
            false => self.program(command).is_some(),
        }
    }

    /// Returns the path of this program that stays valid after an update: the one on `PATH`, if it is the same program.
    pub(in crate::command) fn askbridge(&self) -> Option<PathBuf> {
        let own = env::current_exe().ok()?;
        let on_path = self.program(env!("CARGO_PKG_NAME"));
        let same = on_path.filter(|path| path.canonicalize().ok() == own.canonicalize().ok());
        Some(same.unwrap_or(own))
    }

    /// Returns the agents that can be started: by a program on `PATH`, or else by npx.
    pub(in crate::command) fn agents(&self) -> Vec<AvailableAgent> {
        let npx = self.program("npx");
        AGENTS.iter().filter_map(|agent| self.agent(agent, npx.as_deref())).collect()
    }

    /// Returns a known agent that cannot be started here yet, with the command that will start it: npx, or else its
    /// program.
    pub(in crate::command) fn missing_agent(&self, name: &str) -> Option<AvailableAgent> {
        let agent = named(name).filter(|agent| self.agents().iter().all(|found| found.agent != *agent))?;
        self.agent(agent, Some(Path::new("npx"))).or_else(|| {
            let launch = Launch::new(agent.programs.first()?, agent.args);
            Some(AvailableAgent { agent, launch, is_installed: false })
        })
    }

    fn agent(&self, agent: &'static KnownAgent, npx: Option<&Path>) -> Option<AvailableAgent> {
        if let Some(program) = agent.programs.iter().find_map(|name| self.program(name)) {
            let launch = Launch::new(program.to_str()?, agent.args);
            return Some(AvailableAgent { agent, launch, is_installed: true });
        }
        // Without `-y`, npx would ask on stdin whether to install the package, where only ACP is spoken.
        let args = [&["-y", agent.package?], agent.args].concat();
        Some(AvailableAgent { agent, launch: Launch::new(npx?.to_str()?, &args), is_installed: false })
    }

    /// Returns the settings file of a client: the existing one, or else the one that an installed client would read.
    pub(in crate::command) fn place(&self, client: SetupClient) -> Option<SettingsPath> {
        let places = client.places(&self.folders);
        // A symlink without a target counts as a file. The later read then reports the mistake.
        let existing = places.iter().find(|place| place.file.symlink_metadata().is_ok());
        existing.or_else(|| places.iter().find(|place| place.mark.exists())).cloned()
    }

    /// Returns whether the client is installed, as far as can be seen.
    pub(in crate::command) fn has(&self, client: SetupClient) -> bool {
        match client {
            SetupClient::Zed | SetupClient::JetBrains => self.place(client).is_some(),
            SetupClient::VsCode => self.place(client).is_some() && self.has_extension(),
            SetupClient::Emacs => self.program("emacs").is_some(),
            SetupClient::Neovim => self.program("nvim").is_some(),
        }
    }

    /// Returns whether Visual Studio Code has the extension that is an ACP client.
    pub(in crate::command) fn has_extension(&self) -> bool {
        let folders =
            EXTENSIONS.iter().filter_map(|folder| fs::read_dir(self.folders.home.join(folder)).ok());
        folders.flatten().flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(EXTENSION))
    }
}

/// Returns whether this is a file that can be executed.
pub(in crate::command) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
