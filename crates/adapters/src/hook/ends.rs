//! Watches for the end of Claude Code's own dialog: in new lines of the session's transcript, in reports of hooks that
//! run afterwards, and in the status file that Claude Code keeps of its terminal. A later hook reports to a waiting
//! hook by appending a line to that hook's file in the folder of the sockets.

use std::{
    fs::{self, DirBuilder, File},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use askbridge_control::join::{Places, discovery};
use askbridge_core::{
    dialect::claude::{HookCall, Status, Watch},
    question::{Outcome, Question},
};
use askbridge_os::files::{open_own_as, open_regular};
use memchr::memchr;

use crate::limits;

/// Whether a printed decision counted.
#[derive(Debug, PartialEq)]
pub(super) enum CountedDecision {
    /// The decision counted.
    Printed,
    /// The dialog was first, and ended with this outcome.
    Dialog(Outcome),
}

/// Watches for the end of one dialog.
#[derive(Debug)]
pub(super) struct DialogWatcher {
    /// `None` for a request that is not a tool call.
    watch: Option<Watch>,
    transcript: Option<Tail>,
    spool: Option<Spool>,
    status: Status,
    /// The path at which the status file may be.
    status_file: Option<PathBuf>,
    session: String,
}

impl DialogWatcher {
    /// Returns a watcher for this call. It reads the transcript, the status of the process `agent`, and the reports of
    /// other hooks in `spool`. Sources that do not exist are left out.
    pub(super) fn new(call: &HookCall, question: Question, agent: u32, spool: Option<Spool>) -> Self {
        let mut ends = DialogWatcher {
            watch: Watch::new(call, question),
            transcript: call.transcript.as_ref().map(|path| Tail::new(path.into())),
            spool,
            status: Status::default(),
            status_file: call.transcript.as_deref().and_then(|path| status_file(path.as_ref(), agent)),
            session: call.session.clone(),
        };
        // Skip results written before this call started: they belong to an earlier identical call. A new transcript has
        // none.
        drop(ends.written());
        ends
    }

    /// Returns whether the transcript has the call. It will then have the end of the call as well.
    pub(super) fn is_written(&self) -> bool {
        self.watch.as_ref().is_some_and(Watch::is_found)
    }

    /// Returns the ID of the call in the transcript, if it was found.
    pub(super) fn call(&self) -> Option<&str> {
        self.watch.as_ref()?.call()
    }

    /// After a decision was printed, returns whether it counted, if the transcript shows that by now.
    pub(super) fn counted(&mut self) -> Option<CountedDecision> {
        let outcome = self.written()?;
        let is_by_hook = self.watch.as_ref()?.is_by_hook();
        Some(if is_by_hook { CountedDecision::Printed } else { CountedDecision::Dialog(outcome) })
    }

    /// Returns how the dialog ended, if that is known by now.
    pub(super) fn look(&mut self) -> Option<Outcome> {
        let mut outcome = self.written();
        let watch = self.watch.as_ref()?;
        if let Some(spool) = &mut self.spool {
            spool.read(|line| {
                let told = || watch.event(&HookCall::read(line)?);
                outcome = outcome.take().or_else(told);
            });
        }
        // The status comes last, because it does not say how the dialog ended.
        outcome.or_else(|| {
            let file = read(self.status_file.as_deref()?).ok()?;
            self.status.has_ended(&self.session, &file).then(|| watch.gone())?
        })
    }

    /// Reads the new lines of the transcript. Returns how the call ended, if one of them says so.
    fn written(&mut self) -> Option<Outcome> {
        let (watch, transcript) = (self.watch.as_mut()?, self.transcript.as_mut()?);
        let mut outcome = None;
        // Reading continues after an end: it may belong to an earlier call with the same input, and the end of this
        // call follows.
        transcript.read(|line| {
            let ended = watch.line(line);
            outcome = outcome.take().or(ended);
        });
        outcome
    }
}

/// Returns the path of the status file: transcripts are `projects/PROJECT/SESSION.jsonl`, in the same folder as
/// `sessions`.
fn status_file(transcript: &Path, agent: u32) -> Option<PathBuf> {
    let folder = transcript.ancestors().nth(3)?;
    Some(folder.join("sessions").join(Status::file(agent)))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // A status file is much smaller. The bound is for any other file at this path.
    open_regular(path)?.take(limits::READ as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The folder of the files, in that of the sockets.
const FOLDER: &str = "hooks";

/// The file of a hook that waits, until this is dropped.
#[derive(Debug)]
pub(super) struct Spool {
    path: PathBuf,
    tail: Tail,
}

impl Spool {
    /// Makes the file of this process.
    pub(super) fn new(session: &str) -> io::Result<Self> {
        Self::in_folder(&folder()?, session, std::process::id())
    }

    fn in_folder(folder: &Path, session: &str, pid: u32) -> io::Result<Self> {
        let session = plain(session).ok_or(io::ErrorKind::InvalidInput)?;
        let path = folder.join(format!("{session}.{pid}"));
        // The file is truncated, because a killed hook with the same process ID may have left a file behind.
        drop(open_own_as(File::options().write(true).create(true).truncate(true).mode(0o600), &path)?);
        Ok(Spool { tail: Tail::new(path.clone()), path })
    }

    /// Reads the reports since the last time.
    pub(super) fn read(&mut self, each: impl FnMut(&[u8])) {
        self.tail.read(each);
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // Ignore the error: the next hook of the session removes the file.
        drop(fs::remove_file(&self.path));
    }
}

/// Reports this call to the waiting hooks of the same session, if there are any.
pub(super) fn tell(call: &HookCall) {
    // The hook that waits may have been started with another environment.
    let places = Places::here().map(|places| places.all()).unwrap_or_default();
    places.iter().for_each(|place| tell_in(&place.join(FOLDER), call));
}

fn tell_in(folder: &Path, call: &HookCall) {
    let (Some(session), Ok(files)) = (plain(&call.session), fs::read_dir(folder)) else { return };
    for file in files.flatten() {
        let name = file.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(session)?.strip_prefix('.')?.parse().ok());
        match pid {
            // The hook was killed, and could not remove its file.
            Some(pid) if has_ended(pid) => drop(fs::remove_file(file.path())),
            // Ignore the error: a hook without this report reads the transcript.
            Some(_) => drop(add(&file.path(), &call.line())),
            None => {}
        }
    }
}

fn add(path: &Path, line: &str) -> io::Result<()> {
    let mut file = open_own_as(File::options().append(true), path)?;
    // This bounds the file of a hook that does not read its reports.
    if file.metadata()?.len() < limits::TRANSCRIPT_TAIL {
        // The line is one write, so that the lines of hooks that report at once do not mix.
        file.write_all(format!("{line}\n").as_bytes())?;
    }
    Ok(())
}

fn folder() -> io::Result<PathBuf> {
    let folder = discovery::folder().map_err(io::Error::other)?.join(FOLDER);
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    Ok(folder)
}

/// Returns whether a process has ended.
pub(super) fn has_ended(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    // Any error but `ESRCH`, such as `EPERM` for a process of another user, means that the process exists.
    pid.is_none_or(|pid| {
        matches!(rustix::process::test_kill_process(pid), Err(error) if error == rustix::io::Errno::SRCH)
    })
}

/// Returns a session's ID if it can be a part of a file's name. Those of Claude Code are UUIDs.
fn plain(session: &str) -> Option<&str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    ((1..=limits::NAME).contains(&session.len()) && session.bytes().all(is_plain)).then_some(session)
}

/// Follows a file.
#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    /// Where the next byte is read. `None` until the file was found.
    position: Option<u64>,
    /// A line that has no end yet.
    line: Vec<u8>,
    /// Whether the line is skipped: its beginning was not read, or it is too long.
    skips: bool,
}

impl Tail {
    /// Follows the file of this path, which need not exist yet.
    pub(super) fn new(path: PathBuf) -> Self {
        Tail { path, position: None, line: Vec::new(), skips: false }
    }

    /// Reads the lines that were added, and the last ones of the file when it is found. A file that cannot be read has
    /// no lines.
    pub(super) fn read(&mut self, mut each: impl FnMut(&[u8])) {
        // The file is opened each time, because it may not exist yet, or be replaced.
        let Ok(file) = open_regular(&self.path) else { return };
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let position = match self.position {
            // The file is shorter than before: it was rewritten.
            Some(position) if position > length => self.start(0),
            Some(position) => position,
            // A transcript can be long, and the call is near its end.
            None => self.start(length.saturating_sub(limits::TRANSCRIPT_TAIL)),
        };
        self.position = Some(position);
        if position < length {
            // Ignore the error: the rest is read the next time.
            drop(self.add(file, length - position, &mut each));
        }
    }

    fn start(&mut self, position: u64) -> u64 {
        self.line.clear();
        // Reading may begin in the middle of a line, which is then skipped.
        self.skips = position > 0;
        position
    }

    fn add(&mut self, mut file: File, length: u64, each: &mut impl FnMut(&[u8])) -> std::io::Result<()> {
        let position = self.position.unwrap_or_default();
        file.seek(SeekFrom::Start(position))?;
        // A file that grows while it is read must not keep the hook here.
        let mut file = file.take(length);
        let mut bytes = vec![0; limits::READ];
        loop {
            let count = file.read(&mut bytes)?;
            if count == 0 {
                return Ok(());
            }
            // The bytes are counted at once, so that no line is read twice if the next read fails.
            self.position = self.position.map(|position| position + count as u64);
            let mut rest = bytes.get(..count).unwrap_or_default();
            while let Some(end) = memchr(b'\n', rest) {
                self.push(&rest[..end]);
                if !self.skips {
                    each(&self.line);
                }
                self.line.clear();
                self.skips = false;
                rest = &rest[end + 1..];
            }
            self.push(rest);
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.skips |= self.line.len() + bytes.len() > limits::HOOK;
        if self.skips {
            self.line.clear();
        } else {
            self.line.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use serde_json::{Value, json};

    use super::*;
    use crate::limits;

    /// Returns what tells the end of a permission to run `make`, of a session with this transcript.
    fn ends(transcript: &Path) -> DialogWatcher {
        let stdin = json!({
            "session_id": "s", "hook_event_name": "PermissionRequest", "transcript_path": transcript,
            "tool_name": "Bash", "tool_input": { "command": "make" },
        });
        let call = HookCall::read(stdin.to_string().as_bytes()).expect("a call");
        let (question, _) = call.question("q").expect("a question");
        DialogWatcher::new(&call, question, 7, None)
    }

    #[test]
    fn a_permission_given_at_the_keyboard_is_seen_while_its_command_still_runs() {
        let home = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, text).expect("it is written");
            path
        };
        let call = json!({ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "make" } });
        let line = json!({ "type": "assistant", "message": { "role": "assistant", "content": [call] } });
        let transcript = write("projects/p/s.jsonl", &format!("{line}\n"));
        let mut ends = ends(&transcript);
        let status = |status: &str| {
            write("sessions/7.json", &json!({ "sessionId": "s", "status": status }).to_string());
        };
        assert_eq!(ends.look(), None, "there is no status");
        for before in ["busy", "busy", "busy", "waiting", "waiting", "busy"] {
            status(before);
            assert_eq!(ends.look(), None, "{before}");
        }
        let allowed = json!({ "status": "answered", "values": { "q0": "allow" } });
        assert_eq!(ends.look(), Some(serde_json::from_value(allowed).expect("an outcome")));
    }

    #[test]
    fn the_second_call_with_the_same_input_ends_by_its_own_result() {
        let home = tempfile::tempdir().expect("a folder");
        let transcript = home.path().join("s.jsonl");
        let line = |content: Value| {
            json!({ "type": "any", "message": { "role": "any", "content": [content] } }).to_string()
        };
        let used = |id: &str| {
            line(json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": "make" } }))
        };
        let result = |id: &str| line(json!({ "type": "tool_result", "tool_use_id": id, "content": "done" }));
        let mut lines = vec![used("t0"), result("t0"), used("t1")];
        let write =
            |lines: &[String]| fs::write(&transcript, lines.join("\n") + "\n").expect("it is written");
        write(&lines);
        let mut ends = ends(&transcript);
        assert_eq!(ends.look(), None, "that was the end of the first call");
        lines.push(result("t1"));
        write(&lines);
        assert!(matches!(ends.look(), Some(Outcome::Answered(_))));
    }

    fn call(session: &str) -> HookCall {
        let stdin =
            format!(r#"{{"session_id":"{session}","hook_event_name":"Stop","x":"{}"}}"#, "y".repeat(99));
        HookCall::read(stdin.as_bytes()).expect("a call")
    }

    #[test]
    fn those_of_the_same_session_are_told_and_files_of_the_dead_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = std::process::id();
        let mut here = Spool::in_folder(folder.path(), "s-1", own).expect("a file");
        let mut other = Spool::in_folder(folder.path(), "s-1x", own).expect("a file");
        let dead = folder.path().join("s-1.2147483646");
        fs::write(&dead, "").expect("a file");
        tell_in(folder.path(), &call("s-1"));
        let mut told = Vec::new();
        here.read(|line| told.push(serde_json::from_slice::<Value>(line).expect("JSON")));
        assert_eq!(told, [json!({ "hook_event_name": "Stop", "session_id": "s-1" })]);
        other.read(|line| panic!("told {line:?}"));
        assert!(!dead.exists());
        let path = here.path.clone();
        drop(here);
        assert!(!path.exists());
    }

    #[test]
    fn a_link_leads_no_report_to_another_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (other, own) = (folder.path().join("other"), std::process::id());
        fs::write(&other, "text").expect("a file");
        std::os::unix::fs::symlink(&other, folder.path().join(format!("s-1.{own}"))).expect("a link");
        tell_in(folder.path(), &call("s-1"));
        Spool::in_folder(folder.path(), "s-1", own).expect_err("a link");
        assert_eq!(fs::read_to_string(&other).expect("a file"), "text");
    }

    #[test]
    fn a_session_cannot_name_a_file_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        for session in ["", "..", "../x", "a/b", "a.b", "a b", &"x".repeat(limits::NAME + 1)] {
            assert!(Spool::in_folder(folder.path(), session, 1).is_err(), "{session}");
            tell_in(folder.path(), &call(session));
        }
    }

    fn lines(tail: &mut Tail) -> Vec<String> {
        let mut lines = Vec::new();
        tail.read(|line| lines.push(String::from_utf8_lossy(line).into_owned()));
        lines
    }

    #[test]
    fn lines_are_read_once_each_as_they_come_to_their_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t");
        let mut tail = Tail::new(path.clone());
        assert_eq!(lines(&mut tail), [""; 0]);
        let mut file = File::create(&path).expect("a file");
        file.write_all(b"one\ntw").expect("it is written");
        assert_eq!(lines(&mut tail), ["one"]);
        file.write_all(b"o\n\nthree\n").expect("it is written");
        assert_eq!(lines(&mut tail), ["two", "", "three"]);
        assert_eq!(lines(&mut tail), [""; 0]);
        fs::write(&path, "new\n").expect("it is written anew");
        assert_eq!(lines(&mut tail), ["new"]);
    }

    #[test]
    fn a_long_file_is_read_from_near_its_end_and_a_long_line_is_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t");
        let length = usize::try_from(limits::TRANSCRIPT_TAIL).expect("a length");
        let longest = "x".repeat(length);
        fs::write(&path, format!("before\n{longest}\nafter\n")).expect("it is written");
        let mut tail = Tail::new(path.clone());
        assert_eq!(lines(&mut tail), ["after"]);
        let long = "x".repeat(limits::HOOK + 1);
        let mut file = File::options().append(true).open(&path).expect("a file");
        file.write_all(long.as_bytes()).expect("it is written");
        assert_eq!(lines(&mut tail), [""; 0]);
        assert!(tail.line.len() <= limits::HOOK);
        file.write_all(b"\nlast\n").expect("it is written");
        assert_eq!(lines(&mut tail), ["last"]);
    }
}
