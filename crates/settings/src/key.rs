//! The declaration of one setting: its name, its description, its default, and which files may set it. Also how a value
//! is parsed from a file or from text, and serialized. The list of settings is in `keys.rs`, and the types of values
//! that only askbridge has are in `kinds.rs`, `addresses.rs` and `words.rs`.

use std::{fmt::Debug, path::PathBuf, time::Duration};

use serde_json::{Value, json};

/// Whether the file of a project may change a setting. A cloned repository may be hostile: its file must not run a
/// command, disclose more than the user allows, set an address, or answer in the user's place (I10, I12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Project {
    /// To any value.
    Free,
    /// To a value that allows less than the user's value.
    Narrower,
    /// Not at all, for this reason.
    Refused(&'static str),
}

/// When a change of a setting takes effect in a running process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectTime {
    /// For the next question.
    NextQuestion,
    /// For the questions of the next bridge, and of the next session of an agent in a terminal.
    NextBridge,
    /// When `askbridge inbox` starts.
    NextInbox,
    /// When a command starts; a bridge is one.
    NextCommand,
}

impl EffectTime {
    /// Returns the words that complete "a change counts".
    pub fn words(self) -> &'static str {
        match self {
            EffectTime::NextQuestion => "for the next question",
            EffectTime::NextBridge => "when a bridge starts",
            EffectTime::NextInbox => "when `askbridge inbox` starts",
            EffectTime::NextCommand => "when a command starts",
        }
    }
}

/// A setting with values of type `T`.
pub struct Key<T> {
    path: &'static str,
    counts: EffectTime,
    about: &'static str,
    default: fn() -> T,
    project: Project,
    is_secret: bool,
}

impl<T> Key<T> {
    /// Declares a setting: its path, when a change takes effect, whether a project may set it, its default, and its
    /// description.
    pub(super) const fn new(
        path: &'static str,
        counts: EffectTime,
        project: Project,
        default: fn() -> T,
        about: &'static str,
    ) -> Self {
        Key { path, counts, about, default, project, is_secret: false }
    }

    /// Keeps the value out of printed settings.
    pub(super) const fn secret(self) -> Self {
        Key { is_secret: true, ..self }
    }

    /// Returns the name with its sections, such as `notify.ntfy.topic`.
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// Returns the default value.
    pub fn default(&self) -> T {
        (self.default)()
    }
}

impl<T> Debug for Key<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.path)
    }
}

/// A setting with values of any type.
pub trait AnyKey: Debug + Sync {
    /// Returns the name with its sections, such as `notify.ntfy.topic`.
    fn path(&self) -> &'static str;

    /// Returns the description of the setting: a sentence in the imperative without a full stop.
    fn about(&self) -> &'static str;

    /// Returns when a change takes effect.
    fn counts(&self) -> EffectTime;

    /// Returns whether the file of a project may set it.
    fn project(&self) -> Project;

    /// Returns whether the value is left out of printed settings.
    fn is_secret(&self) -> bool;

    /// Returns the default value; `Null` if there is no default.
    fn default_value(&self) -> Value;

    /// Returns the value in its canonical form, such as `"1m"` for `"60s"`.
    ///
    /// # Errors
    /// The value is of another kind; the text names the expected kind.
    fn check(&self, value: &Value) -> Result<Value, String>;

    /// Parses a text without quotes into a value, which may still fail the check.
    fn typed(&self, text: &str) -> Value;

    /// Parses the words of a command line into a value, which may still fail the check.
    fn words(&self, words: &[String]) -> Value;

    /// Returns whether `value` allows no more than `held`, the user's value. A project may set such a value.
    fn narrows(&self, value: &Value, held: &Value) -> bool;

    /// Returns the JSON schema of the values.
    fn schema(&self) -> Value;
}

impl<T: Setting> AnyKey for Key<T> {
    fn path(&self) -> &'static str {
        self.path
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn counts(&self) -> EffectTime {
        self.counts
    }

    fn project(&self) -> Project {
        self.project
    }

    fn is_secret(&self) -> bool {
        self.is_secret
    }

    fn default_value(&self) -> Value {
        self.default().to_value()
    }

    fn check(&self, value: &Value) -> Result<Value, String> {
        T::read(value).map(|value| value.to_value())
    }

    fn typed(&self, text: &str) -> Value {
        T::typed(text)
    }

    fn words(&self, words: &[String]) -> Value {
        T::words(words)
    }

    fn narrows(&self, value: &Value, held: &Value) -> bool {
        let value = T::read(value);
        // A setting without a value fails to parse: no value of a project is narrower.
        value.is_ok_and(|value| T::read(held).is_ok_and(|held| value.narrows(&held)))
    }

    fn schema(&self) -> Value {
        T::schema()
    }
}

/// Characters of a value that a message quotes.
const QUOTED: usize = 60;

/// A type of values. Values are passed around as JSON, which can express every TOML type but dates.
pub trait Setting: Sized {
    /// Whether a value is a list.
    const IS_LIST: bool = false;

    /// Parses a value.
    ///
    /// # Errors
    /// The value is of another kind; the text names the expected kind.
    fn read(value: &Value) -> Result<Self, String>;

    /// Returns the value as a file would have it, or `Null` if a file would leave it out.
    fn to_value(&self) -> Value;

    /// Parses the text of a variable or an argument, which has no quotes.
    fn typed(text: &str) -> Value {
        if Self::IS_LIST { typed_list(text) } else { Value::String(text.to_owned()) }
    }

    /// Parses the words of a command line. Several words are the entries of a list.
    fn words(words: &[String]) -> Value {
        match words {
            [word] => Self::typed(word),
            words => words.iter().map(|word| Value::String(word.clone())).collect(),
        }
    }

    /// Returns whether a project may replace `held`, the user's value, with this one.
    fn narrows(&self, held: &Self) -> bool {
        let _ = held;
        true
    }

    /// Returns the JSON schema of the values.
    fn schema() -> Value;
}

/// Returns a value for a message: short, and on one line.
pub(super) fn quoted(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns the text of a value, unless it is blank.
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

    /// A project may only switch something off.
    fn narrows(&self, held: &Self) -> bool {
        !self || *held
    }

    fn schema() -> Value {
        json!({ "type": "boolean" })
    }
}

/// The pattern of a time span in the schema.
const SPAN: &str = r"^\s*([0-9]+\s*[A-Za-z]+\s*)+$|^0$";

/// Parses a time span.
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
        // A relative path would depend on the folder that a client happens to start the bridge in.
        let is_absolute = path.starts_with('/') || path.starts_with("~/");
        if is_absolute {
            Ok(path.into())
        } else {
            Err(format!("{} does not begin with / or ~/", quoted(value)))
        }
    }

    fn to_value(&self) -> Value {
        // The conversion is lossless: the path was parsed from a JSON text.
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

/// Parses each entry of a list. An error names the wrong entry.
pub(super) fn list<T>(
    value: &Value,
    expected: &str,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let entries = value.as_array().ok_or_else(|| format!("{} is not {expected}", quoted(value)))?;
    entries.iter().map(read).collect()
}

/// Parses a text as a list: in TOML if it begins with a bracket, otherwise separated by commas.
pub(super) fn typed_list(text: &str) -> Value {
    if text.trim_start().starts_with('[') {
        return super::document::value(text).unwrap_or_else(|| Value::String(text.to_owned()));
    }
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.map(|entry| Value::String(entry.to_owned())).collect()
}
