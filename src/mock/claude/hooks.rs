//! The hooks that a plugin's `hooks.json` names, and how they are run: each by a shell, in a process group of its own.

use std::{collections::BTreeMap, io, path::Path, process::Stdio};

use serde::Deserialize;
use tokio::{
    io::AsyncWriteExt,
    process::{Child, Command},
};

/// The hooks of a plugin, by their events.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Hooks {
    hooks: BTreeMap<String, Vec<HookMatcher>>,
}

#[derive(Clone, Debug, Deserialize)]
struct HookMatcher {
    #[serde(default)]
    matcher: Option<String>,
    hooks: Vec<Hook>,
}

#[derive(Clone, Debug, Deserialize)]
struct Hook {
    command: String,
}

impl Hooks {
    /// Reads a `hooks.json`.
    ///
    /// # Errors
    /// The file cannot be read, or has another shape.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    }

    /// Returns the commands for an event of this tool.
    pub fn of<'a>(&'a self, event: &str, tool: &'a str) -> impl Iterator<Item = &'a str> {
        let fits = move |matched: &&HookMatcher| match matched.matcher.as_deref() {
            None | Some("" | "*") => true,
            Some(matcher) => matcher.split('|').any(|name| name == tool),
        };
        let matched = self.hooks.get(event).into_iter().flatten().filter(fits);
        matched.flat_map(|matched| &matched.hooks).map(|hook| hook.command.as_str())
    }
}

/// Starts a hook, and tells it this.
///
/// # Errors
/// The shell cannot be started.
pub async fn start(command: &str, stdin: &str) -> io::Result<Child> {
    let mut hook = Command::new("sh")
        .args(["-c", command])
        .env("CLAUDE_PID", std::process::id().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    if let Some(mut pipe) = hook.stdin.take() {
        // A hook may end without reading.
        drop(pipe.write_all(stdin.as_bytes()).await);
    }
    Ok(hook)
}
