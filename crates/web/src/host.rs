//! Reads the host that a request names, and distinguishes loopback addresses from others. Whether a request may pass is
//! left to `guard.rs`.

use std::net::IpAddr;

use axum::http::{
    HeaderMap, Uri,
    header::{HOST, HeaderName},
    uri::Authority,
};

/// The header in which browsers say which site a request comes from. `none` means the user: a typed address, or a link
/// in another program.
pub(super) const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Returns the host that the request is for. `None` if the request names none, or several.
pub(super) fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(HOST).iter();
    let header = match (hosts.next(), hosts.next()) {
        (Some(host), None) => Some(host.to_str().ok()?.parse::<Authority>().ok()?),
        (None, _) => None,
        (Some(_), Some(_)) => return None,
    };
    match (header, uri.authority()) {
        // If the two differ, a proxy may have checked one of them while this server uses the other.
        (Some(header), Some(authority)) => (header == *authority).then_some(header),
        (header, authority) => header.or_else(|| authority.cloned()),
    }
}

/// Returns whether an address can be reached from this machine only.
pub(super) fn is_loopback(address: IpAddr) -> bool {
    // `::ffff:127.0.0.1` is loopback as well.
    address.to_canonical().is_loopback()
}
