//! The headers that confine the page: what it may load and send, and that no other page frames or opens it.

use axum::http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, VARY, X_FRAME_OPTIONS},
    uri::Authority,
};

use crate::serve::host::SEC_FETCH_SITE;

const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");

/// The name of a header that says which pages may load a file.
pub(super) const RESOURCE: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// What a page of questions has no use for.
const NO_DEVICES: &str = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), \
                          magnetometer=(), microphone=(), midi=(), payment=(), usb=()";

/// Adds the headers of a document that was loaded from this host by a request with these headers.
pub(super) fn confine(headers: &mut HeaderMap, host: Option<&Authority>, requested: &HeaderMap) {
    // Its only variable part is a host that the guard accepted.
    headers.extend(HeaderValue::try_from(policy(host)).ok().map(|policy| (CONTENT_SECURITY_POLICY, policy)));
    for (name, value) in [
        (REFERRER_POLICY, "no-referrer"),
        (RESOURCE, "same-origin"),
        (X_FRAME_OPTIONS, "DENY"),
        (PERMISSIONS, NO_DEVICES),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A page that the person opens has no opener to be parted from. For the header, browsers begin another process once
    // they have read it, and paint the page a third later.
    headers.append(VARY, HeaderValue::from_name(SEC_FETCH_SITE));
    if requested.get(SEC_FETCH_SITE).is_none_or(|site| site != "none") {
        headers.insert(OPENER, HeaderValue::from_static("same-origin"));
    }
}

fn policy(host: Option<&Authority>) -> String {
    // By CSP 3 'self' is the WebSocket of this host too; older browsers want it by name.
    let websocket = host.map(|host| format!(" ws://{host}")).unwrap_or_default();
    // Agents' previews have inline styles. They are in a frame without scripts, which inherits this policy.
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self'{websocket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; frame-src 'none'; \
         require-trusted-types-for 'script'; trusted-types askbridge-preview"
    )
}
