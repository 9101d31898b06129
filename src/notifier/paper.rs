//! A file that has a question as JSON, for a program of the person's: only its owner can read it, and it is removed
//! when the program has ended.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use crate::desk::Record;

/// The file, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct QuestionFile(PathBuf);

impl QuestionFile {
    /// Writes a question into a new file of this folder, which only its owner can enter.
    pub(super) fn write(folder: &Path, record: &Record) -> io::Result<Self> {
        let paper = QuestionFile(folder.join(format!("notify-{}-{}.json", record.id, std::process::id())));
        let json = serde_json::to_vec(record)?;
        // One that a process with our number left behind when it was killed.
        drop(fs::remove_file(&paper.0));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&paper.0)?;
        file.write_all(&json)?;
        Ok(paper)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for QuestionFile {
    fn drop(&mut self) {
        // An error says that it was removed already.
        drop(fs::remove_file(&self.0));
    }
}
