//! The host that a request is for, as the request names it. Whether it is this machine is left to the guard.

use axum::http::{HeaderMap, Uri, header::HOST, uri::Authority};

/// Returns the host that the request is for; `None` where there are several.
pub(super) fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(HOST).iter();
    let header = match (hosts.next(), hosts.next()) {
        (Some(host), None) => Some(host.to_str().ok()?.parse::<Authority>().ok()?),
        (None, _) => None,
        (Some(_), Some(_)) => return None,
    };
    match (header, uri.authority()) {
        (Some(header), Some(authority)) => (header == *authority).then_some(header),
        (header, authority) => header.or_else(|| authority.cloned()),
    }
}
