//! The settings of a user: one row for each, in the order in which they are shown, and the tables that they stand in.
//! `askbridge config`, the schema and the reference in `docs/settings.md` are generated from these rows.
//! The types of values are in `kinds.rs`, `addresses.rs` and `words.rs`; `services.rs` combines the settings for one
//! project.

use core::net::SocketAddr;
use std::{path::PathBuf, time::Duration};

use askbridge_core::{
    mcp::{Elicitation, Session},
    question::Purpose,
};
use askbridge_os::log::{LogFormat, LogLevel};

use super::{
    addresses::{Brokers, DEFAULT_ADDRESS, Hosts, Origins, ServeAddress, Topic, TrustedServers, Url},
    callbacks::{CallbackHosts, SigningSecret},
    key::{
        AnyKey,
        EffectTime::{NextBridge, NextCommand, NextInbox, NextQuestion},
        Key,
        Project::{Free, Narrower, Refused},
    },
    kinds::{Age, AgentKinds, Command, Interval, Purposes, QuietHours, Size, Timeout, UndoTime},
    mcp::Tools,
    resolved::{UnattendedAction, UnattendedConditions},
    words::{ClientQuestions, ConfirmRisk, Disclosure, LooksRisk, OneTapRisk, Permissions},
};
use crate::limits;

// Why a project must not set something: a cloned repository is hostile.
const ENDS: &str = "it ends questions in your place";
const CLIENT: &str = "it concerns the client, not the project";
const AGENT: &str = "it concerns the agent, not the project";
const PROCESS: &str = "it concerns your processes";
const ADDRESS: &str = "it sets an address";
const LEAVES: &str = "it decides what is sent to other machines, and to which";
const SENDS: &str = "it decides when your answers are sent";
const WRITES: &str = "it decides what is logged, and to which file";
const KEEPS: &str = "it decides which of your decisions are kept";
const GUARDS: &str = "it decides which permissions need a second step";
const DECIDES: &str = "it decides in your place";
const FLEET: &str = "it decides who sees and answers your questions";
const RUNS: &str = "it runs a command";

/// Declares settings, and the list of them. A row has the name of the constant, the type of its values, its path, when
/// a change counts, whether a project may set it, its default, and what it does: a sentence in the imperative without
/// a full stop. A secret is kept out of printed settings.
macro_rules! settings {
    ($list:ident: $($name:ident: $kind:ty = $path:literal, $counts:expr, $project:expr, $default:expr, $about:literal $(, $secret:ident)?;)+) => {
        $(
            #[doc = concat!("`", $path, "`")]
            pub static $name: Key<$kind> = Key::new($path, $counts, $project, $default, $about)$(.$secret())?;
        )+
        static $list: &[&dyn AnyKey] = &[$(&$name),+];
    };
}

settings! { SETTINGS:
    BRIDGE_TIMEOUT: Timeout = "bridge.timeout", NextQuestion, Refused(ENDS), Timeout::default,
        "Reject a question that has no answer within this time; `never` waits without limit";
    BRIDGE_CLIENT_QUESTIONS: ClientQuestions = "bridge.client-questions", NextBridge, Refused(CLIENT), ClientQuestions::default,
        "How to ask the client, regardless of the capabilities that it declares";
    BRIDGE_PERMISSIONS: Permissions = "bridge.permissions", NextBridge, Narrower, Permissions::default,
        "Where the agent's permission prompts can be answered: by every responder, or in the client alone";
    BRIDGE_PROMISE: bool = "bridge.promise", NextBridge, Refused(CLIENT), || true,
        "Tell agents in `initialize` that questions can be shown; otherwise many do not ask at all";
    BRIDGE_CHAT_HINT: bool = "bridge.chat-hint", NextBridge, Free, || true,
        "Announce in the chat a question that the client does not show";
    BRIDGE_INBOX: bool = "bridge.inbox", NextBridge, Refused(CLIENT), || true,
        "Open the inbox socket; otherwise only the client can answer";
    BRIDGE_SERVE: ServeAddress = "bridge.serve", NextBridge, Refused(ADDRESS), ServeAddress::default,
        "Serve the open questions over HTTP at this address; port 0 is any free port, which several bridges need";
    BRIDGE_GRACE: Duration = "bridge.grace", NextBridge, Refused(PROCESS), || limits::GRACE,
        "How long the agent may take to end once the client is gone, before it gets SIGTERM";

    MCP_ELICITATION: Elicitation = "mcp.elicitation", NextBridge, Refused(CLIENT), Elicitation::default,
        "Who is asked what an MCP server behind `askbridge mcp-proxy` asks";
    MCP_SESSION: Session = "mcp.session", NextBridge, Refused(CLIENT), Session::default,
        "How a session between a host and a server behind `askbridge mcp-proxy` begins";
    MCP_ASK: Tools = "mcp.ask", NextBridge, Refused(GUARDS), Tools::default,
        "Ask for a permission before these tools of MCP servers are called, each as `SERVER/TOOL`, where `*` stands for any text";

    PERMISSION_CONFIRM: ConfirmRisk = "permission.confirm", NextBridge, Refused(GUARDS), ConfirmRisk::default,
        "Require a second step, such as typing yes, before you allow what is `dangerous`, or everything that `acts`";
    PERMISSION_LOOKS: LooksRisk = "permission.looks", NextBridge, Refused(GUARDS), LooksRisk::default,
        "What a command risks that only looks at files of the project, such as `git status`: it is `plain`, as reading a file, or it `acts`, as other commands";
    PERMISSION_ONE_TAP: OneTapRisk = "permission.one-tap", NextQuestion, Refused(GUARDS), OneTapRisk::default,
        "Offer a button on notifications that allows what is `plain`, or also what `acts` if its whole text is sent";

    INBOX_ADDRESS: SocketAddr = "inbox.address", NextInbox, Refused(ADDRESS), || DEFAULT_ADDRESS,
        "Where `askbridge inbox` listens: an address, or a port of 127.0.0.1";
    INBOX_TOKEN_FILE: Option<PathBuf> = "inbox.token-file", NextInbox, Refused(LEAVES), || None,
        "The file with the token that every request must have; by default in the folder of the sockets";
    INBOX_ALLOW_HOST: Hosts = "inbox.allow-host", NextInbox, Refused(ADDRESS), Hosts::default,
        "Host names for which requests are accepted as well: that of a proxy, or of this machine in its network";
    INBOX_ALLOW_ORIGIN: Origins = "inbox.allow-origin", NextInbox, Refused(LEAVES), Origins::default,
        "Let web pages of these origins, such as [\"https://dash.example\"], read and answer questions with the token";
    INBOX_ATTACH: AgentKinds = "inbox.attach", NextInbox, Refused(PROCESS), AgentKinds::default,
        "Attach to the agents in your terminals, as `askbridge attach` does: all that are found, or a list such as [\"codex\"]";
    INBOX_TRUSTED_SERVERS: TrustedServers = "inbox.trusted-servers", NextCommand, Refused(LEAVES), TrustedServers::default,
        "Send opencode's password and Copilot's token also to these servers, such as [\"box.lan:4096\"]; others get them only if they run as you on this machine";

    SEND_UNDO: UndoTime = "send.undo", NextCommand, Refused(SENDS), UndoTime::default,
        "How long you can take back what you have sent, up to `10s`, before the agent gets it; `0s` sends at once";

    CLAUDE_ENABLED: bool = "claude.enabled", NextQuestion, Refused(AGENT), || true,
        "Open the questions of Claude Code's terminal in the inbox, if its hooks are installed";
    CLAUDE_GRACE: Duration = "claude.grace", NextQuestion, Refused(AGENT), || limits::HOOK_GRACE,
        "How long an answer from elsewhere is held back after the dialog opened, since you may be typing there";
    CLAUDE_PASS_AFTER: Duration = "claude.pass-after", NextQuestion, Refused(AGENT), || limits::HOOK_PASS,
        "How long a question of a subagent or of an MCP server holds back the dialog in the terminal; after that, \
        only the dialog asks";

    CALLBACKS_HOSTS: CallbackHosts = "callbacks.hosts", NextQuestion, Refused(LEAVES), CallbackHosts::default,
        "Let programs have the outcomes of their questions sent to these hosts, such as [\"hooks.example\", \"127.0.0.1:9000\"]";
    CALLBACKS_SECRET: Option<SigningSecret> = "callbacks.secret", NextQuestion, Refused(LEAVES), || None,
        "The secret that signs them, by which the receiver knows who sent them: `openssl rand -base64 32` makes one", secret;

    JOURNAL_ENABLED: bool = "journal.enabled", NextBridge, Refused(KEEPS), || true,
        "Keep questions and answers in a file of this machine, so that a crash loses none; secret values are never kept";
    JOURNAL_TEXTS: bool = "journal.texts", NextBridge, Refused(KEEPS), || true,
        "Keep their texts; otherwise no answer survives a crash, and the journal has only the kind, the time and \
        the responder";
    JOURNAL_CONTEXT: bool = "journal.context", NextBridge, Refused(KEEPS), || false,
        "Keep with each question what led to it: the last words of the agent and its last tool calls; only where texts \
        are kept";
    JOURNAL_KEEP: Age = "journal.keep", NextBridge, Refused(KEEPS), || Age(limits::JOURNAL_KEEP),
        "Remove questions that were settled longer ago than this";
    JOURNAL_SIZE: Size = "journal.size", NextBridge, Refused(KEEPS), || Size(limits::JOURNAL_SIZE),
        "Remove the oldest questions once the file is larger than this";

    FLEET_URL: Brokers = "fleet.url", NextCommand, Refused(FLEET), Brokers::default,
        "The NATS server over which machines are reached, such as \"tls://broker.example.org:4222\", or a list of the servers of one cluster; left out, there is no fleet";
    FLEET_CREDENTIALS: Option<PathBuf> = "fleet.credentials", NextCommand, Refused(FLEET), || None,
        "The file with your user and password at that server, which `askbridge fleet credentials` makes; only you may be able to read it";
    FLEET_CA: Option<PathBuf> = "fleet.ca", NextCommand, Refused(FLEET), || None,
        "The file with the certificate that the server's is checked against; left out, those of the system are used";
    FLEET_SERVER_USER: Option<String> = "fleet.server-user", NextCommand, Refused(FLEET), || None,
        "The user that runs the server where it is on this machine without TLS, such as \"nats\"; left out, you or root";

    UNATTENDED_THEN: UnattendedAction = "unattended.then", NextQuestion, Refused(DECIDES), UnattendedAction::default,
        "What to do with a question that nobody can answer: let it wait, reject it, or end the agent";
    UNATTENDED_WHEN: UnattendedConditions = "unattended.when", NextQuestion, Refused(DECIDES), UnattendedConditions::default,
        "The conditions, all of which must hold, for nobody being able to answer: [\"no-client\", \"no-terminal\", \"ci\"]";

    LOG_LEVEL: LogLevel = "log.level", NextCommand, Refused(WRITES), LogLevel::default,
        "The minimum level; `trace` has the text of prompts and answers";
    LOG_FILE: Option<PathBuf> = "log.file", NextCommand, Refused(WRITES), || None,
        "Append the log to this file [by default, log to stderr]";
    LOG_FORMAT: LogFormat = "log.format", NextCommand, Refused(WRITES), LogFormat::default,
        "How a line is written";

    NOTIFY_DELAY: Duration = "notify.delay", NextQuestion, Free, || limits::NOTIFY_DELAY,
        "Notify you of a question that has been open for this long";
    NOTIFY_QUIET: QuietHours = "notify.quiet", NextQuestion, Free, QuietHours::default,
        "Times of the day without notifications, such as [\"22:00-07:00\"]";
    NOTIFY_PURPOSES: Purposes = "notify.purposes", NextQuestion, Narrower, || Purposes(vec![Purpose::Question, Purpose::Permission]),
        "The kinds of questions that you are notified of";
    NOTIFY_PRESENCE: bool = "notify.presence", NextQuestion, Free, || true,
        "Hold notifications back while you are evidently present: the page or the full-screen terminal has the focus";

    NOTIFY_HEARTBEAT_EVERY: Interval = "notify.heartbeat.every", NextQuestion, Refused(RUNS), || Interval(limits::NOTIFY_HEARTBEAT),
        "How long after one run the next one begins";
    NOTIFY_HEARTBEAT_COMMAND: Option<Command> = "notify.heartbeat.command", NextQuestion, Refused(RUNS), || None,
        "The program and its arguments; without it, there is no heartbeat";

    NOTIFY_DESKTOP_ENABLED: bool = "notify.desktop.enabled", NextQuestion, Narrower, || false,
        "Show a notification, with buttons where the desktop has them";
    NOTIFY_DESKTOP_DELAY: Option<Duration> = "notify.desktop.delay", NextQuestion, Free, || None,
        "Notify in this way only after this time; by default `notify.delay`";

    NOTIFY_SOUND_COMMAND: Option<Command> = "notify.sound.command", NextQuestion, Refused(RUNS), || None,
        "The program that plays or speaks, and its arguments, such as [\"paplay\", \"bell.ogg\"]";
    NOTIFY_SOUND_DELAY: Option<Duration> = "notify.sound.delay", NextQuestion, Free, || None,
        "Notify in this way only after this time; by default `notify.delay`";

    NOTIFY_COMMAND_COMMAND: Option<Command> = "notify.command.command", NextQuestion, Refused(RUNS), || None,
        "The program and its arguments; no shell reads them. It gets the question as JSON in a file";
    NOTIFY_COMMAND_DELAY: Option<Duration> = "notify.command.delay", NextQuestion, Free, || None,
        "Notify in this way only after this time; by default `notify.delay`";

    NOTIFY_WEBHOOK_URL: Option<Url> = "notify.webhook.url", NextQuestion, Refused(LEAVES), || None,
        "The address of the request; without it, none is sent", secret;
    NOTIFY_WEBHOOK_TEXT: Disclosure = "notify.webhook.text", NextQuestion, Narrower, Disclosure::default,
        "How much is sent: only that a question waits and in which project, also its title, or the whole question";
    NOTIFY_WEBHOOK_DELAY: Option<Duration> = "notify.webhook.delay", NextQuestion, Free, || None,
        "Notify in this way only after this time; by default `notify.delay`";

    NOTIFY_NTFY_SERVER: Url = "notify.ntfy.server", NextQuestion, Refused(LEAVES), || Url("https://ntfy.sh".to_owned()),
        "The server: any that speaks ntfy's protocol";
    NOTIFY_NTFY_TOPIC: Option<Topic> = "notify.ntfy.topic", NextQuestion, Refused(LEAVES), || None,
        "The topic that your phone is subscribed to; without it, nothing is sent. It is a secret: choose one that \
        cannot be guessed", secret;
    NOTIFY_NTFY_TOKEN: Option<String> = "notify.ntfy.token", NextQuestion, Refused(LEAVES), || None,
        "The access token of the server, if it needs one", secret;
    NOTIFY_NTFY_TEXT: Disclosure = "notify.ntfy.text", NextQuestion, Narrower, Disclosure::default,
        "How much is sent, as in `notify.webhook`";
    NOTIFY_NTFY_DELAY: Option<Duration> = "notify.ntfy.delay", NextQuestion, Free, || None,
        "Notify in this way only after this time; by default `notify.delay`";

    NOTIFY_TERMINAL_ENABLED: bool = "notify.terminal.enabled", NextQuestion, Narrower, || true,
        "Ring the bell, set the title, and show a notification where the terminal can";
    NOTIFY_TERMINAL_DELAY: Option<Duration> = "notify.terminal.delay", NextQuestion, Free, || None,
        "Notify in this way only after this time; by default `notify.delay`";
}

// The settings of one project, by their names in its table.
settings! { OF_PROJECT:
    PROJECT_FOLDER: Option<PathBuf> = "folder", NextQuestion, Refused(LEAVES), || None,
        "The project's folder, or a folder that contains several projects";
    PROJECT_ENABLED: Option<bool> = "enabled", NextQuestion, Refused(LEAVES), || None,
        "Whether you are notified of its questions at all";
    PROJECT_DELAY: Option<Duration> = "delay", NextQuestion, Refused(LEAVES), || None,
        "As `notify.delay`";
    PROJECT_QUIET: Option<QuietHours> = "quiet", NextQuestion, Refused(LEAVES), || None,
        "As `notify.quiet`";
    PROJECT_PURPOSES: Option<Purposes> = "purposes", NextQuestion, Refused(LEAVES), || None,
        "As `notify.purposes`";
    PROJECT_TEXT: Option<Disclosure> = "text", NextQuestion, Refused(LEAVES), || None,
        "As `notify.webhook.text` and `notify.ntfy.text`, for both";
}

/// Returns every setting, in the order in which it is shown.
pub fn all() -> impl Iterator<Item = &'static dyn AnyKey> + Clone {
    SETTINGS.iter().copied()
}

/// Returns the settings of one project.
pub fn of_project() -> impl Iterator<Item = &'static dyn AnyKey> + Clone {
    OF_PROJECT.iter().copied()
}

/// Finds a setting by its name with its sections.
pub fn find(path: &str) -> Option<&'static dyn AnyKey> {
    all().find(|key| key.path() == path)
}

/// Returns the environment variable that sets it, such as `ASKBRIDGE_NOTIFY_NTFY_TOPIC`.
pub fn variable(key: &dyn AnyKey) -> String {
    let upper = key.path().to_ascii_uppercase();
    format!("{PREFIX}{}", upper.replace(['.', '-'], "_"))
}

/// The prefix of all our environment variables.
pub const PREFIX: &str = "ASKBRIDGE_";

/// The tables of a file, each with its description.
pub const SECTIONS: [(&str, &str); 19] = [
    ("bridge", "What a bridge does with questions: `askbridge run` and `askbridge proxy`"),
    ("permission", "Confirmations before a permission is given"),
    ("inbox", "Questions over HTTP: `askbridge inbox`, and bridges with `serve`"),
    (
        "send",
        "What you send from the page, and from `askbridge tui`; scripts, commands and phones send at once",
    ),
    ("claude", "Claude Code in a terminal: `askbridge hook claude`"),
    ("mcp", "MCP servers behind `askbridge mcp-proxy`"),
    ("callbacks", "Outcomes that are sent to programs: `callback` of a question that is asked over HTTP"),
    ("journal", "The file of questions and answers: `askbridge history`"),
    ("fleet", "Machines over a NATS server, where no ssh leads to them"),
    ("unattended", "What to do with questions that nobody can answer, such as in CI"),
    ("log", "The log of every command"),
    ("notify", "When and how you are notified that a question waits"),
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
    "Settings for one project; if several match, the one with the longest `folder` counts";

/// The table that repeats, one for each rule.
pub const RULES: &str = "rule";
/// The description of that table.
pub const RULES_ABOUT: &str =
    "Rules that answer questions for you: the first that applies decides. Only your own file can have rules";

/// The table that has a table for each machine.
pub const MACHINES: &str = "machine";
/// The description of that table.
pub const MACHINES_ABOUT: &str = "Other machines whose questions are shown here, each named by its table";

/// The table that repeats, one for each MCP server over HTTP.
pub const MCP_SERVERS: &str = "mcp.servers";
/// The description of that table.
pub const MCP_SERVERS_ABOUT: &str = "What is sent to an MCP server over HTTP (`askbridge mcp-proxy --url`). Only your own file can have these";

/// Returns whether there is a table of this name.
pub fn is_section(path: &str) -> bool {
    SECTIONS.iter().any(|(name, _)| *name == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_is_in_a_table_that_has_a_description() {
        for key in all() {
            let section = key.path().rsplit_once('.').map_or("", |(section, _)| section);
            assert!(is_section(section), "{}: `SECTIONS` has no table `{section}`", key.path());
        }
    }
}
