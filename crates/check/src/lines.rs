//! Hostile lines, as files of the folder `lines`: lines that a careless program would change, or would not survive.
//! Steps write and expect them by name, and each makes a case of its own, in `library.rs`.

use rust_embed::Embed;

/// The files, in the program, or in a debug build from the source folder.
#[derive(Embed)]
#[folder = "lines"]
struct Lines;

/// Returns the names of all lines.
pub(crate) fn names() -> impl Iterator<Item = String> {
    // A file of git's lies beside the lines.
    Lines::iter().filter(|name| !name.starts_with('.')).map(String::from)
}

/// Returns a line, with its line feed if it has one.
pub(crate) fn line(name: &str) -> Option<Vec<u8>> {
    Lines::get(name).map(|file| file.data.into_owned())
}
