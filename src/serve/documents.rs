//! Serves the descriptions of the interfaces as they stand in `schema/`. A test compares them with the types.

use axum::{Router, http::header::CONTENT_TYPE, routing::get};

use super::app::App;
use crate::control::inbox::Inbox;

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
