//! The command that starts an agent, and the same command behind `askbridge run --`.

use super::agents::{AGENTS, KnownAgent};

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

    /// Returns the place in the arguments from which on they are the agent's command, or `None` if askbridge does not
    /// start it.
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

fn file_name(path: &str) -> &str {
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
