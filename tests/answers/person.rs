//! A person with settings of their own, and a project in whose folder the commands run.

use std::{fs, path::PathBuf, process::Command};

use crate::answers::machine::{Run, TestMachine, end};
use crate::support::Process;

/// A person with a file of settings, and a project.
pub(crate) struct Person {
    pub(crate) machine: TestMachine,
}

impl Person {
    pub(crate) fn new() -> Self {
        let person = Person { machine: TestMachine::new() };
        fs::create_dir_all(person.project().join(".git")).unwrap();
        person
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.machine.path().join("shop")
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.machine.path().join("config/askbridge/config.toml")
    }

    pub(crate) fn sets(&self, text: &str) {
        let (file, draft) = (self.file(), self.file().with_extension("new"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        // A file that is replaced is never read while it is written.
        fs::write(&draft, text).unwrap();
        fs::rename(draft, file).unwrap();
    }

    /// A command in the project.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.machine.command(args);
        command.env("XDG_CONFIG_HOME", self.machine.path().join("config")).env("HOME", self.machine.path());
        command.current_dir(self.project());
        command
    }

    #[must_use]
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        run(&mut self.command(args))
    }

    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}: {}", run.stdout);
        run.stdout
    }
}

/// Runs a command to its end, without an input.
pub(crate) fn run(command: &mut Command) -> Run {
    let mut process = Process::spawn(command);
    process.close_stdin();
    end(process)
}
