//! The lines that are added to a file, from near its end on. What they say is left to the reader.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::PathBuf,
};

use memchr::memchr;

use crate::{limits, origin::file::open_regular};

/// Follows a file.
#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    /// Where the next byte is read. `None` until the file was found.
    position: Option<u64>,
    /// A line that has no end yet.
    line: Vec<u8>,
    /// Whether the line is passed over: it began before, or it is too long.
    skips: bool,
}

impl Tail {
    /// Follows the file of this path, which need not exist yet.
    pub(super) fn new(path: PathBuf) -> Self {
        Tail { path, position: None, line: Vec::new(), skips: false }
    }

    /// Reads the lines that were added, and the last ones of the file when it is found. A file that cannot be read has
    /// none.
    pub(super) fn read(&mut self, mut each: impl FnMut(&[u8])) {
        let Ok(file) = open_regular(&self.path) else { return };
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let position = match self.position {
            // It was written anew.
            Some(position) if position > length => self.start(0),
            Some(position) => position,
            None => self.start(length.saturating_sub(limits::TRANSCRIPT_TAIL)),
        };
        self.position = Some(position);
        if position < length {
            // What was not read now is read the next time.
            drop(self.add(file, length - position, &mut each));
        }
    }

    fn start(&mut self, position: u64) -> u64 {
        self.line.clear();
        self.skips = position > 0;
        position
    }

    fn add(&mut self, mut file: File, length: u64, each: &mut impl FnMut(&[u8])) -> std::io::Result<()> {
        let position = self.position.unwrap_or_default();
        file.seek(SeekFrom::Start(position))?;
        let mut file = file.take(length);
        let mut bytes = vec![0; limits::READ];
        loop {
            let count = file.read(&mut bytes)?;
            if count == 0 {
                return Ok(());
            }
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

    use super::*;

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
