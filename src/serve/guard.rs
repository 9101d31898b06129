//! Checks every request before anything else reads it: its Host and Origin headers, the token, and the rate.
//! A web page of another site can make a browser send requests here; they are refused. What a person without the token
//! sees is left to `unauthorized`, how a browser signs in to `page`.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use axum::{
    body::Body,
    extract::State,
    http::{
        HeaderMap, HeaderValue, Request, StatusCode,
        header::{AUTHORIZATION, CONTENT_LENGTH, COOKIE, ORIGIN, SEC_WEBSOCKET_PROTOCOL, TRANSFER_ENCODING},
        uri::Authority,
    },
    middleware::Next,
    response::Response,
};
use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::{
    address::is_loopback,
    documents::{OPENAPI_PATH, OPENRPC_PATH},
    health::HEALTH,
    host::{SEC_FETCH_SITE, host},
    page::{
        routes::{ELEMENTS, PAGE, is_file},
        sign_in::{LOGIN, PageRequest, SUBPROTOCOL, SignIn},
    },
    problem::{self, Problem},
    rate::Rate,
    rpc::RPC,
    token::Token,
    unauthorized::{self, UnauthorizedReply},
    visitors::Visitor,
};
use crate::{desk::Refusal, limits};

/// The paths that need no token: what they return says nothing of a question. [`LOGIN`] checks it itself.
const PUBLIC: [&str; 6] = [PAGE, ELEMENTS, LOGIN, HEALTH, OPENAPI_PATH, OPENRPC_PATH];

/// Base64 with optional padding: some clients leave it out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a request must show.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) token: Token,
    /// The address that the server listens on.
    pub(super) address: SocketAddr,
    /// Names of this machine, beside its addresses and `localhost`.
    pub(super) hosts: Vec<String>,
    pub(super) rate: Arc<Rate>,
    /// What a request without the token is told.
    pub(super) unauthorized: Arc<UnauthorizedReply>,
    /// What the page's WebSocket shows in place of the token.
    pub(super) sign_in: Arc<SignIn>,
}

/// What a request has shown.
enum Credential {
    /// Nothing: its path needs none.
    Nothing,
    Token,
    /// The cookie and the key of the page.
    Page,
}

/// Passes a request on, or refuses it.
pub(super) async fn check(
    State(guard): State<Arc<Guard>>,
    mut request: Request<Body>,
    next: Next,
) -> Response {
    let visitor = request.extensions().get::<Arc<Visitor>>();
    match guard.judge(&request, visitor.map(|visitor| &**visitor)) {
        Ok(shown) => {
            hide_secrets(&mut request);
            if matches!(shown, Credential::Page) {
                request.extensions_mut().insert(PageRequest);
                // The key stands beside the name of the subprotocol.
                let name = HeaderValue::from_static(SUBPROTOCOL);
                request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, name);
            }
            next.run(request).await
        }
        // The connection of a client that is refused is closed.
        Err(problem)
            if problem.status == StatusCode::UNAUTHORIZED
                && unauthorized::is_for_person(request.method(), request.headers()) =>
        {
            problem::page(guard.unauthorized.page())
        }
        Err(problem) => problem.and_close(),
    }
}

impl Guard {
    fn judge(&self, request: &Request<Body>, visitor: Option<&Visitor>) -> Result<Credential, Problem> {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let forbidden = |name, detail| Err(Problem::new(StatusCode::FORBIDDEN, name, detail));
        let Some(host) = host(uri, headers).filter(|host| self.is_ours(host)) else {
            let detail =
                "the Host header does not name this machine; allow another name of it with --allow-host";
            return forbidden("wrong_host", detail);
        };
        if is_file(method, uri.path()) && has_short_body(headers) {
            return Ok(Credential::Nothing);
        }
        if !is_from_here(headers, &host) {
            return forbidden("wrong_origin", "the request comes from a web page of another site");
        }
        if PUBLIC.contains(&uri.path()) {
            // Others could fill the memory for bodies, which responders need.
            if has_short_body(headers) {
                return Ok(Credential::Nothing);
            }
            let detail =
                format!("the body must say its length, and be no longer than {} bytes", limits::PUBLIC_BODY);
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail));
        }
        let shown = if token(headers).is_some_and(|token| self.token.is(&token)) {
            Credential::Token
        } else if uri.path() == RPC && self.sign_in.admits(method, uri, headers) {
            Credential::Page
        } else {
            return Err(Problem::new(StatusCode::UNAUTHORIZED, "wrong_token", self.unauthorized.detail()));
        };
        if !visitor.is_none_or(Visitor::has_shown_token) {
            let detail = format!("there are {} connections already, which is the limit", limits::CONNECTIONS);
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_connections", detail));
        }
        if self.rate.allows() { Ok(shown) } else { Err(Refusal::TooManyRequests.into()) }
    }

    /// Returns whether a Host header names this machine. By DNS rebinding, a page can make its own name lead to this
    /// machine, and the browser sends that name; the page cannot choose an address.
    fn is_ours(&self, host: &Authority) -> bool {
        // An authority may have a user as well, a Host header may not.
        let (name, rest) = (host.host(), host.as_str().strip_prefix(host.host()));
        if !rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)) {
            return false;
        }
        // A name that ends with a dot is the same, fully qualified.
        let name = name.strip_suffix('.').unwrap_or(name);
        let address = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(address) => address.parse::<Ipv6Addr>().map(IpAddr::V6),
            None => name.parse::<Ipv4Addr>().map(IpAddr::V4),
        };
        let everywhere = !is_loopback(self.address.ip());
        name.eq_ignore_ascii_case("localhost")
            || address.is_ok_and(|address| everywhere || is_loopback(address))
            || self.hosts.iter().any(|ours| name.eq_ignore_ascii_case(ours))
    }
}

/// Removes what a request has shown: a handler cannot log what it does not get.
fn hide_secrets(request: &mut Request<Body>) {
    let is_login = request.uri().path() == LOGIN;
    let headers = request.headers_mut();
    headers.remove(AUTHORIZATION);
    if !is_login {
        headers.remove(COOKIE);
    }
}

/// Returns whether the body of a request is short, by what its head says.
fn has_short_body(headers: &HeaderMap) -> bool {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    !headers.contains_key(TRANSFER_ENCODING) && length.is_none_or(|length| length <= limits::PUBLIC_BODY)
}

/// Returns whether this is a port. By RFC 3986 it may be empty.
fn is_port(text: &str) -> bool {
    text.is_empty() || text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

/// Returns whether the request does not come from a web page of another site.
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

/// Returns the token of a request: that of a bearer, or the password of a user of any name.
fn token(headers: &HeaderMap) -> Option<Vec<u8>> {
    let (scheme, shown) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let shown = shown.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(shown.as_bytes().to_owned());
    }
    let decoded = BASE64.decode(shown).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    Some(decoded[colon + 1..].to_owned())
}
