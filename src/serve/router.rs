//! Which handler serves a path, and the layers in front of all handlers: the guard, and the limits on size and time of
//! the body.

use std::sync::Arc;

use axum::{Router, middleware};

use tokio_util::sync::CancellationToken;

use super::{
    app::App,
    body::{self, Bodies},
    documents, events,
    guard::{self, Guard},
    health, opencode,
    page::{routes as page, sign_in},
    problem,
    rate::Rate,
    rest, rpc,
};
use crate::control::inbox::Inbox;

/// Returns the router.
pub(super) fn router<I: Inbox>(
    app: App<I>,
    guard: Arc<Guard>,
    rate: Arc<Rate>,
    stop: &CancellationToken,
) -> Router {
    let rpc = rpc::Rpc::new(app.inbox.clone(), rate, stop.clone());
    Router::new()
        .merge(rest::routes())
        .merge(events::routes())
        .merge(rpc::routes(rpc))
        .merge(opencode::routes())
        .merge(health::health_routes())
        .merge(documents::document_routes())
        .merge(page::routes())
        .merge(sign_in::routes(Arc::clone(&guard.sign_in)))
        .layer(middleware::from_fn_with_state(Bodies::default(), body::whole))
        .layer(middleware::from_fn_with_state(guard, guard::check))
        .layer(middleware::from_fn(problem::everywhere))
        .with_state(app)
}
