//! Messages with a head that says how long they are, as language servers have them.

use std::io;

use memchr::memmem;
use tokio_util::{
    bytes::{Buf, BufMut, BytesMut},
    codec::{Decoder, Encoder},
};

use crate::limits;

/// Cuts a stream into messages, and writes messages with their head.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// The length of the message whose head was read.
    length: Option<usize>,
}

/// What ends the head.
const END: &[u8] = b"\r\n\r\n";

impl Decoder for Frames {
    type Item = BytesMut;
    type Error = io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> io::Result<Option<BytesMut>> {
        let length = match self.length {
            Some(length) => length,
            None => {
                let Some(end) = memmem::find(bytes, END) else {
                    return match bytes.len() > limits::COPILOT_HEAD {
                        true => Err(invalid("the head of a message is too long")),
                        false => Ok(None),
                    };
                };
                let length = length(&bytes[..end])?;
                bytes.advance(end + END.len());
                *self.length.insert(length)
            }
        };
        if bytes.len() < length {
            return Ok(None);
        }
        self.length = None;
        Ok(Some(bytes.split_to(length)))
    }
}

impl Encoder<Vec<u8>> for Frames {
    type Error = io::Error;

    fn encode(&mut self, message: Vec<u8>, bytes: &mut BytesMut) -> io::Result<()> {
        bytes.put_slice(format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes());
        bytes.put_slice(&message);
        Ok(())
    }
}

fn length(head: &[u8]) -> io::Result<usize> {
    let head = std::str::from_utf8(head).map_err(|_| invalid("the head of a message is not text"))?;
    let lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let mut lengths = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = lengths.next().and_then(|(_, length)| length.trim().parse().ok());
    let length = length.ok_or_else(|| invalid("the head of a message has no length"))?;
    if length > limits::COPILOT_MESSAGE {
        return Err(invalid("a message is too long"));
    }
    Ok(length)
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(text: &[u8], size: usize) -> io::Result<Vec<String>> {
        let (mut frames, mut bytes, mut messages) = (Frames::default(), BytesMut::new(), Vec::new());
        for piece in text.chunks(size) {
            bytes.put_slice(piece);
            while let Some(message) = frames.decode(&mut bytes)? {
                messages.push(String::from_utf8(message.to_vec()).expect("text"));
            }
        }
        Ok(messages)
    }

    #[test]
    fn messages_are_read_however_they_are_cut() {
        let text = b"Content-Length: 2\r\n\r\n{}content-type: x\r\ncontent-length:3\r\n\r\n[1]Content-Length: 0\r\n\r\n";
        for size in 1..text.len() {
            assert_eq!(decode(text, size).expect("messages"), ["{}", "[1]", ""], "in pieces of {size}");
        }
    }

    #[test]
    fn a_message_is_written_with_its_length() {
        let mut bytes = BytesMut::new();
        Frames::default().encode(b"{\"a\":1}".to_vec(), &mut bytes).expect("room");
        assert_eq!(&bytes[..], b"Content-Length: 7\r\n\r\n{\"a\":1}");
    }

    #[test]
    fn heads_without_a_length_or_beyond_the_limits_are_refused() {
        let long = format!("Content-Length: {}\r\n\r\n", limits::COPILOT_MESSAGE + 1);
        let endless = vec![b'x'; limits::COPILOT_HEAD + 1];
        for text in
            [&b"HTTP/1.1 200 OK\r\n\r\n"[..], b"Content-Length: -1\r\n\r\n", long.as_bytes(), &endless]
        {
            assert!(decode(text, 64).is_err(), "{:?}", String::from_utf8_lossy(text));
        }
    }
}
