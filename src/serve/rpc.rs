//! The control protocol over HTTP and WebSocket: the methods of a bridge's socket, by the same server.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use axum::{
    BoxError, Router,
    error_handling::HandleError,
    http::{HeaderValue, StatusCode, header::ALLOW},
    middleware,
    response::Response,
    routing::get_service,
};
use jsonrpsee::{
    RpcModule,
    core::{
        RpcResult,
        middleware::{
            Batch, BatchEntry, BatchEntryErr, Notification, Request, ResponseFuture, RpcServiceBuilder,
            RpcServiceT,
        },
    },
    server::{MethodResponse, Server, StopHandle},
    types::ErrorObjectOwned,
};

use super::{http::App, problem::Problem, rate::Rate};
use crate::{
    control::old::{
        Refusal, Source,
        refusal::Detail,
        rpc::{Caller, Methods, QuestionsServer, error},
        socket,
    },
    question::Responder,
};

/// Returns the route. Its calls are counted with all other requests.
pub(super) fn routes<S: Source>(source: S, rate: Arc<Rate>, stop: StopHandle) -> Router<App<S>> {
    // Made anew for each request over HTTP, and for each WebSocket.
    let counted = RpcServiceBuilder::new().layer_fn(move |calls| Counted {
        calls,
        rate: Arc::clone(&rate),
        is_first: AtomicBool::new(true),
    });
    let builder =
        Server::builder().set_config(socket::config()).set_rpc_middleware(counted).to_service_builder();
    let methods = || Methods::new(source.clone(), Caller::Of(Responder::Rpc)).into_rpc();
    let over_http = builder.clone().build(without_subscriptions(methods()), stop.clone());
    let over_websocket = builder.build(methods(), stop);
    let over_websocket = get_service(HandleError::new(over_websocket, failed));
    let over_websocket = over_websocket.route_layer(middleware::map_response(only_by_websocket));
    Router::new().route("/rpc", over_websocket.post_service(HandleError::new(over_http, failed)))
}

/// Adds what is allowed where nobody asked for a WebSocket, which jsonrpsee leaves out.
async fn only_by_websocket(mut response: Response) -> Response {
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    }
    response
}

/// What is said to whoever subscribes where nothing can be told later: its name and its code.
pub(super) const NEEDS_WEBSOCKET: (&str, i32) = ("needs_websocket", 426);

/// Lets subscribing fail with a reason.
fn without_subscriptions<M: Send + Sync + 'static>(mut methods: RpcModule<M>) -> RpcModule<M> {
    for name in ["question_subscribe", "question_unsubscribe"] {
        methods.remove_method(name);
        let registered = methods.register_method(name, move |_, _, _| {
            let (reason, code) = NEEDS_WEBSOCKET;
            let detail = Detail { name: reason.to_owned(), ..Detail::default() };
            let message = format!("{name} needs a WebSocket, at the same path");
            RpcResult::<()>::Err(ErrorObjectOwned::owned(code, message, Some(detail)))
        });
        debug_assert!(registered.is_ok(), "{name} was removed");
    }
    methods
}

async fn failed(error: BoxError) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad_request", error.to_string())
}

/// The calls of one request, or of one WebSocket.
#[derive(Debug)]
struct Counted<S> {
    calls: S,
    rate: Arc<Rate>,
    /// The guard has counted the request that brought the first call.
    is_first: AtomicBool,
}

impl<S> Counted<S> {
    fn allows(&self) -> bool {
        self.is_first.swap(false, Ordering::Relaxed) || self.rate.allows()
    }
}

impl<S> RpcServiceT for Counted<S>
where
    S: RpcServiceT<MethodResponse = MethodResponse>,
{
    type MethodResponse = MethodResponse;
    type NotificationResponse = S::NotificationResponse;
    type BatchResponse = S::BatchResponse;

    fn call<'a>(&self, call: Request<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        match self.allows() {
            true => ResponseFuture::future(self.calls.call(call)),
            false => ResponseFuture::ready(MethodResponse::error(call.id, error(Refusal::TooManyRequests))),
        }
    }

    /// What is in a batch does not come by [`Counted::call`].
    fn batch<'a>(&self, mut batch: Batch<'a>) -> impl Future<Output = Self::BatchResponse> + Send + 'a {
        for entry in batch.iter_mut() {
            if let Ok(BatchEntry::Call(call)) = entry
                && !self.allows()
            {
                *entry = Err(BatchEntryErr::new(call.id.clone(), error(Refusal::TooManyRequests)));
            }
        }
        self.calls.batch(batch)
    }

    /// Nothing is done for a notification: no method is one.
    fn notification<'a>(
        &self,
        notification: Notification<'a>,
    ) -> impl Future<Output = Self::NotificationResponse> + Send + 'a {
        self.calls.notification(notification)
    }
}
