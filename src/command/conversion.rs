//! Converts what was typed into the settings and options of the rooms, which know nothing of the command line.

use std::ffi::OsString;

use askbridge_core::acp::Tier;
use clap::{ValueEnum, builder::PossibleValue};

use super::{
    AnswerOptions, AskOptions, InboxMode, InboxOptions, ListOptions, OpenOptions, ShowOptions, StatusOptions,
    bridge::{BridgeArgs, ClientQuestions, Permissions, Protocol, ProxyArgs, RunArgs, Unattended},
    cli::{AnswerArgs, AskArgs, Command, ListArgs, LogArgs, LogFormat, LogLevel, ShowArgs, StatusArgs},
    inbox::{HttpArgs, InboxArgs, OpenArgs},
};
use crate::settings::{Key, Settings, keys, kinds, resolved};

impl Command {
    /// Returns whether a project may have a say in what the command does.
    pub fn is_of_a_project(&self) -> bool {
        matches!(self, Command::Run(_) | Command::Proxy(_) | Command::Hook(_))
    }

    /// Returns whether the log says what is wrong with the settings. It does not while a shell reads the
    /// output, and `config`, `doctor` and `rules` say
    /// it themselves.
    pub fn names_problems(&self) -> bool {
        !matches!(
            self,
            Command::Completions(_)
                | Command::Complete(_)
                | Command::Config(_)
                | Command::Doctor(_)
                | Command::Man(_)
                | Command::Rules(_)
        )
    }
}

impl RunArgs {
    /// Returns the settings of this bridge.
    pub fn settings(&self, settings: &Settings) -> resolved::RunSettings {
        resolved::RunSettings {
            agent: self.agent.clone(),
            protocol: self.protocol.setting(),
            grace: self.grace.map_or_else(|| settings.get(&keys::BRIDGE_GRACE), Into::into),
            bridge: self.bridge.settings(settings),
            inbox: self.bridge.inbox(settings),
        }
    }
}

impl ProxyArgs {
    /// Returns the settings of this bridge.
    pub fn settings(&self, settings: &Settings) -> resolved::ProxySettings {
        resolved::ProxySettings { bridge: self.bridge.settings(settings), inbox: self.bridge.inbox(settings) }
    }
}

/// Returns what a pair of options says, or what the setting says where neither is given.
fn flag(yes: bool, no: bool, settings: &Settings, key: &Key<bool>) -> bool {
    match (yes, no) {
        (true, _) => true,
        (_, true) => false,
        (false, false) => settings.get(key),
    }
}

impl BridgeArgs {
    fn settings(&self, settings: &Settings) -> resolved::BridgeSettings {
        let set = || settings.get(&keys::BRIDGE_CLIENT_QUESTIONS).0;
        let tier = self.client_questions.map_or_else(set, ClientQuestions::tier);
        let permissions = match self.permissions {
            Some(Permissions::Inbox) => kinds::Permissions::Inbox,
            Some(Permissions::Client) => kinds::Permissions::Client,
            None => settings.get(&keys::BRIDGE_PERMISSIONS),
        };
        resolved::BridgeSettings {
            timeout: self.timeout.unwrap_or_else(|| settings.get(&keys::BRIDGE_TIMEOUT)).0,
            timeout_is_fixed: self.timeout.is_some(),
            tier,
            advertise: flag(self.promise, self.no_promise, settings, &keys::BRIDGE_PROMISE),
            chat_hint: flag(self.chat_hint, self.no_chat_hint, settings, &keys::BRIDGE_CHAT_HINT),
            permissions: permissions == kinds::Permissions::Inbox,
            permissions_left_by: self
                .permissions
                .is_none()
                .then(|| settings.narrowed_by(&keys::BRIDGE_PERMISSIONS))
                .flatten(),
        }
    }

    fn inbox(&self, settings: &Settings) -> resolved::InboxSettings {
        let set = || if self.no_serve { None } else { settings.get(&keys::BRIDGE_SERVE).0 };
        let address = self.serve.or_else(set);
        // `--serve` needs the socket, whatever the settings say.
        let is_open = flag(self.inbox || self.serve.is_some(), self.no_inbox, settings, &keys::BRIDGE_INBOX);
        let serve = address.filter(|_| is_open);
        let serve =
            serve.map(|address| resolved::ServeSettings { address, http: self.http.settings(settings) });
        let unattended = settings.unattended();
        let then = match self.unattended {
            None => unattended.then,
            Some(Unattended::Wait) => resolved::UnattendedAction::Wait,
            Some(Unattended::Reject) => resolved::UnattendedAction::Reject,
            Some(Unattended::Fail) => resolved::UnattendedAction::Fail,
        };
        resolved::InboxSettings {
            no_inbox: !is_open,
            serve,
            journal: settings.journal(),
            confirm: settings.get(&keys::PERMISSION_CONFIRM).0,
            unattended: resolved::UnattendedSettings { then, ..unattended },
            unattended_is_fixed: self.unattended.is_some(),
        }
    }
}

impl ClientQuestions {
    /// Returns the way in which the client is asked. `None` is the best one that it can show.
    fn tier(self) -> Option<Tier> {
        match self {
            ClientQuestions::Auto => None,
            ClientQuestions::Native => Some(Tier::Extension),
            ClientQuestions::Elicitation => Some(Tier::Elicitation),
            ClientQuestions::Permission => Some(Tier::Permission),
            ClientQuestions::None => Some(Tier::None),
        }
    }
}

impl Protocol {
    /// Returns what the peers speak.
    fn setting(self) -> resolved::Protocol {
        match self {
            Protocol::Acp => resolved::Protocol::Acp,
            Protocol::Claude => resolved::Protocol::Claude,
            Protocol::Codex => resolved::Protocol::Codex,
        }
    }
}

impl HttpArgs {
    /// Returns which requests are accepted. Host names add up: they are of proxies in front of one server.
    fn settings(&self, settings: &Settings) -> resolved::HttpSettings {
        let mut allowed_hosts = settings.get(&keys::INBOX_ALLOW_HOST).0;
        allowed_hosts.extend(self.allow_host.iter().cloned());
        let token_file = self.token_file.clone().or_else(|| settings.path(&keys::INBOX_TOKEN_FILE));
        resolved::HttpSettings { token_file, allowed_hosts }
    }
}

impl InboxArgs {
    /// Returns where the questions are served, to whom, and how the inbox runs.
    pub fn options(&self, settings: &Settings, log: &LogArgs) -> InboxOptions {
        let address = self.addr.unwrap_or_else(|| settings.get(&keys::INBOX_ADDRESS));
        let serve = resolved::ServeSettings { address, http: self.http.settings(settings) };
        let mode = match (self.detach, self.detached, self.stop) {
            (true, ..) => InboxMode::Detach(log.words()),
            (_, true, _) => InboxMode::Detached,
            (.., true) => InboxMode::Stop,
            (false, false, false) => InboxMode::Foreground,
        };
        InboxOptions { serve, mode }
    }
}

impl OpenArgs {
    /// Returns what to show, and where.
    pub fn options(&self, settings: &Settings, log: &LogArgs) -> OpenOptions {
        let http = HttpArgs { token_file: self.token_file.clone(), ..HttpArgs::default() }.settings(settings);
        let serve = resolved::ServeSettings { address: settings.get(&keys::INBOX_ADDRESS), http };
        OpenOptions { id: self.id.clone(), print: self.print, serve, log: log.words() }
    }
}

impl LogArgs {
    /// Returns the options as they are typed, for another process, which may run in another directory.
    fn words(&self) -> Vec<OsString> {
        let name =
            |value: Option<PossibleValue>| value.map(|value| value.get_name().into()).unwrap_or_default();
        let mut words: Vec<OsString> = Vec::new();
        // The other process reads the settings itself.
        if let Some(level) = &self.log {
            words.extend(["--log".into(), name(level.to_possible_value())]);
        }
        if let Some(format) = &self.log_format {
            words.extend(["--log-format".into(), name(format.to_possible_value())]);
        }
        if let Some(file) = &self.log_file {
            let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            words.extend(["--log-file".into(), file.into_os_string()]);
        }
        words
    }

    /// Returns the settings of the log.
    pub fn settings(&self, settings: &Settings) -> askbridge_os::log::LogSettings {
        let level = match self.log {
            Some(LogLevel::Off) => askbridge_os::log::LogLevel::Off,
            Some(LogLevel::Error) => askbridge_os::log::LogLevel::Error,
            Some(LogLevel::Warn) => askbridge_os::log::LogLevel::Warn,
            Some(LogLevel::Info) => askbridge_os::log::LogLevel::Info,
            Some(LogLevel::Debug) => askbridge_os::log::LogLevel::Debug,
            Some(LogLevel::Trace) => askbridge_os::log::LogLevel::Trace,
            None => settings.get(&keys::LOG_LEVEL),
        };
        let format = match self.log_format {
            Some(LogFormat::Text) => askbridge_os::log::LogFormat::Text,
            Some(LogFormat::Json) => askbridge_os::log::LogFormat::Json,
            None => settings.get(&keys::LOG_FORMAT),
        };
        let file = self.log_file.clone().or_else(|| settings.path(&keys::LOG_FILE));
        askbridge_os::log::LogSettings { level, file, format }
    }
}

impl ListArgs {
    /// Returns how to list.
    pub fn options(&self) -> ListOptions {
        ListOptions { json: self.json, watch: self.watch }
    }
}

impl StatusArgs {
    /// Returns how to show the status.
    pub fn options(&self) -> StatusOptions {
        StatusOptions { json: self.json }
    }
}

impl ShowArgs {
    /// Returns which question to show, and how.
    pub fn options(&self) -> ShowOptions {
        ShowOptions { id: self.id.clone(), json: self.json }
    }
}

impl AnswerArgs {
    /// Returns the answer, as texts.
    pub fn options(&self) -> AnswerOptions {
        AnswerOptions {
            id: self.id.clone(),
            values: self.values.clone(),
            fields: self.field.clone(),
            texts: self.text.clone(),
            notes: self.note.clone(),
            again: self.again,
        }
    }
}

impl AskArgs {
    /// Returns what to ask, and how.
    pub fn options(&self) -> AskOptions {
        AskOptions {
            question: self.text.clone().or_else(|| self.question.clone()),
            confirm: self.confirm.clone(),
            agent: self.agent.clone(),
            options: self.option.clone(),
            many: self.many,
            other: self.other,
            form: self.form.clone(),
            timeout: self.timeout.map(Into::into),
            json: self.json,
        }
    }
}
