//! What a person sees who opens the server in a browser: one page that says what this is and how to go on. It shows no
//! question and no token. Which requests need the token is left to the guard.

use std::{net::IpAddr, path::Path, sync::Arc};

use axum::{
    Router,
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY},
    },
    response::{IntoResponse, Response},
    routing::get,
};

use super::{address::is_loopback, app::App, problem::HTML};
use crate::control::inbox::Inbox;

/// The path of the page, which needs no token.
pub(super) const PAGE: &str = "/";

const STYLE: &str = "\
:root { color-scheme: light dark; font: 1.125rem/1.6 system-ui, sans-serif; }
body { margin: 0; padding: 3rem 1.5rem; }
main { max-width: 38rem; margin: 0 auto; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.125rem; margin: 2rem 0 0.5rem; }
p { margin: 0 0 0.75rem; }
pre, code { font: 0.9375rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { margin: 0 0 0.75rem; padding: 0.75rem 1rem; border: 1px solid; border-radius: 0.375rem; white-space: pre-wrap; }
";

/// What the server says to a request without the token.
#[derive(Debug)]
pub(super) struct Welcome {
    /// The token file as a sentence names it.
    token_file: String,
}

impl Welcome {
    /// Names the token file, unless other machines can reach the address: they are not told a path on this one.
    pub(super) fn new(address: IpAddr, token_file: &Path) -> Self {
        // A browser has no working directory that a relative path could start from.
        let token_file = std::path::absolute(token_file).unwrap_or_else(|_| token_file.to_owned());
        let token_file = match is_loopback(address) {
            true => token_file.display().to_string(),
            false => "the file that the server named on stderr when it started".to_owned(),
        };
        Welcome { token_file }
    }

    /// Returns what is missing in a request without the token.
    pub(super) fn detail(&self) -> String {
        format!("send the token in {} with the request: `Authorization: Bearer TOKEN`", self.token_file)
    }

    /// Returns the page.
    pub(super) fn page(&self, status: StatusCode) -> Response {
        let nonce = nonce();
        let policy = format!(
            "default-src 'none'; style-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        let mut response = (status, self.html(status, &nonce)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HTML);
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        // Its only variable part is hexadecimal, so it is a valid header.
        headers.extend(HeaderValue::try_from(policy).ok().map(|policy| (CONTENT_SECURITY_POLICY, policy)));
        response
    }

    fn html(&self, status: StatusCode, nonce: &str) -> String {
        let heading = match status {
            StatusCode::OK => "askbridge is running",
            _ => "askbridge needs a token for this path",
        };
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
<h1>{heading}</h1>
<p>Coding agents ask questions, and this server passes the answers on to them. The questions are not shown on this page.</p>
<h2>In a terminal</h2>
<pre>askbridge list               lists the open questions
askbridge show ID            shows one question
askbridge answer ID VALUE    answers it</pre>
<h2>In a program</h2>
<p>Send <code>Authorization: Bearer TOKEN</code> with each request. The token is in this file:</p>
<pre>{token_file}</pre>
<p>The paths are described in <a href=\"/v1/openapi.json\">/v1/openapi.json</a>, the JSON-RPC methods in
<a href=\"/v1/openrpc.json\">/v1/openrpc.json</a>. Neither needs a token.</p>
</main>
</html>
"
        )
    }
}

/// Returns the route.
pub(super) fn routes<I: Inbox>(welcome: Arc<Welcome>) -> Router<App<I>> {
    Router::new().route(PAGE, get(async move || welcome.page(StatusCode::OK)))
}

/// Returns whether a request is that of a browser that shows the response to a person.
pub(super) fn is_for_person(method: &Method, headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|accepted| accepted.to_str().ok());
    let mut kinds = accepted.flat_map(|accepted| accepted.split(','));
    method == Method::GET
        && kinds
            .any(|kind| kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/html"))
}

/// Returns a number used once, with which the policy admits the style of this response and no other.
fn nonce() -> String {
    let mut random = [0_u8; 16];
    // Without random bytes the policy still admits no script: only the style could be guessed.
    getrandom::fill(&mut random).unwrap_or_default();
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a text as HTML shows it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_escaped_and_is_not_told_to_other_machines() {
        let path = Path::new("/run/<b>&\"x\"/token");
        let here = Welcome::new([127, 0, 0, 1].into(), path);
        assert!(here.html(StatusCode::OK, "").contains("/run/&lt;b&gt;&amp;&quot;x&quot;/token"));
        assert!(here.detail().contains("/run/<b>&\"x\"/token"));
        let reachable = Welcome::new([0, 0, 0, 0].into(), path);
        assert!(!reachable.html(StatusCode::OK, "").contains("/run") && !reachable.detail().contains("/run"));
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
