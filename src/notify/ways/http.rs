//! Requests to servers of the user, and the webhook, which sends one when a question opens and another when it is
//! settled. Callbacks of programs are sent so, too.
//! Requests follow no redirect, which could carry their content to another server. No error names the address, which
//! may be a secret.
//! The messages to ntfy are left to `ntfy.rs`.

use std::{
    io::{self, BufRead, BufReader, Read},
    thread,
    time::Duration,
};

use askbridge_core::desk::Record;
use askbridge_settings::{Webhook, words::Disclosure};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use ureq::{
    Agent, Body,
    http::{HeaderName, Response, header::AUTHORIZATION},
    tls::{RootCerts, TlsConfig},
};

use super::telling::NotifiedQuestion;
use crate::{limits, notify::Message};

/// The most bytes of a response body that are read.
const REPLY: u64 = 64 * 1024;

fn agent(most: Duration) -> Agent {
    // A server of the user's own may have a certificate of an authority that only this machine trusts.
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .timeout_global(Some(most))
        // `taken` reports a redirect or an error status in words for the user.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(concat!("askbridge/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls);
    config.build().into()
}

/// Posts JSON, and returns the response body if it is JSON too, or else `Null`.
///
/// # Errors
/// Returns why the server did not accept the request.
pub(super) async fn post(url: &str, token: Option<&str>, json: &Value) -> Result<Value, String> {
    let authorization = bearer(token).map(|token| (AUTHORIZATION, token));
    post_with(url, authorization.into_iter().collect(), json.to_string()).await
}

/// Posts JSON with these headers.
///
/// # Errors
/// Returns why the server did not accept the request.
pub async fn send(url: &str, headers: &[(&'static str, String)], json: String) -> Result<(), String> {
    let named = |(name, value): &(&'static str, String)| (HeaderName::from_static(name), value.clone());
    post_with(url, headers.iter().map(named).collect(), json).await.map(drop)
}

async fn post_with(url: &str, headers: Vec<(HeaderName, String)>, body: String) -> Result<Value, String> {
    let (url, (told, posted)) = (url.to_owned(), oneshot::channel());
    let post = move || {
        let mut request = agent(limits::NOTIFY_REQUEST).post(&url).content_type("application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let response = taken(request.send(&body))?;
        let mut text = String::new();
        let read = response.into_body().into_reader().take(REPLY).read_to_string(&mut text);
        // The server's reply matters to some callers only.
        Ok(read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or(Value::Null))
    };
    // ureq blocks its thread, on which others may run. A thread of the runtime would be waited for at its end.
    let thread = thread::Builder::new().name("request".to_owned());
    let started = thread.spawn(move || told.send(post()).unwrap_or_default());
    started.map_err(|error| format!("no thread for the request: {error}"))?;
    posted.await.unwrap_or_else(|_| Err("the request was broken off".to_owned()))
}

/// Reads a stream of lines until it ends or `heard` returns `false`. Blocks the thread.
///
/// # Errors
/// Returns why there is no stream.
pub(super) fn lines(
    url: &str,
    token: Option<&str>,
    mut heard: impl FnMut(String) -> bool,
) -> Result<(), String> {
    let mut request = agent(limits::NOTIFY_STREAM).get(url);
    if let Some(token) = bearer(token) {
        request = request.header(AUTHORIZATION, token);
    }
    let response = taken(request.call())?;
    let mut reader = BufReader::new(response.into_body().into_reader());
    // The stream ends with its timeout or another error. Either counts as its end: the caller opens the next stream.
    while let Ok(Some(line)) = line(&mut reader) {
        if !heard(line) {
            break;
        }
    }
    Ok(())
}

/// Reads one line. A line that is longer than the limit ends the stream.
fn line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let length = reader.take(limits::NOTIFY_LINE as u64).read_line(&mut line)?;
    let is_whole = line.ends_with('\n') || length < limits::NOTIFY_LINE;
    Ok((length > 0 && is_whole).then_some(line))
}

fn bearer(token: Option<&str>) -> Option<String> {
    token.map(|token| format!("Bearer {token}"))
}

/// Returns the response if its status says that the server accepted the request, or else the reason.
fn taken(response: Result<Response<Body>, ureq::Error>) -> Result<Response<Body>, String> {
    let response = response.map_err(|error| why(&error))?;
    let status = response.status();
    match status.as_u16() {
        200..=299 => Ok(response),
        300..=399 => Err(format!("the server redirects ({status}), which is not followed")),
        401 | 403 => Err(format!("the server refuses it ({status}): is the token right?")),
        429 => Err(format!("there were too many requests for the server ({status})")),
        _ => Err(format!("the server replied {status}")),
    }
}

fn why(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => format!("no reply within {} s", limits::NOTIFY_REQUEST.as_secs()),
        ureq::Error::HostNotFound => "the host is not known".to_owned(),
        ureq::Error::ConnectionFailed => "no connection".to_owned(),
        ureq::Error::Io(error) => format!("no connection: {}", error.kind()),
        ureq::Error::Rustls(error) => format!("no trusted connection: {error}"),
        ureq::Error::BadUri(_) => "the address is invalid".to_owned(),
        // Other errors may quote the address, which may be a secret.
        _ => "the request failed".to_owned(),
    }
}

/// Posts that the question waits.
pub(super) async fn send_opened(telling: &NotifiedQuestion, message: &Message) -> Result<(), String> {
    let Some(webhook) = &telling.settings.webhook else { return Ok(()) };
    let mut json = event("opened", &telling.record, message);
    if webhook.text == Disclosure::All {
        json["question"] = serde_json::to_value(&*telling.record.question).unwrap_or_default();
    }
    post_webhook(webhook, &json).await
}

/// Posts a message that belongs to no question: how many more wait, or a test.
pub(super) async fn send_text(webhook: &Webhook, message: &Message) -> Result<(), String> {
    post_webhook(webhook, &json!({ "event": "message", "title": message.title, "text": message.body })).await
}

/// Posts that the question is settled. The answer stays on the machine.
pub(super) async fn send_settled(telling: &NotifiedQuestion, message: &Message) -> Result<(), String> {
    let Some(webhook) = &telling.settings.webhook else { return Ok(()) };
    let title = Message { body: String::new(), ..message.clone() };
    post_webhook(webhook, &event("settled", &telling.record, &title)).await
}

fn event(event: &str, record: &Record, message: &Message) -> Value {
    let mut json = json!({
        "event": event,
        "id": record.id,
        "purpose": record.question.purpose,
        "title": message.title,
    });
    if !message.body.is_empty() {
        json["text"] = message.body.as_str().into();
    }
    json
}

async fn post_webhook(webhook: &Webhook, json: &Value) -> Result<(), String> {
    post(&webhook.url, None, json).await.map(drop)
}
