//! Who may ask at all, before anything else is looked at: the host that is asked for, the page that asks, the token,
//! and how often. A web page elsewhere can make a browser send requests here; it gets nowhere.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    body::Body,
    extract::State,
    http::{
        HeaderMap, HeaderValue, Request, StatusCode, Uri,
        header::{AUTHORIZATION, HOST, HeaderName, ORIGIN},
        uri::Authority,
    },
    middleware::Next,
    response::Response,
};
use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::{problem::Problem, rate::Rate, token::Token};
use crate::control::old::Refusal;

/// What needs no token: that the server runs is no secret to whoever reaches it.
const OPEN: &str = "/healthz";
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Some clients leave out what fills it up at its end.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a request must show.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) token: Token,
    /// Where we listen.
    pub(super) address: SocketAddr,
    /// Names of ours beside those of every machine.
    pub(super) hosts: Vec<String>,
    pub(super) rate: Arc<Rate>,
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
        // Whoever may not ask holds no connection either.
        Err(problem) => problem.and_close(),
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
        if self.rate.allows() { Ok(()) } else { Err(Refusal::TooManyRequests.into()) }
    }

    /// Says whether this names us. A page can make its own name lead to this machine, and that is what the browser
    /// sends; an address it cannot choose.
    fn is_ours(&self, host: &Authority) -> bool {
        // Whatever else may stand in an authority has no business in a Host header.
        let (name, rest) = (host.host(), host.as_str().strip_prefix(host.host()));
        if !rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)) {
            return false;
        }
        // One that ends with a dot is the same, whole.
        let name = name.strip_suffix('.').unwrap_or(name);
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        let everywhere = !is_loopback(self.address.ip());
        name.eq_ignore_ascii_case("localhost")
            || address.is_ok_and(|address| everywhere || is_loopback(address))
            || self.hosts.iter().any(|ours| name.eq_ignore_ascii_case(ours))
    }
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
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
    let decoded = BASE64.decode(shown).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    Some(decoded[colon + 1..].to_owned())
}
