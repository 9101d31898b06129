//! What a JSON-RPC message of MCP says about its delivery: requests and responses by their IDs, and the revision of the
//! protocol. All other members pass unread. The headers that repeat members are left to `metadata.rs`.

use std::borrow::Cow;

use askbridge_core::wire::{envelope::Message, id::RequestId, scan};
use bytes::Bytes;
use serde_json::value::RawValue;

/// The host's request that begins a session.
const INITIALIZE: &str = "initialize";
/// The host's notification that a session may be used.
const INITIALIZED: &str = "notifications/initialized";
/// The notification that a request is not wanted any more.
const CANCELLED: &str = "notifications/cancelled";
/// The member of `_meta` by which a message of a revision without sessions names the revision.
pub(super) const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// What kind of a message it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Requests: one, or those of a batch.
    Requests(Vec<RequestId>),
    /// Responses: one, or those of a batch.
    Responses(Vec<RequestId>),
    /// The notification that ends the beginning of a session.
    Initialized,
    /// The notification that a request is not wanted any more.
    Cancelled(RequestId),
    /// Any other notification.
    Notification,
}

/// What of a message matters for its delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub(super) kind: Kind,
    /// Whether it begins a session.
    pub(super) initializes: bool,
    /// The revision that the message itself names: one without sessions.
    pub(super) revision: Option<String>,
}

impl Parsed {
    /// Reads a message. `None` if it is none: not JSON, another value, or one that repeats a part.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        if line.trim_ascii_start().first() == Some(&b'[') {
            return batch(line);
        }
        let message = Message::read(line)?;
        let revision = message.param("_meta").and_then(|meta| scan::text(scan::member(meta, REVISION)?));
        let method = message.method.as_deref();
        Some(Parsed {
            kind: kind(&message)?,
            initializes: method == Some(INITIALIZE) && message.id.is_some(),
            revision: revision.map(Cow::into_owned),
        })
    }
}

fn kind(message: &Message<'_>) -> Option<Kind> {
    let id = message.id.map(RequestId::new);
    match (message.method.as_deref(), id) {
        (Some(_), Some(id)) => Some(Kind::Requests(vec![id])),
        (Some(INITIALIZED), None) => Some(Kind::Initialized),
        (Some(CANCELLED), None) => {
            let id = message.param("requestId").and_then(|id| std::str::from_utf8(id).ok());
            Some(id.map_or(Kind::Notification, |id| Kind::Cancelled(RequestId::new(id))))
        }
        (Some(_), None) => Some(Kind::Notification),
        (None, Some(id)) => message.responds().then(|| Kind::Responses(vec![id])),
        (None, None) => None,
    }
}

/// Reads a batch, which the revision 2025-03-26 has.
fn batch(line: &[u8]) -> Option<Parsed> {
    let messages: Vec<&RawValue> = serde_json::from_slice(line).ok()?;
    let (mut requests, mut responses) = (Vec::new(), Vec::new());
    for message in &messages {
        match Parsed::read(message.get().as_bytes())?.kind {
            Kind::Requests(ids) => requests.extend(ids),
            Kind::Responses(ids) => responses.extend(ids),
            Kind::Initialized | Kind::Cancelled(_) | Kind::Notification => {}
        }
    }
    let kind = match (requests.is_empty(), responses.is_empty()) {
        (false, _) => Kind::Requests(requests),
        (true, false) => Kind::Responses(responses),
        (true, true) => (!messages.is_empty()).then_some(Kind::Notification)?,
    };
    Some(Parsed { kind, initializes: false, revision: None })
}

/// The revision that an `initialize` was answered with. `None` if the message is no such result.
pub(super) fn agreed_revision(message: &[u8]) -> Option<String> {
    let message = Message::read(message)?;
    scan::text(scan::member(message.result?, "protocolVersion")?).map(Cow::into_owned)
}

/// The JSON text of an error that belongs to no request, as in the body of a refused call.
pub(super) fn stray_error(body: &[u8]) -> Option<&[u8]> {
    Message::read(body)?.error.filter(|error| error.starts_with(b"{"))
}

/// Returns valid JSON as one line with its end. In JSON, a line ends only between two tokens, where a space means the
/// same.
pub(super) fn one_line(json: Bytes) -> Bytes {
    let mut line = Vec::from(json);
    line.truncate(line.trim_ascii_end().len());
    line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    line.push(b'\n');
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[&str]) -> Vec<RequestId> {
        ids.iter().map(|id| RequestId::new(id)).collect()
    }

    #[test]
    fn messages_are_told_apart() {
        for (line, kind) in [
            (r#"{"id":1,"method":"ping"}"#, Some(Kind::Requests(ids(&["1"])))),
            (r#" { "method":"ping", "id" : "a" } "#, Some(Kind::Requests(ids(&["\"a\""])))),
            (r#"{"id":1,"result":{}}"#, Some(Kind::Responses(ids(&["1"])))),
            (r#"{"id":1,"error":{}}"#, Some(Kind::Responses(ids(&["1"])))),
            (r#"{"method":"notifications/initialized"}"#, Some(Kind::Initialized)),
            (
                r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#,
                Some(Kind::Cancelled(RequestId::new("7"))),
            ),
            (r#"{"method":"notifications/cancelled","params":{}}"#, Some(Kind::Notification)),
            (r#"{"method":"x"}"#, Some(Kind::Notification)),
            (
                r#"[{"id":1,"method":"a"},{"method":"b"},{"id":2,"method":"c"}]"#,
                Some(Kind::Requests(ids(&["1", "2"]))),
            ),
            (r#"[{"id":1,"result":0},{"id":2,"error":{}}]"#, Some(Kind::Responses(ids(&["1", "2"])))),
            (r#"[{"method":"b"}]"#, Some(Kind::Notification)),
            ("[]", None),
            (r#"[{"method":"b"},1]"#, None),
            ("{}", None),
            ("1", None),
            ("{", None),
            (r#"{"id":1,"id":2,"method":"a"}"#, None),
        ] {
            assert_eq!(Parsed::read(line.as_bytes()).map(|parsed| parsed.kind), kind, "{line}");
        }
    }

    #[test]
    fn a_message_names_its_revision() {
        let modern = r#"{"id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol\/protocolVersion":"2026-07-28"}}}"#;
        assert_eq!(Parsed::read(modern.as_bytes()).unwrap().revision.as_deref(), Some("2026-07-28"));
        let first = br#"{"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
        let first = Parsed::read(first).unwrap();
        assert_eq!((first.initializes, first.revision), (true, None));
        let result = br#"{"id":1,"result":{"protocolVersion":"2025-06-18"}}"#;
        assert_eq!(agreed_revision(result).as_deref(), Some("2025-06-18"));
        assert_eq!(agreed_revision(br#"{"id":1,"error":{"protocolVersion":"x"}}"#), None);
    }

    #[test]
    fn json_becomes_one_line_and_nothing_else_changes() {
        for (json, line) in [
            ("{\r\n \"a\": \"x\\ny\",\n\t\"b\": [1,\n2]}\n\n", "{   \"a\": \"x\\ny\", \t\"b\": [1, 2]}\n"),
            ("{\"a\":1.50,\"b\":\"\\u0041\u{2028}\"}", "{\"a\":1.50,\"b\":\"\\u0041\u{2028}\"}\n"),
        ] {
            let made = one_line(Bytes::copy_from_slice(json.as_bytes()));
            assert_eq!(String::from_utf8_lossy(&made), line);
        }
    }
}
