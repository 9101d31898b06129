//! Who may ask at all, before anything else is looked at: the host that is asked for, the page that asks, the token,
//! and how often. A web page elsewhere can make a browser send requests here; it gets nowhere.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::State,
    http::{
        HeaderMap, HeaderValue, Request, StatusCode, Uri,
        header::{AUTHORIZATION, CONNECTION, HOST, HeaderName, ORIGIN},
        uri::Authority,
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};

use super::{problem::Problem, token::Token};
use crate::limits;

/// What needs no token: that the server runs is no secret to whoever reaches it.
const OPEN: &str = "/healthz";
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a request must show.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) token: Token,
    /// Where we listen.
    pub(super) address: SocketAddr,
    /// Names of ours beside those of every machine.
    pub(super) hosts: Vec<String>,
    pub(super) rate: Rate,
}

/// Lets a request through, or says why not.
pub(super) async fn check(
    State(guard): State<Arc<Guard>>,
    mut request: Request<Body>,
    next: Next,
) -> Response {
    match guard.judge(request.uri(), request.headers()) {
        Ok(()) => {
            // Nobody needs it any more, and what it is not in cannot log it.
            request.headers_mut().remove(AUTHORIZATION);
            next.run(request).await
        }
        Err(problem) => {
            let mut response = problem.into_response();
            // Whoever may not ask holds no connection either.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            response
        }
    }
}

impl Guard {
    fn judge(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let forbidden = |name, detail| Err(Problem::new(StatusCode::FORBIDDEN, name, detail));
        let Some(host) = host(uri, headers).filter(|host| self.is_ours(host)) else {
            let detail =
                "the Host header does not name this machine; another name of it is given by --allow-host";
            return forbidden("wrong_host", detail);
        };
        if !is_from_here(headers, &host) {
            return forbidden("wrong_origin", "the request comes from a web page elsewhere");
        }
        if uri.path() == OPEN {
            return Ok(());
        }
        if !shown(headers).is_some_and(|shown| self.token.is(&shown)) {
            let detail = "show the token of the token file: `Authorization: Bearer TOKEN`";
            return Err(Problem::new(StatusCode::UNAUTHORIZED, "wrong_token", detail));
        }
        if !self.rate.allows(Instant::now()) {
            let detail = format!("more than {} requests in a second", limits::REQUESTS_PER_SECOND);
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", detail));
        }
        Ok(())
    }

    /// Says whether this names us. A page can make its own name lead to this machine, and that is what the browser
    /// sends; an address it cannot choose.
    fn is_ours(&self, host: &Authority) -> bool {
        let name = host.host();
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        let everywhere = !is_loopback(self.address.ip());
        name.eq_ignore_ascii_case("localhost")
            || address.is_ok_and(|address| everywhere || is_loopback(address))
            || self.hosts.iter().any(|ours| name.eq_ignore_ascii_case(ours))
    }
}

/// Says whether an address can be reached from this machine only.
pub(super) fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Returns the host that is asked for. More than one is none.
fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
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

/// Says whether no web page sent the request, or one of our own.
fn is_from_here(headers: &HeaderMap, host: &Authority) -> bool {
    let site = headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
    if !matches!(site, None | Some(b"same-origin" | b"none")) {
        return false;
    }
    headers.get_all(ORIGIN).iter().all(|origin| {
        let origin = origin.to_str().unwrap_or_default();
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host.as_str()))
    })
}

/// Returns what is shown as the token: the bearer's, or the password of a user of any name.
fn shown(headers: &HeaderMap) -> Option<Vec<u8>> {
    let (scheme, shown) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let shown = shown.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(shown.as_bytes().to_owned());
    }
    let decoded = BASE64_STANDARD.decode(shown).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    Some(decoded[colon + 1..].to_owned())
}

/// How many requests there were in this second. Who shows no token is not counted, and so takes nothing from others.
#[derive(Debug)]
pub(super) struct Rate(Mutex<(Instant, u32)>);

impl Rate {
    pub(super) fn new() -> Self {
        Rate(Mutex::new((Instant::now(), 0)))
    }

    fn allows(&self, now: Instant) -> bool {
        // Nothing that holds it can leave it half changed.
        let mut second = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(second.0) >= Duration::from_secs(1) {
            *second = (now, 0);
        }
        second.1 = second.1.saturating_add(1);
        second.1 <= limits::REQUESTS_PER_SECOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_requests_a_second_are_let_through_and_no_more() {
        let rate = Rate::new();
        let start = Instant::now();
        for second in 0..3 {
            let now = start + Duration::from_secs(second);
            let allowed = (0..2 * limits::REQUESTS_PER_SECOND).filter(|_| rate.allows(now)).count();
            assert_eq!(allowed, limits::REQUESTS_PER_SECOND as usize, "in second {second}");
        }
        // A clock that goes back lets nobody through.
        assert!(!rate.allows(start));
    }
}
