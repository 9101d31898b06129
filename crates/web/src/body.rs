//! Reads the body of a request as a whole and as JSON, or returns the problem with it.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::Response,
};
use bytes::BytesMut;
use futures::StreamExt;
use serde::de::DeserializeOwned;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::problem::Problem;
use crate::limits;

/// The memory for all larger bodies, of all connections (I6). A small body fits into the buffers of its connection.
#[derive(Clone, Debug)]
pub(super) struct Bodies(Arc<Semaphore>);

impl Default for Bodies {
    fn default() -> Self {
        Bodies(Arc::new(Semaphore::new(limits::REQUESTS_BYTES)))
    }
}

/// Forwards a request to its handler once its whole body has arrived. A slow sender delays only itself, and only up to
/// a timeout.
pub(super) async fn whole(State(bodies): State<Bodies>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let problem = match timeout(limits::BODY, bodies.read(body)).await {
        Ok(Ok(body)) => return next.run(Request::from_parts(parts, Body::from(body))).await,
        Ok(Err(problem)) => problem,
        Err(_) => {
            let detail = format!("the body did not arrive within {} s", limits::BODY.as_secs());
            Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", detail)
        }
    };
    problem.and_close()
}

impl Bodies {
    /// Reads a body. A larger one waits for memory, and frees it when the returned bytes are dropped.
    async fn read(&self, body: Body) -> Result<Bytes, Problem> {
        const MOST: usize = limits::REQUEST;
        let announced = body.size_hint().lower();
        // The request is refused before any byte is read or any memory is taken.
        if announced > MOST as u64 {
            return Err(too_large());
        }
        let announced = usize::try_from(announced).unwrap_or(MOST);
        let mut memory =
            if announced > limits::SHORT_REQUEST { Some(self.acquire(announced).await?) } else { None };
        let mut read = BytesMut::with_capacity(announced);
        let mut frames = body.into_data_stream();
        while let Some(frame) = frames.next().await {
            let frame = frame.map_err(|_| {
                Problem::new(StatusCode::BAD_REQUEST, "bad_request", "the body ended too early")
            })?;
            if read.len() + frame.len() > MOST {
                return Err(too_large());
            }
            if memory.is_none() && read.len() + frame.len() > limits::SHORT_REQUEST {
                // The length of this body is not known. It takes all the memory that it may need at once: requests that
                // each wait for more could block each other for ever.
                memory = Some(self.acquire(MOST).await?);
            }
            read.extend_from_slice(&frame);
        }
        Ok(match memory {
            // The permit lives as long as the bytes, so a handler cannot free it too early.
            Some(memory) => Bytes::from_owner(HeldBody { body: read, _memory: memory }),
            None => read.freeze(),
        })
    }

    async fn acquire(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let memory = Arc::clone(&self.0).acquire_many_owned(bytes).await;
        // The semaphore is never closed.
        memory.map_err(|_| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the server is stopping")
        })
    }
}

fn too_large() -> Problem {
    let detail = format!("the body is larger than {} bytes", limits::REQUEST);
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
}

/// A body, and the permit for its memory.
struct HeldBody {
    body: BytesMut,
    _memory: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for HeldBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// Parses a body, and frees its memory. `shape` describes the expected body in an error.
pub(super) fn read<T: DeserializeOwned>(headers: &HeaderMap, body: Bytes, shape: &str) -> Result<T, Problem> {
    check_json(headers)?;
    let wrong = |why: &str| {
        Problem::new(StatusCode::BAD_REQUEST, "bad_request", format!("the body must be {shape}: {why}"))
    };
    // serde also accepts an array of the members for a struct. A client that sends an array has made a mistake.
    if body.trim_ascii_start().starts_with(b"[") {
        return Err(wrong("it must not be an array"));
    }
    let value = serde_json::from_slice(&body).map_err(|error| wrong(&error.to_string()));
    drop(body);
    value
}

/// Parses a body that may be left out.
pub(super) fn read_if_any<T: DeserializeOwned + Default>(
    headers: &HeaderMap,
    body: Bytes,
    shape: &str,
) -> Result<T, Problem> {
    if body.is_empty() { Ok(T::default()) } else { read(headers, body, shape) }
}

/// Checks that the body is declared as JSON. A web page of another site can send a form or a text without a preflight.
pub(super) fn check_json(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let detail = "send `Content-Type: application/json`";
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", detail))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::to_bytes;
    use futures::{FutureExt, stream};

    use super::*;
    use crate::limits;

    const LARGE: usize = 1024 * 1024;

    fn free(bodies: &Bodies) -> usize {
        bodies.0.available_permits()
    }

    #[tokio::test]
    async fn larger_bodies_share_a_budget() {
        let bodies = Bodies::default();
        let large = || Body::from(vec![b' '; LARGE]);
        let mut held = Vec::new();
        while free(&bodies) >= LARGE {
            held.push(bodies.read(large()).await.unwrap());
        }
        assert_eq!(held.len() * LARGE + free(&bodies), limits::REQUESTS_BYTES);
        assert!(bodies.read(large()).now_or_never().is_none(), "it waits");
        let small = bodies.read(Body::from(vec![b' '; limits::SHORT_REQUEST])).now_or_never();
        assert!(small.is_some_and(|read| read.is_ok()), "a small body does not");
        // Handlers get it without a copy, and free it by dropping it.
        let body = to_bytes(Body::from(held.pop().unwrap()), usize::MAX).await.unwrap();
        assert_eq!(free(&bodies), limits::REQUESTS_BYTES - (held.len() + 1) * LARGE);
        drop(body);
        assert!(bodies.read(large()).now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_body_of_unknown_length_is_counted_as_the_largest() {
        let bodies = Bodies::default();
        let frames = |count: usize| {
            let frame = Ok::<_, Infallible>(Bytes::from(vec![b' '; limits::SHORT_REQUEST / 2]));
            Body::from_stream(stream::iter(vec![frame; count]))
        };
        let small = bodies.read(frames(2)).await.unwrap();
        assert_eq!((small.len(), free(&bodies)), (limits::SHORT_REQUEST, limits::REQUESTS_BYTES));
        let larger = bodies.read(frames(3)).await.unwrap();
        assert_eq!(free(&bodies), limits::REQUESTS_BYTES - limits::REQUEST);
        drop(larger);
        assert_eq!(free(&bodies), limits::REQUESTS_BYTES);
        let refused = bodies.read(frames(200)).await.unwrap_err();
        assert_eq!((refused.status, free(&bodies)), (413, limits::REQUESTS_BYTES));
    }
}
