//! How one kind of value is read from a file or a typed text, and written again.
//! The kinds themselves are in `kinds`; here are those of the standard library.

use std::{path::PathBuf, time::Duration};

use serde_json::{Value, json};

/// Characters of a value that a message quotes.
const QUOTED: usize = 60;

/// A kind of value. In between, a value is JSON: every kind of TOML but dates is a kind of JSON.
pub trait Setting: Sized {
    /// Reads a value.
    ///
    /// # Errors
    /// The value is of another kind; the text says what is expected.
    fn read(value: &Value) -> Result<Self, String>;

    /// Returns the value as it would stand in a file, or `Null` where it would not stand there.
    fn to_value(&self) -> Value;

    /// Returns the value that a text stands for: that of a variable or an argument, which has no quotes.
    fn typed(text: &str) -> Value {
        Value::String(text.to_owned())
    }

    /// Returns the value that the words of a command line stand for. Several are the entries of a list.
    fn words(words: &[String]) -> Value {
        match words {
            [word] => Self::typed(word),
            words => words.iter().map(|word| Value::String(word.clone())).collect(),
        }
    }

    /// Returns whether a project may replace `held`, the value of its person, with this one.
    fn narrows(&self, held: &Self) -> bool {
        let _ = held;
        true
    }

    /// Returns the JSON schema of the values.
    fn schema() -> Value;
}

/// Returns what a value looks like in a message: short, and on one line.
pub(super) fn quoted(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns a text that says something.
pub(super) fn text<'a>(value: &'a Value, expected: &str) -> Result<&'a str, String> {
    let said = value.as_str().filter(|text| !text.trim().is_empty());
    said.ok_or_else(|| format!("{} is not {expected}", quoted(value)))
}

impl Setting for bool {
    fn read(value: &Value) -> Result<Self, String> {
        value.as_bool().ok_or_else(|| format!("{} is not true or false", quoted(value)))
    }

    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }

    fn typed(text: &str) -> Value {
        match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Value::Bool(true),
            "false" | "no" | "off" | "0" => Value::Bool(false),
            _ => Value::String(text.to_owned()),
        }
    }

    /// A project may switch something off.
    fn narrows(&self, held: &Self) -> bool {
        !self || *held
    }

    fn schema() -> Value {
        json!({ "type": "boolean" })
    }
}

/// What a time span looks like in the schema.
const SPAN: &str = r"^\s*([0-9]+\s*[A-Za-z]+\s*)+$|^0$";

/// Reads a time span.
pub(super) fn span(value: &Value) -> Result<Duration, String> {
    let text = value.as_str().map(humantime::parse_duration);
    text.and_then(Result::ok).ok_or_else(|| {
        format!("{} is not a number and a unit, such as \"500ms\", \"90s\", \"10m\" or \"2h\"", quoted(value))
    })
}

impl Setting for Duration {
    fn read(value: &Value) -> Result<Self, String> {
        span(value)
    }

    fn to_value(&self) -> Value {
        Value::String(humantime::format_duration(*self).to_string())
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": SPAN, "examples": ["500ms", "90s", "10m", "2h"] })
    }
}

impl Setting for PathBuf {
    fn read(value: &Value) -> Result<Self, String> {
        let path = text(value, "a path")?;
        // Bridges are started in any folder, by programs that the person did not start there.
        let is_absolute = path.starts_with('/') || path.starts_with("~/");
        if is_absolute {
            Ok(path.into())
        } else {
            Err(format!("{} does not begin with / or ~/", quoted(value)))
        }
    }

    fn to_value(&self) -> Value {
        Value::String(self.to_string_lossy().into_owned())
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^(/|~/)" })
    }
}

impl<T: Setting> Setting for Option<T> {
    fn read(value: &Value) -> Result<Self, String> {
        T::read(value).map(Some)
    }

    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_value)
    }

    fn typed(text: &str) -> Value {
        T::typed(text)
    }

    fn words(words: &[String]) -> Value {
        T::words(words)
    }

    fn schema() -> Value {
        T::schema()
    }
}

/// Reads each entry of a list. A message names the entry that is wrong.
pub(super) fn list<T>(
    value: &Value,
    expected: &str,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let entries = value.as_array().ok_or_else(|| format!("{} is not {expected}", quoted(value)))?;
    entries.iter().map(read).collect()
}

/// Returns the list that a text stands for: in TOML where it begins with a bracket, otherwise separated by commas.
pub(super) fn typed_list(text: &str) -> Value {
    if text.trim_start().starts_with('[') {
        return super::document::value(text).unwrap_or_else(|| Value::String(text.to_owned()));
    }
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.map(|entry| Value::String(entry.to_owned())).collect()
}
