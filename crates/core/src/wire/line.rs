//! The lines that the bridge writes itself, each with its terminator.

use bytes::Bytes;
use serde::Serialize;

use super::method::CANCEL_REQUEST;

/// JSON-RPC: there is no such method.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// JSON-RPC: the method's parameters are wrong.
pub const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC: this is no valid request.
pub const INVALID_REQUEST: i32 = -32600;
/// ACP: the request was cancelled.
pub const REQUEST_CANCELLED: i32 = -32800;

/// A request. `id` is JSON text, as everywhere here.
pub fn request(id: &str, method: &str, params: &impl Serialize) -> Bytes {
    let (method, params) = (json(&method), json(params));
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#))
}

/// A notification.
pub fn notification(method: &str, params: &impl Serialize) -> Bytes {
    line(format!(r#"{{"jsonrpc":"2.0","method":{},"params":{}}}"#, json(&method), json(params)))
}

/// A response with a result.
pub fn response(id: &str, result: &impl Serialize) -> Bytes {
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, json(result)))
}

/// A response with an error.
pub fn error(id: &str, code: i32, message: &str) -> Bytes {
    let message = json(&message);
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#))
}

/// A response with an error of another peer, as its JSON text.
pub fn failure(id: &str, error: &[u8]) -> Bytes {
    // Bytes that are not UTF-8 are tolerated in a peer's strings, but the bridge writes none.
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, String::from_utf8_lossy(error)))
}

/// The notification that takes back a request.
pub fn cancel_request(id: &str) -> Bytes {
    line(format!(r#"{{"jsonrpc":"2.0","method":"{CANCEL_REQUEST}","params":{{"requestId":{id}}}}}"#))
}

fn json(value: &impl Serialize) -> String {
    // Our own types have string keys and finite numbers, so this cannot fail.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

fn line(mut text: String) -> Bytes {
    text.push('\n');
    text.into()
}
