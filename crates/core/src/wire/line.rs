//! The lines that the bridge writes itself, each with its terminator. None has a character within it at which a reader
//! ends a line.

use std::borrow::Cow;

use bytes::Bytes;
use memchr::memchr2;
use serde::Serialize;

use super::method::CANCEL_REQUEST;

/// JSON-RPC: there is no such method.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// JSON-RPC: the method's parameters are wrong.
pub const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC: something went wrong that is not about the request.
pub const INTERNAL_ERROR: i32 = -32603;
/// JSON-RPC: this is no valid request.
pub const INVALID_REQUEST: i32 = -32600;
/// ACP: the request was cancelled.
pub const REQUEST_CANCELLED: i32 = -32800;

/// A request. `id` is JSON text, as everywhere here.
pub fn request(id: &str, method: &str, params: &impl Serialize) -> Bytes {
    let (method, params) = (json(&method), json(params));
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#))
}

/// A notification.
pub fn notification(method: &str, params: &impl Serialize) -> Bytes {
    line(format!(r#"{{"jsonrpc":"2.0","method":{},"params":{}}}"#, json(&method), json(params)))
}

/// A response with a result.
pub fn response(id: &str, result: &impl Serialize) -> Bytes {
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, json(result)))
}

/// A response with an error.
pub fn error(id: &str, code: i32, message: &str) -> Bytes {
    let message = json(&message);
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#))
}

/// A response with an error of another peer, as its JSON text.
pub fn failure(id: &str, error: &[u8]) -> Bytes {
    // Bytes that are not UTF-8 are tolerated in a peer's strings, but the bridge writes none.
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, String::from_utf8_lossy(error)))
}

/// The notification that takes back a request.
pub fn cancel_request(id: &str) -> Bytes {
    line(format!(r#"{{"jsonrpc":"2.0","method":"{CANCEL_REQUEST}","params":{{"requestId":{id}}}}}"#))
}

fn json(value: &impl Serialize) -> String {
    // Our own types have string keys and finite numbers, so this cannot fail.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// Ends a line of JSON.
pub fn line(json: String) -> Bytes {
    let mut line = match escaped(&json) {
        Cow::Borrowed(_) => json,
        Cow::Owned(escaped) => escaped,
    };
    line.push('\n');
    line.into()
}

/// The characters that JSON allows in a text as they are, and at which some readers of lines end a line: `readline` of
/// Node 24 at the last two, `str.splitlines` of Python (and `iter_lines` of httpx) at all of them.
const LINE_ENDS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Returns the same JSON without raw characters that end a line for some readers (U+0085, U+2028, U+2029). They occur
/// only in its texts, where an escape means the same.
pub fn escaped(json: &str) -> Cow<'_, str> {
    // Most lines have none of the bytes that these characters begin with.
    if memchr2(0xc2, 0xe2, json.as_bytes()).is_none() || !json.contains(LINE_ENDS) {
        return json.into();
    }
    let mut escaped = String::with_capacity(json.len() + json.len() / 8);
    for char in json.chars() {
        match LINE_ENDS.contains(&char) {
            true => escaped.push_str(&format!("\\u{:04x}", u32::from(char))),
            false => escaped.push(char),
        }
    }
    escaped.into()
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::FileFailurePersistence};
    use serde_json::{Value, json, value::RawValue};

    use super::*;

    fn texts() -> impl Strategy<Value = String> {
        let parts = prop_oneof![
            Just("\u{2028}"),
            Just("\u{2029}"),
            Just("\u{85}"),
            Just("\\"),
            Just("\""),
            Just("\n"),
            Just("\r"),
            Just("\u{2027}"),
            Just("\u{202a}"),
            Just("\u{86}"),
            Just("\u{c2}"),
            Just("\u{e2}"),
            Just("€"),
            Just("a"),
        ];
        proptest::collection::vec(parts, 0..8).prop_map(|parts| parts.concat())
    }

    /// Checks that a line is one line for every reader, and says what is expected.
    fn check(line: &Bytes, expected: &Value) -> Result<(), TestCaseError> {
        let text = std::str::from_utf8(line).expect("text");
        let json = text.strip_suffix('\n').expect("its end");
        prop_assert!(!json.contains(LINE_ENDS) && !json.contains(['\n', '\r']), "{json:?}");
        prop_assert_eq!(&serde_json::from_str::<Value>(json).expect("JSON"), expected);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("seeds"))),
            ..ProptestConfig::default()
        })]

        #[test]
        fn no_line_ends_within_a_text(text in texts(), key in texts()) {
            let mut value = json!({ "a": text });
            value[&*key] = json!([text]);
            // What a peer sent raw is a part of some of the lines.
            let raw: Box<RawValue> = serde_json::value::to_raw_value(&value).expect("JSON");
            let id = Value::from(&*text).to_string();
            let sent = json!({ "jsonrpc": "2.0", "id": text, "result": value });
            check(&response(&id, &raw), &sent)?;
            check(&response(&id, &value), &sent)?;
            check(&failure(&id, raw.get().as_bytes()), &json!({ "jsonrpc": "2.0", "id": text, "error": value }))?;
            check(&error(&id, 1, &text), &json!({ "jsonrpc": "2.0", "id": text, "error": { "code": 1, "message": text } }))?;
            check(&request(&id, &text, &value), &json!({ "jsonrpc": "2.0", "id": text, "method": text, "params": value }))?;
            check(&notification(&text, &value), &json!({ "jsonrpc": "2.0", "method": text, "params": value }))?;
            check(&cancel_request(&id), &json!({ "jsonrpc": "2.0", "method": CANCEL_REQUEST, "params": { "requestId": text } }))?;
        }
    }

    #[test]
    fn other_text_is_borrowed_as_it_is() {
        for text in ["", "plain", "\"Größe €5 — “quoted”\"", "\u{2027}\u{202a}\u{84}\u{86}", "\"\\u2028\""]
        {
            assert!(matches!(escaped(text), Cow::Borrowed(same) if same == text), "{text}");
        }
        assert_eq!(escaped("\"a\u{2028}b\u{2029}c\u{85}\""), r#""a\u2028b\u2029c\u0085""#);
    }
}
