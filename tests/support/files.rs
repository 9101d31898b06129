//! Lists the files of a folder of fixtures and its subfolders.
//! Reading them is left to the tests.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Returns the files in a folder of `fixtures` and its subfolders, sorted by path.
pub(crate) fn below(folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder), &mut files);
    files.sort();
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of fixtures") {
        let path = entry.expect("a fixture").path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
