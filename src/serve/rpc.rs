//! The control protocol over HTTP and WebSocket: the methods of a bridge's socket, by the same server.

use axum::{BoxError, Router, error_handling::HandleError, http::StatusCode};
use jsonrpsee::server::{Server, ServerConfig, StopHandle};

use super::{http::App, problem::Problem};
use crate::{
    inbox::{
        Source,
        rpc::{Methods, QuestionsServer},
    },
    limits,
    question::Responder,
};

/// Returns the route.
pub(super) fn routes<S: Source>(source: S, stop: StopHandle) -> Router<App<S>> {
    let config = ServerConfig::builder()
        .max_connections(limits::CONNECTIONS)
        .max_request_body_size(limits::REQUEST)
        .max_response_body_size(limits::RESPONSE)
        .max_subscriptions_per_connection(limits::SUBSCRIPTIONS)
        .build();
    let builder = Server::builder().set_config(config).to_service_builder();
    let service = builder.build(Methods::new(source, Responder::Rpc).into_rpc(), stop);
    Router::new().route_service("/rpc", HandleError::new(service, failed))
}

async fn failed(error: BoxError) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad_request", error.to_string())
}
