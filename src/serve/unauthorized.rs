//! What a request without the token is told: a program in one sentence, and a person in a browser on a small page that
//! leads to the page of questions. Which requests need the token is left to the guard.

use std::{net::IpAddr, path::Path};

use axum::{
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY},
    },
    response::{IntoResponse, Response},
};
use data_encoding::HEXLOWER;

use super::{address::is_loopback, problem::HTML};

const STYLE: &str = "\
:root { color-scheme: light dark; font: 1.125rem/1.6 system-ui, sans-serif; }
body { margin: 0; padding: 3rem 1.5rem; }
main { max-width: 38rem; margin: 0 auto; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 1rem; }
p { margin: 0 0 0.75rem; }
pre, code { font: 0.9375rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { margin: 0 0 0.75rem; padding: 0.75rem 1rem; border: 1px solid; border-radius: 0.375rem; white-space: pre-wrap; }
";

/// What the server says to a request without the token.
#[derive(Debug)]
pub(super) struct UnauthorizedReply {
    /// The token file as a sentence names it.
    token_file: String,
}

impl UnauthorizedReply {
    /// Names the token file, unless other machines can reach the address: they are not told a path on this one.
    pub(super) fn new(address: IpAddr, token_file: &Path) -> Self {
        // A browser has no working directory that a relative path could start from.
        let token_file = std::path::absolute(token_file).unwrap_or_else(|_| token_file.to_owned());
        let token_file = match is_loopback(address) {
            true => token_file.display().to_string(),
            false => "the file that the server named on stderr when it started".to_owned(),
        };
        UnauthorizedReply { token_file }
    }

    /// Returns what is missing in a request without the token.
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
        // Its only variable part is hexadecimal, so it is a valid header.
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
    HEXLOWER.encode(&random)
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
