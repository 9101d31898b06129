//! JSON-RPC as the mock peers speak it: one message a line, ids kept in their own spelling.
//! What a method means is left to `agent.rs` and `client.rs`.

use std::{fmt, io};

use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};
use serde_json::value::RawValue;

/// The line was not JSON.
pub(super) const PARSE_ERROR: i64 = -32700;
/// The line was JSON, and no message.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// Nobody here knows the method.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters do not fit the method.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// The request was cancelled by who sent it.
pub(super) const CANCELLED: i64 = -32800;
/// What the parameters name does not exist.
pub(super) const NOT_FOUND: i64 = -32002;

/// The id of a request, as the text that it came in: `1`, `1.0` and `"1"` are three ids.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Id(Box<RawValue>);

impl Id {
    /// The id of an answer to what had none that could be read.
    pub(super) fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    pub(super) fn text(&self) -> &str {
        self.0.get()
    }

    /// The number of one of our own requests, if it is spelled the way that we spell it.
    pub(super) fn number(&self) -> Option<u64> {
        self.text().parse().ok().filter(|number: &u64| number.to_string() == self.text())
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

/// A message, read from a line.
#[derive(Debug)]
pub(super) enum Message {
    Request { id: Id, method: String, params: Params },
    Notification { method: String, params: Params },
    Response { id: Id, outcome: Result<Box<RawValue>, RpcError> },
}

impl Message {
    /// Reads a line. What cannot be read comes back with the id and the error that answer it.
    pub(super) fn read(line: &[u8]) -> Result<Self, (Id, RpcError)> {
        let parts: Parts = serde_json::from_slice(line).map_err(|error| unreadable(line, &error))?;
        let params = Params(parts.params);
        match (parts.id, parts.method, parts.result, parts.error) {
            (Some(id), Some(method), None, None) => Ok(Self::Request { id, method, params }),
            (None, Some(method), None, None) => Ok(Self::Notification { method, params }),
            (Some(id), None, Some(result), None) => Ok(Self::Response { id, outcome: Ok(result) }),
            (Some(id), None, None, Some(error)) => Ok(Self::Response { id, outcome: Err(error) }),
            (id, ..) => {
                let error = RpcError::new(INVALID_REQUEST, "neither a request nor a response");
                Err((id.unwrap_or_else(Id::null), error))
            }
        }
    }
}

fn unreadable(line: &[u8], error: &serde_json::Error) -> (Id, RpcError) {
    #[derive(Deserialize)]
    struct WithId {
        #[serde(default, deserialize_with = "given")]
        id: Option<Id>,
    }

    let is_json =
        std::str::from_utf8(line).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    if !is_json {
        return (Id::null(), RpcError::new(PARSE_ERROR, format!("parse error: {error}")));
    }
    let id = serde_json::from_slice::<WithId>(line).ok().and_then(|message| message.id);
    (id.unwrap_or_else(Id::null), RpcError::new(INVALID_REQUEST, format!("invalid request: {error}")))
}

#[derive(Deserialize)]
struct Parts {
    #[serde(default, deserialize_with = "given")]
    id: Option<Id>,
    method: Option<String>,
    #[serde(default, deserialize_with = "given")]
    params: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "given")]
    result: Option<Box<RawValue>>,
    error: Option<RpcError>,
}

/// Reads `null` as a value that was given; serde alone would take it for a missing one.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The parameters of a request or notification, not looked at yet.
#[derive(Debug)]
pub(super) struct Params(Option<Box<RawValue>>);

impl Params {
    /// Reads the parameters as what the method takes. Absent ones are an empty object.
    pub(super) fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, RpcError> {
        read_param(self.0.as_ref().map_or("{}", |params| params.get()))
    }
}

/// Reads a part of the parameters.
pub(super) fn read_param<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, RpcError> {
    serde_json::from_str(json).map_err(RpcError::invalid_params)
}

/// Why a request got no result.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct RpcError {
    pub(super) code: i64,
    #[serde(default)]
    pub(super) message: String,
}

impl RpcError {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(super) fn invalid_params(why: impl fmt::Display) -> Self {
        Self::new(INVALID_PARAMS, format!("invalid params: {why}"))
    }

    pub(super) fn method_not_found(method: &str) -> Self {
        Self::new(METHOD_NOT_FOUND, format!("method not found: {method}"))
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.message)
    }
}

/// A message to be written. Members that a kind of message does not have are left out.
#[derive(Serialize)]
struct Line<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Id>,
    #[serde(flatten)]
    body: Body<'a, P>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Body<'a, P> {
    Call { method: &'a str, params: P },
    Result { result: P },
    Error { error: &'a RpcError },
}

/// The line of a request of our own; its id is a number.
pub(super) fn request(id: u64, method: &str, params: impl Serialize) -> io::Result<Vec<u8>> {
    let id = Id(serde_json::value::to_raw_value(&id)?);
    line(Some(&id), Body::Call { method, params })
}

/// The line of a notification.
pub(super) fn notification(method: &str, params: impl Serialize) -> io::Result<Vec<u8>> {
    line(None, Body::Call { method, params })
}

/// The line of a response to a request that was carried out.
pub(super) fn response(id: &Id, result: impl Serialize) -> io::Result<Vec<u8>> {
    line(Some(id), Body::Result { result })
}

/// The line of a response to a request that was not.
pub(super) fn refusal(id: &Id, error: &RpcError) -> io::Result<Vec<u8>> {
    let body: Body<'_, ()> = Body::Error { error };
    line(Some(id), body)
}

fn line<P: Serialize>(id: Option<&Id>, body: Body<'_, P>) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec(&Line { jsonrpc: "2.0", id, body })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: io::Result<Vec<u8>>) -> String {
        String::from_utf8(line.unwrap()).unwrap()
    }

    #[test]
    fn ids_are_echoed_in_their_own_spelling() {
        for id in ["0", "-1", "1.0", "1e3", "18446744073709551616", r#""x""#, r#""\u0041""#, "null"] {
            let line = format!(r#"{{"id":{id},"method":"m"}}"#);
            let Ok(Message::Request { id: read, .. }) = Message::read(line.as_bytes()) else {
                panic!("{line}");
            };
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#);
            assert_eq!(text(response(&read, ())), answer);
        }
    }

    #[test]
    fn what_is_no_message_gets_the_error_that_says_so() {
        for (line, id, code) in [
            ("{oops", "null", PARSE_ERROR),
            ("", "null", PARSE_ERROR),
            (r#"{"id":1,"method":"#, "null", PARSE_ERROR),
            (r#"{"method":5,]"#, "null", PARSE_ERROR),
            ("5", "null", INVALID_REQUEST),
            ("[]", "null", INVALID_REQUEST),
            (r#"{"id":7}"#, "7", INVALID_REQUEST),
            (r#"{"id":"a","method":5}"#, r#""a""#, INVALID_REQUEST),
            (r#"{"id":1,"result":1,"error":{"code":1}}"#, "1", INVALID_REQUEST),
        ] {
            let (given, error) = Message::read(line.as_bytes()).unwrap_err();
            assert_eq!((given.text(), error.code), (id, code), "{line}");
        }
        assert_eq!(Message::read(b"\"\xff\"").unwrap_err().1.code, PARSE_ERROR);
    }

    #[test]
    fn a_null_result_is_a_result() {
        let message = Message::read(br#"{"jsonrpc":"2.0","id":0,"result":null}"#).unwrap();
        assert!(matches!(message, Message::Response { outcome: Ok(_), .. }));
    }

    #[test]
    fn only_the_own_spelling_of_a_number_is_an_own_id() {
        for (text, number) in [("0", Some(0)), ("12", Some(12)), ("1.0", None), ("\"1\"", None), ("-1", None)]
        {
            let id = Id(RawValue::from_string(text.to_owned()).unwrap());
            assert_eq!(id.number(), number, "{text}");
        }
    }

    #[test]
    fn absent_parameters_are_an_empty_object() {
        #[derive(Deserialize)]
        struct Nothing {}
        assert!(Params(None).read::<Nothing>().is_ok());
        assert_eq!(Params(None).read::<Vec<u8>>().unwrap_err().code, INVALID_PARAMS);
    }

    #[test]
    fn messages_have_the_members_of_their_kind() {
        let line = text(request(3, "m", ["p"]));
        assert_eq!(line, r#"{"jsonrpc":"2.0","id":3,"method":"m","params":["p"]}"#);
        let line = text(notification("m", ["p"]));
        assert_eq!(line, r#"{"jsonrpc":"2.0","method":"m","params":["p"]}"#);
        let line = text(refusal(&Id::null(), &RpcError::new(-32601, "x")));
        assert_eq!(line, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"x"}}"#);
    }
}
