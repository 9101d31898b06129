//! The settings of the services beside an inbox: `[notify]` for one project, the journal, and unattended questions.
//! Using them is left to `service` and `notify`.

use std::{collections::BTreeMap, path::Path, time::Duration};

use askbridge_core::question::{Guarding, Purpose, Risk};
use serde_json::Value;

use super::{
    key::{Key, Setting},
    keys,
    kinds::{Command, Purposes, QuietHours},
    layers::{ProjectTable, Settings},
    place::Layer,
    resolved::{JournalSettings, UnattendedSettings},
    words::Disclosure,
};

/// When and how the user is notified that a question waits.
#[derive(Clone, Debug, PartialEq)]
pub struct NotifySettings {
    /// How long a question is open before the user is notified of it.
    pub delay: Duration,
    /// Times of the day without notifications.
    pub quiet: QuietHours,
    /// The purposes of the questions of which the user is notified.
    pub purposes: Vec<Purpose>,
    /// Whether notifications are held back while the user evidently is there.
    pub presence: bool,
    /// The highest risk of a permission that one tap allows.
    pub one_tap: Risk,
    /// The command that repeats while a question stays open.
    pub heartbeat: Option<Heartbeat>,
    /// Whether the desktop shows a notification.
    pub desktop: bool,
    /// Whether terminals ring.
    pub terminal: bool,
    /// The program that plays or speaks, and its arguments.
    pub sound: Option<Vec<String>>,
    /// The user's own program and its arguments.
    pub command: Option<Vec<String>>,
    /// The user's own server.
    pub webhook: Option<Webhook>,
    /// The ntfy topic of the user's phone.
    pub ntfy: Option<Ntfy>,
    /// The delays of single ways, by their names.
    pub delays: BTreeMap<&'static str, Duration>,
}

/// A command that repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// How long after one run the next one begins.
    pub every: Duration,
    /// The program and its arguments.
    pub command: Vec<String>,
}

/// A request to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// The address of the server.
    pub url: String,
    /// The part of the question that is sent.
    pub text: Disclosure,
}

/// Messages through an ntfy server.
#[derive(Clone, PartialEq, Eq)]
pub struct Ntfy {
    /// The address of the server.
    pub server: String,
    /// The topic of the phone.
    pub topic: String,
    /// The access token of the server.
    pub token: Option<String>,
    /// The part of the question that is sent.
    pub text: Disclosure,
}

impl std::fmt::Debug for Ntfy {
    /// Leaves out the secrets, which must not get into a log.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Ntfy")
            .field("server", &self.server)
            .field("text", &self.text)
            .finish_non_exhaustive()
    }
}

impl NotifySettings {
    /// Returns whether a notifier is set up. `has_terminal` says whether there is a terminal.
    pub fn is_set(settings: &Settings, has_terminal: bool) -> bool {
        settings.get(&keys::NOTIFY_DESKTOP_ENABLED)
            || settings.get(&keys::NOTIFY_SOUND_COMMAND).is_some()
            || settings.get(&keys::NOTIFY_COMMAND_COMMAND).is_some()
            || settings.get(&keys::NOTIFY_WEBHOOK_URL).is_some()
            || settings.get(&keys::NOTIFY_NTFY_TOPIC).is_some()
            || settings.get(&keys::NOTIFY_HEARTBEAT_COMMAND).is_some()
            || (has_terminal && settings.get(&keys::NOTIFY_TERMINAL_ENABLED))
    }

    /// Returns the settings for questions of this project, by its folder. `None` if the user is not notified of
    /// questions of this project.
    pub fn of(settings: &Settings, project: Option<&Path>) -> Option<Self> {
        let table = project.and_then(|folder| table(settings, folder));
        let of = View { settings, table };
        if of.own(&keys::PROJECT_ENABLED) == Some(false) {
            return None;
        }
        let command = |key: &Key<Option<Command>>| settings.get(key).map(|Command(words)| words);
        let webhook = |url: super::addresses::Url| Webhook {
            url: url.0,
            text: of.get(&keys::NOTIFY_WEBHOOK_TEXT, &keys::PROJECT_TEXT),
        };
        let ntfy = |topic: super::addresses::Topic| Ntfy {
            server: settings.get(&keys::NOTIFY_NTFY_SERVER).0,
            topic: topic.0,
            token: settings.get(&keys::NOTIFY_NTFY_TOKEN),
            text: of.get(&keys::NOTIFY_NTFY_TEXT, &keys::PROJECT_TEXT),
        };
        let Purposes(purposes) = of.get(&keys::NOTIFY_PURPOSES, &keys::PROJECT_PURPOSES);
        let every = settings.get(&keys::NOTIFY_HEARTBEAT_EVERY).0;
        Some(NotifySettings {
            delay: of.get(&keys::NOTIFY_DELAY, &keys::PROJECT_DELAY),
            quiet: of.get(&keys::NOTIFY_QUIET, &keys::PROJECT_QUIET),
            purposes,
            presence: settings.get(&keys::NOTIFY_PRESENCE),
            one_tap: settings.get(&keys::PERMISSION_ONE_TAP).0,
            heartbeat: command(&keys::NOTIFY_HEARTBEAT_COMMAND).map(|command| Heartbeat { every, command }),
            desktop: settings.get(&keys::NOTIFY_DESKTOP_ENABLED),
            terminal: settings.get(&keys::NOTIFY_TERMINAL_ENABLED),
            sound: command(&keys::NOTIFY_SOUND_COMMAND),
            command: command(&keys::NOTIFY_COMMAND_COMMAND),
            webhook: settings.get(&keys::NOTIFY_WEBHOOK_URL).map(webhook),
            ntfy: settings.get(&keys::NOTIFY_NTFY_TOPIC).map(ntfy),
            delays: delays(settings),
        })
    }

    /// Returns the settings with only these ways, for any purpose. A way that is not set up stays off.
    #[must_use]
    pub fn only(self, ways: &[String]) -> Self {
        let has = |way: &str| ways.iter().any(|other| other == way);
        NotifySettings {
            // The rule has named this question, which counts for more than the purposes.
            purposes: vec![Purpose::Question, Purpose::Permission],
            desktop: self.desktop && has("desktop"),
            terminal: self.terminal && has("terminal"),
            sound: self.sound.filter(|_| has("sound")),
            command: self.command.filter(|_| has("command")),
            webhook: self.webhook.filter(|_| has("webhook")),
            ntfy: self.ntfy.filter(|_| has("ntfy")),
            ..self
        }
    }

    /// Returns the age of a question at which this way is used.
    pub fn delay_of(&self, way: &str) -> Duration {
        self.delays.get(way).copied().unwrap_or(self.delay)
    }
}

/// Returns the delays of the ways that have their own.
fn delays(settings: &Settings) -> BTreeMap<&'static str, Duration> {
    let keys = [
        ("terminal", &keys::NOTIFY_TERMINAL_DELAY),
        ("sound", &keys::NOTIFY_SOUND_DELAY),
        ("desktop", &keys::NOTIFY_DESKTOP_DELAY),
        ("command", &keys::NOTIFY_COMMAND_DELAY),
        ("webhook", &keys::NOTIFY_WEBHOOK_DELAY),
        ("ntfy", &keys::NOTIFY_NTFY_DELAY),
    ];
    keys.into_iter().filter_map(|(way, key)| Some((way, settings.get(key)?))).collect()
}

/// Returns the user's table for a project: the one with the longest folder that contains the project.
fn table<'a>(settings: &'a Settings, project: &Path) -> Option<&'a ProjectTable> {
    let folder = |table: &ProjectTable| {
        let path = table.get(keys::PROJECT_FOLDER.path())?.value.as_str()?;
        let folder = settings.at_home(path.into());
        project.starts_with(&folder).then(|| folder.components().count())
    };
    let fitting = settings.projects().iter().filter_map(|table| Some((folder(table)?, table)));
    fitting.max_by_key(|(length, _)| *length).map(|(_, table)| table)
}

/// The settings for one project.
struct View<'a> {
    settings: &'a Settings,
    table: Option<&'a ProjectTable>,
}

impl View<'_> {
    /// Returns the value that the project's table sets.
    fn own<T: Setting>(&self, key: &Key<Option<T>>) -> Option<T> {
        let value: Option<&Value> =
            self.table.and_then(|table| table.get(key.path())).map(|stored| &stored.value);
        value.and_then(|value| T::read(value).ok())
    }

    /// Returns the effective value. The user's table for the project wins over the project's own file, and the
    /// environment wins over both.
    fn get<T: Setting>(&self, key: &'static Key<T>, own: &Key<Option<T>>) -> T {
        let is_environment = matches!(self.settings.stored(key).origin, Layer::Environment(_));
        let own = if is_environment { None } else { self.own(own) };
        own.unwrap_or_else(|| self.settings.get(key))
    }
}

impl Settings {
    /// Returns the settings of the journal. `None` keeps nothing.
    pub fn journal(&self) -> Option<JournalSettings> {
        let settings = || JournalSettings {
            texts: self.get(&keys::JOURNAL_TEXTS),
            context: self.get(&keys::JOURNAL_CONTEXT),
            keep: self.get(&keys::JOURNAL_KEEP).0,
            size: self.get(&keys::JOURNAL_SIZE).0,
        };
        self.get(&keys::JOURNAL_ENABLED).then(settings)
    }

    /// Returns what it takes to allow a permission.
    pub fn guarding(&self) -> Guarding {
        Guarding {
            confirm: self.get(&keys::PERMISSION_CONFIRM).0,
            looks: self.get(&keys::PERMISSION_LOOKS).0,
        }
    }

    /// Returns the settings for unattended questions.
    pub fn unattended(&self) -> UnattendedSettings {
        UnattendedSettings { then: self.get(&keys::UNATTENDED_THEN), when: self.get(&keys::UNATTENDED_WHEN) }
    }
}
