//! Messages with a head that says how long they are.

use std::io::{self, BufRead, Read, Write};

/// The longest message that is read.
const LONGEST: u64 = 1 << 20;

/// Reads a message, or `None` at the end.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or(io::ErrorKind::InvalidData)?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let length = length.filter(|length| *length <= LONGEST).ok_or(io::ErrorKind::InvalidData)?;
    let mut message = Vec::new();
    input.take(length).read_to_end(&mut message)?;
    Ok(Some(message))
}

/// Writes a message.
pub(super) fn write(mut output: impl Write, message: &str) -> io::Result<()> {
    output.write_all(format!("Content-Length: {}\r\n\r\n{message}", message.len()).as_bytes())
}
