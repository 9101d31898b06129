//! Checks every request before any handler reads it: its Host and Origin headers, the token, and the rate. A web page
//! of another site can make a browser send requests here; the guard refuses them, unless the settings name the origin
//! of the page: then the token decides. The reply to a request without the token is a problem for programs, or a small
//! page for a person in a browser.
//! How a browser signs in is left to `page`, and the headers for pages of other sites to `origins.rs`.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
    sync::Arc,
};

use askbridge_core::desk::Refusal;
use axum::{
    body::Body,
    extract::State,
    http::{
        HeaderMap, HeaderValue, Method, Request, StatusCode,
        header::{
            ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, ORIGIN,
            REFERRER_POLICY, SEC_WEBSOCKET_PROTOCOL, TRANSFER_ENCODING,
        },
        uri::Authority,
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use data_encoding::HEXLOWER;

use super::{
    host::{SEC_FETCH_SITE, host, is_loopback},
    origins::{self, Origins},
    problem::{self, HTML, Problem},
    public::{HEALTH, OPENAPI_PATH, OPENRPC_PATH},
    rpc::RPC,
    token::Token,
    visitors::{Rate, Visitor},
};
use crate::{
    limits,
    page::{
        sign_in::{LOGIN, PageRequest, SUBPROTOCOL, SignIn},
        site::{ELEMENTS, PAGE, is_file},
    },
};

/// The paths that need no token: their responses disclose nothing of a question. [`LOGIN`] checks the token itself.
const PUBLIC: [&str; 6] = [PAGE, ELEMENTS, LOGIN, HEALTH, OPENAPI_PATH, OPENRPC_PATH];

/// Base64 with optional padding: some clients leave it out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Checks what a request must show.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) token: Token,
    /// The address that the server listens on.
    pub(super) address: SocketAddr,
    /// Names of this machine, beside its addresses and `localhost`.
    pub(super) hosts: Vec<String>,
    /// The other sites whose pages may use the token.
    pub(super) origins: Origins,
    pub(super) rate: Arc<Rate>,
    /// The reply to a request without the token.
    pub(super) unauthorized: Arc<UnauthorizedReply>,
    /// Checks what the page's WebSocket shows in place of the token.
    pub(super) sign_in: Arc<SignIn>,
}

/// The sender of a request.
enum Sender {
    /// Any page or program: the path is that of a file which all of them may load.
    Anyone,
    /// A program, or the page of this server.
    Here,
    /// A page of another site, whose origin the settings name.
    Elsewhere(HeaderValue),
}

/// What a request has shown.
enum Credential {
    /// Nothing: its path needs none.
    Nothing,
    /// Nothing: a browser asks whether a page of another site may send a request.
    Preflight,
    Token,
    /// The cookie and the key of the page.
    Page,
}

/// Forwards a request to its handler, or refuses it.
pub(super) async fn check(State(guard): State<Arc<Guard>>, request: Request<Body>, next: Next) -> Response {
    let sender = match guard.sender(&request) {
        Ok(sender) => sender,
        // The reply closes the connection of the refused client.
        Err(problem) => return problem.and_close(),
    };
    let mut response = guard.respond(&sender, request, next).await;
    // A page also has to read why its request failed.
    if let Sender::Elsewhere(origin) = sender {
        origins::share(&mut response, origin);
    }
    response
}

impl Guard {
    async fn respond(&self, sender: &Sender, mut request: Request<Body>, next: Next) -> Response {
        let visitor = request.extensions().get::<Arc<Visitor>>();
        match self.judge(sender, &request, visitor.map(|visitor| &**visitor)) {
            Ok(Credential::Preflight) => origins::preflight(),
            Ok(shown) => {
                hide_secrets(&mut request);
                if matches!(shown, Credential::Page) {
                    request.extensions_mut().insert(PageRequest);
                    // The header has the key beside the name of the subprotocol. Only the name is kept.
                    let name = HeaderValue::from_static(SUBPROTOCOL);
                    request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, name);
                }
                next.run(request).await
            }
            // Either reply closes the connection of the refused client.
            Err(problem)
                if problem.status == StatusCode::UNAUTHORIZED
                    && is_for_person(request.method(), request.headers()) =>
            {
                problem::page(self.unauthorized.page())
            }
            Err(problem) => problem.and_close(),
        }
    }

    /// Returns who sent a request, from its Host and Origin headers.
    fn sender(&self, request: &Request<Body>) -> Result<Sender, Problem> {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let forbidden = |name, detail| Err(Problem::new(StatusCode::FORBIDDEN, name, detail));
        let Some(host) = host(uri, headers).filter(|host| self.is_ours(host)) else {
            let detail =
                "the Host header does not name this machine; allow another name of it with --allow-host";
            return forbidden("wrong_host", detail);
        };
        // Pages of other sites may load these files, so their origin is not checked.
        if is_file(method, uri.path()) && has_short_body(headers) {
            return Ok(Sender::Anyone);
        }
        if is_from_here(headers, &host) {
            return Ok(Sender::Here);
        }
        // Only the page of this server signs in: a page of another site has the token, and no use for a cookie.
        match self.origins.named(headers).filter(|_| uri.path() != LOGIN) {
            Some(origin) => Ok(Sender::Elsewhere(origin)),
            None => forbidden("wrong_origin", "the request comes from a web page of another site"),
        }
    }

    fn judge(
        &self,
        sender: &Sender,
        request: &Request<Body>,
        visitor: Option<&Visitor>,
    ) -> Result<Credential, Problem> {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let is_here = matches!(sender, Sender::Here);
        let needs_none = match sender {
            Sender::Anyone => Some(Credential::Nothing),
            Sender::Here if PUBLIC.contains(&uri.path()) => Some(Credential::Nothing),
            // A browser never shows the token in a preflight.
            Sender::Elsewhere(_) if origins::is_preflight(request) => Some(Credential::Preflight),
            Sender::Here | Sender::Elsewhere(_) => None,
        };
        if let Some(credential) = needs_none {
            // Clients without the token could otherwise fill the memory for bodies, which responders need.
            if has_short_body(headers) {
                return Ok(credential);
            }
            let detail =
                format!("the body must say its length, and be no longer than {} bytes", limits::PUBLIC_BODY);
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail));
        }
        let shown = if token(headers).is_some_and(|token| self.token.is(&token)) {
            Credential::Token
        } else if is_here && uri.path() == RPC && self.sign_in.admits(method, uri, headers) {
            Credential::Page
        } else {
            return Err(Problem::new(StatusCode::UNAUTHORIZED, "wrong_token", self.unauthorized.detail()));
        };
        if !visitor.is_none_or(Visitor::has_shown_token) {
            let most = limits::HTTP_CONNECTIONS;
            let detail = format!("there are {most} connections already, which is the limit");
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_connections", detail));
        }
        // The rate comes last: requests without the token must not use it up.
        if self.rate.allows() { Ok(shown) } else { Err(Refusal::TooManyRequests.into()) }
    }

    /// Returns whether a Host header names this machine. By DNS rebinding, a page of another site can make its own name
    /// resolve to this machine, but then the browser sends that name, and not an address.
    fn is_ours(&self, host: &Authority) -> bool {
        // The parser also accepts a user in front of the host, which is not valid in a Host header.
        let (name, rest) = (host.host(), host.as_str().strip_prefix(host.host()));
        if !rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)) {
            return false;
        }
        // A name with a trailing dot is the same name, fully qualified.
        let name = name.strip_suffix('.').unwrap_or(name);
        let address = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(address) => address.parse::<Ipv6Addr>().map(IpAddr::V6),
            None => name.parse::<Ipv4Addr>().map(IpAddr::V4),
        };
        // A server for other machines may be reached by any address of this machine, or of a proxy.
        let everywhere = !is_loopback(self.address.ip());
        name.eq_ignore_ascii_case("localhost")
            || address.is_ok_and(|address| everywhere || is_loopback(address))
            || self.hosts.iter().any(|ours| name.eq_ignore_ascii_case(ours))
    }
}

/// Removes the secrets of a request: a handler cannot log what it does not get.
fn hide_secrets(request: &mut Request<Body>) {
    let is_login = request.uri().path() == LOGIN;
    let headers = request.headers_mut();
    headers.remove(AUTHORIZATION);
    if !is_login {
        headers.remove(COOKIE);
    }
}

/// Returns whether the headers say that the body of the request is short.
fn has_short_body(headers: &HeaderMap) -> bool {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    !headers.contains_key(TRANSFER_ENCODING) && length.is_none_or(|length| length <= limits::PUBLIC_BODY)
}

/// Returns whether a text is a port. By RFC 3986, it may be empty.
fn is_port(text: &str) -> bool {
    text.is_empty() || text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

/// Returns whether the request does not come from a web page of another site.
fn is_from_here(headers: &HeaderMap, host: &Authority) -> bool {
    // Browsers send no Origin with some requests, such as those for images. Sec-Fetch-Site covers these.
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

/// Returns the token of a request: a bearer token, or the password of basic authentication with any user name.
fn token(headers: &HeaderMap) -> Option<Vec<u8>> {
    let (scheme, shown) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let shown = shown.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(shown.as_bytes().to_owned());
    }
    let decoded = BASE64.decode(shown).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    // By RFC 7617, the first colon ends the user name; the password may contain more of them.
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    Some(decoded[colon + 1..].to_owned())
}

const STYLE: &str = "\
:root { color-scheme: light dark; font: 1.125rem/1.6 system-ui, sans-serif; }
body { margin: 0; padding: 3rem 1.5rem; }
main { max-width: 38rem; margin: 0 auto; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 1rem; }
p { margin: 0 0 0.75rem; }
pre, code { font: 0.9375rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { margin: 0 0 0.75rem; padding: 0.75rem 1rem; border: 1px solid; border-radius: 0.375rem; white-space: pre-wrap; }
";

/// The server's reply to a request without the token.
#[derive(Debug)]
pub(super) struct UnauthorizedReply {
    /// The token file as a sentence names it.
    token_file: String,
}

impl UnauthorizedReply {
    /// Builds the reply. It names the token file, unless other machines can reach the address: a path must not be
    /// disclosed to them.
    pub(super) fn new(address: IpAddr, token_file: &Path) -> Self {
        // The reader of the page does not know the working directory of the server.
        let token_file = std::path::absolute(token_file).unwrap_or_else(|_| token_file.to_owned());
        let token_file = match is_loopback(address) {
            true => token_file.display().to_string(),
            false => "the file that the server named on stderr when it started".to_owned(),
        };
        UnauthorizedReply { token_file }
    }

    /// Returns the sentence for a program whose request lacks the token.
    pub(super) fn detail(&self) -> String {
        format!("send the token in {} with the request: `Authorization: Bearer TOKEN`", self.token_file)
    }

    /// Returns the page.
    pub(super) fn page(&self) -> Response {
        let nonce = nonce();
        let policy = format!(
            "default-src 'none'; style-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        let mut response = (StatusCode::UNAUTHORIZED, self.html(&nonce)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HTML);
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        // The only variable part of the policy is hexadecimal, so this is a valid header.
        headers.extend(HeaderValue::try_from(policy).ok().map(|policy| (CONTENT_SECURITY_POLICY, policy)));
        response
    }

    fn html(&self, nonce: &str) -> String {
        let token_file = escaped(&self.token_file);
        format!(
            "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>askbridge</title>
<style nonce=\"{nonce}\">
{STYLE}</style>
<main>
<h1>askbridge needs a token for this path</h1>
<p>The questions are on <a href=\"/\">the page of this server</a>. To sign in, type <code>askbridge open</code> in a terminal.</p>
<p>A program sends <code>Authorization: Bearer TOKEN</code> with each request, as <a href=\"/v1/openapi.json\">/v1/openapi.json</a> says. The token is in this file:</p>
<pre>{token_file}</pre>
</main>
</html>
"
        )
    }
}

/// Returns whether a browser sent this request and will show the response to a person.
pub(super) fn is_for_person(method: &Method, headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|accepted| accepted.to_str().ok());
    let mut kinds = accepted.flat_map(|accepted| accepted.split(','));
    method == Method::GET
        && kinds
            .any(|kind| kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/html"))
}

/// Returns a nonce, by which the policy admits the style of this response and no other.
fn nonce() -> String {
    let mut random = [0_u8; 16];
    // Without random bytes, the policy still admits no script: an attacker could only inject a style.
    getrandom::fill(&mut random).unwrap_or_default();
    HEXLOWER.encode(&random)
}

/// Escapes a text for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_escaped_and_is_not_told_to_other_machines() {
        let path = Path::new("/run/<b>&\"x\"/token");
        let here = UnauthorizedReply::new([127, 0, 0, 1].into(), path);
        assert!(here.html("").contains("/run/&lt;b&gt;&amp;&quot;x&quot;/token"));
        assert!(here.detail().contains("/run/<b>&\"x\"/token"));
        let reachable = UnauthorizedReply::new([0, 0, 0, 0].into(), path);
        assert!(!reachable.html("").contains("/run") && !reachable.detail().contains("/run"));
    }

    #[test]
    fn only_a_get_that_accepts_html_is_for_a_person() {
        let accepts = |method: Method, accept: &'static str| {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            is_for_person(&method, &headers)
        };
        assert!(accepts(Method::GET, "text/html,application/xhtml+xml,*/*;q=0.8"));
        assert!(accepts(Method::GET, "application/json, Text/HTML;q=0.1"));
        assert!(!accepts(Method::POST, "text/html") && !accepts(Method::GET, "*/*"));
        assert!(!accepts(Method::GET, "text/html-not") && !is_for_person(&Method::GET, &HeaderMap::new()));
    }

    #[test]
    fn each_response_has_a_nonce_of_its_own() {
        assert_eq!(nonce().len(), 32);
        assert_ne!(nonce(), nonce());
    }
}
