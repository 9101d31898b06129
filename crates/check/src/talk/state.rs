//! The state of a conversation with an agent: the open requests of both sides, the sessions and their turns, the agent's
//! messages, and the state of its tool calls.
//! How lines change it is left to `receive.rs`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::SystemTime,
};

use askbridge_core::dialect::AgentQuestion;
use serde_json::Value;

use super::{action::How, prompts::Prompts};

/// The conversation with an agent.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(super) prompts: Prompts,
    /// The dialect in which the agent must ask, by the name of its origin.
    pub(super) dialect: Option<String>,
    /// What the client promised in `initialize`.
    pub(super) promised: Promised,
    /// The methods of the client's requests without a response, by their IDs in the client's spelling.
    pub(super) open: BTreeMap<String, String>,
    /// The IDs of the client's requests that have a response.
    pub(super) answered: BTreeSet<String>,
    /// The responses that no step has expected yet.
    pub(super) responses: Vec<Response>,
    pub(super) sessions: BTreeSet<String>,
    pub(super) turns: Vec<Turn>,
    /// The requests of the agent that are questions or permissions, in their order.
    pub(super) asked: Vec<Asked>,
    /// The text of the agent's messages since the last prompt or reply.
    pub(super) said: String,
    /// The number of the agent's messages.
    pub(super) messages: usize,
    /// The capabilities of the agent, from `initialize`.
    pub(super) agent: Value,
    /// What it said of its last new session.
    pub(super) opened: Value,
    /// How many messages it told again while a session was loaded or resumed.
    pub(super) retold: usize,
    /// The tool calls, by their sessions and IDs.
    pub(super) calls: BTreeMap<(String, String), ToolCall>,
    /// The terminals that the agent has created and not released, by their IDs.
    pub(super) terminals: BTreeMap<String, Terminal>,
    /// How many terminals it has created.
    pub(super) created: usize,
    /// Whether the client has written a line that is not a message.
    pub(super) wrote_nonsense: bool,
    pub(super) replied: Option<Replied>,
    pub(super) project: Project,
}

/// The last reply of the client.
#[derive(Debug)]
pub(super) struct Replied {
    /// The reply as it was written.
    pub(super) line: String,
    pub(super) how: How,
    /// The index in `asked` of the request that it replies to.
    pub(super) at: usize,
}

/// A response of the agent.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) id: String,
    pub(super) line: Vec<u8>,
    pub(super) result: Option<Value>,
}

/// A prompt, and the session that it is in.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: String,
    pub(super) session: String,
    pub(super) has_ended: bool,
}

/// The state of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ToolCall {
    pub(super) title: String,
    pub(super) status: String,
    /// Whether an update has announced it. A permission can be the first that tells of it.
    pub(super) is_announced: bool,
    /// The index of the turn in which it began.
    pub(super) turn: Option<usize>,
}

/// A terminal of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Terminal {
    pub(super) session: String,
    /// Whether the agent knows that its command has exited.
    pub(super) is_waited_for: bool,
}

/// What the client promised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Promised {
    pub(super) forms: bool,
    pub(super) reading: bool,
    pub(super) writing: bool,
    pub(super) terminals: bool,
}

impl Promised {
    fn of(capabilities: &Value) -> Self {
        let is_true = |path: &str| capabilities.pointer(path) == Some(&Value::Bool(true));
        Self {
            forms: capabilities["elicitation"]["form"].is_object(),
            reading: is_true("/fs/readTextFile"),
            writing: is_true("/fs/writeTextFile"),
            terminals: is_true("/terminal"),
        }
    }
}

/// A question or a permission.
#[derive(Debug)]
pub(super) struct Asked {
    /// The ID of the request, in the agent's own spelling.
    pub(super) id: String,
    pub(super) line: Vec<u8>,
    pub(super) asked: AgentQuestion,
    /// Whether a step has seen it. The others are declined once the turn must end.
    pub(super) is_seen: bool,
    pub(super) is_replied: bool,
}

impl Conversation {
    pub(crate) fn new(prompts: Prompts, dialect: Option<String>, project: Project) -> Self {
        Self { prompts, dialect, project, ..Self::default() }
    }

    /// Returns the last question or permission that a step has seen.
    pub(super) fn last_seen(&self) -> Option<&Asked> {
        self.asked.iter().rev().find(|asked| asked.is_seen)
    }

    /// Returns the tool call that a question is about.
    pub(super) fn call_of(&self, asked: &Asked) -> Option<&ToolCall> {
        let question = &asked.asked.question;
        let id = question.tool_call.as_ref()?;
        let is_here = |session: &str| question.session.as_ref().is_none_or(|of| of == session);
        let mut calls = self.calls.iter().filter(|((session, call), _)| call == id && is_here(session));
        calls.next().map(|(_, call)| call)
    }

    /// Returns whether a turn runs, in this session if one is named.
    pub(super) fn runs(&self, session: Option<&str>) -> bool {
        let is_here = |turn: &&Turn| session.is_none_or(|session| session == turn.session);
        self.turns.iter().filter(is_here).any(|turn| !turn.has_ended)
    }

    /// Notes a line that the client wrote.
    pub(crate) fn sent(&mut self, bytes: &[u8]) {
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            let Ok(Value::Object(message)) = serde_json::from_slice::<Value>(line) else {
                self.wrote_nonsense = true;
                continue;
            };
            let method = message.get("method").and_then(Value::as_str);
            if let (Some(id), Some(method)) = (message.get("id"), method) {
                self.open.insert(id.to_string(), method.to_owned());
            }
            if method == Some("initialize") {
                let params = message.get("params").cloned().unwrap_or_default();
                self.promised = Promised::of(&params["clientCapabilities"]);
            }
        }
    }
}

/// The folder of the sessions, in which nothing must change without permission.
#[derive(Debug, Default)]
pub(crate) struct Project {
    folder: PathBuf,
    before: BTreeMap<PathBuf, (u64, Option<SystemTime>)>,
}

impl Project {
    /// Makes the folder, with the files that the prompts name.
    pub(crate) fn make(folder: PathBuf) -> std::io::Result<Self> {
        for (name, text) in
            [("build/out.o", "old\n"), ("src/main.rs", "fn main() {}\n"), ("README.md", "# A project\n")]
        {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, text)?;
        }
        let before = files(&folder);
        Ok(Self { folder, before })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the first file that was made, changed or removed, by its path in the folder. Hidden files are the agent's own.
    pub(super) fn changed(&self) -> Option<PathBuf> {
        let now = files(&self.folder);
        let differs = |path: &&PathBuf| now.get(*path) != self.before.get(*path);
        let changed = now.keys().chain(self.before.keys()).find(differs)?;
        Some(changed.strip_prefix(&self.folder).unwrap_or(changed).to_owned())
    }
}

/// Returns the files of a folder with their sizes and times, except for hidden ones.
fn files(folder: &Path) -> BTreeMap<PathBuf, (u64, Option<SystemTime>)> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        // A file that is gone meanwhile is not there.
        let Ok(about) = entry.metadata() else { continue };
        if about.is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.insert(entry.path(), (about.len(), about.modified().ok()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_of_the_project_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::make(folder.path().join("project")).unwrap();
        let path = |name: &str| project.folder().join(name);
        assert_eq!(project.changed(), None);
        std::fs::write(path(".state"), "").unwrap();
        assert_eq!(project.changed(), None);
        std::fs::write(path("by-agent"), "").unwrap();
        assert_eq!(project.changed(), Some("by-agent".into()));
        std::fs::remove_file(path("by-agent")).unwrap();
        std::fs::remove_dir_all(path("build")).unwrap();
        assert_eq!(project.changed(), Some("build/out.o".into()));
    }
}
