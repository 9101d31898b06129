//! Serves the descriptions of the interfaces as they stand in `schema/`. A test holds them against the types.

use axum::{Router, http::header::CONTENT_TYPE, routing::get};

use super::app::App;
use crate::control::inbox::Inbox;

const OPENAPI: &str = include_str!("../../schema/openapi.json");
const OPENRPC: &str = include_str!("../../schema/openrpc.json");

/// Returns the routes.
pub(super) fn routes<I: Inbox>() -> Router<App<I>> {
    let document = |text: &'static str| get(async move || ([(CONTENT_TYPE, "application/json")], text));
    Router::new().route("/v1/openapi.json", document(OPENAPI)).route("/v1/openrpc.json", document(OPENRPC))
}
