//! Real shells in a cage: what they run of a command, as each of them reads it and as the kernel starts it. Nothing here is
//! taken from the code that is judged.

use std::{
    fs,
    io::Write,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Stdio,
};

use crate::guard::cage::{Cage, installed};
use crate::guard::random::{PROGRAMS, Words, in_single_quotes};

/// What the programs write behind a word, behind their words, and what the shell writes behind a command.
const WORD: char = '\u{1e}';
const PROGRAM: char = '\u{1f}';
const COMMAND: char = '\u{1d}';

/// The shells that judge, if they are installed.
const SHELLS: [(&str, &[&str]); 4] = [("bash", &[]), ("dash", &[]), ("zsh", &["-f"]), ("busybox", &["sh"])];

/// How many commands one shell reads.
pub(crate) const AT_ONCE: usize = 500;

/// How many commands before one are tried alone, if something ran behind it.
const NEAR: usize = 8;

/// The shells of this system, in a folder where each program writes down with which words it was run.
pub(crate) struct Shells {
    cage: Cage,
    folder: tempfile::TempDir,
    shells: Vec<(&'static str, PathBuf, &'static [&'static str])>,
    /// The programs that write down that they ran.
    programs: Vec<&'static str>,
    /// Files that stand in the place of the system's own.
    instead: Vec<(PathBuf, PathBuf)>,
    /// The commands that wait for a shell, each with what a rule says of it, and what it is from.
    waiting: Vec<(String, Words, String)>,
}

impl Shells {
    /// Returns shells that run nothing but programs which write down that they ran.
    pub(crate) fn new(cage: Cage) -> Self {
        Shells::with(cage, &PROGRAMS, &[])
    }

    /// Returns shells whose commands may run these real programs as well.
    pub(crate) fn with(cage: Cage, programs: &[&'static str], real: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["stubs", "work"] {
            fs::create_dir(at(name)).expect("a folder");
        }
        // Words that are expanded would turn to these.
        for name in ["x=1", "-c", "--lib", "~"] {
            fs::write(at("work").join(name), "").expect("a file");
        }
        // It is the only file that a command can write: another one could be read as a script by a later command.
        fs::write(at("a"), "").expect("a file");
        symlink("../a", at("work/a")).expect("a link");
        let found = SHELLS.iter().filter_map(|(name, words)| Some((*name, installed(name)?, *words)));
        let shells: Vec<_> = found.collect();
        assert!(shells.len() > 1, "bash and dash have to be installed");
        let (programs, instead, waiting) = (programs.to_vec(), Vec::new(), Vec::new());
        let mut made = Shells { cage, folder, shells, programs, instead, waiting };
        for name in made.programs.clone() {
            made.stub(&format!("stubs/{name}"), name);
            // By its path as well, it only writes that it ran.
            if name == "rm" {
                let file = made.folder.path().join("stubs/rm");
                made.instead.extend(installed(name).map(|place| (file, place)));
            }
        }
        for (name, path) in real.iter().filter_map(|name| Some((name, installed(name)?))) {
            symlink(path, made.folder.path().join("stubs").join(name)).expect("a program");
        }
        made.stub("work/run", "./run");
        let work = made.folder.path().join("work");
        made.instead.push((work.clone(), work));
        made
    }

    fn stub(&self, file: &str, name: &str) {
        let (path, log) = (self.folder.path().join(file), self.folder.path().join("log"));
        let write = written(name, &format!(">>'{}'", log.display()));
        // A shell that reads a program as a script runs nothing of it. This one is a script, so it writes only if the kernel
        // started it, which takes the option from its first line.
        let text =
            format!("#!/bin/sh -C\ncase $-:$0 in *C*:*/{}) {write};; esac\n", name.trim_start_matches("./"));
        fs::write(&path, text).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    }

    /// Takes a command that a rule allows. Some hundred run at once.
    pub(crate) fn add(&mut self, command: &str, words: &Words, from: &str) -> Result<(), String> {
        self.waiting.push((command.to_owned(), words.clone(), from.to_owned()));
        if self.waiting.len() < AT_ONCE { Ok(()) } else { self.flush() }
    }

    /// Runs the commands that wait, and says which of them does something else than the rule says.
    pub(crate) fn flush(&mut self) -> Result<(), String> {
        let waiting = std::mem::take(&mut self.waiting);
        let commands: Vec<_> = waiting.iter().map(|(command, ..)| command.clone()).collect();
        if commands.is_empty() {
            return Ok(());
        }
        for (shell, logs) in self.run(&commands) {
            for ((command, words, from), log) in waiting.iter().zip(logs) {
                if !does_only(words, &log) {
                    return Err(format!("{shell} runs {log:?}, and not {words:?}: {command:?}: {from}"));
                }
            }
        }
        Ok(())
    }

    /// Returns the commands that make a shell run this program, each with the shell.
    pub(crate) fn running(&self, program: &str, commands: &[String]) -> Vec<(&'static str, String)> {
        // Before the name stand three variables.
        let is_it =
            |log: &String| log.split_terminator(PROGRAM).any(|ran| ran.split(WORD).nth(3) == Some(program));
        let found = |commands: &[String]| -> Vec<(&'static str, usize)> {
            let all = self.run(commands).flat_map(|(shell, logs)| {
                logs.into_iter()
                    .enumerate()
                    .filter(|(_, log)| is_it(log))
                    .map(move |(at, _)| (shell, at))
                    .collect::<Vec<_>>()
            });
            all.collect()
        };
        let named = found(commands).into_iter().map(|(shell, at)| {
            // What runs in the background may be written behind a later command.
            let mut near = commands[..=at].iter().rev().take(NEAR);
            let alone = near.find(|command| !found(&[(*command).clone()]).is_empty());
            (shell, alone.unwrap_or(&commands[at]).clone())
        });
        named.collect()
    }

    /// Returns what each shell writes down for each of these commands.
    fn run(&self, commands: &[String]) -> impl Iterator<Item = (&'static str, Vec<String>)> {
        self.shells.iter().map(move |(name, shell, words)| {
            let run = |commands: &[String]| {
                let log = self.log(shell, words, commands);
                log.split_inclusive(COMMAND).map(str::to_owned).collect::<Vec<_>>()
            };
            (*name, to_the_end(name, commands, run))
        })
    }

    fn log(&self, shell: &Path, words: &[&str], commands: &[String]) -> String {
        let at = |name: &str| self.folder.path().join(name);
        let (log, script) = (at("log"), at("script"));
        // A command that runs on in the background keeps 8 open. None of them takes long, or writes much.
        let mut text = format!("exec 8>&1 9>>'{}'\nulimit -t 100\nulimit -f 4096\ncd work\n", log.display());
        // A function is quicker than a file, and both are there.
        for name in &self.programs {
            text.push_str(&format!("{name}() {{ {}; }}\n", written(name, ">&9")));
        }
        for command in commands {
            // Without it, a NUL would end the script: no shell can have one in a command.
            let command = in_single_quotes(&command.replace('\0', ""));
            text.push_str(&format!(
                ": >a\n( eval {command} ) </dev/null >/dev/null 2>&1\nprintf '{COMMAND}' >&9\n"
            ));
        }
        fs::write(&script, text).expect("a script");
        fs::write(&log, "").expect("a log");
        let mut run = self.cage.command(self.folder.path(), &self.instead);
        // The cage is closed with the first process in it, so that one has to wait for all.
        run.args(["/bin/sh", "-c", r#"PATH=$1; HOME=$2; export PATH HOME; shift 2; "$@" | /bin/cat"#, "sh"]);
        run.arg(at("stubs")).arg(at("work")).arg(shell).args(words).arg(&script);
        run.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("a cage");
        fs::read(&log).map(|log| String::from_utf8_lossy(&log).into_owned()).expect("a log")
    }
}

/// Returns what is written down for each of these commands. One that does not end in time, or ends the shell, is tried alone,
/// since a busy machine may take long for all of them. If it still does not end, it is judged by what it ran until then.
fn to_the_end(shell: &str, commands: &[String], run: impl Fn(&[String]) -> Vec<String>) -> Vec<String> {
    let has_ended = |log: &String| log.ends_with(COMMAND);
    let mut logs = Vec::new();
    while logs.len() < commands.len() {
        let rest = &commands[logs.len()..];
        logs.extend(run(rest).into_iter().filter(has_ended).take(rest.len()));
        let Some(command) = commands.get(logs.len()) else { break };
        let alone = run(std::slice::from_ref(command));
        if !alone.first().is_some_and(has_ended) {
            writeln!(std::io::stderr(), "{shell} does not come to the end of {command:?}").expect("stderr");
        }
        logs.push(alone.into_iter().next().unwrap_or_default());
    }
    logs.into_iter().map(|log| log.trim_end_matches(COMMAND).to_owned()).collect()
}

/// Returns what a program does: it writes down its assignments and its words.
fn written(name: &str, log: &str) -> String {
    let assigned = r#""CI=${CI-}" "A=${A-}" "${PATH##*/}""#;
    format!("{{ printf '%s{WORD}' {assigned} {name} \"$@\"; printf '{PROGRAM}'; }} {log}")
}

/// Returns whether a shell ran one program, whose words a rule names.
fn does_only(words: &Words, log: &str) -> bool {
    let Some(ran) = log.strip_suffix(PROGRAM).filter(|ran| !ran.contains(PROGRAM)) else { return false };
    let ran: Vec<_> = ran.split_terminator(WORD).collect();
    let [ci, a, path, ran @ ..] = &ran[..] else { return false };
    let is_assigned = |assignments: &[String]| {
        let expected = if assignments.is_empty() { "CI=" } else { "CI=1" };
        *ci == expected && *a == "A=" && *path == "stubs"
    };
    match words {
        Words::Exact(words) => words == ran && is_assigned(&[]),
        Words::Pattern { assignments, words, is_open } => {
            let has_length = if *is_open { ran.len() >= words.len() } else { ran.len() == words.len() };
            is_assigned(assignments)
                && has_length
                && words.iter().zip(ran).all(|(word, ran)| is_like(word.as_bytes(), ran.as_bytes()))
        }
    }
}

/// Returns whether a pattern means a word. `?` stands for one character, which may have several bytes.
fn is_like(pattern: &[u8], word: &[u8]) -> bool {
    match pattern.split_first() {
        None => word.is_empty(),
        Some((b'*', rest)) => (0..=word.len()).any(|from| is_like(rest, &word[from..])),
        Some((b'?', rest)) => (1..=word.len().min(4)).any(|from| {
            std::str::from_utf8(&word[..from]).is_ok_and(|text| text.chars().count() == 1)
                && is_like(rest, &word[from..])
        }),
        Some((byte, rest)) => word.first() == Some(byte) && is_like(rest, &word[1..]),
    }
}

#[test]
fn a_command_that_does_not_end_is_tried_alone_and_loses_no_other() {
    let commands = ["a", "slow", "b", "endless", "c"].map(str::to_owned);
    let run = |commands: &[String]| {
        let is_slow = |command: &String| command == "endless" || (command == "slow" && commands.len() > 1);
        let ended = commands.iter().take_while(|command| !is_slow(command)).count();
        let mut logs: Vec<_> =
            commands[..ended].iter().map(|command| format!("{command}{COMMAND}")).collect();
        logs.extend(commands.get(ended).map(|command| format!("{command} until then")));
        logs
    };
    assert_eq!(to_the_end("sh", &commands, run), ["a", "slow", "b", "endless until then", "c"]);
}

#[test]
fn a_program_that_a_shell_reads_as_a_script_does_not_run() {
    let Some(cage) = Cage::find("whether a program that is read as a script runs") else { return };
    let shells = Shells::with(cage, &["rm"], &["bash", "sh"]);
    let commands = ["bash =rm x", "sh \"$(command -pv rm)\"", "bash ../stubs/rm"].map(str::to_owned);
    assert_eq!(shells.running("rm", &commands), []);
    let ran = shells.running("rm", &["env -i ../stubs/rm".to_owned(), "../stubs/rm x".to_owned()]);
    assert!(ran.iter().any(|(_, command)| command == "../stubs/rm x"), "{ran:?}");
}
