//! The file of the running program, for processes of this program that start further ones.

use std::{env, io, path::PathBuf};

/// Returns the path of the running program, even if a newer version has replaced its file.
pub fn own() -> io::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if running.symlink_metadata().is_ok() { Ok(running) } else { env::current_exe() }
}
