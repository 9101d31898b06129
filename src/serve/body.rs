//! The body of a request, whole and as JSON, or the problem with it.

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, Request, rejection::BytesRejection},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::Response,
};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::problem::Problem;
use crate::limits;

/// Lets a request on once its whole body is there: whoever sends it slowly holds up nobody but himself, and that not
/// for long.
pub(super) async fn whole(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    // The most that it may be stands in the extensions.
    let read = Bytes::from_request(Request::from_parts(parts.clone(), body), &());
    let problem = match timeout(limits::BODY, read).await {
        Ok(Ok(body)) => return next.run(Request::from_parts(parts, Body::from(body))).await,
        Ok(Err(rejection)) => incomplete(&rejection),
        Err(_) => {
            let detail = format!("the body did not come within {} s", limits::BODY.as_secs());
            Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", detail)
        }
    };
    problem.and_close()
}

fn incomplete(rejection: &BytesRejection) -> Problem {
    match rejection.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::new(status, "too_large", format!("the body is larger than {} bytes", limits::REQUEST))
        }
        status => Problem::new(status, "bad_request", "the body ended too early"),
    }
}

/// Reads a body. `shape` says what it is to look like.
pub(super) fn read<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8], shape: &str) -> Result<T, Problem> {
    if !is_json(headers) {
        let detail = "send `Content-Type: application/json`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", detail));
    }
    let wrong = |why: &str| {
        Problem::new(StatusCode::BAD_REQUEST, "bad_request", format!("the body is to be {shape}: {why}"))
    };
    // A type may be read from an array of its members as well, which is nothing that anybody means.
    if body.trim_ascii_start().starts_with(b"[") {
        return Err(wrong("it is an array"));
    }
    serde_json::from_slice(body).map_err(|error| wrong(&error.to_string()))
}

/// Reads a body that may be left out.
pub(super) fn read_if_any<T: DeserializeOwned + Default>(
    headers: &HeaderMap,
    body: &[u8],
    shape: &str,
) -> Result<T, Problem> {
    if body.is_empty() { Ok(T::default()) } else { read(headers, body, shape) }
}

/// A form, or a text, is what a page elsewhere could send without being asked for.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}
