//! The recording of the terminal in the README: `docs/images/make` copies it. What it shows is invented.

use std::{fs, path::PathBuf, process::Command};

use serde_json::{Value, json};

use crate::answers::{
    machine::{ASKBRIDGE, TestMachine},
    recording::{Palette, Recording},
    terminal::Terminal,
};
use crate::support::Process;

const COLUMNS: u16 = 84;
const ROWS: u16 = 24;
const SESSION: &str = "0198f3d2";

const LIGHT: Palette = Palette {
    background: "#f6f8fa",
    text: "#1f2328",
    numbered: [
        "#24292f", "#b3261e", "#116329", "#7d4e00", "#0550ae", "#8250df", "#1b7c83", "#57606a", "#57606a",
        "#a40e26", "#1a7f37", "#633c01", "#0969da", "#8250df", "#3192aa", "#24292f",
    ],
};
const DARK: Palette = Palette {
    background: "#161b22",
    text: "#e6edf3",
    numbered: [
        "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4", "#8b949e",
        "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc",
    ],
};

/// A shell at a terminal, and what it showed.
struct Stage {
    terminal: Terminal,
    recording: Recording,
}

impl Stage {
    /// Waits until the screen shows this, and keeps it for so long.
    fn shows(&mut self, what: &str, milliseconds: u32) {
        self.terminal.screen(what);
        self.recording.add(self.terminal.emulated(), milliseconds);
    }

    /// Waits for a prompt at the cursor, types this as a person does, and sends it.
    fn enters(&mut self, prompt: &str, line: &str) {
        for end in 0..=line.len() {
            self.terminal.types(&line[end.saturating_sub(1)..end]);
            let expected = format!("{prompt}{}", &line[..end]);
            self.terminal.until(&expected, |screen| {
                let (row, column) = screen.cursor_position();
                screen
                    .rows(0, column)
                    .nth(row.into())
                    .is_some_and(|shown| shown.trim_end().ends_with(expected.trim_end()))
            });
            self.recording.add(self.terminal.emulated(), if end == 0 { 500 } else { 70 });
        }
        self.recording.add(self.terminal.emulated(), 500);
        self.terminal.types("\r");
    }
}

/// Starts an agent with its name, which asks this in a session of a folder.
fn agent(machine: &TestMachine, name: &str, request: &Value) -> Process {
    let replies = [
        json!({ "jsonrpc": "2.0", "id": 0, "result": { "protocolVersion": 1, "agentInfo": { "name": name, "version": "1.0" } } }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "sessionId": SESSION } }),
    ];
    let lines: Vec<_> = replies.iter().chain([request]).map(Value::to_string).collect();
    let script = r#"IFS= read -r _; IFS= read -r _; printf '%s\n' "$1"; exec cat"#;
    let run = ["run", "--client-questions", "none", "--", "sh", "-c", script, "sh", &lines.join("\n")];
    let mut bridge = machine.start(&run);
    for (id, method, params) in [
        (0, "initialize", json!({ "protocolVersion": 1 })),
        (1, "session/new", json!({ "cwd": "/src/payments", "mcpServers": [] })),
    ] {
        bridge.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
    }
    bridge
}

fn question() -> Value {
    let options = json!([
        { "value": "pg", "label": "Postgres", "description": "what the other services use" },
        { "value": "lite", "label": "SQLite", "description": "one file, and no server" },
    ]);
    let field = json!({ "name": "db", "label": "Database", "kind": "choice", "required": true, "options": options, "other": true });
    json!({ "jsonrpc": "2.0", "id": "ask", "method": "_sandboxagent/session/request_question", "params": {
        "sessionId": SESSION, "questionId": "q", "prompt": "Which database should the payments service use?",
        "_meta": { "askbridge": { "fields": [field] } },
    } })
}

fn permission() -> Value {
    json!({ "jsonrpc": "2.0", "id": "ask", "method": "session/request_permission", "params": {
        "sessionId": SESSION,
        "toolCall": { "toolCallId": "t", "title": "Clean the build output", "kind": "execute", "rawInput": { "command": "rm -rf build dist", "cwd": "/src/payments" } },
        "options": [
            { "optionId": "once", "name": "Allow", "kind": "allow_once" },
            { "optionId": "no", "name": "Reject", "kind": "reject_once" },
        ],
    } })
}

#[test]
fn the_recording_shows_what_waits_an_answer_and_a_rejection() {
    let machine = TestMachine::new();
    let mut claude = agent(&machine, "Claude Code", &question());
    machine.questions(1);
    let mut codex = agent(&machine, "Codex", &permission());
    machine.questions(2);
    let mut command = Command::new("setsid");
    command.args(["--ctty", "sh", "-i"]).current_dir(machine.path());
    let program = PathBuf::from(ASKBRIDGE);
    command
        .env("PATH", format!("{}:/usr/bin:/bin", program.parent().unwrap().display()))
        .env("XDG_RUNTIME_DIR", machine.path())
        .env("XDG_STATE_HOME", machine.path().join("state"))
        .envs([("TERM", "xterm-256color"), ("PS1", "$ "), ("USER", "somebody")]);
    command.env_remove("NO_COLOR").env_remove("ENV");
    let mut stage =
        Stage { terminal: Terminal::spawn(command, COLUMNS, ROWS), recording: Recording::default() };
    stage.enters("$ ", "askbridge");
    stage.shows("askbridge --help", 2500);
    stage.enters("$ ", "askbridge next");
    stage.shows("SQLite", 1800);
    stage.enters("(? for help): ", "2");
    stage.shows("answered", 2000);
    claude.expect("the answer", |line| line.contains("lite"));
    stage.enters("$ ", "askbridge tui");
    stage.shows("Enter open", 1500);
    stage.terminal.types("\r");
    stage.shows("r reject", 2500);
    stage.terminal.types("r");
    stage.enters("> ", "not before the release");
    stage.shows("once more", 1500);
    stage.terminal.types("\r");
    codex.expect("the rejection", |line| line.contains("\"no\""));
    stage.shows("-1 rejected by the terminal", 2500);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    fs::create_dir_all(&folder).unwrap();
    let title = "A question is answered in a terminal, and a command of another agent is rejected";
    for (name, palette) in [("light", LIGHT), ("dark", DARK)] {
        fs::write(folder.join(format!("terminal-{name}.svg")), stage.recording.svg(&palette, title)).unwrap();
    }
}
