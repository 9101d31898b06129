//! The paths that monitoring and generators ask for: the health check, the metrics, and the descriptions of the
//! interfaces as they stand in `schema/`. A test compares the descriptions with the types.
//! Counting is left to `metrics.rs`.

use axum::{
    Router,
    extract::State,
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
    routing::get,
};

use super::app::App;
use crate::inbox::access::Inbox;

/// Where REST is described. It needs no token, so that generators can read it.
pub(super) const OPENAPI_PATH: &str = "/v1/openapi.json";
/// Where the control protocol is described. It needs no token either.
pub(super) const OPENRPC_PATH: &str = "/v1/openrpc.json";

const OPENAPI: &str = include_str!("../../schema/openapi.json");
const OPENRPC: &str = include_str!("../../schema/openrpc.json");

/// Returns the routes.
pub(super) fn document_routes<I: Inbox>() -> Router<App<I>> {
    let document = |text: &'static str| get(async move || ([(CONTENT_TYPE, "application/json")], text));
    Router::new().route(OPENAPI_PATH, document(OPENAPI)).route(OPENRPC_PATH, document(OPENRPC))
}

/// The path that needs no token: that the server runs is no secret to a program that reaches it.
pub(super) const HEALTH: &str = "/healthz";

/// Returns the routes.
pub(super) fn health_routes<I: Inbox>() -> Router<App<I>> {
    Router::new().route(HEALTH, get(async || "ok\n")).route("/metrics", get(metrics))
}

async fn metrics<I: Inbox>(State(app): State<App<I>>) -> Response {
    let (revision, open) = app.inbox.store().read(|revision, snapshot| (revision, snapshot.open()));
    app.metrics.counted_up_to(revision).await;
    // Writing to a text does not fail.
    let text = app.metrics.text(app.inbox.status().len(), &open).unwrap_or_default();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
