//! Copies of the executables, as `cargo install` makes them, because those are what people start. The kernel keeps a file
//! that a linker wrote in single pages, and maps it page by page: each start takes longer then.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// Where the copies are.
static INSTALLED: OnceLock<Installed> = OnceLock::new();

/// The executables that are started.
#[derive(Debug)]
pub(crate) struct Installed {
    folder: PathBuf,
    /// That of the benchmark, which plays all other roles.
    pub(crate) ourselves: PathBuf,
    /// The bridge.
    pub(crate) askbridge: PathBuf,
}

/// Copies the executables, once. The bridge is `program`, or else the one that cargo built with the benchmark.
pub(crate) fn install(program: Option<&Path>) -> io::Result<()> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("relay-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let (ourselves, askbridge) = (folder.join("relay"), folder.join("askbridge"));
    fs::copy(env::current_exe()?, &ourselves)?;
    fs::copy(program.unwrap_or(Path::new(env!("CARGO_BIN_EXE_askbridge"))), &askbridge)?;
    INSTALLED.get_or_init(|| Installed { folder, ourselves, askbridge });
    Ok(())
}

/// Returns the copies.
pub(crate) fn installed() -> io::Result<&'static Installed> {
    INSTALLED.get().ok_or_else(|| io::Error::other("the executables are not installed"))
}

/// Removes the copies.
pub(crate) fn uninstall() -> io::Result<()> {
    fs::remove_dir_all(&installed()?.folder)
}
