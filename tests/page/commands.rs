//! The two commands of ChromeDriver that are no part of the WebDriver standard: DevTools, and the browser's log.

use axum::http::Method;
use fantoccini::wd::WebDriverCompatibleCommand;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// A command with a body, below the session's address.
#[derive(Debug)]
pub(crate) struct Extension {
    path: &'static str,
    body: Value,
}

impl Extension {
    /// Sends a command of the Chrome DevTools Protocol.
    pub(crate) fn cdp(method: &str, params: Value) -> Self {
        Extension { path: "goog/cdp/execute", body: json!({ "cmd": method, "params": params }) }
    }

    /// Takes the entries of a log that came since the last time: `browser` is the console, `performance` the network.
    pub(crate) fn log(kind: &str) -> Self {
        Extension { path: "se/log", body: json!({ "type": kind }) }
    }
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base_url: &Url, session_id: Option<&str>) -> Result<Url, ParseError> {
        base_url.join(&format!("session/{}/{}", session_id.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}
