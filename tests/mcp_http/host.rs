//! A host that has `askbridge mcp-http` as its child.

use std::{fs, process::Command};

use serde_json::Value;

use super::server::{Server, Stream};
use crate::{answers::machine::TestMachine, support::Process};

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"x":1.50},"clientInfo":{"name":"h","version":"1"}}}"#;
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
pub(crate) const BEGUN: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;

/// A host, and the machine that it is on.
pub(crate) struct Host {
    pub(crate) process: Process,
    _machine: TestMachine,
}

impl Host {
    /// Starts the program for a server.
    pub(crate) fn start(server: &Server) -> Self {
        Self::with(&server.url(), "", &[])
    }

    /// Starts the program with these settings, in which `URL` is the address, and with these variables.
    pub(crate) fn with(url: &str, settings: &str, variables: &[(&str, &str)]) -> Self {
        let machine = TestMachine::new();
        let mut command = machine.command(&["mcp-http", url]);
        let folder = machine.path().join("config");
        fs::create_dir_all(folder.join("askbridge")).unwrap();
        fs::write(folder.join("askbridge/config.toml"), settings.replace("URL", url)).unwrap();
        command.envs(variables.iter().copied());
        let process = Process::spawn(with_settings(&mut command, &folder));
        Host { process, _machine: machine }
    }

    /// Starts the program, and begins a session `s1`. Returns the stream of the server's own messages as well.
    pub(crate) fn in_session(server: &mut Server) -> (Self, Stream) {
        let mut host = Self::start(server);
        host.send(INITIALIZE);
        let first = server.message("initialize");
        first.reply(200, &["Content-Type: application/json", "Mcp-Session-Id: s1"], BEGUN.as_bytes());
        assert_eq!(host.line(), BEGUN);
        host.send(INITIALIZED);
        server.message("notifications/initialized").reply(202, &[], b"");
        let stream = server.take("GET", |_| true).stream(&[]);
        (host, stream)
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.process.send(line);
    }

    /// Waits for the next line.
    pub(crate) fn line(&mut self) -> String {
        self.process.expect("a line", |_| true)
    }

    /// Waits for the next line, which is an error for this request, and returns its words.
    pub(crate) fn error(&mut self, id: u64) -> String {
        let line: Value = serde_json::from_str(&self.line()).unwrap();
        assert_eq!(line["id"], id, "{line}");
        line["error"]["message"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned()
    }

    /// Closes the host's end, and returns the exit code.
    pub(crate) fn leave(&mut self) -> Option<i32> {
        self.process.close_stdin();
        self.process.wait().code()
    }
}

fn with_settings<'a>(command: &'a mut Command, folder: &std::path::Path) -> &'a mut Command {
    command.env("XDG_CONFIG_HOME", folder)
}
