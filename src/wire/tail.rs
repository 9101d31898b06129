//! Follows one value through the pieces of a line that is too long to hold, and edits the line where it ends.
//! Where the edit begins is left to [`super::successor`].

use bytes::Bytes;

use super::find::{either, line_end};

/// What becomes of the rest of a long line whose beginning has left. Bytes behind its end pass as they are.
#[derive(Debug, Default)]
pub struct Tail(Stage);

#[derive(Debug, Default)]
enum Stage {
    /// As it came.
    #[default]
    Pass,
    /// A brace is put in behind this value.
    Close(Scan),
    /// What follows this value is left out, to the end of the object that it stands in.
    Open(Scan),
    Skip(Scan),
    /// All of it is left out.
    Drop,
}

impl Tail {
    /// Puts a brace in behind the value that comes first.
    pub(super) fn close() -> Self {
        Tail(Stage::Close(Scan::default()))
    }

    /// Takes the brace behind the value that comes first away, with what stands before it.
    pub(super) fn open() -> Self {
        Tail(Stage::Open(Scan::default()))
    }

    /// Leaves all of the line out that is still to come behind this beginning.
    pub fn drop(beginning: &[u8]) -> Self {
        Tail(if beginning.ends_with(b"\n") { Stage::Pass } else { Stage::Drop })
    }

    /// Edits the next bytes, and hands them on in pieces.
    pub fn edit(&mut self, mut bytes: Bytes, mut to: impl FnMut(Bytes)) {
        if matches!(self.0, Stage::Pass) {
            return to(bytes);
        }
        let end = line_end(&bytes).map(|end| end - 1);
        let mut line = bytes.split_to(end.unwrap_or(bytes.len()));
        while !line.is_empty() {
            self.edit_line(&mut line, &mut to);
        }
        if end.is_some() {
            if matches!(std::mem::take(&mut self.0), Stage::Drop) {
                bytes.split_to(1).clear();
            }
            to(bytes);
        }
    }

    /// Takes as much of the line as belongs to this stage, and moves to the next.
    fn edit_line(&mut self, line: &mut Bytes, to: &mut impl FnMut(Bytes)) {
        match &mut self.0 {
            Stage::Pass => to(std::mem::take(line)),
            Stage::Drop => line.clear(),
            Stage::Close(scan) => match scan.end(line) {
                None => to(std::mem::take(line)),
                Some(end) => {
                    to(line.split_to(end));
                    to(Bytes::from_static(b"}"));
                    self.0 = Stage::Pass;
                }
            },
            Stage::Open(scan) => match scan.end(line) {
                None => to(std::mem::take(line)),
                Some(end) => {
                    to(line.split_to(end));
                    self.0 = Stage::Skip(Scan::inside());
                }
            },
            Stage::Skip(scan) => match scan.end(line) {
                None => line.clear(),
                Some(end) => {
                    drop(line.split_to(end));
                    self.0 = Stage::Pass;
                }
            },
        }
    }
}

/// Finds where a value ends, whatever pieces it comes in.
#[derive(Debug, Default)]
struct Scan {
    depth: u64,
    place: Place,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Place {
    /// White space may come, and then the value.
    #[default]
    Before,
    /// Between the tokens of an object or an array.
    Between,
    String,
    /// Behind a backslash in a string.
    Escape,
    /// In a number or a literal.
    Scalar,
}

impl Scan {
    /// Begins inside of an object.
    fn inside() -> Self {
        Scan { depth: 1, place: Place::Between }
    }

    /// Returns how many of these bytes still belong to the value, if it ends here.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match (&self.place, byte) {
                (Place::Escape, _) => self.place = Place::String,
                (Place::String, b'\\') => self.place = Place::Escape,
                (Place::String, b'"') if self.depth == 0 => return Some(at),
                (Place::String, b'"') => self.place = Place::Between,
                (Place::String, _) => {
                    at += either(b'"', b'\\', &bytes[at..]).unwrap_or(bytes.len() - at);
                }
                (Place::Scalar, b',' | b'}' | b']' | b' ' | b'\t' | b'\r') => return Some(at - 1),
                (Place::Scalar, _) | (Place::Before, b' ' | b'\t' | b'\r') => {}
                (_, b'"') => self.place = Place::String,
                (_, b'{' | b'[') => (self.depth, self.place) = (self.depth + 1, Place::Between),
                (Place::Before, _) => self.place = Place::Scalar,
                (Place::Between, b'}' | b']') => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                (Place::Between, _) => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes out of bytes that come in pieces of this size.
    fn edited(mut tail: Tail, bytes: &str, piece: usize) -> String {
        let mut out = Vec::new();
        for piece in bytes.as_bytes().chunks(piece) {
            tail.edit(Bytes::copy_from_slice(piece), |bytes| out.extend(bytes));
        }
        String::from_utf8(out).expect("text")
    }

    #[track_caller]
    fn check(tail: impl Fn() -> Tail, bytes: &str, expected: &str) {
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(edited(tail(), bytes, piece), expected, "{bytes:?} in pieces of {piece}");
        }
    }

    const VALUES: [&str; 8] = [
        "{}",
        "[[],{\"a\":[\"]}\"]}]",
        "\"}\\\"\\\\\"",
        "null",
        "-1.5e3",
        " \t{\"\\\\\":\"}\"}",
        "\"\"",
        "[{}]",
    ];

    #[test]
    fn a_brace_goes_behind_the_value() {
        for value in VALUES {
            for rest in ["}\n", " , \"id\":\"}\" }\r\nnext {\n", "}", ",\"params\":{}}\n\n"] {
                check(Tail::close, &format!("{value}{rest}"), &format!("{value}}}{rest}"));
            }
        }
    }

    #[test]
    fn what_stands_behind_the_value_in_its_object_goes_away() {
        for value in VALUES {
            for more in ["}", " }", ",\"_meta\":{\"a\":\"}\\\"\"},\"b\":[1,{}] }"] {
                for rest in ["}\n", ",\"id\":7}\nnext }\n", "}"] {
                    check(Tail::open, &format!("{value}{more}{rest}"), &format!("{value}{rest}"));
                }
            }
        }
    }

    #[test]
    fn the_next_line_is_not_touched_wherever_this_one_ends() {
        check(Tail::close, "{\"a\":[\n{\"b\":1}\n", "{\"a\":[\n{\"b\":1}\n");
        check(Tail::open, "{\"a\":\"\n{\"b\":1}}\n", "{\"a\":\"\n{\"b\":1}}\n");
        check(Tail::open, "{} ,\"a\":\n}}\n", "{}\n}}\n");
        check(Tail::close, "\n}\n", "\n}\n");
    }

    #[test]
    fn a_dropped_line_goes_with_its_end() {
        check(|| Tail::drop(b"beginning"), "{\"a\":\"\\n\"} more\nnext\n", "next\n");
        check(|| Tail::drop(b"beginning"), "\nnext\n", "next\n");
        check(|| Tail::drop(b"all of it\n"), "next\n", "next\n");
        check(Tail::default, "as\nit \"came\n", "as\nit \"came\n");
    }
}
