//! What a permission really does, as bash, dash and the kernel have it: the judges of what rules allow. Nothing here is taken
//! from the code that is judged.

use std::{
    fs::{self, OpenOptions},
    os::{
        fd::AsRawFd,
        unix::fs::{OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::guard::random::{PROGRAMS, Words, in_single_quotes};

/// What the programs write behind a word, behind their words, and what the shell writes behind a command.
const WORD: char = '\u{1e}';
const PROGRAM: char = '\u{1f}';
const COMMAND: char = '\u{1d}';

/// Real shells in an empty folder, where each program writes down with which words it was run.
pub(crate) struct Shells {
    folder: tempfile::TempDir,
    /// The commands that wait for a shell, each with what a rule says of it, and what it is from.
    waiting: Vec<(String, Words, String)>,
}

impl Shells {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["stubs", "work"] {
            fs::create_dir(at(name)).expect("a folder");
        }
        // Words that are expanded would turn to these.
        for name in ["a", "x=1", "-c", "--lib", "~"] {
            fs::write(at("work").join(name), "").expect("a file");
        }
        let shells = Shells { folder, waiting: Vec::new() };
        for name in PROGRAMS {
            shells.stub(&format!("stubs/{name}"), name);
        }
        shells.stub("work/run", "./run");
        shells
    }

    fn stub(&self, file: &str, name: &str) {
        let path = self.folder.path().join(file);
        fs::write(&path, format!("#!/bin/sh\n{}\n", written(name))).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    }

    /// Takes a command that a rule allows. Some hundred run at once.
    pub(crate) fn add(&mut self, command: &str, words: &Words, from: &str) -> Result<(), String> {
        self.waiting.push((command.to_owned(), words.clone(), from.to_owned()));
        if self.waiting.len() < 500 { Ok(()) } else { self.flush() }
    }

    /// Runs the commands that wait, and says which of them does something else than the rule says.
    pub(crate) fn flush(&mut self) -> Result<(), String> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        for shell in ["bash", "dash"] {
            let log = self.run(shell, &waiting);
            let logs: Vec<_> = log.split_terminator(COMMAND).collect();
            assert_eq!(logs.len(), waiting.len(), "{shell} did not come to its end: {log:?}");
            for ((command, words, from), log) in waiting.iter().zip(logs) {
                if !does_only(words, log) {
                    return Err(format!("{shell} runs {log:?}, and not {words:?}: {command:?}: {from}"));
                }
            }
        }
        Ok(())
    }

    /// Returns the programs that a shell runs for each of these commands.
    pub(crate) fn ran(&self, shell: &str, commands: &[String]) -> Vec<Vec<String>> {
        let words = Words::Exact(Vec::new());
        let waiting: Vec<_> =
            commands.iter().map(|command| (command.clone(), words.clone(), String::new())).collect();
        let log = self.run(shell, &waiting);
        let logs: Vec<_> = log.split_terminator(COMMAND).collect();
        assert_eq!(logs.len(), commands.len(), "{shell} did not come to its end: {log:?}");
        // Before the name stand three variables.
        let name = |ran: &str| ran.split(WORD).nth(3).unwrap_or_default().to_owned();
        logs.iter().map(|log| log.split_terminator(PROGRAM).map(name).collect()).collect()
    }

    fn run(&self, shell: &str, waiting: &[(String, Words, String)]) -> String {
        let at = |name: &str| self.folder.path().join(name);
        let (log, script) = (at("log"), at("script"));
        let mut text = "exec 9>\"$LOG\"\n".to_owned();
        // A function is quicker than a file, and both are there.
        for name in PROGRAMS {
            text.push_str(&format!("{name}() {{ {}; }}\n", written(name)));
        }
        for (command, ..) in waiting {
            // Without it, a NUL would end the script: no shell can have one in a command.
            let command = command.replace('\0', "");
            text.push_str(&format!(
                "( eval {} ) </dev/null >/dev/null 2>&1\nprintf '{COMMAND}' >&9\n",
                in_single_quotes(&command)
            ));
        }
        fs::write(&script, text).expect("a script");
        let mut run = Command::new(format!("/bin/{shell}"));
        let status = run
            .arg(&script)
            .current_dir(at("work"))
            .env_clear()
            .env("PATH", at("stubs"))
            .env("LOG", &log)
            .env("HOME", at("work"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.expect("a shell");
        fs::read(&log).map(|log| String::from_utf8_lossy(&log).into_owned()).expect("a log")
    }
}

/// Returns what a program does: it writes down its assignments and its words.
fn written(name: &str) -> String {
    let assigned = r#""CI=${CI-}" "A=${A-}" "${PATH##*/}""#;
    format!("printf '%s{WORD}' {assigned} {name} \"$@\" >&9; printf '{PROGRAM}' >&9")
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

/// Returns a folder or a file that an agent may mean by a name, and that is not in this folder once the kernel has followed
/// it. A file that is written is made, and removed again.
pub(crate) fn outside(project: &str, home: &str, named: &str, is_written: bool) -> Option<PathBuf> {
    let folder = fs::canonicalize(project).expect("a folder");
    let meant = meanings(project, home, named).into_iter();
    meant.filter_map(|path| leads_to(&path, is_written)).find(|path| !path.starts_with(&folder))
}

/// Returns the paths that agents may take a name for.
fn meanings(project: &str, home: &str, named: &str) -> Vec<PathBuf> {
    let mut texts = vec![named.to_owned()];
    if let Some((path, line)) = named.rsplit_once(':')
        && line.chars().all(|char| char.is_ascii_digit())
    {
        texts.push(path.to_owned());
    }
    let expanded = |text: &String| {
        let tilde = text
            .strip_prefix("~/")
            .or_else(|| (text == "~").then_some(""))
            .map(|rest| format!("{home}/{rest}"));
        let address = text.strip_prefix("file://").or_else(|| text.strip_prefix("file:")).map(str::to_owned);
        [
            tilde,
            text.contains("$HOME").then(|| text.replace("$HOME", home)),
            address,
            text.contains('%').then(|| text.replace("%2e", ".")),
            text.contains('\\').then(|| text.replace('\\', "/")),
        ]
    };
    let more: Vec<_> = texts.iter().flat_map(expanded).flatten().collect();
    texts.extend(more);
    texts.iter().map(|text| Path::new(project).join(text)).collect()
}

/// Returns where the kernel opens a path. `None` where it does not.
fn leads_to(path: &Path, is_written: bool) -> Option<PathBuf> {
    let made = if is_written { make(path) } else { Vec::new() };
    let found = OpenOptions::new()
        .read(true)
        .custom_flags(O_PATH)
        .open(path)
        .ok()
        .and_then(|file| fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok());
    for made in made.iter().rev() {
        let removed = if made.is_dir() { fs::remove_dir(made) } else { fs::remove_file(made) };
        removed.unwrap_or_else(|error| panic!("{made:?}: {error}"));
    }
    found
}

/// Opens a file without reading it.
const O_PATH: i32 = 0o10_000_000;

/// Makes a file and the folders above it, as agents do before they write. Returns what was not there before.
fn make(path: &Path) -> Vec<PathBuf> {
    let mut made = Vec::new();
    let parents: Vec<_> = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()).collect();
    for parent in parents.into_iter().rev() {
        if fs::create_dir(parent).is_ok() {
            made.extend(fs::canonicalize(parent));
        }
    }
    if OpenOptions::new().write(true).create_new(true).open(path).is_ok() {
        made.extend(fs::canonicalize(path));
    } else if fs::metadata(path).is_err() && OpenOptions::new().append(true).create(true).open(path).is_ok() {
        // Behind a link that leads nowhere yet.
        made.extend(fs::canonicalize(path));
    }
    made
}
