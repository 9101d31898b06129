//! Values of options that clap's own types would take, and that mean nothing.

use humantime::Duration;

use crate::settings::kinds::Timeout;

/// Reads a text that is not empty.
pub(super) fn text(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("it is empty") } else { Ok(text.to_owned()) }
}

/// Reads a time span.
pub(super) fn span(text: &str) -> Result<Duration, &'static str> {
    text.parse().map_err(|_| "give a number and a unit, such as 500ms, 90s, 10m or 2h")
}

/// Reads a time span that is longer than none.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    longer_than_none(text, "it must be longer than 0s")
}

/// Reads the timeout of a bridge, which may be `never` where a setting says otherwise.
pub(super) fn limit(text: &str) -> Result<Timeout, String> {
    if text == "never" {
        return Ok(Timeout(None));
    }
    let read = longer_than_none(text, "it must be longer than 0s: `never` waits for ever")?;
    Ok(Timeout(Some(read.into())))
}

/// Reads a timeout. Many read 0 as "never", so it is refused and not taken for "at once".
pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    longer_than_none(text, "it must be longer than 0s: leave the option out to wait for ever")
}

fn longer_than_none(text: &str, otherwise: &str) -> Result<Duration, String> {
    let read = span(text)?;
    if read.is_zero() { Err(otherwise.to_owned()) } else { Ok(read) }
}
