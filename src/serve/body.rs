//! The body of a request as JSON, or the problem with it.

use axum::{
    Json,
    body::Bytes,
    extract::rejection::BytesRejection,
    http::{HeaderMap, StatusCode, header},
};
use serde::de::DeserializeOwned;

use super::problem::Problem;
use crate::limits;

/// What the router read of a body.
pub(super) type Read = Result<Bytes, BytesRejection>;

/// Reads a body. `shape` says what it is to look like.
pub(super) fn read<T: DeserializeOwned>(headers: &HeaderMap, body: Read, shape: &str) -> Result<T, Problem> {
    parse(headers, &whole(body)?, shape)
}

/// Reads a body that may be left out.
pub(super) fn read_if_any<T: DeserializeOwned + Default>(
    headers: &HeaderMap,
    body: Read,
    shape: &str,
) -> Result<T, Problem> {
    let body = whole(body)?;
    if body.is_empty() { Ok(T::default()) } else { parse(headers, &body, shape) }
}

fn whole(body: Read) -> Result<Bytes, Problem> {
    body.map_err(|rejection| match rejection.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::new(status, "too_large", format!("the body is larger than {} bytes", limits::REQUEST))
        }
        status => Problem::new(status, "bad_request", "the body ended too early"),
    })
}

fn parse<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8], shape: &str) -> Result<T, Problem> {
    if !is_json(headers) {
        let detail = "send `Content-Type: application/json`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", detail));
    }
    let Json(read) = Json::from_bytes(body).map_err(|rejection| match rejection.status() {
        status @ StatusCode::UNPROCESSABLE_ENTITY => {
            Problem::new(status, "does_not_fit", format!("the body is to be {shape}"))
        }
        status => Problem::new(status, "bad_request", rejection.body_text()),
    })?;
    Ok(read)
}

/// A form, or a text, is what a page elsewhere could send without being asked for.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}
