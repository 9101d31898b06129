//! One setting: its name, what it is for, its default, and which files may set it.
//! Which settings there are is left to `keys`.

use std::fmt::Debug;

use serde_json::Value;

use super::value::Setting;

/// Whether the file of a project may set something. A cloned repository is hostile: its file must not run a command,
/// widen what leaves the machine, set an address, or answer in the person's place (I10, I12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Project {
    /// To any value.
    Free,
    /// To a value that allows less than that of the person.
    Narrower,
    /// Not at all, because of what the setting does.
    Refused(&'static str),
}

/// When a change of a setting counts, for a process that runs already.
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
    /// Returns it in words, after "a change counts".
    pub fn words(self) -> &'static str {
        match self {
            EffectTime::NextQuestion => "for the next question",
            EffectTime::NextBridge => "when a bridge starts",
            EffectTime::NextInbox => "when `askbridge inbox` starts",
            EffectTime::NextCommand => "when a command starts",
        }
    }
}

/// A setting with values of a kind.
pub struct Key<T> {
    path: &'static str,
    counts: EffectTime,
    about: &'static str,
    default: fn() -> T,
    project: Project,
    is_secret: bool,
}

impl<T> Key<T> {
    /// A setting that only the person's own file and environment may set, because it does `what`.
    pub(super) const fn own(
        path: &'static str,
        counts: EffectTime,
        what: &'static str,
        default: fn() -> T,
        about: &'static str,
    ) -> Self {
        Key { path, counts, about, default, project: Project::Refused(what), is_secret: false }
    }

    /// A setting that a project may set as well.
    pub(super) const fn shared(
        path: &'static str,
        counts: EffectTime,
        project: Project,
        default: fn() -> T,
        about: &'static str,
    ) -> Self {
        Key { path, counts, about, default, project, is_secret: false }
    }

    /// Keeps the value out of what is printed.
    pub(super) const fn secret(self) -> Self {
        Key { is_secret: true, ..self }
    }

    /// Returns the name with its sections, such as `notify.ntfy.topic`.
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// Returns the value where nothing is set.
    pub fn default(&self) -> T {
        (self.default)()
    }
}

impl<T> Debug for Key<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.path)
    }
}

/// A setting with values of any kind.
pub trait AnyKey: Debug + Sync {
    /// Returns the name with its sections, such as `notify.ntfy.topic`.
    fn path(&self) -> &'static str;

    /// Returns what the setting does, in a sentence in the imperative without a full stop.
    fn about(&self) -> &'static str;

    /// Returns when a change counts.
    fn counts(&self) -> EffectTime;

    /// Returns whether the file of a project may set it.
    fn project(&self) -> Project;

    /// Returns whether the value is kept out of what is printed.
    fn is_secret(&self) -> bool;

    /// Returns the value where nothing is set; `Null` if there is none then.
    fn default_value(&self) -> Value;

    /// Returns the value as it is written by default, such as `"1m"` for `"60s"`.
    ///
    /// # Errors
    /// The value is of another kind; the text says what is expected.
    fn check(&self, value: &Value) -> Result<Value, String>;

    /// Returns the value that a text without quotes stands for.
    fn typed(&self, text: &str) -> Value;

    /// Returns the value that the words of a command line stand for.
    fn words(&self, words: &[String]) -> Value;

    /// Returns whether a project may replace `held`, the value of its person.
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
        // Nothing is narrower than what the person left out.
        value.is_ok_and(|value| T::read(held).is_ok_and(|held| value.narrows(&held)))
    }

    fn schema(&self) -> Value {
        T::schema()
    }
}
