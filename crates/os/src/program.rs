//! Further processes of this program, which the running one starts.

use std::{
    env,
    ffi::OsStr,
    io,
    path::PathBuf,
    process::{Command, Stdio},
};

/// Returns the command that runs this program with these arguments, in no folder that somebody may want to remove. It
/// inherits no stdio: the stdin and stdout of a bridge belong to the protocol (I5).
pub fn command(args: impl IntoIterator<Item: AsRef<OsStr>>) -> io::Result<Command> {
    let mut command = Command::new(own()?);
    command.args(args).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// Returns the path of the running program, even if a newer version has replaced its file.
fn own() -> io::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if running.symlink_metadata().is_ok() { Ok(running) } else { env::current_exe() }
}
