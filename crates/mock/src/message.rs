//! The JSON of the mock peers: JSON-RPC with one message a line and IDs in their own spelling, objects that keep the
//! order of their members, which the user sees in a form, and the outcome of a permission request.
//! What a method means is left to the agent and the client.

use std::{fmt, io};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

/// The line was not JSON.
pub(super) const PARSE_ERROR: i64 = -32700;
/// The line was JSON but not a message.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// The method is unknown.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters do not fit the method.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// The sender cancelled the request.
pub(super) const CANCELLED: i64 = -32800;
/// The parameters name something that does not exist.
pub(super) const NOT_FOUND: i64 = -32002;

/// The ID of a request, in the spelling in which it came: `1`, `1.0` and `"1"` are three IDs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Id(Box<RawValue>);

impl Id {
    /// Returns the ID of a response to a line whose ID could not be read.
    pub(super) fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    /// Returns its raw JSON.
    pub(super) fn text(&self) -> &str {
        self.0.get()
    }

    /// Returns the number if the ID is spelled like the ID of one of our requests.
    pub(super) fn number(&self) -> Option<u64> {
        self.text().parse().ok().filter(|number: &u64| number.to_string() == self.text())
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

/// A JSON-RPC message, read from a line.
#[derive(Debug)]
pub(super) enum RpcMessage {
    Request { id: Id, method: String, params: Params },
    Notification { method: String, params: Params },
    Response { id: Id, outcome: Result<Box<RawValue>, RpcError> },
}

impl RpcMessage {
    /// Reads a line. For an invalid line returns the ID and the error of the response to it.
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
    // The ID may be valid although the message is not. With it, the sender can match the error.
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

/// Reads `null` as `Some`; serde alone would read it as a missing member.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The parameters of a request or notification, as raw JSON.
#[derive(Debug)]
pub(super) struct Params(Option<Box<RawValue>>);

impl Params {
    /// Deserializes the parameters. Absent parameters are read as an empty object.
    pub(super) fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, RpcError> {
        read_param(self.0.as_ref().map_or("{}", |params| params.get()))
    }
}

/// Deserializes a part of the parameters.
pub(super) fn read_param<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, RpcError> {
    serde_json::from_str(json).map_err(RpcError::invalid_params)
}

/// The error of a response.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct RpcError {
    pub(super) code: i64,
    #[serde(default)]
    pub(super) message: String,
}

impl RpcError {
    /// Returns an error with this code.
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Returns the error for parameters that do not fit the method.
    pub(super) fn invalid_params(why: impl fmt::Display) -> Self {
        Self::new(INVALID_PARAMS, format!("invalid params: {why}"))
    }

    /// Returns the error for an unknown method.
    pub(super) fn method_not_found(method: &str) -> Self {
        Self::new(METHOD_NOT_FOUND, format!("method not found: {method}"))
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.message)
    }
}

/// A message to be written, without the members that its kind of message does not have.
#[derive(Serialize)]
struct MessageLine<'a, P> {
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

/// Returns the line of a request of our own, whose ID is a number.
pub(super) fn request(id: u64, method: &str, params: impl Serialize) -> io::Result<Vec<u8>> {
    let id = Id(serde_json::value::to_raw_value(&id)?);
    line(Some(&id), Body::Call { method, params })
}

/// Returns the line of a notification.
pub(super) fn notification(method: &str, params: impl Serialize) -> io::Result<Vec<u8>> {
    line(None, Body::Call { method, params })
}

/// Returns the line of a response with a result.
pub(super) fn response(id: &Id, result: impl Serialize) -> io::Result<Vec<u8>> {
    line(Some(id), Body::Result { result })
}

/// Returns the line of a response with an error.
pub(super) fn refusal(id: &Id, error: &RpcError) -> io::Result<Vec<u8>> {
    let body: Body<'_, ()> = Body::Error { error };
    line(Some(id), body)
}

fn line<P: Serialize>(id: Option<&Id>, body: Body<'_, P>) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec(&MessageLine { jsonrpc: "2.0", id, body })?)
}

/// The members of an object, in their original order.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedMap(pub(super) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for OrderedMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = OrderedMap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedMap, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(OrderedMap(members))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// The outcome of a permission request.
#[derive(Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub(super) enum PermissionOutcome {
    /// An option, by its ID.
    #[serde(rename_all = "camelCase")]
    Selected {
        option_id: String,
    },
    Cancelled,
}

impl PermissionOutcome {
    /// Reads a `result`. `None` if the protocol has no such outcome.
    pub(super) fn read(result: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Reply {
            outcome: PermissionOutcome,
        }

        serde_json::from_str(result).ok().map(|Reply { outcome }| outcome)
    }
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
            let Ok(RpcMessage::Request { id: read, .. }) = RpcMessage::read(line.as_bytes()) else {
                panic!("{line}");
            };
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#);
            assert_eq!(text(response(&read, ())), answer);
        }
    }

    #[test]
    fn an_invalid_line_is_refused_with_its_error_code() {
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
            let (given, error) = RpcMessage::read(line.as_bytes()).unwrap_err();
            assert_eq!((given.text(), error.code), (id, code), "{line}");
        }
        assert_eq!(RpcMessage::read(b"\"\xff\"").unwrap_err().1.code, PARSE_ERROR);
    }

    #[test]
    fn a_null_result_is_a_result() {
        let message = RpcMessage::read(br#"{"jsonrpc":"2.0","id":0,"result":null}"#).unwrap();
        assert!(matches!(message, RpcMessage::Response { outcome: Ok(_), .. }));
    }

    #[test]
    fn an_id_in_another_spelling_is_not_one_of_our_own() {
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

    #[test]
    fn members_keep_their_order() {
        let text = r#"{"b":1,"a":{"z":[]},"c":null}"#;
        let read: OrderedMap = serde_json::from_str(text).unwrap();
        let names: Vec<_> = read.0.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["b", "a", "c"]);
        assert!(serde_json::from_str::<OrderedMap>("[]").is_err());
    }
}
