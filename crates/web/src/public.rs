//! The paths for monitoring and for client generators: the health check, the metrics, and the descriptions of the
//! interfaces from `schema/`. A test compares the descriptions with the types.
//! Counting is left to `metrics.rs`.

use askbridge_control::inbox::Inbox;
use axum::{
    Router,
    extract::State,
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
    routing::get,
};

use super::app::App;

/// The path of the description of the REST interface. It needs no token, so that generators can read it.
pub(super) const OPENAPI_PATH: &str = "/v1/openapi.json";
/// The path of the description of the control protocol. It needs no token either.
pub(super) const OPENRPC_PATH: &str = "/v1/openrpc.json";

const OPENAPI: &str = include_str!("../schema/openapi.json");
const OPENRPC: &str = include_str!("../schema/openrpc.json");

/// Returns the routes.
pub(super) fn document_routes<I: Inbox>() -> Router<App<I>> {
    let document = |text: &'static str| get(async move || ([(CONTENT_TYPE, "application/json")], text));
    Router::new().route(OPENAPI_PATH, document(OPENAPI)).route(OPENRPC_PATH, document(OPENRPC))
}

/// The path of the health check. It needs no token: a program that can connect knows that the server runs.
pub(super) const HEALTH: &str = "/healthz";

/// Returns the routes.
pub(super) fn health_routes<I: Inbox>() -> Router<App<I>> {
    Router::new().route(HEALTH, get(async || "ok\n")).route("/metrics", get(metrics))
}

async fn metrics<I: Inbox>(State(app): State<App<I>>) -> Response {
    let (revision, open) = app.inbox.store().read(|revision, snapshot| (revision, snapshot.open()));
    // A question that was settled before the request must be counted in the response.
    app.metrics.counted_up_to(revision).await;
    // Writing to a `String` never fails.
    let text = app.metrics.text(app.inbox.status().len(), &open).unwrap_or_default();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
