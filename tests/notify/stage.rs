//! A bridge around an agent that asks, with notifiers that the environment sets.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::answers::machine::{ASKBRIDGE, TestMachine};
use crate::support::Process;

/// A generous hang guard. No correct run comes near it, on any machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// An agent that asks what its client sends it, and says what it hears otherwise.
const AGENT: &str = r#"while read -r line; do case $line in ask\ *) printf '%s\n' "${line#ask }" ;; run\ *) eval "${line#run }" </dev/null ;; *) echo "heard $line" ;; esac; done"#;

/// A machine with settings.
pub(crate) struct Stage {
    pub(crate) machine: TestMachine,
    variables: Vec<(String, String)>,
}

impl Stage {
    /// Returns a machine on which notifiers tell at once.
    pub(crate) fn new() -> Self {
        let machine = TestMachine::new();
        // The developer's own settings are not those of a test.
        let settings = machine.path().join("config").display().to_string();
        Stage { machine, variables: Vec::new() }
            .with("XDG_CONFIG_HOME", &settings)
            .with("ASKBRIDGE_NOTIFY_DELAY", "0s")
            .with("ASKBRIDGE_NOTIFY_TERMINAL_ENABLED", "false")
    }

    /// Sets a variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.machine.command(args);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn start(&self, args: &[&str]) -> Process {
        Process::spawn(&mut self.command(args))
    }

    /// Replaces the person's settings, at once as `askbridge config set` does.
    pub(crate) fn set(&self, text: &str) {
        let folder = self.file("config/askbridge");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("draft"), text).unwrap();
        fs::rename(folder.join("draft"), folder.join("config.toml")).unwrap();
    }

    /// Returns the command that runs a bridge around the agent.
    pub(crate) fn bridge_command(&self) -> Command {
        self.command(&["run", "--client-questions", "native", "--", "sh", "-c", AGENT])
    }

    /// Starts a bridge around the agent.
    pub(crate) fn bridge(&self) -> Process {
        Process::spawn(&mut self.bridge_command())
    }

    /// Starts a bridge whose agent asks, and returns it with the ID of the question.
    pub(crate) fn asking(&self, request: &Value) -> (Process, String) {
        let mut bridge = self.bridge();
        bridge.send(&format!("ask {request}"));
        (bridge, self.machine.question())
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.machine.path().join(name)
    }
}

/// Returns a question with the options "yes" and "no".
pub(crate) fn question(prompt: &str) -> Value {
    let params = json!({ "sessionId": "s", "prompt": prompt, "options": ["yes", "no"] });
    request("_sandboxagent/session/request_question", "q", &params)
}

/// Returns a permission to run a command, which is dangerous.
pub(crate) fn permission(kind: &str) -> Value {
    let options = json!([
        { "optionId": "once", "name": "Allow", "kind": "allow_once" },
        { "optionId": "always", "name": "Always", "kind": "allow_always" },
        { "optionId": "never", "name": "Deny", "kind": "reject_once" },
    ]);
    let files = json!([{ "path": "/src/a.rs" }]);
    let call = json!({ "toolCallId": "t", "title": "Work", "kind": kind, "locations": files });
    request(
        "session/request_permission",
        "p",
        &json!({ "sessionId": "s", "toolCall": call, "options": options }),
    )
}

fn request(method: &str, id: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Waits until this is there.
#[track_caller]
pub(crate) fn wait<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited too long for {what}");
        std::thread::yield_now();
    }
}

/// Waits until a file has this line, and returns all of it.
#[track_caller]
pub(crate) fn wait_for_line(path: &PathBuf, fits: impl Fn(&str) -> bool) -> String {
    wait(&format!("a line in {path:?}"), || {
        let text = fs::read_to_string(path).unwrap_or_default();
        let has = text.lines().any(&fits) && text.ends_with('\n');
        has.then_some(text)
    })
}

/// Returns the notifiers that run as children of this process.
pub(crate) fn notifiers(parent: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let mut found = Vec::new();
    for task in fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten() {
        let of_task = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        found.extend(of_task.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    drop(children);
    found.retain(|pid| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"notify")
    });
    found
}

/// Returns the command line of a shell script as a setting of a command.
pub(crate) fn script(text: &str) -> String {
    json!(["sh", "-c", text, "sh"]).to_string()
}

/// Returns the command line that runs askbridge with these words.
pub(crate) fn askbridge(words: &str) -> String {
    format!("'{ASKBRIDGE}' {words}")
}
