//! The list of all settings and their tables, and the settings of the bridge, the inbox, Claude Code and the log.
//! `askbridge config`, the schema and the reference in `docs/settings.md` are generated from this list.

use core::net::SocketAddr;
use std::{path::PathBuf, time::Duration};

use askbridge_os::log::{LogFormat, LogLevel};
use serde_json::{Value, json};

use super::{
    key::{AnyKey, EffectTime, Key, Project, Setting, list, quoted, text, typed_list},
    kinds::{DEFAULT_ADDRESS, Hosts, ServeAddress, Timeout, TrustedServers},
    words::{ClientQuestions, Permissions},
};
use crate::limits;

pub use super::{
    notify_keys::{
        NOTIFY_COMMAND_COMMAND, NOTIFY_COMMAND_DELAY, NOTIFY_DELAY, NOTIFY_DESKTOP_DELAY,
        NOTIFY_DESKTOP_ENABLED, NOTIFY_HEARTBEAT_COMMAND, NOTIFY_HEARTBEAT_EVERY, NOTIFY_NTFY_DELAY,
        NOTIFY_NTFY_SERVER, NOTIFY_NTFY_TEXT, NOTIFY_NTFY_TOKEN, NOTIFY_NTFY_TOPIC, NOTIFY_PRESENCE,
        NOTIFY_PURPOSES, NOTIFY_QUIET, NOTIFY_SOUND_COMMAND, NOTIFY_SOUND_DELAY, NOTIFY_TERMINAL_DELAY,
        NOTIFY_TERMINAL_ENABLED, NOTIFY_WEBHOOK_DELAY, NOTIFY_WEBHOOK_TEXT, NOTIFY_WEBHOOK_URL,
        PROJECT_DELAY, PROJECT_ENABLED, PROJECT_FOLDER, PROJECT_PURPOSES, PROJECT_QUIET, PROJECT_TEXT,
    },
    question_keys::{
        JOURNAL_ENABLED, JOURNAL_KEEP, JOURNAL_SIZE, JOURNAL_TEXTS, PERMISSION_CONFIRM, PERMISSION_ONE_TAP,
        UNATTENDED_THEN, UNATTENDED_WHEN,
    },
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

/// The prefix of all our environment variables.
pub const PREFIX: &str = "ASKBRIDGE_";

/// The tables of a file, each with its description.
pub const SECTIONS: [(&str, &str); 15] = [
    ("bridge", "What a bridge does with questions: `askbridge run` and `askbridge proxy`"),
    ("permission", "What you are asked before something is allowed"),
    ("inbox", "Questions over HTTP: `askbridge inbox`, and bridges with `serve`"),
    ("claude", "Claude Code in a terminal: `askbridge hook claude`"),
    ("journal", "The file of questions and answers: `askbridge history`"),
    ("unattended", "What to do with questions that nobody can answer, such as in CI"),
    ("log", "The log of every command"),
    ("notify", "When you are told that a question waits"),
    ("notify.heartbeat", "A command that runs again and again while a question stays open"),
    ("notify.desktop", "A notification of the desktop"),
    ("notify.sound", "A sound, or speech"),
    ("notify.command", "A command of your own"),
    ("notify.webhook", "A request to a server of your own"),
    ("notify.ntfy", "A message to your phone, by an ntfy server"),
    ("notify.terminal", "Terminals in which askbridge runs"),
];

/// The table that repeats, one for each project.
pub const PROJECTS: &str = "notify.project";
/// The description of that table.
pub const PROJECTS_ABOUT: &str =
    "What is different for one project; the one with the longest fitting `folder` counts";

/// The table that repeats, one for each rule.
pub const RULES: &str = "rule";
/// The description of that table.
pub const RULES_ABOUT: &str = "What you decided beforehand about questions to come, rule by rule; the first that applies decides. \
     Only your own file can have rules";

/// Returns whether there is a table of this name.
pub fn is_section(path: &str) -> bool {
    SECTIONS.iter().any(|(name, _)| *name == path)
}

/// Kinds of agents that run in terminals. Empty attaches to none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentKinds(pub Vec<&'static str>);

/// The kinds that can be attached to.
const KINDS: [&str; 3] = ["codex", "opencode", "copilot"];

impl AgentKinds {
    /// Returns whether agents of this kind are attached to.
    pub fn has(&self, kind: &str) -> bool {
        self.0.contains(&kind)
    }
}

impl Setting for AgentKinds {
    fn read(value: &Value) -> Result<Self, String> {
        if let Some(all) = value.as_bool() {
            return Ok(AgentKinds(if all { KINDS.to_vec() } else { Vec::new() }));
        }
        let kind = |value: &Value| {
            let name = text(value, "the name of an agent")?;
            let known = KINDS.into_iter().find(|kind| *kind == name);
            known.ok_or_else(|| format!("{} is not one of {}", quoted(value), Value::from(KINDS.to_vec())))
        };
        list(value, "true, false, or a list of agents such as [\"codex\"]", kind).map(AgentKinds)
    }

    fn to_value(&self) -> Value {
        if self.0.is_empty() { Value::Bool(false) } else { json!(self.0) }
    }

    fn typed(text: &str) -> Value {
        match bool::typed(text) {
            Value::Bool(all) => Value::Bool(all),
            _ => typed_list(text),
        }
    }

    fn schema() -> Value {
        json!({ "anyOf": [
            { "type": "boolean" },
            { "type": "array", "items": { "enum": KINDS }, "uniqueItems": true },
        ] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_that_is_declared_is_listed() {
        let files =
            [include_str!("keys.rs"), include_str!("question_keys.rs"), include_str!("notify_keys.rs")];
        let declared = files.iter().flat_map(|text| text.split("pub static ").skip(1));
        let names = declared.filter_map(|rest| rest.split_once(": Key<")).map(|(name, _)| name);
        let listed = files[0];
        for name in names.filter(|name| name.chars().all(|c| c.is_ascii_uppercase() || c == '_')) {
            assert!(
                listed.contains(&format!("&{name},")) || listed.contains(&format!("&{name}]")),
                "{name}: add it to `ALL`"
            );
        }
    }

    #[test]
    fn trusted_servers_are_named_with_their_host_and_port() {
        let read = |text: &str| TrustedServers::read(&TrustedServers::typed(text));
        let servers = read("Box.LAN:4096, 127.0.0.1:80, [0:0::1]:7").expect("servers");
        assert_eq!(servers.to_value(), json!(["box.lan:4096", "127.0.0.1:80", "[::1]:7"]));
        assert_eq!(read("[::1]:80").map(|servers| servers.to_value()), Ok(json!(["[::1]:80"])));
        assert!(servers.has("box.lan", 4096) && servers.has("BOX.lan", 4096) && servers.has("::1", 7));
        assert!(!servers.has("box.lan", 4097) && !servers.has("box", 4096) && !servers.has("localhost", 80));
        for wrong in ["4096", "box.lan", ":4096", "box.lan:", "box.lan:0", "box.lan:70000", "::1:7", "[::1]"]
        {
            assert!(read(wrong).is_err_and(|error| error.contains("a host and a port")), "{wrong}");
        }
        for wrong in ["http://box.lan:4096", "opencode:secret@box.lan:4096", "[box.lan]:4096", "a b:1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(TrustedServers::read(&json!("box.lan:4096")).is_err());
    }

    fn read(text: &str) -> Result<Value, String> {
        AgentKinds::read(&AgentKinds::typed(text)).map(|attached| attached.to_value())
    }

    #[test]
    fn all_kinds_or_some_or_none_are_attached_to() {
        assert_eq!(read("true"), Ok(json!(KINDS)));
        assert_eq!(read("off"), Ok(json!(false)));
        assert_eq!(read("codex"), Ok(json!(["codex"])));
        assert!(read("emacs").is_err_and(|error| error.contains("codex")));
        assert!(AgentKinds::read(&json!(5)).is_err_and(|error| error.contains("a list of agents")));
    }
}
