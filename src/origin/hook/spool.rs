//! How a hook that runs after a tool call reaches those that still wait: each of them has a file in the folder of the
//! sockets, to which the other adds a line.

use std::{
    fs::{self, DirBuilder, File},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use super::tail::Tail;
use crate::{dialect::claude::HookCall, limits, machine::discovery, origin::file::open_regular_as};

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
        drop(open_regular_as(File::options().write(true).create(true).truncate(true).mode(0o600), &path)?);
        Ok(Spool { tail: Tail::new(path.clone()), path })
    }

    /// Reads what was told since the last time.
    pub(super) fn read(&mut self, each: impl FnMut(&[u8])) {
        self.tail.read(each);
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // Where it cannot be removed, the next hook of the session does.
        drop(fs::remove_file(&self.path));
    }
}

/// Tells the hooks of the same session that wait what happened. Without any, this does nothing.
pub(super) fn tell(call: &HookCall) {
    if let Ok(folder) = folder() {
        tell_in(&folder, call);
    }
}

fn tell_in(folder: &Path, call: &HookCall) {
    let (Some(session), Ok(files)) = (plain(&call.session), fs::read_dir(folder)) else { return };
    for file in files.flatten() {
        let name = file.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(session)?.strip_prefix('.')?.parse().ok());
        match pid {
            // The hook was killed.
            Some(pid) if has_ended(pid) => drop(fs::remove_file(file.path())),
            // A hook that cannot be told learns of it from the transcript.
            Some(_) => drop(add(&file.path(), &call.line())),
            None => {}
        }
    }
}

fn add(path: &Path, line: &str) -> io::Result<()> {
    let mut file = open_regular_as(File::options().append(true), path)?;
    if file.metadata()?.len() < limits::TRANSCRIPT_TAIL {
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
    // A process of another user cannot be looked at, but it is there.
    pid.is_none_or(|pid| {
        matches!(rustix::process::test_kill_process(pid), Err(error) if error == rustix::io::Errno::SRCH)
    })
}

/// Returns a session's ID if it can be a part of a file's name. Those of Claude Code are UUIDs.
fn plain(session: &str) -> Option<&str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    ((1..=limits::NAME).contains(&session.len()) && session.bytes().all(is_plain)).then_some(session)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

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
    fn a_session_cannot_name_a_file_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        for session in ["", "..", "../x", "a/b", "a.b", "a b", &"x".repeat(limits::NAME + 1)] {
            assert!(Spool::in_folder(folder.path(), session, 1).is_err(), "{session}");
            tell_in(folder.path(), &call(session));
        }
    }
}
