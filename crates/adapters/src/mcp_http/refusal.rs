//! What the host is told about a request that has no response: what happened, where, and what to do about it. No text
//! has the value of a header in it, or what an address has behind a question mark.

use askbridge_core::wire::{id::RequestId, line};
use bytes::Bytes;

use super::{address::ServerAddress, call::End};
use crate::limits;

/// The code of an error without an HTTP status. The protocol reserves all from -32768 to -32000.
const FAILED: i32 = 1;
/// JSON-RPC: the line is not JSON.
const PARSE_ERROR: i32 = -32700;

/// Why a request has no response of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The status of the response, and its body if that is a short text.
    Status(u16, Option<String>),
    /// The call ended in this way.
    Ended(End),
    /// The response ended before it had an answer to the request.
    Unanswered,
    /// The response was no JSON.
    NotJson,
    /// The server ended the session while it handled the request.
    SessionLost,
    /// The server ended each session in which it got the request.
    SessionLostAgain,
    /// The server did not begin a session, although it had done so before.
    Declined,
    /// Too many other requests have no response yet.
    TooMany,
    /// No new session could be begun, for this reason.
    NoSession(Box<Refusal>),
}

impl Refusal {
    /// Returns the response for the host.
    pub(super) fn line(&self, id: &RequestId, server: &ServerAddress) -> Bytes {
        let code = match self {
            Refusal::Status(status, _) => i32::from(*status),
            _ => FAILED,
        };
        line::error(id.as_str(), code, &format!("askbridge: {}", self.text(server)))
    }

    /// Returns the words.
    pub(super) fn text(&self, server: &ServerAddress) -> String {
        match self {
            Refusal::Status(status, body) => status_text(*status, body.as_deref(), server),
            Refusal::Ended(end) => end_text(end, server),
            Refusal::Unanswered => format!(
                "the response of {server} ended without an answer: the server may have handled the request, so look before you send it again"
            ),
            Refusal::NotJson => format!(
                "{server} replied with something other than JSON: is this the address of an MCP server?"
            ),
            Refusal::SessionLost => format!(
                "{server} ended the session while it handled the request: it may have handled it, so look before you send it again"
            ),
            Refusal::SessionLostAgain => {
                format!("{server} ended the session, and ended a new one as well: see the log of the server")
            }
            Refusal::Declined => format!("{server} refused to begin one: see the log of the server"),
            Refusal::TooMany => format!(
                "{} requests to {server} have no response yet: the request was not sent",
                limits::mcp_http::CALLS + limits::mcp_http::WAITING
            ),
            Refusal::NoSession(why) => format!("a new session is needed, but {}", why.text(server)),
        }
    }
}

fn end_text(end: &End, server: &ServerAddress) -> String {
    match end {
        End::Unreached(why) if why.contains("certificate") => format!(
            "{server} cannot be trusted ({why}): if it is the right server, add the authority of its certificate to those that this system trusts. The request was not sent"
        ),
        End::Unreached(why) => format!(
            "{server} cannot be reached ({why}): is the server running, and is the address right? The request was not sent"
        ),
        End::Broken(why) => format!(
            "the connection to {server} broke ({why}): the server may have handled the request, so look before you send it again"
        ),
        End::TooLong => format!(
            "the response of {server} is longer than {} MiB, which is the most that is passed on",
            limits::mcp_http::MESSAGE >> 20
        ),
        End::Elsewhere(Some(to)) => format!(
            "{server} redirects to {to}, to which no request is sent: if you trust that address, use it in place of this one"
        ),
        End::Elsewhere(None) => format!("{server} redirects to an address that cannot be read"),
        End::Complete => Refusal::Unanswered.text(server),
    }
}

fn status_text(status: u16, body: Option<&str>, server: &ServerAddress) -> String {
    let said = body.map(|body| format!(": {body}")).unwrap_or_default();
    let advice = match status {
        401 => {
            "it wants other credentials: set them as a header of this server, in `[[mcp.servers]]` of the settings (`askbridge config edit`). A sign-in by OAuth is not supported"
        }
        403 => {
            "it refuses these credentials: see the headers of this server in `[[mcp.servers]]` of the settings"
        }
        404 | 405 => {
            "there is no MCP server with streamable HTTP at this address: is the path right? (The older transport, whose path is often /sse, is not supported)"
        }
        407 => "a proxy wants credentials",
        413 => "the request is too long for it",
        429 => "there are too many requests for it: try again later",
        500..=599 => "the server failed: see its log, and try again later",
        _ => "it refuses the request",
    };
    format!("{server} replied {status}{said}: {advice}")
}

/// Returns the response for a line of the host's that is no message.
pub(super) fn not_a_message() -> Bytes {
    line::error("null", PARSE_ERROR, "askbridge: the line is not a message of JSON-RPC, so it was not sent")
}

/// Returns the response for a request that is too long.
pub(super) fn too_long(id: &RequestId) -> Bytes {
    let most = limits::mcp_http::MESSAGE >> 20;
    let text = format!("askbridge: the request is longer than {most} MiB, which is the most that is sent");
    line::error(id.as_str(), FAILED, &text)
}

/// Returns the notification that takes back a request of the server's.
pub(super) fn cancelled(id: &str) -> Bytes {
    let params = format!(r#"{{"requestId":{id},"reason":"the server has ended its session"}}"#);
    line::line(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_says_where_and_what_to_do() {
        let server: ServerAddress = "https://a.example/mcp?key=s3cret".parse().expect("an address");
        let unreached = |why: &str| Refusal::Ended(End::Unreached(why.to_owned()));
        for (why, code, said) in [
            (unreached("refused"), 1, "cannot be reached (refused): is the server running"),
            (unreached("invalid peer certificate: UnknownIssuer"), 1, "add the authority of its certificate"),
            (Refusal::Status(401, None), 401, "set them as a header of this server, in `[[mcp.servers]]`"),
            (Refusal::Status(503, Some("busy".to_owned())), 503, "replied 503: busy: the server failed"),
            (
                Refusal::NoSession(Box::new(Refusal::Declined)),
                1,
                "a new session is needed, but https://a.example/mcp refused",
            ),
            (Refusal::TooMany, 1, "4352 requests to https://a.example/mcp have no response yet"),
            (Refusal::Ended(End::TooLong), 1, "longer than 256 MiB"),
        ] {
            let line = why.line(&RequestId::new("7"), &server);
            let line = std::str::from_utf8(&line).expect("text");
            let begins =
                format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":{code},"message":"askbridge: "#);
            assert!(line.starts_with(&begins) && line.contains("https://a.example/mcp"), "{line}");
            assert!(line.contains(said) && !line.contains("s3cret") && line.ends_with('\n'), "{line}");
        }
    }
}
