//! Where a permission about files really leads, as the kernel has it: a judge of what rules allow. Nothing here is taken from
//! the code that is judged.

use std::{
    fs::{self, OpenOptions},
    os::{fd::AsRawFd, unix::fs::OpenOptionsExt},
    path::{Path, PathBuf},
};

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
