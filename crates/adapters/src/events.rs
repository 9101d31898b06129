//! Server-sent events: cuts a response body into events, by the HTML standard. What their data means is left to the
//! callers, `opencode/server.rs` and `mcp_http/talk.rs`.
//!
//! An event that is too long is skipped alone. Parsers from the registry either hold any length or end the stream.

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr2;

/// Length of an event's ID, of its name, and of a field's name. A longer one counts as none.
const SHORT: usize = 1024;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its name; empty if it has none.
    pub(crate) name: Vec<u8>,
    /// Its data. `None` if it has none, as an event that only sets the ID or the time.
    pub(crate) data: Option<Bytes>,
    /// The ID that it sets. An empty one takes the ID back.
    pub(crate) id: Option<Vec<u8>>,
    /// The time in milliseconds before another connection.
    pub(crate) retry: Option<u64>,
    /// Whether its data was too long, and was dropped.
    pub(crate) is_cut: bool,
}

/// The fields that have a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Data,
    Name,
    Id,
    Retry,
    Other,
}

/// The part of a line that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The name of the field, or a comment.
    Field,
    /// The space behind the colon, if there is one.
    Space(Field),
    Value(Field),
}

/// Reads events from bytes that come in any pieces.
#[derive(Debug)]
pub(crate) struct EventReader {
    /// The most bytes of an event's data.
    most: usize,
    part: Part,
    /// The name of the field, or a short value.
    text: Vec<u8>,
    /// Whether `text` would have been longer.
    is_long: bool,
    data: BytesMut,
    has_data: bool,
    event: Event,
    /// Whether the last byte was the first of a line end that may have two.
    is_after_return: bool,
    /// Whether this is the first line, which may begin with a byte order mark.
    is_first: bool,
}

impl EventReader {
    pub(crate) fn new(most: usize) -> Self {
        EventReader {
            most,
            part: Part::Field,
            text: Vec::new(),
            is_long: false,
            data: BytesMut::new(),
            has_data: false,
            event: Event::default(),
            is_after_return: false,
            is_first: true,
        }
    }

    /// Returns how many bytes of an unfinished event are held.
    #[cfg(any(feature = "mcp", test))]
    pub(crate) fn held(&self) -> usize {
        self.data.len()
    }

    /// Takes bytes up to the end of the next event. `None` if all bytes were taken, and no event has ended.
    pub(crate) fn read(&mut self, bytes: &mut Bytes) -> Option<Event> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.is_after_return) && bytes.first() == Some(&b'\n') {
                bytes.advance(1);
                continue;
            }
            let end = memchr2(b'\n', b'\r', bytes);
            let line = bytes.split_to(end.unwrap_or(bytes.len()));
            let is_blank = line.is_empty() && self.part == Part::Field && self.text.is_empty();
            self.take(line);
            let Some(first) = end.and_then(|_| bytes.first().copied()) else { continue };
            bytes.advance(1);
            self.is_after_return = first == b'\r';
            if !is_blank || self.is_long {
                self.end_line();
            } else if let Some(event) = self.end_event() {
                return Some(event);
            }
        }
        None
    }

    /// Takes a part of a line.
    fn take(&mut self, mut bytes: Bytes) {
        while !bytes.is_empty() {
            match self.part {
                Part::Field => {
                    let colon = bytes.iter().position(|byte| *byte == b':');
                    let name = bytes.split_to(colon.unwrap_or(bytes.len()));
                    self.keep(&name);
                    if colon.is_some() {
                        bytes.advance(1);
                        self.part = Part::Space(self.field());
                    }
                }
                Part::Space(field) => {
                    if bytes.first() == Some(&b' ') {
                        bytes.advance(1);
                    }
                    self.begin(field);
                }
                Part::Value(Field::Data) => self.add(&std::mem::take(&mut bytes)),
                Part::Value(_) => self.keep(&std::mem::take(&mut bytes)),
            }
        }
    }

    /// Returns the field that has been named, and forgets the name.
    fn field(&mut self) -> Field {
        let name = std::mem::take(&mut self.text);
        let name = if std::mem::take(&mut self.is_first) {
            name.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&name)
        } else {
            &name
        };
        match name {
            _ if std::mem::take(&mut self.is_long) => Field::Other,
            b"data" => Field::Data,
            b"event" => Field::Name,
            b"id" => Field::Id,
            b"retry" => Field::Retry,
            _ => Field::Other,
        }
    }

    fn begin(&mut self, field: Field) {
        self.part = Part::Value(field);
        // By the standard, a newline joins the lines of data.
        if field == Field::Data && std::mem::replace(&mut self.has_data, true) {
            self.add(b"\n");
        }
    }

    fn add(&mut self, data: &[u8]) {
        if self.data.len() + data.len() > self.most {
            self.event.is_cut = true;
            self.data = BytesMut::new();
        }
        if !self.event.is_cut {
            self.data.extend_from_slice(data);
        }
    }

    fn keep(&mut self, text: &[u8]) {
        self.is_long |= self.text.len() + text.len() > SHORT;
        if self.is_long {
            self.text.clear();
        } else {
            self.text.extend_from_slice(text);
        }
    }

    fn end_line(&mut self) {
        let field = match self.part {
            // A line without a colon is a field without a value.
            Part::Field => {
                let field = self.field();
                self.begin(field);
                field
            }
            Part::Space(field) => {
                self.begin(field);
                field
            }
            Part::Value(field) => field,
        };
        self.part = Part::Field;
        let (value, is_long) = (std::mem::take(&mut self.text), std::mem::take(&mut self.is_long));
        match field {
            Field::Name if !is_long => self.event.name = value,
            Field::Id if !is_long && !value.contains(&0) => self.event.id = Some(value),
            Field::Retry if value.iter().all(u8::is_ascii_digit) => {
                let time = std::str::from_utf8(&value).ok().and_then(|digits| digits.parse().ok());
                self.event.retry = time.or(self.event.retry);
            }
            _ => {}
        }
    }

    /// Returns the event that a blank line has ended, unless it sets nothing.
    fn end_event(&mut self) -> Option<Event> {
        self.is_first = false;
        let mut event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) && !event.is_cut {
            event.data = Some(std::mem::take(&mut self.data).freeze());
        }
        let sets = event.data.is_some() || event.is_cut || event.id.is_some() || event.retry.is_some();
        sets.then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(most: usize, pieces: &[&[u8]]) -> Vec<Event> {
        let (mut reader, mut events) = (EventReader::new(most), Vec::new());
        for piece in pieces {
            let mut bytes = Bytes::copy_from_slice(piece);
            while let Some(event) = reader.read(&mut bytes) {
                events.push(event);
            }
        }
        events
    }

    fn data(text: &str) -> Event {
        Event { data: Some(Bytes::copy_from_slice(text.as_bytes())), ..Event::default() }
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let text = concat!(
            "\u{feff}data: first\n\n: a comment\r\n\r\nid: 1\rdata: {\"a\":1}\r\revent: x\ndata:one\ndata:  two\r\n\r\n\n",
            "id: 2\ndata:\n\nretry: 1500\n\nretry: soon\nid: a\0b\n\ndata\n\nid\n\nother: 1\nDATA: x\n\n",
            "event: lost\n\nid:3\ndata: €\n\ndata: unfinished",
        )
        .as_bytes();
        let expected = [
            data("first"),
            Event { id: Some(b"1".to_vec()), ..data("{\"a\":1}") },
            Event { name: b"x".to_vec(), ..data("one\n two") },
            Event { id: Some(b"2".to_vec()), ..data("") },
            Event { retry: Some(1500), ..Event::default() },
            data(""),
            Event { id: Some(Vec::new()), ..Event::default() },
            Event { id: Some(b"3".to_vec()), ..data("€") },
        ];
        for size in 1..=text.len() {
            let pieces: Vec<_> = text.chunks(size).collect();
            assert_eq!(read(100, &pieces), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn what_is_too_long_is_skipped_alone() {
        let cut = Event { is_cut: true, ..Event::default() };
        // In one line, in many, and in pieces.
        let lines = "data: 1234\n".repeat(4);
        for long in ["data: 12345678901", &lines] {
            let text = format!("{long}\n\ndata: next\n\n");
            for size in 1..=text.len() {
                let pieces: Vec<_> = text.as_bytes().chunks(size).collect();
                assert_eq!(read(10, &pieces), [cut.clone(), data("next")], "{long} in pieces of {size}");
            }
        }
        let long = "x".repeat(SHORT + 1);
        for field in [&*long, &format!("id: {long}"), &format!("{long}: 1"), &format!("event:{long}")] {
            assert_eq!(
                read(10, &[format!("{field}\ndata: a\n\n").as_bytes()]),
                [data("a")],
                "{}",
                &field[..9]
            );
        }
    }

    #[test]
    fn a_long_event_is_read_once() {
        let mut reader = EventReader::new(1 << 24);
        let mut bytes = Bytes::from(vec![b'x'; 1 << 14]);
        assert_eq!(reader.read(&mut Bytes::from_static(b"data:")), None);
        for count in 1..=64 {
            assert_eq!(reader.read(&mut bytes.clone()), None);
            assert_eq!(reader.held(), count << 14);
        }
        bytes.truncate(0);
        let event = reader.read(&mut Bytes::from_static(b"\n\n")).expect("an event");
        assert_eq!((event.data.map(|data| data.len()), reader.held()), (Some(1 << 20), 0));
    }
}
