//! Which path leads where, and what every request passes before: the guard, the size and the time of the body.

use std::sync::Arc;

use axum::{Router, middleware};

use super::{
    app::App,
    body::{self, Bodies},
    documents, events,
    guard::{self, Guard},
    health, opencode, problem,
    rate::Rate,
    rest, rpc,
};
use crate::control::{inbox::Inbox, stop::Stop};

/// Returns the router.
pub(super) fn router<I: Inbox>(app: App<I>, guard: Arc<Guard>, rate: Arc<Rate>, stop: &Stop) -> Router {
    let rpc = rpc::Rpc::new(app.inbox.clone(), rate, stop.clone());
    Router::new()
        .merge(rest::routes())
        .merge(events::routes())
        .merge(rpc::routes(rpc))
        .merge(opencode::routes())
        .merge(health::routes())
        .merge(documents::routes())
        .layer(middleware::from_fn_with_state(Bodies::default(), body::whole))
        .layer(middleware::from_fn_with_state(guard, guard::check))
        .layer(middleware::from_fn(problem::everywhere))
        .with_state(app)
}
