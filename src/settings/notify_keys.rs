//! The settings of `[notify]` and of single projects in it, and the types of values that name something on another
//! machine. `services.rs` combines the settings for one project.

use std::{path::PathBuf, time::Duration};

use askbridge_core::question::Purpose;
use serde_json::{Value, json};

use super::{
    key::{EffectTime, Key, Project, Setting, quoted, text},
    kinds::{Command, Interval, Purposes, QuietHours},
    words::Disclosure,
};
use crate::limits;

// Why a project must not set something.
const RUNS: &str = "it is about a command that runs";
const LEAVES: &str = "it decides what leaves the machine, and to where";

/// `notify.delay`
pub static NOTIFY_DELAY: Key<Duration> = Key::shared(
    "notify.delay",
    EffectTime::NextQuestion,
    Project::Free,
    || limits::NOTIFY_DELAY,
    "Tell you of a question that has been open for this long",
);
/// `notify.quiet`
pub static NOTIFY_QUIET: Key<QuietHours> = Key::shared(
    "notify.quiet",
    EffectTime::NextQuestion,
    Project::Free,
    QuietHours::default,
    "Times of the day at which you are not told, such as [\"22:00-07:00\"]",
);
/// `notify.purposes`
pub static NOTIFY_PURPOSES: Key<Purposes> = Key::shared(
    "notify.purposes",
    EffectTime::NextQuestion,
    Project::Narrower,
    || Purposes(vec![Purpose::Question, Purpose::Permission]),
    "What you are told of",
);
/// `notify.presence`
pub static NOTIFY_PRESENCE: Key<bool> = Key::shared(
    "notify.presence",
    EffectTime::NextQuestion,
    Project::Free,
    || true,
    "Do not tell you while you evidently are there: the page or the full-screen terminal has the focus",
);
/// `notify.heartbeat.every`
pub static NOTIFY_HEARTBEAT_EVERY: Key<Interval> = Key::own(
    "notify.heartbeat.every",
    EffectTime::NextQuestion,
    RUNS,
    || Interval(limits::NOTIFY_HEARTBEAT),
    "How long after one run the next one begins",
);
/// `notify.heartbeat.command`
pub static NOTIFY_HEARTBEAT_COMMAND: Key<Option<Command>> = Key::own(
    "notify.heartbeat.command",
    EffectTime::NextQuestion,
    RUNS,
    || None,
    "The program and its arguments; left out, there is no heartbeat",
);
/// `notify.desktop.enabled`
pub static NOTIFY_DESKTOP_ENABLED: Key<bool> = Key::shared(
    "notify.desktop.enabled",
    EffectTime::NextQuestion,
    Project::Narrower,
    || false,
    "Show a notification, with buttons where the desktop has them",
);
/// `notify.desktop.delay`
pub static NOTIFY_DESKTOP_DELAY: Key<Option<Duration>> = Key::shared(
    "notify.desktop.delay",
    EffectTime::NextQuestion,
    Project::Free,
    || None,
    "Tell in this way only after this time; left out, `notify.delay`",
);
/// `notify.sound.command`
pub static NOTIFY_SOUND_COMMAND: Key<Option<Command>> = Key::own(
    "notify.sound.command",
    EffectTime::NextQuestion,
    RUNS,
    || None,
    "The program that plays or speaks, and its arguments, such as [\"paplay\", \"bell.ogg\"]",
);
/// `notify.sound.delay`
pub static NOTIFY_SOUND_DELAY: Key<Option<Duration>> = Key::shared(
    "notify.sound.delay",
    EffectTime::NextQuestion,
    Project::Free,
    || None,
    "Tell in this way only after this time; left out, `notify.delay`",
);
/// `notify.command.command`
pub static NOTIFY_COMMAND_COMMAND: Key<Option<Command>> = Key::own(
    "notify.command.command",
    EffectTime::NextQuestion,
    RUNS,
    || None,
    "The program and its arguments; no shell reads them. It gets the question as JSON in a file",
);
/// `notify.command.delay`
pub static NOTIFY_COMMAND_DELAY: Key<Option<Duration>> = Key::shared(
    "notify.command.delay",
    EffectTime::NextQuestion,
    Project::Free,
    || None,
    "Tell in this way only after this time; left out, `notify.delay`",
);
/// `notify.webhook.url`
pub static NOTIFY_WEBHOOK_URL: Key<Option<Url>> = Key::own(
    "notify.webhook.url",
    EffectTime::NextQuestion,
    LEAVES,
    || None,
    "Where the request goes; left out, there is none",
)
.secret();
/// `notify.webhook.text`
pub static NOTIFY_WEBHOOK_TEXT: Key<Disclosure> = Key::shared(
    "notify.webhook.text",
    EffectTime::NextQuestion,
    Project::Narrower,
    Disclosure::default,
    "What is sent: only that a question waits in which project, its title as well, or all that is asked",
);
/// `notify.webhook.delay`
pub static NOTIFY_WEBHOOK_DELAY: Key<Option<Duration>> = Key::shared(
    "notify.webhook.delay",
    EffectTime::NextQuestion,
    Project::Free,
    || None,
    "Tell in this way only after this time; left out, `notify.delay`",
);
/// `notify.ntfy.server`
pub static NOTIFY_NTFY_SERVER: Key<Url> = Key::own(
    "notify.ntfy.server",
    EffectTime::NextQuestion,
    LEAVES,
    || Url("https://ntfy.sh".to_owned()),
    "The server: any that speaks ntfy's protocol",
);
/// `notify.ntfy.topic`
pub static NOTIFY_NTFY_TOPIC: Key<Option<Topic>> = Key::own(
    "notify.ntfy.topic", EffectTime::NextQuestion,
    LEAVES,
    || None,
    "The topic that your phone is subscribed to; left out, nothing is sent. It is a secret: choose one that cannot be \
     guessed",
)
.secret();
/// `notify.ntfy.token`
pub static NOTIFY_NTFY_TOKEN: Key<Option<String>> = Key::own(
    "notify.ntfy.token",
    EffectTime::NextQuestion,
    LEAVES,
    || None,
    "The access token of the server, if it needs one",
)
.secret();
/// `notify.ntfy.text`
pub static NOTIFY_NTFY_TEXT: Key<Disclosure> = Key::shared(
    "notify.ntfy.text",
    EffectTime::NextQuestion,
    Project::Narrower,
    Disclosure::default,
    "What is sent, as in `notify.webhook`",
);
/// `notify.ntfy.delay`
pub static NOTIFY_NTFY_DELAY: Key<Option<Duration>> = Key::shared(
    "notify.ntfy.delay",
    EffectTime::NextQuestion,
    Project::Free,
    || None,
    "Tell in this way only after this time; left out, `notify.delay`",
);
/// `notify.terminal.enabled`
pub static NOTIFY_TERMINAL_ENABLED: Key<bool> = Key::shared(
    "notify.terminal.enabled",
    EffectTime::NextQuestion,
    Project::Narrower,
    || true,
    "Ring the bell, set the title, and show a notification where the terminal can",
);
/// `notify.terminal.delay`
pub static NOTIFY_TERMINAL_DELAY: Key<Option<Duration>> = Key::shared(
    "notify.terminal.delay",
    EffectTime::NextQuestion,
    Project::Free,
    || None,
    "Tell in this way only after this time; left out, `notify.delay`",
);

/// `folder` of a project.
pub static PROJECT_FOLDER: Key<Option<PathBuf>> = Key::own(
    "folder",
    EffectTime::NextQuestion,
    LEAVES,
    || None,
    "The project's folder, or one that has several projects",
);
/// `enabled` of a project.
pub static PROJECT_ENABLED: Key<Option<bool>> = Key::own(
    "enabled",
    EffectTime::NextQuestion,
    LEAVES,
    || None,
    "Whether you are told of its questions at all",
);
/// `delay` of a project.
pub static PROJECT_DELAY: Key<Option<Duration>> =
    Key::own("delay", EffectTime::NextQuestion, LEAVES, || None, "As `notify.delay`");
/// `quiet` of a project.
pub static PROJECT_QUIET: Key<Option<QuietHours>> =
    Key::own("quiet", EffectTime::NextQuestion, LEAVES, || None, "As `notify.quiet`");
/// `purposes` of a project.
pub static PROJECT_PURPOSES: Key<Option<Purposes>> =
    Key::own("purposes", EffectTime::NextQuestion, LEAVES, || None, "As `notify.purposes`");
/// `text` of a project.
pub static PROJECT_TEXT: Key<Option<Disclosure>> = Key::own(
    "text",
    EffectTime::NextQuestion,
    LEAVES,
    || None,
    "As `notify.webhook.text` and `notify.ntfy.text`, for both",
);

/// Characters of the longest topic that ntfy accepts.
const TOPIC: usize = 64;

impl Setting for String {
    fn read(value: &Value) -> Result<Self, String> {
        text(value, "a text").map(str::to_owned)
    }

    fn to_value(&self) -> Value {
        Value::String(self.clone())
    }

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1 })
    }
}

/// An address on the web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url(pub String);

impl Setting for Url {
    fn read(value: &Value) -> Result<Self, String> {
        let said = value.as_str().filter(|text| {
            let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
            let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
            host.is_some_and(|host| !host.is_empty()) && text.chars().all(|c| c.is_ascii_graphic())
        });
        said.map(|text| Url(text.to_owned())).ok_or_else(|| {
            format!("{} is not an address that begins with https:// or http://", quoted(value))
        })
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }

    fn schema() -> Value {
        json!({ "type": "string", "format": "uri", "pattern": "^https?://" })
    }
}

/// The topic of an ntfy server. Every program that knows it can read the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic(pub String);

impl Setting for Topic {
    fn read(value: &Value) -> Result<Self, String> {
        let allowed = |text: &&str| {
            (1..=TOPIC).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        };
        value.as_str().filter(allowed).map(|text| Topic(text.to_owned())).ok_or_else(|| {
            format!("{} is not a topic: up to {TOPIC} letters, digits, - and _", quoted(value))
        })
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": format!("^[A-Za-z0-9_-]{{1,{TOPIC}}}$") })
    }
}
