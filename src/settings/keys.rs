//! All settings. `config`, the schema and the reference in `docs/settings.md` are made of this list.

use core::net::SocketAddr;
use std::{path::PathBuf, time::Duration};

pub use super::journal::{JOURNAL_ENABLED, JOURNAL_KEEP, JOURNAL_SIZE, JOURNAL_TEXTS};
pub use super::notify_keys::{
    NOTIFY_COMMAND_COMMAND, NOTIFY_COMMAND_DELAY, NOTIFY_DELAY, NOTIFY_DESKTOP_DELAY, NOTIFY_DESKTOP_ENABLED,
    NOTIFY_HEARTBEAT_COMMAND, NOTIFY_HEARTBEAT_EVERY, NOTIFY_NTFY_DELAY, NOTIFY_NTFY_SERVER,
    NOTIFY_NTFY_TEXT, NOTIFY_NTFY_TOKEN, NOTIFY_NTFY_TOPIC, NOTIFY_PRESENCE, NOTIFY_PURPOSES, NOTIFY_QUIET,
    NOTIFY_SOUND_COMMAND, NOTIFY_SOUND_DELAY, NOTIFY_TERMINAL_DELAY, NOTIFY_TERMINAL_ENABLED,
    NOTIFY_WEBHOOK_DELAY, NOTIFY_WEBHOOK_TEXT, NOTIFY_WEBHOOK_URL, PROJECT_DELAY, PROJECT_ENABLED,
    PROJECT_FOLDER, PROJECT_PURPOSES, PROJECT_QUIET, PROJECT_TEXT,
};
pub use super::permission::{PERMISSION_CONFIRM, PERMISSION_ONE_TAP};
pub use super::sections::{PROJECTS, PROJECTS_ABOUT, RULES, RULES_ABOUT, SECTIONS, is_section};
pub use super::unattended::{UNATTENDED_THEN, UNATTENDED_WHEN};
use super::{
    attached::{AgentKinds, TrustedServers},
    key::{AnyKey, EffectTime, Key, Project},
    kinds::{ClientQuestions, DEFAULT_ADDRESS, Hosts, Permissions, ServeAddress, Timeout},
};
use crate::{
    limits,
    log::{LogFormat, LogLevel},
};

// Why a project must not set something.
const ENDS: &str = "it ends questions in your place";
const CLIENT: &str = "it is about the client, not the project";
const AGENT: &str = "it is about the agent, not the project";
const PROCESS: &str = "it is about processes of yours";
const ADDRESS: &str = "it sets an address";
const LEAVES: &str = "it decides what leaves the machine, and to where";
const WRITES: &str = "it decides what is written, and to where";

/// `bridge.timeout`
pub static BRIDGE_TIMEOUT: Key<Timeout> = Key::own(
    "bridge.timeout",
    EffectTime::NextQuestion,
    ENDS,
    Timeout::default,
    "Reject a question that has no answer within this time; `never` waits as long as it takes",
);
/// `bridge.client-questions`
pub static BRIDGE_CLIENT_QUESTIONS: Key<ClientQuestions> = Key::own(
    "bridge.client-questions",
    EffectTime::NextBridge,
    CLIENT,
    ClientQuestions::default,
    "How the client is asked, whatever it says that it can show",
);
/// `bridge.permissions`
pub static BRIDGE_PERMISSIONS: Key<Permissions> = Key::shared(
    "bridge.permissions",
    EffectTime::NextBridge,
    Project::Narrower,
    Permissions::default,
    "Where the agent's permission prompts can be answered: by every responder, or in the client alone",
);
/// `bridge.promise`
pub static BRIDGE_PROMISE: Key<bool> = Key::own(
    "bridge.promise",
    EffectTime::NextBridge,
    CLIENT,
    || true,
    "Tell agents in `initialize` that questions can be shown; otherwise many do not ask at all",
);
/// `bridge.chat-hint`
pub static BRIDGE_CHAT_HINT: Key<bool> = Key::shared(
    "bridge.chat-hint",
    EffectTime::NextBridge,
    Project::Free,
    || true,
    "Announce in the chat a question that the client does not show",
);
/// `bridge.inbox`
pub static BRIDGE_INBOX: Key<bool> = Key::own(
    "bridge.inbox",
    EffectTime::NextBridge,
    CLIENT,
    || true,
    "Open the inbox socket; otherwise only the client can answer",
);
/// `bridge.serve`
pub static BRIDGE_SERVE: Key<ServeAddress> = Key::own(
    "bridge.serve",
    EffectTime::NextBridge,
    ADDRESS,
    ServeAddress::default,
    "Serve the open questions over HTTP at this address; port 0 is any that is free, as several bridges need it",
);
/// `bridge.grace`
pub static BRIDGE_GRACE: Key<Duration> = Key::own(
    "bridge.grace",
    EffectTime::NextBridge,
    PROCESS,
    || limits::GRACE,
    "How long the agent may take to end once the client is gone, before it gets SIGTERM",
);

/// `inbox.address`
pub static INBOX_ADDRESS: Key<SocketAddr> = Key::own(
    "inbox.address",
    EffectTime::NextInbox,
    ADDRESS,
    || DEFAULT_ADDRESS,
    "Where `askbridge inbox` listens: an address, or a port of 127.0.0.1",
);
/// `inbox.token-file`
pub static INBOX_TOKEN_FILE: Key<Option<PathBuf>> = Key::own(
    "inbox.token-file",
    EffectTime::NextInbox,
    LEAVES,
    || None,
    "The file with the token that every request has to show; left out, it is in the folder of the sockets",
);
/// `inbox.allow-host`
pub static INBOX_ALLOW_HOST: Key<Hosts> = Key::own(
    "inbox.allow-host",
    EffectTime::NextInbox,
    ADDRESS,
    Hosts::default,
    "Host names for which requests are accepted as well: that of a proxy, or of this machine in its network",
);
/// `inbox.attach`
pub static INBOX_ATTACH: Key<AgentKinds> = Key::own(
    "inbox.attach",
    EffectTime::NextInbox,
    PROCESS,
    AgentKinds::default,
    "Attach to the agents in your terminals, as `askbridge attach` does: all that are found, or a list such as [\"codex\"]",
);
/// `inbox.trusted-servers`
pub static INBOX_TRUSTED_SERVERS: Key<TrustedServers> = Key::own(
    "inbox.trusted-servers",
    EffectTime::NextCommand,
    LEAVES,
    TrustedServers::default,
    "Send opencode's password and Copilot's token also to these servers, such as [\"box.lan:4096\"]; others get them only if they run as you on this machine",
);

/// `claude.enabled`
pub static CLAUDE_ENABLED: Key<bool> = Key::own(
    "claude.enabled",
    EffectTime::NextQuestion,
    AGENT,
    || true,
    "Open in the inbox what Claude Code asks in its terminal, if its hooks are installed",
);
/// `claude.grace`
pub static CLAUDE_GRACE: Key<Duration> = Key::own(
    "claude.grace",
    EffectTime::NextQuestion,
    AGENT,
    || limits::HOOK_GRACE,
    "How long an answer from elsewhere is held back after the dialog opened, since you may be typing there",
);
/// `claude.pass-after`
pub static CLAUDE_PASS_AFTER: Key<Duration> = Key::own(
    "claude.pass-after",
    EffectTime::NextQuestion,
    AGENT,
    || limits::HOOK_PASS,
    "When a question of a subagent or of an MCP server is left to the terminal, whose dialog waits until then",
);

/// `log.level`
pub static LOG_LEVEL: Key<LogLevel> = Key::own(
    "log.level",
    EffectTime::NextCommand,
    WRITES,
    LogLevel::default,
    "The minimum level; `trace` has the text of prompts and answers",
);
/// `log.file`
pub static LOG_FILE: Key<Option<PathBuf>> = Key::own(
    "log.file",
    EffectTime::NextCommand,
    WRITES,
    || None,
    "Append the log to this file; left out, it goes to stderr",
);
/// `log.format`
pub static LOG_FORMAT: Key<LogFormat> =
    Key::own("log.format", EffectTime::NextCommand, WRITES, LogFormat::default, "How a line is written");

/// Every setting, in the order in which it is shown.
pub static ALL: [&dyn AnyKey; 49] = [
    &BRIDGE_TIMEOUT,
    &BRIDGE_CLIENT_QUESTIONS,
    &BRIDGE_PERMISSIONS,
    &BRIDGE_PROMISE,
    &BRIDGE_CHAT_HINT,
    &BRIDGE_INBOX,
    &BRIDGE_SERVE,
    &BRIDGE_GRACE,
    &PERMISSION_CONFIRM,
    &PERMISSION_ONE_TAP,
    &INBOX_ADDRESS,
    &INBOX_TOKEN_FILE,
    &INBOX_ALLOW_HOST,
    &INBOX_ATTACH,
    &INBOX_TRUSTED_SERVERS,
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
