//! The JSON-RPC envelope of a line. [`peek`] reads as little as it takes to tell ordinary lines from the others;
//! [`Message`] borrows the parts of a line that is intercepted. A line that is not understood is no error: it is
//! opaque, and is forwarded unchanged.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::value::RawValue;

use super::scan::{self, Members, Stop, Text};

/// A value that counts as absent.
const NULL: &[u8] = b"null";

/// The class of a line, by its first members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Envelope<'a> {
    /// A request or a notification, with its first `method`.
    Call(Text<'a>),
    /// A response, with the JSON text of its ID.
    Response(&'a str),
    /// An array: a batch. It is forwarded whole.
    Batch,
    /// Not a JSON-RPC message.
    Opaque,
    /// The bytes end before the class is clear. A whole line of this class is not a message.
    Undecided,
}

/// Returns the class of a line, or of a prefix of one. Reading stops as soon as the class is clear: `method` decides
/// for a request or a notification, an ID with `result` or `error` for a response. A `method` that is `null` counts as
/// absent. Of two IDs before that, the last counts.
///
/// On a valid JSON document, the class agrees with that of a full parser that reads the members in order. On anything
/// else, it may be a call with the method that the line begins with: a caller that acts on it reads the whole line
/// first.
#[inline]
pub fn peek(line: &[u8]) -> Envelope<'_> {
    if let Some(usual) = usual(line) {
        return usual;
    }
    decide(line).unwrap_or_else(|stop| match stop {
        Stop::Short => Envelope::Undecided,
        Stop::Bad if starts_batch(line) => Envelope::Batch,
        Stop::Bad => Envelope::Opaque,
    })
}

/// The fast path for nearly every message: no white space, and the ID before all other members but `jsonrpc`, which
/// Codex leaves out. It returns what [`decide`] would return, in a third of the time.
#[inline(always)]
fn usual(line: &[u8]) -> Option<Envelope<'_>> {
    let first = line.strip_prefix(br#"{"jsonrpc":"2.0","#).or_else(|| line.strip_prefix(b"{"))?;
    let Some(id) = first.strip_prefix(br#""id":"#) else { return usual_call(first) };
    let rest = scan::behind_digits(id).or_else(|| behind_string(id))?;
    let (id, rest) = (&id[..id.len() - rest.len()], rest.strip_prefix(b",")?);
    usual_call(rest).or_else(|| usual_response(id, rest))
}

#[inline(always)]
fn usual_call(rest: &[u8]) -> Option<Envelope<'_>> {
    scan::leading_string(rest.strip_prefix(br#""method":"#)?).ok().map(Envelope::Call)
}

#[inline(never)]
fn usual_response<'a>(id: &'a [u8], rest: &[u8]) -> Option<Envelope<'a>> {
    let responds = rest.starts_with(br#""result":"#) || rest.starts_with(br#""error":"#);
    std::str::from_utf8(id).ok().filter(|_| responds).map(Envelope::Response)
}

#[inline(never)]
fn behind_string(bytes: &[u8]) -> Option<&[u8]> {
    scan::leading_string(bytes).ok().map(|string| &bytes[string.len()..])
}

#[inline(never)]
fn decide(line: &[u8]) -> Result<Envelope<'_>, Stop> {
    let mut members = Members::enter(line)?;
    let mut id = None;
    let mut responds = false;
    while let Some(key) = members.key()? {
        if key.is("method") {
            if members.value_start()? != b'n' {
                return Ok(Envelope::Call(members.string()?));
            }
            // Agents whose parser has an optional `method` take `null` for none: such a line may be a response.
            if members.value()? != NULL {
                return Err(Stop::Bad);
            }
            continue;
        }
        if key.is("id") {
            id = Some(members.value()?);
        } else if key.is("result") || key.is("error") {
            responds = true;
        }
        match id {
            Some(id) if responds => {
                return std::str::from_utf8(id).map(Envelope::Response).map_err(|_| Stop::Bad);
            }
            // The value of the ID was read above.
            Some(_) if key.is("id") => {}
            _ => {
                members.value()?;
            }
        }
    }
    Ok(Envelope::Opaque)
}

fn starts_batch(line: &[u8]) -> bool {
    line.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) == Some(&b'[')
}

/// Returns the ID of the request that a whole line responds to. Of duplicated members, the last counts. `None` if the
/// line has no result and no error. Beside a method, one of these must not be null: agents may treat such a line as a
/// response, and some clients write every member into every message.
pub fn responds_to(line: &[u8]) -> Option<&str> {
    let mut members = Members::enter(line).ok()?;
    let (mut id, mut calls, mut empty, mut full) = (None, false, false, false);
    while let Some(key) = members.key().ok()? {
        let value = members.value().ok()?;
        if key.is("id") {
            id = Some(value);
        } else if key.is("method") {
            calls = value != NULL;
        } else if key.is("result") || key.is("error") {
            *(if value == NULL { &mut empty } else { &mut full }) = true;
        }
    }
    std::str::from_utf8(id?).ok().filter(|_| full || (empty && !calls))
}

/// Returns whether a line is one JSON document. Bytes that are not UTF-8 are tolerated inside strings, and so is a byte
/// order mark before the document.
pub fn is_json(line: &[u8]) -> bool {
    let line = line.strip_prefix(scan::BOM).unwrap_or(line);
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

/// The parts of one message, borrowed from its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message<'a> {
    /// The method, unescaped.
    pub method: Option<Cow<'a, str>>,
    /// The id's own text.
    pub id: Option<&'a str>,
    /// The bytes of `params`, or the first of them if the line is only a prefix.
    pub params: Option<&'a [u8]>,
    /// The bytes of `result`, under the same rule.
    pub result: Option<&'a [u8]>,
    /// The bytes of `error`, under the same rule.
    pub error: Option<&'a [u8]>,
}

impl<'a> Message<'a> {
    /// Reads a whole line. `None` if it is not valid JSON, not an object, or repeats one of its parts: such a line is
    /// ambiguous.
    ///
    /// Bytes that are not UTF-8 are tolerated inside strings, as agents tolerate them.
    pub fn read(line: &'a [u8]) -> Option<Self> {
        Message::read_usual(line).or_else(|| if is_json(line) { Message::read_prefix(line) } else { None })
    }

    /// The fast path for nearly every message: an object in UTF-8 whose parts have the types that JSON-RPC requires. It
    /// returns what [`Message::read_prefix`] would return for the same line, in one pass with the check that the line
    /// is JSON.
    fn read_usual(line: &'a [u8]) -> Option<Self> {
        // Without this check, serde would read a list as the parts in their order.
        let object = line.first().filter(|byte| **byte == b'{').and(std::str::from_utf8(line).ok())?;
        let Parts { method, id, params, result, error } = serde_json::from_str(object).ok()?;
        let bytes = |part: Option<&'a RawValue>| part.map(|part| part.get().as_bytes());
        Some(Message {
            method: method.map(|method| method.0),
            id: id.map(RawValue::get),
            params: bytes(params),
            result: bytes(result),
            error: bytes(error),
        })
    }

    /// Reads the beginning of a line that is too long to hold: the parts that it contains.
    pub fn read_prefix(line: &'a [u8]) -> Option<Self> {
        let mut members = Members::enter(line).ok()?;
        let mut message = Message::default();
        while let Ok(Some(key)) = members.key() {
            // No member follows an unfinished value.
            let begun = members.value_start().map(|_| members.rest()).unwrap_or_default();
            let (value, finished) = match members.value() {
                Ok(value) => (value, true),
                Err(_) => (begun, false),
            };
            // A key that is not Unicode is not one of the parts.
            message.take(&key.unescaped().unwrap_or_default(), value, finished)?;
            if !finished {
                break;
            }
        }
        Some(message)
    }

    fn take(&mut self, key: &str, value: &'a [u8], finished: bool) -> Option<()> {
        let twice = match key {
            "method" if value == NULL => false,
            // A method or an ID that was cut would be another one; the other parts are wanted as far as they came.
            "method" if finished => self.method.replace(scan::text(value)?).is_some(),
            "id" if finished => self.id.replace(std::str::from_utf8(value).ok()?).is_some(),
            "params" => self.params.replace(value).is_some(),
            "result" => self.result.replace(value).is_some(),
            "error" => self.error.replace(value).is_some(),
            _ => false,
        };
        (!twice).then_some(())
    }

    /// Returns whether there is a result or an error; beside a method, one that is not null. The beginning of a line
    /// may have an id and neither.
    pub fn responds(&self) -> bool {
        let counts = |part: &&[u8]| self.method.is_none() || *part != NULL;
        self.result.filter(counts).or(self.error.filter(counts)).is_some()
    }

    /// Returns whether there is an `error` that is not null.
    pub fn failed(&self) -> bool {
        self.error.is_some_and(|error| error != b"null")
    }

    /// Returns the code of the `error`, if it has one.
    pub fn error_code(&self) -> Option<i32> {
        std::str::from_utf8(scan::member(self.error?, "code")?).ok()?.parse().ok()
    }

    /// Returns a member of `params`, as its bytes.
    pub fn param(&self, name: &str) -> Option<&'a [u8]> {
        scan::member(self.params?, name)
    }

    /// Returns `params.sessionId`.
    pub fn session(&self) -> Option<Cow<'a, str>> {
        scan::text(self.param("sessionId")?)
    }
}

/// The parts of a message as JSON. Deserializing fails on a duplicated part.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow, default)]
    method: Option<Method<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Method<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads a value, and keeps `null` as `Some`: by default, serde would read `null` as a missing member.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_call(line: &[u8], method: &str) {
        let Envelope::Call(text) = peek(line) else { panic!("{:?} is no call", peek(line)) };
        assert_eq!(text.unescaped().as_deref(), Some(method));
        assert!(text.is(method));
    }

    #[test]
    fn the_first_method_decides() {
        check_call(br#"{"method":"a","method":"b"}"#, "a");
        check_call(br#" { "id" : 1 , "params":{"method":"x"} , "method" : "a\/b" "#, "a/b");
        check_call(br#"{"jsonrpc":"2.0","id":1,"m\u0065thod":"a","result":0}"#, "a");
        assert_eq!(peek(br#"{"method":5}"#), Envelope::Opaque);
    }

    #[test]
    fn an_id_with_a_result_or_an_error_is_a_response() {
        assert_eq!(peek(br#"{"id":1e0,"result":{"#), Envelope::Response("1e0"));
        assert_eq!(peek(br#"{"error":{},"id":"1"}"#), Envelope::Response("\"1\""));
        assert_eq!(peek(br#"{"id":null,"error":{}}"#), Envelope::Response("null"));
        assert_eq!(peek(br#"{"result":{}}"#), Envelope::Opaque);
        assert_eq!(peek(br#"{"id":1,"id":2,"result":{}}"#), Envelope::Response("2"));
        assert_eq!(peek(br#"{"method":null,"id":1,"result":{}}"#), Envelope::Response("1"));
        assert_eq!(peek(b"\xEF\xBB\xBF{\"id\":1,\"result\":{}}"), Envelope::Response("1"));
        for line in [&br#"{"method":nul"#[..], b"\xEF\xBB", br#"{"id":1,"method":null"#] {
            assert_eq!(peek(line), Envelope::Undecided, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn the_last_id_is_what_a_response_is_to() {
        for (line, id) in [
            (r#"{"id":1,"result":{},"id":2}"#, Some("2")),
            (r#"{"id":1,"id":2,"error":{}}"#, Some("2")),
            (r#"{"method":null,"id":1,"result":{}}"#, Some("1")),
            (r#"{"id":1,"result":{},"method":"x"}"#, Some("1")),
            (r#"{"method":"x","id":1,"result":{}}"#, Some("1")),
            (r#"{"method":"x","id":1,"result":null,"error":null}"#, None),
            (r#"{"id":1,"result":null,"method":"x"}"#, None),
            (r#"{"id":1,"result":null,"error":{},"method":"x"}"#, Some("1")),
            (r#"{"id":1,"result":null}"#, Some("1")),
            (r#"{"id":1,"method":"x","params":{"result":{}}}"#, None),
            (r#"{"id":1}"#, None),
            (r#"{"id":1,"result":{}"#, None),
        ] {
            assert_eq!(responds_to(line.as_bytes()), id, "{line}");
        }
    }

    #[test]
    fn a_method_that_is_null_is_none() {
        let message = Message::read(br#"{"method":null,"id":1,"result":{}}"#).expect("a message");
        assert_eq!((message.method, message.id), (None, Some("1")));
        let prefix = Message::read_prefix(br#"{"method":null,"id":1,"result":{"#).expect("a message");
        assert!(prefix.method.is_none() && prefix.responds());
    }

    #[test]
    fn what_is_no_message_is_opaque_or_a_batch() {
        assert_eq!(peek(b" [{\"method\":1}]\n"), Envelope::Batch);
        for line in [&b"x\n"[..], b"\"\"\n", b"{}\n", b"{1}\n", b"{,\"method\":\"a\"}\n", b"\x0c[]\n"] {
            assert_eq!(peek(line), Envelope::Opaque, "{}", line.escape_ascii());
        }
        for line in [&b""[..], b"\r\n", b"{\"id\":1", b"{\"method\":\"sess", b"{\"params\":{\"a\":["] {
            assert_eq!(peek(line), Envelope::Undecided, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn a_message_with_a_part_twice_has_no_meaning() {
        assert_eq!(Message::read(br#"{"method":"a","params":{},"params":{}}"#), None);
        assert_eq!(Message::read(br#"{"id":1,"error":null,"error":{}}"#), None);
        assert_eq!(Message::read(br#"{"method":"a","params":{}"#), None);
    }

    #[test]
    fn a_key_that_is_no_unicode_is_none_of_the_parts() {
        for line in [&b"{\"\xff\":1,\"id\":7,\"result\":{}}"[..], br#"{"\ud800":1,"id":7,"result":{}}"#] {
            let message = Message::read(line).expect("a message");
            assert_eq!((message.id, message.result), (Some("7"), Some(&b"{}"[..])));
        }
    }

    #[test]
    fn a_prefix_still_tells_the_session() {
        let prefix = br#"{"id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"te"#;
        let message = Message::read_prefix(prefix).expect("a message");
        assert_eq!((message.id, message.session().as_deref()), (Some("7"), Some("s")));
    }
}
