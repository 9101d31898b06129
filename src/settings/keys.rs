//! All settings. `config`, the schema and the reference in `docs/settings.md` are made of this list.

use core::net::SocketAddr;
use std::{path::PathBuf, time::Duration};

pub use super::journal::{JOURNAL_ENABLED, JOURNAL_KEEP, JOURNAL_SIZE, JOURNAL_TEXTS};
pub use super::sections::{PROJECTS, PROJECTS_ABOUT, RULES, RULES_ABOUT, SECTIONS, is_section};
pub use super::unattended::{UNATTENDED_THEN, UNATTENDED_WHEN};
use super::{
    attached::Attached,
    key::{AnyKey, Key, Project},
    kinds::{
        ClientQuestions, Command, DEFAULT_ADDRESS, Disclosure, Hosts, Interval, Permissions, Purposes,
        QuietHours, Serve, Timeout,
    },
    remote::{Topic, Url},
};
use crate::{
    config::{LogFormat, LogLevel},
    limits,
    question::Purpose,
};

// Why a project must not set something.
const ENDS: &str = "it ends questions in your place";
const CLIENT: &str = "it is about the client, not the project";
const AGENT: &str = "it is about the agent, not the project";
const PROCESS: &str = "it is about processes of yours";
const ADDRESS: &str = "it sets an address";
const RUNS: &str = "it is about a command that runs";
const LEAVES: &str = "it decides what leaves the machine, and to where";
const WRITES: &str = "it decides what is written, and to where";

/// `bridge.timeout`
pub static BRIDGE_TIMEOUT: Key<Timeout> = Key::own(
    "bridge.timeout",
    ENDS,
    Timeout::default,
    "Reject a question that has no answer within this time; `never` waits as long as it takes",
);
/// `bridge.client-questions`
pub static BRIDGE_CLIENT_QUESTIONS: Key<ClientQuestions> = Key::own(
    "bridge.client-questions",
    CLIENT,
    ClientQuestions::default,
    "How the client is asked, whatever it says that it can show",
);
/// `bridge.permissions`
pub static BRIDGE_PERMISSIONS: Key<Permissions> = Key::shared(
    "bridge.permissions",
    Project::Narrower,
    Permissions::default,
    "Where the agent's permission prompts can be answered: by every responder, or in the client alone",
);
/// `bridge.promise`
pub static BRIDGE_PROMISE: Key<bool> = Key::own(
    "bridge.promise",
    CLIENT,
    || true,
    "Tell agents in `initialize` that questions can be shown; otherwise many do not ask at all",
);
/// `bridge.chat-hint`
pub static BRIDGE_CHAT_HINT: Key<bool> = Key::shared(
    "bridge.chat-hint",
    Project::Free,
    || true,
    "Announce in the chat a question that the client does not show",
);
/// `bridge.inbox`
pub static BRIDGE_INBOX: Key<bool> =
    Key::own("bridge.inbox", CLIENT, || true, "Open the inbox socket; otherwise only the client can answer");
/// `bridge.serve`
pub static BRIDGE_SERVE: Key<Serve> = Key::own(
    "bridge.serve",
    ADDRESS,
    Serve::default,
    "Serve the open questions over HTTP at this address; port 0 is any that is free, as several bridges need it",
);
/// `bridge.grace`
pub static BRIDGE_GRACE: Key<Duration> = Key::own(
    "bridge.grace",
    PROCESS,
    || limits::GRACE,
    "How long the agent may take to end once the client is gone, before it gets SIGTERM",
);

/// `inbox.address`
pub static INBOX_ADDRESS: Key<SocketAddr> = Key::own(
    "inbox.address",
    ADDRESS,
    || DEFAULT_ADDRESS,
    "Where `askbridge inbox` listens: an address, or a port of 127.0.0.1",
);
/// `inbox.token-file`
pub static INBOX_TOKEN_FILE: Key<Option<PathBuf>> = Key::own(
    "inbox.token-file",
    LEAVES,
    || None,
    "The file with the token that every request has to show; left out, it is in the folder of the sockets",
);
/// `inbox.allow-host`
pub static INBOX_ALLOW_HOST: Key<Hosts> = Key::own(
    "inbox.allow-host",
    ADDRESS,
    Hosts::default,
    "Host names for which requests are accepted as well: that of a proxy, or of this machine in its network",
);
/// `inbox.attach`
pub static INBOX_ATTACH: Key<Attached> = Key::own(
    "inbox.attach",
    PROCESS,
    Attached::default,
    "Attach to the agents in your terminals, as `askbridge attach` does: all that are found, or a list such as [\"codex\"]",
);

/// `claude.enabled`
pub static CLAUDE_ENABLED: Key<bool> = Key::own(
    "claude.enabled",
    AGENT,
    || true,
    "Open in the inbox what Claude Code asks in its terminal, if its hooks are installed",
);
/// `claude.grace`
pub static CLAUDE_GRACE: Key<Duration> = Key::own(
    "claude.grace",
    AGENT,
    || limits::HOOK_GRACE,
    "How long an answer from elsewhere is held back after the dialog opened, since you may be typing there",
);
/// `claude.pass-after`
pub static CLAUDE_PASS_AFTER: Key<Duration> = Key::own(
    "claude.pass-after",
    AGENT,
    || limits::HOOK_PASS,
    "When a question of a subagent or of an MCP server is left to the terminal, whose dialog waits until then",
);

/// `log.level`
pub static LOG_LEVEL: Key<LogLevel> = Key::own(
    "log.level",
    WRITES,
    LogLevel::default,
    "The minimum level; `trace` has the text of prompts and answers",
);
/// `log.file`
pub static LOG_FILE: Key<Option<PathBuf>> =
    Key::own("log.file", WRITES, || None, "Append the log to this file; left out, it goes to stderr");
/// `log.format`
pub static LOG_FORMAT: Key<LogFormat> =
    Key::own("log.format", WRITES, LogFormat::default, "How a line is written");

/// `notify.delay`
pub static NOTIFY_DELAY: Key<Duration> = Key::shared(
    "notify.delay",
    Project::Free,
    || limits::NOTIFY_DELAY,
    "Tell you of a question that has been open for this long",
);
/// `notify.quiet`
pub static NOTIFY_QUIET: Key<QuietHours> = Key::shared(
    "notify.quiet",
    Project::Free,
    QuietHours::default,
    "Times of the day at which you are not told, such as [\"22:00-07:00\"]",
);
/// `notify.purposes`
pub static NOTIFY_PURPOSES: Key<Purposes> = Key::shared(
    "notify.purposes",
    Project::Narrower,
    || Purposes(vec![Purpose::Question, Purpose::Permission]),
    "What you are told of",
);
/// `notify.presence`
pub static NOTIFY_PRESENCE: Key<bool> = Key::shared(
    "notify.presence",
    Project::Free,
    || true,
    "Do not tell you while you evidently are there: the page or the full-screen terminal has the focus",
);
/// `notify.heartbeat.every`
pub static NOTIFY_HEARTBEAT_EVERY: Key<Interval> = Key::own(
    "notify.heartbeat.every",
    RUNS,
    || Interval(limits::NOTIFY_HEARTBEAT),
    "How long after one run the next one begins",
);
/// `notify.heartbeat.command`
pub static NOTIFY_HEARTBEAT_COMMAND: Key<Option<Command>> = Key::own(
    "notify.heartbeat.command",
    RUNS,
    || None,
    "The program and its arguments; left out, there is no heartbeat",
);
/// `notify.desktop.enabled`
pub static NOTIFY_DESKTOP_ENABLED: Key<bool> = Key::shared(
    "notify.desktop.enabled",
    Project::Narrower,
    || false,
    "Show a notification, with buttons where the desktop has them",
);
/// `notify.desktop.delay`
pub static NOTIFY_DESKTOP_DELAY: Key<Option<Duration>> = Key::shared(
    "notify.desktop.delay",
    Project::Free,
    || None,
    "Tell in this way only after this time; left out, `notify.delay`",
);
/// `notify.sound.command`
pub static NOTIFY_SOUND_COMMAND: Key<Option<Command>> = Key::own(
    "notify.sound.command",
    RUNS,
    || None,
    "The program that plays or speaks, and its arguments, such as [\"paplay\", \"bell.ogg\"]",
);
/// `notify.sound.delay`
pub static NOTIFY_SOUND_DELAY: Key<Option<Duration>> = Key::shared(
    "notify.sound.delay",
    Project::Free,
    || None,
    "Tell in this way only after this time; left out, `notify.delay`",
);
/// `notify.command.command`
pub static NOTIFY_COMMAND_COMMAND: Key<Option<Command>> = Key::own(
    "notify.command.command",
    RUNS,
    || None,
    "The program and its arguments; no shell reads them. It gets the question as JSON in a file",
);
/// `notify.command.delay`
pub static NOTIFY_COMMAND_DELAY: Key<Option<Duration>> = Key::shared(
    "notify.command.delay",
    Project::Free,
    || None,
    "Tell in this way only after this time; left out, `notify.delay`",
);
/// `notify.webhook.url`
pub static NOTIFY_WEBHOOK_URL: Key<Option<Url>> =
    Key::own("notify.webhook.url", LEAVES, || None, "Where the request goes; left out, there is none")
        .secret();
/// `notify.webhook.text`
pub static NOTIFY_WEBHOOK_TEXT: Key<Disclosure> = Key::shared(
    "notify.webhook.text",
    Project::Narrower,
    Disclosure::default,
    "What is sent: only that a question waits in which project, its title as well, or all that is asked",
);
/// `notify.webhook.delay`
pub static NOTIFY_WEBHOOK_DELAY: Key<Option<Duration>> = Key::shared(
    "notify.webhook.delay",
    Project::Free,
    || None,
    "Tell in this way only after this time; left out, `notify.delay`",
);
/// `notify.ntfy.server`
pub static NOTIFY_NTFY_SERVER: Key<Url> = Key::own(
    "notify.ntfy.server",
    LEAVES,
    || Url("https://ntfy.sh".to_owned()),
    "The server: any that speaks ntfy's protocol",
);
/// `notify.ntfy.topic`
pub static NOTIFY_NTFY_TOPIC: Key<Option<Topic>> = Key::own(
    "notify.ntfy.topic",
    LEAVES,
    || None,
    "The topic that your phone is subscribed to; left out, nothing is sent. It is a secret: choose one that cannot be \
     guessed",
)
.secret();
/// `notify.ntfy.token`
pub static NOTIFY_NTFY_TOKEN: Key<Option<String>> =
    Key::own("notify.ntfy.token", LEAVES, || None, "The access token of the server, if it needs one")
        .secret();
/// `notify.ntfy.text`
pub static NOTIFY_NTFY_TEXT: Key<Disclosure> = Key::shared(
    "notify.ntfy.text",
    Project::Narrower,
    Disclosure::default,
    "What is sent, as in `notify.webhook`",
);
/// `notify.ntfy.delay`
pub static NOTIFY_NTFY_DELAY: Key<Option<Duration>> = Key::shared(
    "notify.ntfy.delay",
    Project::Free,
    || None,
    "Tell in this way only after this time; left out, `notify.delay`",
);
/// `notify.terminal.enabled`
pub static NOTIFY_TERMINAL_ENABLED: Key<bool> = Key::shared(
    "notify.terminal.enabled",
    Project::Narrower,
    || true,
    "Ring the bell, set the title, and show a notification where the terminal can",
);
/// `notify.terminal.delay`
pub static NOTIFY_TERMINAL_DELAY: Key<Option<Duration>> = Key::shared(
    "notify.terminal.delay",
    Project::Free,
    || None,
    "Tell in this way only after this time; left out, `notify.delay`",
);

/// `folder` of a project.
pub static PROJECT_FOLDER: Key<Option<PathBuf>> =
    Key::own("folder", LEAVES, || None, "The project's folder, or one that has several projects");
/// `enabled` of a project.
pub static PROJECT_ENABLED: Key<Option<bool>> =
    Key::own("enabled", LEAVES, || None, "Whether you are told of its questions at all");
/// `delay` of a project.
pub static PROJECT_DELAY: Key<Option<Duration>> = Key::own("delay", LEAVES, || None, "As `notify.delay`");
/// `quiet` of a project.
pub static PROJECT_QUIET: Key<Option<QuietHours>> = Key::own("quiet", LEAVES, || None, "As `notify.quiet`");
/// `purposes` of a project.
pub static PROJECT_PURPOSES: Key<Option<Purposes>> =
    Key::own("purposes", LEAVES, || None, "As `notify.purposes`");
/// `text` of a project.
pub static PROJECT_TEXT: Key<Option<Disclosure>> =
    Key::own("text", LEAVES, || None, "As `notify.webhook.text` and `notify.ntfy.text`, for both");

/// Every setting, in the order in which it is shown.
pub static ALL: [&dyn AnyKey; 46] = [
    &BRIDGE_TIMEOUT,
    &BRIDGE_CLIENT_QUESTIONS,
    &BRIDGE_PERMISSIONS,
    &BRIDGE_PROMISE,
    &BRIDGE_CHAT_HINT,
    &BRIDGE_INBOX,
    &BRIDGE_SERVE,
    &BRIDGE_GRACE,
    &INBOX_ADDRESS,
    &INBOX_TOKEN_FILE,
    &INBOX_ALLOW_HOST,
    &INBOX_ATTACH,
    &CLAUDE_ENABLED,
    &CLAUDE_GRACE,
    &CLAUDE_PASS_AFTER,
    &JOURNAL_ENABLED,
    &JOURNAL_TEXTS,
    &JOURNAL_KEEP,
    &JOURNAL_SIZE,
    &UNATTENDED_THEN,
    &UNATTENDED_WHEN,
    &LOG_LEVEL,
    &LOG_FILE,
    &LOG_FORMAT,
    &NOTIFY_DELAY,
    &NOTIFY_QUIET,
    &NOTIFY_PURPOSES,
    &NOTIFY_PRESENCE,
    &NOTIFY_HEARTBEAT_EVERY,
    &NOTIFY_HEARTBEAT_COMMAND,
    &NOTIFY_DESKTOP_ENABLED,
    &NOTIFY_DESKTOP_DELAY,
    &NOTIFY_SOUND_COMMAND,
    &NOTIFY_SOUND_DELAY,
    &NOTIFY_COMMAND_COMMAND,
    &NOTIFY_COMMAND_DELAY,
    &NOTIFY_WEBHOOK_URL,
    &NOTIFY_WEBHOOK_TEXT,
    &NOTIFY_WEBHOOK_DELAY,
    &NOTIFY_NTFY_SERVER,
    &NOTIFY_NTFY_TOPIC,
    &NOTIFY_NTFY_TOKEN,
    &NOTIFY_NTFY_TEXT,
    &NOTIFY_NTFY_DELAY,
    &NOTIFY_TERMINAL_ENABLED,
    &NOTIFY_TERMINAL_DELAY,
];

/// The settings of one project, by their names in its table.
pub static OF_PROJECT: [&dyn AnyKey; 6] =
    [&PROJECT_FOLDER, &PROJECT_ENABLED, &PROJECT_DELAY, &PROJECT_QUIET, &PROJECT_PURPOSES, &PROJECT_TEXT];

/// Finds a setting by its name with its sections.
pub fn find(path: &str) -> Option<&'static dyn AnyKey> {
    ALL.iter().copied().find(|key| key.path() == path)
}

/// Returns the environment variable that sets it, such as `ASKBRIDGE_NOTIFY_NTFY_TOPIC`.
pub fn variable(key: &dyn AnyKey) -> String {
    let upper = key.path().to_ascii_uppercase();
    format!("{PREFIX}{}", upper.replace(['.', '-'], "_"))
}

/// What the names of all our environment variables begin with.
pub const PREFIX: &str = "ASKBRIDGE_";
