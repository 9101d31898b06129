//! A machine for each test: a directory for the sockets, bridges in it, and the commands.
//! Every wait has the deadline of the process that it waits for.

use std::{
    env, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::Process;

pub(crate) const ASKBRIDGE: &str = env!("CARGO_BIN_EXE_askbridge");

pub(crate) struct TestMachine {
    folder: TempDir,
}

/// How a command ended, and what it wrote.
#[derive(Debug)]
pub(crate) struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl TestMachine {
    pub(crate) fn new() -> Self {
        TestMachine { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the directory of the sockets.
    pub(crate) fn sockets(&self) -> PathBuf {
        self.path().join("askbridge")
    }

    /// Returns the names of the files in the directory of the sockets, which the first bridge makes.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = match fs::read_dir(self.sockets()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
            entries => entries.unwrap(),
        };
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        // Figures are measured of other programs as well.
        let mut command = Command::new(env::var_os("ASKBRIDGE").unwrap_or_else(|| ASKBRIDGE.into()));
        command
            .args(args)
            .env("XDG_RUNTIME_DIR", self.path())
            .env("XDG_STATE_HOME", self.path().join("state"))
            // Commands also look for sockets in it.
            .env("HOME", self.path())
            .env("USER", "somebody");
        command
    }

    pub(crate) fn start(&self, args: &[&str]) -> Process {
        Process::spawn(&mut self.command(args))
    }

    /// Runs a command to its end.
    #[must_use]
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        let mut process = self.start(args);
        process.close_stdin();
        end(process)
    }

    /// Runs a command that succeeds, and returns its output.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}: {}", run.stdout);
        run.stdout
    }

    /// Submits to a question, and returns the output in front of the question's text.
    #[track_caller]
    pub(crate) fn does(&self, args: &[&str]) -> String {
        let said = self.ok(args);
        said.split_once(": ").unwrap_or_else(|| panic!("{args:?}: {said}")).0.to_owned()
    }

    /// Starts the mock client, which leaves questions open, with the mock agent behind a bridge with these options.
    pub(crate) fn client(&self, tier: &str, prompt: &str, bridge: &[&str], agent: &[&str]) -> Process {
        let client = ["mock-client", "--tier", tier, "--leave-open", "--prompt", prompt];
        let run = ["--", ASKBRIDGE, "run"];
        let agent = [&["--", ASKBRIDGE, "mock-agent"], agent].concat();
        self.start(&[&client[..], &run, bridge, &agent].concat())
    }

    /// Follows the open questions of this machine.
    pub(crate) fn watch(&self) -> Watch {
        Watch { process: self.start(&["list", "--watch", "--json"]) }
    }

    /// Waits until so many questions are open, and returns them.
    pub(crate) fn questions(&self, count: usize) -> Vec<Value> {
        self.watch().until(&format!("{count} questions"), |questions| questions.len() == count)
    }

    /// Waits for the only question, and returns its ID.
    pub(crate) fn question(&self) -> String {
        name(&self.questions(1)[0])
    }
}

/// A process that follows the open questions.
pub(crate) struct Watch {
    process: Process,
}

impl Watch {
    /// Waits until this holds of the open questions, and returns them.
    pub(crate) fn until(&mut self, what: &str, fits: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let questions = |line: &str| {
            let listing: Value = serde_json::from_str(line).unwrap();
            listing["questions"].as_array().unwrap().clone()
        };
        questions(&self.process.expect(what, |line| fits(&questions(line))))
    }
}

/// Returns the ID of a question.
pub(crate) fn name(question: &Value) -> String {
    question["id"].as_str().unwrap().to_owned()
}

/// Waits for the end of a command.
pub(crate) fn end(mut process: Process) -> Run {
    let mut stdout = Vec::new();
    while let Some(line) = process.next_line() {
        stdout.extend(line);
    }
    let code = process.wait().code().unwrap();
    Run { code, stdout: String::from_utf8(stdout).unwrap(), stderr: process.whole_stderr() }
}
