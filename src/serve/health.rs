//! What monitoring asks for: whether the server runs, and its counters.

use axum::{
    Router,
    extract::State,
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
    routing::get,
};

use super::app::App;
use crate::control::inbox::Inbox;

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
