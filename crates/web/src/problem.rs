//! Why a request failed: `application/problem+json` by RFC 9457, for every error. Malformed HTTP and oversized headers
//! never get here: hyper responds to them with a bare status.

use askbridge_core::{
    desk::{Refusal, refusal::Detail},
    question::Outcome,
};
use axum::{
    body::{Body, Bytes, to_bytes},
    http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};

use super::stream;
use crate::limits;

const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

/// The Content-Type of a page that replaces a problem.
pub(super) const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Problem"))]
pub struct Problem {
    /// The name of the HTTP status.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// The mistake in this request, and its remedy.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// How the question ended, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Box<Outcome>>,
    /// The details, for programs. (Boxed, since they are far larger than the result of a request that succeeds.)
    #[serde(flatten)]
    pub more: Box<Detail>,
}

impl Problem {
    /// Creates a problem with a stable name, by which programs recognize it.
    pub(super) fn new(status: StatusCode, name: &str, detail: impl Into<String>) -> Self {
        Problem {
            title: status.canonical_reason().unwrap_or_default().to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            outcome: None,
            more: Box::new(Detail { name: name.to_owned(), ..Detail::default() }),
        }
    }

    /// Returns the response, and closes the connection after it: nothing more is read from the client.
    pub(super) fn and_close(self) -> Response {
        close(self.into_response())
    }
}

/// Returns the response with a page that replaces a problem, and closes the connection after it.
pub(super) fn page(mut page: Response) -> Response {
    let header = required_header(page.status());
    page.headers_mut().extend(header);
    close(page)
}

fn close(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Returns the header that a status requires, if any.
fn required_header(status: StatusCode) -> Option<(HeaderName, HeaderValue)> {
    match status {
        // Rates are limited per second.
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            Some((header::RETRY_AFTER, HeaderValue::from_static("1")))
        }
        // The scheme is not `Basic`: a browser would ask for a password, and send it from then on with the requests of
        // any page.
        StatusCode::UNAUTHORIZED => {
            Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"askbridge\"")))
        }
        _ => None,
    }
}

/// Returns the status of a refusal. Several refusals share one: clients find the name in the body.
fn status(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::NotFound => StatusCode::NOT_FOUND,
        Refusal::Ambiguous(_)
        | Refusal::Conflict(_)
        | Refusal::Changed(_)
        | Refusal::KeyUsed(_)
        | Refusal::Held => StatusCode::CONFLICT,
        Refusal::Gone(_) => StatusCode::GONE,
        Refusal::DoesNotFit(_) | Refusal::BadQuestion(_) => StatusCode::UNPROCESSABLE_ENTITY,
        Refusal::Full(_) => StatusCode::INSUFFICIENT_STORAGE,
        Refusal::NoDeadline => StatusCode::PRECONDITION_FAILED,
        Refusal::OwnAgent | Refusal::ReadOnly => StatusCode::FORBIDDEN,
        Refusal::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        Refusal::Unreached(_)
        | Refusal::Unavailable
        | Refusal::Unknown
        | Refusal::HistoryUnavailable(_)
        | Refusal::NotKept(_) => StatusCode::SERVICE_UNAVAILABLE,
        Refusal::Other(_) => StatusCode::BAD_GATEWAY,
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let (name, status) = (refusal.kind().name, status(&refusal));
        let more = refusal.detail();
        let settlement = more.question.as_ref().and_then(|record| record.settlement.as_ref());
        let outcome = settlement.map(|settlement| Box::new(settlement.outcome.clone()));
        Problem { outcome, more: Box::new(more), ..Problem::new(status, name, refusal.to_string()) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = stream::json(self);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, PROBLEM);
        headers.extend(required_header(status));
        response
    }
}

/// Turns every error into a problem, including those of the router and of axum's extractors, and sets the headers of
/// all responses.
pub(super) async fn everywhere(request: Request<Body>, next: Next) -> Response {
    let mut response = next.run(request).await;
    let status = response.status();
    if (status.is_client_error() || status.is_server_error()) && !is_ours(response.headers()) {
        response = problem_of(response).await;
    }
    let headers = response.headers_mut();
    // Only the files of the page are the same for every client, and may be kept.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    // A browser must not interpret the text of an agent as a page.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Turns the error of an inner layer into a problem, with the text of that layer if it has any.
async fn problem_of(response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let is_text = parts
        .headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
    let said = if is_text { to_bytes(body, limits::TEXT).await.unwrap_or_default() } else { Bytes::new() };
    let said = String::from_utf8_lossy(&said);
    let detail = match (said.trim(), parts.status) {
        ("", StatusCode::NOT_FOUND) => "no such path; /v1/openapi.json lists the paths",
        ("", StatusCode::METHOD_NOT_ALLOWED) => {
            "this path does not accept this method; the Allow header says which it accepts"
        }
        (said, _) => said,
    };
    let mut response = Problem::new(parts.status, name(parts.status), detail).into_response();
    // RFC 9110 requires Allow with 405, and only the router knows the methods. The others are those of the guard.
    for name in [header::ALLOW, header::ACCESS_CONTROL_ALLOW_ORIGIN, header::VARY] {
        let kept = parts.headers.get(&name).cloned();
        response.headers_mut().extend(kept.map(|kept| (name, kept)));
    }
    response
}

/// Returns whether a response is a problem, or a page that replaces one.
fn is_ours(headers: &HeaderMap) -> bool {
    // Another protocol has errors of its own, as JSON. The router and axum write texts.
    let ours = [PROBLEM, HTML, HeaderValue::from_static("application/json")];
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| ours.contains(kind))
}

fn name(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "no_such_path",
        StatusCode::METHOD_NOT_ALLOWED => "method_not_allowed",
        StatusCode::PAYLOAD_TOO_LARGE => "too_large",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "not_json",
        StatusCode::TOO_MANY_REQUESTS => "too_many_requests",
        _ => "bad_request",
    }
}
