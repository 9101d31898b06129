//! An agent that has the MCP server as its child, and a client that speaks for it.

use std::{path::Path, process::Command};

use serde_json::{Value, json};

use crate::answers::machine::{ASKBRIDGE, TestMachine};
use crate::support::Process;

/// The agent: a shell, so that the commands of a test are not of the agent's own tree. It does not replace itself by the
/// server, because something follows.
const AGENT: &str = r#""$@"; code=$?; exit $code"#;

/// An agent that runs a command as well, which it reads from a FIFO, and says its exit code.
const ACTIVE_AGENT: &str = r#"mkfifo "$1" && exec 3<&0; commands=$1; shift; "$@" <&3 &
read -r line < "$commands"; $line >/dev/null 2>&1; echo "{\"code\":$?}"; wait"#;

/// A client, and the server that it speaks to.
pub(crate) struct McpClient {
    pub(crate) process: Process,
    last: u64,
}

impl McpClient {
    /// Starts a server with these options, and initializes it.
    pub(crate) fn start(machine: &TestMachine, options: &[&str]) -> Self {
        Self::silent(machine, options).initialized()
    }

    /// Starts a server, whose agent runs the command that is written to this FIFO.
    pub(crate) fn of_agent(machine: &TestMachine, commands: &Path) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", ACTIVE_AGENT, "agent"]).arg(commands).args([ASKBRIDGE, "mcp"]);
        Self::spawn(machine, command).initialized()
    }

    /// Starts a server without a shell in between, and initializes it. The agent is the process of the test.
    pub(crate) fn bare(machine: &TestMachine) -> Self {
        let mut command = Command::new(ASKBRIDGE);
        command.arg("mcp");
        Self::spawn(machine, command).initialized()
    }

    fn initialized(mut self) -> Self {
        let client = &mut self;
        let info = json!({ "name": "test-agent", "title": "Test Agent", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        let id = client.request("initialize", &params);
        assert_eq!(client.reply(id)["result"]["protocolVersion"], "2025-11-25");
        client.notify("notifications/initialized", &json!({}));
        self
    }

    /// Starts a server that has heard nothing yet.
    pub(crate) fn silent(machine: &TestMachine, options: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", AGENT, "agent", ASKBRIDGE, "mcp"]).args(options);
        Self::spawn(machine, command)
    }

    fn spawn(machine: &TestMachine, mut command: Command) -> Self {
        command
            .env("XDG_RUNTIME_DIR", machine.path())
            .env("XDG_STATE_HOME", machine.path().join("state"))
            .env("USER", "somebody");
        McpClient { process: Process::spawn(&mut command), last: 0 }
    }

    /// Sends a request, and returns its ID.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        self.process.send(&request.to_string());
        self.last
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        let notification = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.process.send(&notification.to_string());
    }

    /// Calls a tool, and returns the ID of the request.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Waits for the reply to a request, and skips all else.
    pub(crate) fn reply(&mut self, id: u64) -> Value {
        let read = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
        let line = self.process.expect(&format!("the reply to {id}"), |line| read(line)["id"] == id);
        read(&line)
    }

    /// Waits for the result of a call, and returns its text and its structured content.
    pub(crate) fn result(&mut self, id: u64) -> (String, Value) {
        let reply = self.reply(id);
        let text = reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"));
        (text.to_owned(), reply["result"]["structuredContent"].clone())
    }
}

/// Returns the arguments that ask one question with two options.
pub(crate) fn which() -> Value {
    json!({ "questions": [question("Which database?", "Database", &["SQLite", "Postgres"], false)] })
}

/// Returns a question.
pub(crate) fn question(text: &str, header: &str, options: &[&str], many: bool) -> Value {
    let options: Vec<_> = options
        .iter()
        .map(|label| json!({ "label": label, "description": format!("What {label} is") }))
        .collect();
    json!({ "question": text, "header": header, "options": options, "multiSelect": many })
}
