//! A home directory of its own, in which a test runs the program, and what `doctor` says there.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{BufReader, Read, Write},
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use askbridge_os::exit;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::Process;

pub(crate) const ASKBRIDGE: &str = env!("CARGO_BIN_EXE_askbridge");
/// How long a command may ask, in seconds.
const MINUTE: &str = "60";
pub(crate) const ZED: &str = ".config/zed/settings.json";

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: u8,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A home directory, with programs that are only looked at.
pub(crate) struct Home(pub(crate) TempDir);

impl Home {
    pub(crate) fn new(programs: &[&str]) -> Self {
        let home = Home(tempfile::tempdir().unwrap());
        for program in programs {
            home.write(&format!("bin/{program}"), "");
            fs::set_permissions(home.at(&format!("bin/{program}")), Permissions::from_mode(0o755)).unwrap();
        }
        home
    }

    /// As [`Home::new`], and with askbridge on `PATH`.
    pub(crate) fn with_askbridge(programs: &[&str]) -> Self {
        let home = Home::new(programs);
        fs::create_dir_all(home.at("bin")).unwrap();
        symlink(ASKBRIDGE, home.at("bin/askbridge")).unwrap();
        home
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(ASKBRIDGE);
        command.args(args).env_clear().env("HOME", self.0.path()).env("PATH", self.at("bin"));
        command.env("XDG_RUNTIME_DIR", self.at("run")).env("XDG_CONFIG_HOME", self.at(".config"));
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        fs::create_dir_all(self.at("run")).unwrap();
        let mut process = Process::spawn(&mut self.command(args));
        process.close_stdin();
        let mut stdout = Vec::new();
        while let Some(line) = process.next_line() {
            stdout.extend(line);
        }
        let code = process.wait().code().unwrap().try_into().unwrap();
        Run { code, stdout: String::from_utf8(stdout).unwrap(), stderr: process.whole_stderr() }
    }

    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!((run.code, run.stderr.as_str()), (exit::OK, ""), "{args:?}: {}", run.stdout);
        run.stdout
    }

    /// Runs a command at a terminal on which a person types this once they are asked, and returns its exit code and
    /// stdout.
    pub(crate) fn typed(&self, args: &[&str], typed: &str) -> (Option<i32>, String) {
        let output = Terminal::new().run(self.command(args), typed);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }
}

/// A terminal for the stdin of a program.
pub(crate) struct Terminal {
    keyboard: File,
    stdin: File,
}

impl Terminal {
    pub(crate) fn new() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let stdin = OpenOptions::new().read(true).write(true).open(slave).unwrap();
        Terminal { keyboard: File::from(master), stdin }
    }

    /// Types this now, whether or not somebody reads it.
    pub(crate) fn type_in(&mut self, typed: &str) {
        self.keyboard.write_all(typed.as_bytes()).unwrap();
    }

    /// Runs a command, which is ended after [`MINUTE`], and types this when it asks for a yes or no.
    pub(crate) fn run(mut self, command: Command, typed: &str) -> Output {
        let mut timed = Command::new("/usr/bin/timeout");
        timed.arg(MINUTE).arg(command.get_program()).args(command.get_args());
        timed.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        timed.stdin(self.stdin.try_clone().unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = timed.spawn().unwrap();
        let mut stdout = Vec::new();
        for byte in BufReader::new(child.stdout.take().unwrap()).bytes() {
            stdout.push(byte.unwrap());
            if stdout.ends_with(b"[y/N] ") {
                self.type_in(typed);
            }
        }
        Output { stdout, ..child.wait_with_output().unwrap() }
    }
}

pub(crate) fn fixture(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/setup").join(name)).unwrap()
}

/// Returns what `doctor` says of an area: a level, a text and an advice for each.
pub(crate) fn of_area(home: &Home, area: &str) -> Vec<(String, String, String)> {
    let run = home.run(&["doctor", "--json"]);
    assert_eq!(run.stderr, "", "what is wrong is in the report");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().unwrap().iter().filter(|it| it["area"] == area);
    let read = findings.map(|it| (text(it, "level"), text(it, "text"), text(it, "advice")));
    let read: Vec<_> = read.collect();
    let has_problem = read.iter().any(|(level, ..)| level == "problem");
    assert!(!has_problem || run.code == exit::PROBLEM, "{read:?}");
    read
}

/// Types the commands of an advice, which stand between backticks, at a terminal on which a person says yes, and then takes the first option.
pub(crate) fn follow(home: &Home, advice: &str) {
    let commands = advice.split('`').skip(1).step_by(2);
    for command in commands.filter(|it| it.starts_with("askbridge ") || it.starts_with("claude ")) {
        let mut shell = Command::new("/bin/sh");
        let environment = home.command(&[]);
        shell.env_clear().envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // The commands of the system, and an editor that takes everything out of a file.
        let path = format!("{}:/usr/bin:/bin", home.at("bin").display());
        shell.env("PATH", path).env("EDITOR", "truncate -s 0");
        // The demo throws away what is typed before its prompt.
        let given = if command == "askbridge demo" { " --answer 1" } else { "" };
        let as_typed = command.replacen("askbridge", ASKBRIDGE, 1) + given;
        shell.args(["-c", &as_typed]);
        let done = Terminal::new().run(shell, "y\n1\n");
        assert!(done.status.success(), "{command}: {done:?}");
    }
}
