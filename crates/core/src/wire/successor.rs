//! The envelope that a proxy and its conductor put around each message to and from the agent:
//! `{"method":"proxy/successor","params":{"method":…,"params":…}}`. Wraps and unwraps whole lines, and the beginning of
//! a line that is too long to hold; [`Tail`] then edits the rest of that line, piece by piece.
//!
//! The id, the method and the parameters keep their bytes; other members of a message are not part of JSON-RPC, and are
//! dropped. Which peer sent a message is left to `acp::component`.

use bytes::Bytes;
use memchr::{memchr, memchr2};

use super::{
    envelope::is_json,
    scan::{Members, Text},
};

/// How the conductor spells the methods that it shares with its proxies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// `proxy/…`, since version 5.0.
    #[default]
    Plain,
    /// `_proxy/…`, as an extension.
    Underscored,
}

impl Spelling {
    /// Both, the current one first.
    pub const ALL: [Spelling; 2] = [Spelling::Plain, Spelling::Underscored];

    /// The method that replaces `initialize` for a proxy that has a successor.
    pub fn initialize(self) -> &'static str {
        match self {
            Spelling::Plain => "proxy/initialize",
            Spelling::Underscored => "_proxy/initialize",
        }
    }

    /// The method of the envelope.
    pub fn successor(self) -> &'static str {
        match self {
            Spelling::Plain => "proxy/successor",
            Spelling::Underscored => "_proxy/successor",
        }
    }
}

/// The parts of a call, each as its own bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Parts<'a> {
    id: Option<&'a [u8]>,
    method: Option<&'a [u8]>,
    params: Option<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// Reads the members of a complete object. `None` if one of the parts is duplicated.
    fn read(object: &'a [u8]) -> Option<Self> {
        let mut parts = Parts::default();
        let mut members = Members::enter(object).ok()?;
        while let Some(key) = members.key().ok()? {
            parts.take(key, members.value().ok()?)?;
        }
        Some(parts)
    }

    /// Reads the members before `params`. Also returns the offset right behind the key `params` and its colon.
    fn read_beginning(object: &'a [u8]) -> Option<(Self, usize)> {
        let mut parts = Parts::default();
        let mut members = Members::enter(object).ok()?;
        while let Some(key) = members.key().ok()? {
            if key.is("params") {
                return Some((parts, members.position()));
            }
            parts.take(key, members.value().ok()?)?;
        }
        None
    }

    fn take(&mut self, key: Text<'_>, value: &'a [u8]) -> Option<()> {
        let twice = match key {
            key if key.is("id") => self.id.replace(value),
            key if key.is("method") => self.method.replace(value),
            key if key.is("params") => self.params.replace(value),
            _ => None,
        };
        twice.is_none().then_some(())
    }
}

/// Puts the envelope around a whole call. `None` if the line is not a call.
pub fn wrap(line: &[u8], spelling: Spelling) -> Option<Bytes> {
    // The cursor checks too little: it would also take apart a line that is not JSON.
    let call = is_json(line).then(|| Parts::read(line))??;
    let mut out = begin_envelope(call, spelling)?;
    if let Some(params) = call.params {
        out.extend_from_slice(PARAMS);
        out.extend_from_slice(params);
    }
    out.extend_from_slice(b"}}\n");
    Some(out.into())
}

/// Takes the envelope off a whole call. `None` if it has no envelope.
pub fn unwrap(line: &[u8]) -> Option<Bytes> {
    let envelope = is_json(line).then(|| Parts::read(line))??;
    let call = Parts::read(envelope.params?)?;
    // The envelope has the ID, and the call inside has none.
    let mut out = begin(envelope.id, call.method?);
    if let Some(params) = call.params {
        out.extend_from_slice(PARAMS);
        out.extend_from_slice(params);
    }
    out.extend_from_slice(b"}\n");
    Some(out.into())
}

/// The same as [`wrap`] for a call that is too long to hold. Also returns the [`Tail`] that edits the rest of its line.
/// `None` if the method does not come before the parameters, or the beginning does not reach them.
pub fn wrap_beginning(line: &[u8], spelling: Spelling) -> Option<(Bytes, Tail)> {
    let (call, params) = Parts::read_beginning(line)?;
    let mut out = begin_envelope(call, spelling)?;
    out.extend_from_slice(PARAMS);
    Some(follow(out, &line[params..], Tail::close()))
}

/// The same as [`unwrap`] for a call that is too long to hold, under the rule of [`wrap_beginning`].
pub fn unwrap_beginning(line: &[u8]) -> Option<(Bytes, Tail)> {
    let (envelope, inner) = Parts::read_beginning(line)?;
    let inner = &line[inner..];
    let (call, params) = Parts::read_beginning(inner)?;
    let mut out = begin(envelope.id, call.method?);
    out.extend_from_slice(PARAMS);
    Some(follow(out, &inner[params..], Tail::open()))
}

const PARAMS: &[u8] = b",\"params\":";

/// Writes a call up to its method.
fn begin(id: Option<&[u8]>, method: &[u8]) -> Vec<u8> {
    let id = id.map(|id| [b"\"id\":", id, b","].concat()).unwrap_or_default();
    [b"{\"jsonrpc\":\"2.0\",", &id[..], b"\"method\":", method].concat()
}

/// Writes the envelope of a call up to the method inside of it.
fn begin_envelope(call: Parts<'_>, spelling: Spelling) -> Option<Vec<u8>> {
    let mut out = begin(call.id, format!("\"{}\"", spelling.successor()).as_bytes());
    out.extend_from_slice(PARAMS);
    out.extend_from_slice(b"{\"method\":");
    out.extend_from_slice(call.method?);
    Some(out)
}

fn follow(mut out: Vec<u8>, rest: &[u8], mut tail: Tail) -> (Bytes, Tail) {
    tail.edit(Bytes::copy_from_slice(rest), |bytes| out.extend_from_slice(&bytes));
    (out.into(), tail)
}

/// Edits the rest of a long line whose beginning was already forwarded. Bytes behind the end of the line pass
/// unchanged.
#[derive(Debug, Default)]
pub struct Tail(Stage);

#[derive(Debug, Default)]
enum Stage {
    /// The rest passes unchanged.
    #[default]
    Pass,
    /// A brace is inserted after this value.
    Close(Scan),
    /// The members after this value are dropped, up to the end of the object that contains it.
    Open(Scan),
    Skip(Scan),
    /// The rest is dropped.
    Drop,
}

impl Tail {
    /// Inserts a brace behind the first value, which ends the parameters of the envelope.
    pub(super) fn close() -> Self {
        Tail(Stage::Close(Scan::default()))
    }

    /// Removes the brace that ends the object around the first value, and the members before that brace.
    pub(super) fn open() -> Self {
        Tail(Stage::Open(Scan::default()))
    }

    /// Drops all of the line that follows this beginning.
    pub fn drop(beginning: &[u8]) -> Self {
        Tail(if beginning.ends_with(b"\n") { Stage::Pass } else { Stage::Drop })
    }

    /// Edits the next bytes, and hands them on in pieces.
    pub fn edit(&mut self, mut bytes: Bytes, mut to: impl FnMut(Bytes)) {
        if matches!(self.0, Stage::Pass) {
            return to(bytes);
        }
        let end = memchr(b'\n', &bytes);
        let mut line = bytes.split_to(end.unwrap_or(bytes.len()));
        while !line.is_empty() {
            self.edit_line(&mut line, &mut to);
        }
        if end.is_some() {
            if matches!(std::mem::take(&mut self.0), Stage::Drop) {
                // The terminator is a part of the dropped line.
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

/// Finds the end of a value that arrives in pieces of any size.
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

    /// Returns how many of these bytes still belong to the value, if it ends among them.
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
                    at += memchr2(b'"', b'\\', &bytes[at..]).unwrap_or(bytes.len() - at);
                }
                // This byte ends the value, but does not belong to it.
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

    const LINES: [(&str, &str); 5] = [
        (
            r#"{"jsonrpc":"2.0","id":"a","method":"session/new","params":{"cwd":"/","n":1.50}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"proxy/successor","params":{"method":"session/new","params":{"cwd":"/","n":1.50}}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"proxy/successor","params":{"method":"x"}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"x\/y","params":null}"#,
            r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"x\/y","params":null}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"","params":[ 1 , 2 ]}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"proxy/successor","params":{"method":"","params":[ 1 , 2 ]}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1e400,"method":"x","params":{"a":1,"a":"\ud800"}}"#,
            r#"{"jsonrpc":"2.0","id":1e400,"method":"proxy/successor","params":{"method":"x","params":{"a":1,"a":"\ud800"}}}"#,
        ),
    ];

    fn line(text: &str) -> Option<Bytes> {
        Some(format!("{text}\n").into())
    }

    #[test]
    fn an_envelope_goes_around_a_call_and_off_it() {
        for (plain, wrapped) in LINES {
            assert_eq!(wrap(plain.as_bytes(), Spelling::Plain), line(wrapped));
            assert_eq!(unwrap(wrapped.as_bytes()), line(plain));
            let underscored = wrapped.replacen("proxy/", "_proxy/", 1);
            assert_eq!(wrap(format!("{plain}\r\n").as_bytes(), Spelling::Underscored), line(&underscored));
            assert_eq!(unwrap(format!(" {underscored}\n").as_bytes()), line(plain));
        }
    }

    #[test]
    fn the_order_of_the_members_does_not_matter_in_a_whole_line() {
        let plain = line(r#"{"jsonrpc":"2.0","id":5,"method":"x","params":{}}"#);
        let odd = r#"{ "params" : {"_meta":{"method":"y"},"params":{},"m\u0065thod":"x"} ,"more":1,"id":5 }"#;
        assert_eq!(unwrap(odd.as_bytes()), plain);
        let odd = r#"{"params":{}, "id":5,"method":"x"}"#;
        assert_eq!(wrap(odd.as_bytes(), Spelling::Plain).as_deref().and_then(unwrap), plain);
    }

    #[test]
    fn what_is_no_call_gets_no_envelope() {
        for text in ["", "\n", "x", "[]", "{}", r#"{"id":1,"result":{}}"#, r#"{"method":"a","method":"b"}"#] {
            assert_eq!(wrap(text.as_bytes(), Spelling::Plain), None, "{text}");
        }
        assert_eq!(wrap(br#"{"method":"a","params":{]}"#, Spelling::Plain), None);
        for params in
            ["", r#","params":[]"#, r#","params":{"params":{}}"#, r#","params":{"method":"a","method":"b"}"#]
        {
            let text = format!(r#"{{"id":1,"method":"proxy/successor"{params}}}"#);
            assert_eq!(unwrap(text.as_bytes()), None, "{text}");
        }
    }

    /// The form of a long line that is known up to this place.
    fn in_two(edit: impl Fn(&[u8]) -> Option<(Bytes, Tail)>, text: &str, at: usize) -> Option<Vec<u8>> {
        let (beginning, mut tail) = edit(&text.as_bytes()[..at])?;
        let mut out = beginning.to_vec();
        tail.edit(Bytes::copy_from_slice(&text.as_bytes()[at..]), |bytes| out.extend(bytes));
        Some(out)
    }

    #[test]
    fn a_long_line_becomes_the_same_wherever_its_beginning_ends() {
        for (plain, wrapped) in LINES.into_iter().filter(|(plain, _)| plain.contains("params")) {
            let (plain, wrapped) = (format!("{plain}\n"), format!("{wrapped}\n"));
            for at in plain.find("\"params\":").expect("params") + 9..=plain.len() {
                let out = in_two(|line| wrap_beginning(line, Spelling::Plain), &plain, at);
                assert_eq!(out.as_deref(), Some(wrapped.as_bytes()), "{plain} cut at {at}");
            }
            for at in wrapped.rfind("\"params\":").expect("params") + 9..=wrapped.len() {
                let out = in_two(unwrap_beginning, &wrapped, at);
                assert_eq!(out.as_deref(), Some(plain.as_bytes()), "{wrapped} cut at {at}");
            }
        }
    }

    #[test]
    fn an_id_may_stand_behind_the_parameters_of_a_long_line() {
        let plain = "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":[]},\"id\":3}\n";
        let wrapped =
            in_two(|line| wrap_beginning(line, Spelling::Plain), plain, plain.len() - 15).expect("a call");
        assert_eq!(
            String::from_utf8_lossy(&wrapped),
            "{\"jsonrpc\":\"2.0\",\"method\":\"proxy/successor\",\"params\":{\"method\":\"x\",\"params\":{\"a\":[]}},\"id\":3}\n"
        );
        let wrapped = String::from_utf8(wrapped).expect("text");
        assert_eq!(in_two(unwrap_beginning, &wrapped, wrapped.len() - 17).as_deref(), Some(plain.as_bytes()));
    }

    #[test]
    fn a_beginning_that_does_not_tell_is_not_touched() {
        for text in [
            "",
            "{",
            r#"{"params":{"a":"#,
            r#"{"method":"x","id":"long"#,
            r#"{"method":"x","method":"x","params":{"#,
        ] {
            assert!(wrap_beginning(text.as_bytes(), Spelling::Plain).is_none(), "{text}");
        }
        for params in [r#"{"params":{"a":"#, r#"{"method":"x","_meta":{"a":"#, "[", ""] {
            let text = format!(r#"{{"method":"proxy/successor","params":{params}"#);
            assert!(unwrap_beginning(text.as_bytes()).is_none(), "{text}");
        }
    }

    /// The output for bytes that arrive in pieces of this size.
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
