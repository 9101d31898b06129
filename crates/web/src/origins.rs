//! Pages of other sites whose origin the user's settings name: a browser asks before it sends their requests (a
//! preflight), and shows them a response only if a header names their origin. A page may not use cookies here, so no
//! header allows credentials.
//! Whether a request may pass is left to `guard.rs`.

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderValue, Method, Request, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
        },
    },
    response::{IntoResponse, Response},
};

/// The methods of all paths.
const METHODS: &str = "GET, POST, DELETE";
/// The headers that a client sends beside those that every page may send.
const HEADERS: &str = "authorization, content-type, last-event-id, idempotency-key, prefer";

/// The origins that the settings name.
#[derive(Debug, Default)]
pub(super) struct Origins(Vec<HeaderValue>);

impl Origins {
    /// Takes the origins of the settings, as browsers send them.
    pub(super) fn new(origins: &[String]) -> Self {
        // An origin is printable ASCII, so each is a valid header.
        Origins(origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect())
    }

    /// Returns the origin of the page that sent a request, if the settings name exactly this one.
    pub(super) fn named(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let mut sent = headers.get_all(ORIGIN).iter();
        match (sent.next(), sent.next()) {
            (Some(origin), None) => self.0.iter().find(|named| *named == origin).cloned(),
            _ => None,
        }
    }
}

/// Returns whether a browser asks if a page may send a request.
pub(super) fn is_preflight(request: &Request<Body>) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Returns the reply to a preflight.
pub(super) fn preflight() -> Response {
    let allowed = [(ACCESS_CONTROL_ALLOW_METHODS, METHODS), (ACCESS_CONTROL_ALLOW_HEADERS, HEADERS)];
    (StatusCode::NO_CONTENT, allowed).into_response()
}

/// Lets the pages of an origin read a response.
pub(super) fn share(response: &mut Response, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    // A cache must not give this response to the page of another origin.
    headers.append(VARY, HeaderValue::from_name(ORIGIN));
}
