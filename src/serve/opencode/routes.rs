//! The paths of opencode's API. What they do is left to the other files.

use axum::{
    Router,
    routing::{get, post},
};

use super::{events, permission, question};
use crate::{control::inbox::Inbox, serve::app::App};

/// Returns the routes.
pub(in crate::serve) fn routes<I: Inbox>() -> Router<App<I>> {
    Router::new()
        .route("/question", get(question::list))
        .route("/question/{id}/reply", post(question::reply))
        .route("/question/{id}/reject", post(question::reject))
        .route("/permission", get(permission::list))
        .route("/permission/{id}/reply", post(permission::reply))
        // Deprecated in the API, but the only path of older clients.
        .route("/session/{session}/permissions/{id}", post(permission::respond))
        .route("/event", get(events::events))
}
