//! The control protocol between Claude Code and the program that hosts it, one JSON object a line (`--output-format
//! stream-json`): the class of a line, and its parts. The content of a request is left to `request.rs`.
//!
//! Source: runs of Claude Code 2.1.330, and the types of its agent SDK. Qwen Code has the same envelopes.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::wire::{
    line,
    scan::{Members, Stop, Text, leading_string, member, text},
};

/// The class of a line of either side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// Any other line, such as a message of the model or of the user.
    Other,
    /// A request of this subtype.
    Request(Text<'a>),
    /// A response to the request with this id, as JSON text.
    Response(&'a str),
    /// A request is taken back by its sender.
    Cancel,
    /// The agent introduces itself and its session.
    Init,
    /// The bytes end before the class is clear.
    Undecided,
}

/// The type and subtype of the line in which the agent introduces itself and its session.
const INIT: (&str, &str) = ("system", "init");

/// Returns the class of a line, or of a prefix of one. It reads no more than necessary.
#[inline]
pub fn peek(line: &[u8]) -> Kind<'_> {
    // Nearly every line begins like this, most often with `stream_event`. The types that matter begin with `c` or `sy`,
    // or with a backslash that escapes one of these letters.
    if let Some(kind) = line.strip_prefix(br#"{"type":""#)
        && !matches!(kind, [] | [b's'] | [b'c' | b'\\', ..] | [b's', b'y' | b'\\', ..])
    {
        return Kind::Other;
    }
    decide(line).unwrap_or_else(|stop| if stop == Stop::Short { Kind::Undecided } else { Kind::Other })
}

fn decide(line: &[u8]) -> Result<Kind<'_>, Stop> {
    let Some(kind) = text_at(line, "type")? else { return Ok(Kind::Other) };
    if kind.is("control_request") {
        let subtype = text_at(object_at(line, "request")?, "subtype")?;
        return Ok(subtype.map_or(Kind::Other, Kind::Request));
    }
    if kind.is("control_response") {
        // Unlike `member`, this tells a missing ID from a prefix that ends before the ID.
        let id = value_at(object_at(line, "response")?, "request_id")?;
        return Ok(id.and_then(|id| std::str::from_utf8(id).ok()).map_or(Kind::Other, Kind::Response));
    }
    if kind.is("control_cancel_request") {
        return Ok(Kind::Cancel);
    }
    if kind.is(INIT.0) {
        let subtype = text_at(line, "subtype")?;
        return Ok(if subtype.is_some_and(|it| it.is(INIT.1)) { Kind::Init } else { Kind::Other });
    }
    Ok(Kind::Other)
}

/// Returns the bytes that begin with the value of the first member of this name.
fn begin_at<'a>(object: &'a [u8], name: &str) -> Result<Option<&'a [u8]>, Stop> {
    let mut members = Members::enter(object)?;
    while let Some(key) = members.key()? {
        if key.is(name) {
            members.value_start()?;
            return Ok(Some(members.rest()));
        }
        members.value()?;
    }
    Ok(None)
}

fn object_at<'a>(object: &'a [u8], name: &str) -> Result<&'a [u8], Stop> {
    begin_at(object, name)?.filter(|value| value.starts_with(b"{")).ok_or(Stop::Bad)
}

fn text_at<'a>(object: &'a [u8], name: &str) -> Result<Option<Text<'a>>, Stop> {
    begin_at(object, name)?.filter(|value| value.starts_with(b"\"")).map(leading_string).transpose()
}

fn value_at<'a>(object: &'a [u8], name: &str) -> Result<Option<&'a [u8]>, Stop> {
    let mut members = Members::enter(object)?;
    while let Some(key) = members.key()? {
        let value = members.value()?;
        if key.is(name) {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// A request, in parts of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The id, as JSON text.
    pub id: &'a str,
    /// The JSON of the request itself.
    pub body: &'a [u8],
}

impl<'a> Request<'a> {
    /// Reads a whole line, or a whole request in another line. `None` if a part is missing or duplicated.
    pub fn read(line: &'a [u8]) -> Option<Self> {
        let id = request_id(line)?;
        let body = member(line, "request").filter(|body| body.starts_with(b"{"))?;
        Some(Request { id, body })
    }

    /// Returns its subtype.
    pub fn subtype(&self) -> Option<Cow<'a, str>> {
        text(member(self.body, "subtype")?)
    }
}

/// Returns the id of a request, or of the request that is taken back, as JSON text.
pub fn request_id(line: &[u8]) -> Option<&str> {
    std::str::from_utf8(member(line, "request_id")?).ok()
}

/// Returns the result of a whole response. `None` if it is an error, or a part is missing or duplicated.
pub fn result(line: &[u8]) -> Option<&[u8]> {
    let response = member(line, "response")?;
    let subtype = text(member(response, "subtype")?)?;
    member(response, "response").filter(|_| subtype == "success")
}

/// The requests whose responses the agent still awaits. It lists them in its response to a repeated `initialize`.
#[derive(Debug, Default)]
pub struct PendingRequests<'a>(Vec<&'a RawValue>);

/// The members that list requests. Each is read by itself, since a version may give one of them another shape (I11).
const PENDING: [&str; 2] = ["pending_permission_requests", "pending_elicitation_requests"];

impl<'a> PendingRequests<'a> {
    /// Reads a whole response. The lists are members of the response, and not of its result.
    pub fn read(line: &'a [u8]) -> Self {
        let response = member(line, "response").unwrap_or_default();
        let list = |name| serde_json::from_slice::<Vec<&RawValue>>(member(response, name)?).ok();
        PendingRequests(PENDING.into_iter().filter_map(list).flatten().collect())
    }

    /// Returns the requests, each as the JSON of its line.
    pub fn requests(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.0.iter().map(|request| request.get().as_bytes())
    }
}

/// The agent's introduction. Each member is read by itself, since a version may give one of them another shape (I11).
#[derive(Debug, Default)]
pub struct Init<'a> {
    /// The session.
    pub session_id: Option<Cow<'a, str>>,
    /// The folder that the session works in.
    pub cwd: Option<Cow<'a, str>>,
    qwen_code_version: Option<&'a [u8]>,
}

impl<'a> Init<'a> {
    /// Reads a whole line. A member of another shape counts as missing.
    pub fn read(line: &'a [u8]) -> Self {
        let text_of = |name: &str| text(member(line, name)?);
        Init {
            session_id: text_of("session_id"),
            cwd: text_of("cwd"),
            qwen_code_version: member(line, "qwen_code_version").filter(|version| *version != b"null"),
        }
    }

    /// Returns whether this is Qwen Code, which speaks the same protocol.
    pub fn is_qwen(&self) -> bool {
        self.qwen_code_version.is_some()
    }
}

/// Returns the line that answers a request.
pub fn response(id: &str, result: &RawValue) -> Bytes {
    let success = r#"{"type":"control_response","response":{"subtype":"success","request_id":"#;
    line::line(format!("{success}{id},\"response\":{result}}}}}"))
}

/// Returns the line that takes a request back.
pub fn cancel(id: &str) -> Bytes {
    line::line(format!("{{\"type\":\"control_cancel_request\",\"request_id\":{id}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &[u8]) -> Option<String> {
        match peek(line) {
            Kind::Request(subtype) => subtype.unescaped().map(Cow::into_owned),
            _ => None,
        }
    }

    #[test]
    fn lines_are_told_apart_by_their_first_members() {
        let asked = br#"{"type":"control_request","request_id":"a","request":{"subtype":"can_use_tool","#;
        assert_eq!(request(asked).as_deref(), Some("can_use_tool"));
        let other = br#"{ "request": {"a": [1], "subtype": "interrupt"}, "request_id": "b", "type": "control_request" }"#;
        assert_eq!(request(other).as_deref(), Some("interrupt"));
        let escaped = br#"{"type":"\u0063ontrol_request","request":{"subtype":"can_use\u005ftool"}}"#;
        assert_eq!(request(escaped).as_deref(), Some("can_use_tool"));
        let response =
            br#"{"type": "control_response", "response": {"subtype": "success", "request_id": "r", "#;
        assert_eq!(peek(response), Kind::Response("\"r\""));
        assert_eq!(peek(br#"{"type":"control_cancel_request","request_id":"r"}"#), Kind::Cancel);
        for line in
            [r#"{"type":"system","subtype":"init","cwd":"/p"#, r#"{"type":"s\u0079stem","subtype":"init"}"#]
        {
            assert_eq!(peek(line.as_bytes()), Kind::Init, "{line}");
        }
        for line in [
            &br#"{"type":"assistant","message":{"type":"control_request"#[..],
            br#"{"type":"system","subtype":"status"}"#,
            br#"{"type":"stream_event","event":{}}"#,
            br#"{"type":"control_request","request":5}"#,
            br#"{"type":"control_request","request":{"subtype":5}}"#,
            br#"{"type":"control_response","response":{"subtype":"success"}}"#,
            br#"{"type":5}"#,
            b"[]",
            b"text",
        ] {
            assert_eq!(peek(line), Kind::Other, "{}", line.escape_ascii());
        }
        for line in
            [&b""[..], b"{", br#"{"type""#, br#"{"type":"s"#, br#"{"type":"control_request","request":{"#]
        {
            assert_eq!(peek(line), Kind::Undecided, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn what_the_agent_still_waits_for_stands_beside_the_result() {
        let line = br#"{"type":"control_response","response":{"subtype":"success","request_id":"i2","response":{},
            "pending_permission_requests":[{"type":"control_request","request_id":"a","request":{"subtype":"x"}}],
            "pending_user_dialog_requests":[{"request_id":"b","request":{}}]}}"#;
        let waiting = PendingRequests::read(line);
        let ids: Vec<_> = waiting.requests().filter_map(Request::read).map(|request| request.id).collect();
        assert_eq!(ids, ["\"a\""]);
        assert_eq!(PendingRequests::read(b"{}").requests().count(), 0);
    }

    #[test]
    fn a_member_of_another_shape_hides_no_other() {
        let line = br#"{"type":"system","subtype":"init","cwd":{"path":"/p"},"session_id":"s","x":1}"#;
        let init = Init::read(line);
        assert_eq!(
            (init.session_id.as_deref(), init.cwd.as_deref(), init.is_qwen()),
            (Some("s"), None, false)
        );
        let line = br#"{"qwen_code_version":["1"],"session_id":5,"cwd":"\u002fp"}"#;
        let init = Init::read(line);
        assert_eq!(
            (init.session_id.as_deref(), init.cwd.as_deref(), init.is_qwen()),
            (None, Some("/p"), true)
        );
        assert!(!Init::read(br#"{"qwen_code_version":null}"#).is_qwen());
        let line = br#"{"type":"control_response","response":{"pending_elicitation_requests":{},
            "pending_permission_requests":[{"request_id":"a","request":{}}, 5]}}"#;
        assert_eq!(PendingRequests::read(line).requests().filter_map(Request::read).count(), 1);
    }

    #[test]
    fn lines_of_the_bridge_have_the_shape_that_runs_showed() {
        let result = RawValue::from_string(r#"{"behavior":"allow"}"#.to_owned()).unwrap();
        let line = response("\"a\"", &result);
        assert_eq!(
            line,
            "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"a\",\
             \"response\":{\"behavior\":\"allow\"}}}\n"
        );
        assert_eq!(super::result(&line), Some(&br#"{"behavior":"allow"}"#[..]));
        let failed =
            br#"{"type":"control_response","response":{"subtype":"error","request_id":"a","error":"no"}}"#;
        assert_eq!(super::result(failed), None);
        assert_eq!(peek(&cancel("\"a\"")), Kind::Cancel);
    }
}
