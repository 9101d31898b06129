//! Further processes of this program, which the running one starts, and how many files the running one may open.

use std::{
    env,
    ffi::OsStr,
    io,
    path::PathBuf,
    process::{Command, Stdio},
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Returns the command that runs this program with these arguments, in no folder that somebody may want to remove. It
/// inherits no stdio: the stdin and stdout of a bridge belong to the protocol (I5).
pub fn command(args: impl IntoIterator<Item: AsRef<OsStr>>) -> io::Result<Command> {
    let mut command = Command::new(own()?);
    command.args(args).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// Lets this process open as many files, connections included, as its user may allow: many systems begin with 1,024. Where
/// that is refused, the number stays.
pub fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap_or_default();
}

/// Returns the path of the running program, even if a newer version has replaced its file.
fn own() -> io::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if running.symlink_metadata().is_ok() { Ok(running) } else { env::current_exe() }
}
