//! Converts what was typed into the settings and options of the rooms, which know nothing of the command line.

use std::ffi::OsString;

use clap::{ValueEnum, builder::PossibleValue};

use super::{
    AnswerArgs, AskArgs, BridgeArgs, ClientQuestions, HttpArgs, InboxArgs, ListArgs, LogArgs, LogFormat,
    LogLevel, OpenArgs, Permissions, ProxyArgs, RunArgs, ShowArgs, StatusArgs,
};
use crate::{
    acp::Tier,
    command::{
        AnswerOptions, AskOptions, InboxMode, InboxOptions, ListOptions, OpenOptions, ShowOptions,
        StatusOptions,
    },
    config,
};

impl RunArgs {
    /// Returns the settings of this bridge.
    pub fn settings(&self) -> config::RunSettings {
        config::RunSettings {
            agent: self.agent.clone(),
            grace: self.grace.into(),
            bridge: self.bridge.settings(),
            inbox: self.bridge.inbox(),
        }
    }
}

impl ProxyArgs {
    /// Returns the settings of this bridge.
    pub fn settings(&self) -> config::ProxySettings {
        config::ProxySettings { bridge: self.bridge.settings(), inbox: self.bridge.inbox() }
    }
}

impl BridgeArgs {
    fn settings(&self) -> config::BridgeSettings {
        let tier = match self.client_questions {
            ClientQuestions::Auto => None,
            ClientQuestions::Native => Some(Tier::Native),
            ClientQuestions::Elicitation => Some(Tier::Elicitation),
            ClientQuestions::Permission => Some(Tier::Permission),
            ClientQuestions::None => Some(Tier::None),
        };
        config::BridgeSettings {
            timeout: self.timeout.map(Into::into),
            tier,
            advertise: !self.no_promise,
            chat_hint: !self.no_chat_hint,
            permissions: self.permissions == Permissions::Inbox,
        }
    }

    fn inbox(&self) -> config::InboxSettings {
        let http = || self.http.settings();
        let serve = self.serve.map(|address| config::ServeSettings { address, http: http() });
        config::InboxSettings { no_inbox: self.no_inbox, serve }
    }
}

impl HttpArgs {
    fn settings(&self) -> config::HttpSettings {
        config::HttpSettings { token_file: self.token_file.clone(), allowed_hosts: self.allow_host.clone() }
    }
}

impl InboxArgs {
    /// Returns where the questions are served, to whom, and how the inbox runs.
    pub fn options(&self, log: &LogArgs) -> InboxOptions {
        let serve = config::ServeSettings { address: self.addr, http: self.http.settings() };
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
    pub fn options(&self, log: &LogArgs) -> OpenOptions {
        let http =
            config::HttpSettings { token_file: self.token_file.clone(), ..config::HttpSettings::default() };
        let serve = config::ServeSettings { address: self.address(), http };
        OpenOptions { id: self.id.clone(), print: self.print, serve, log: log.words() }
    }
}

impl LogArgs {
    /// Returns the options as they are typed, for another process, which may run in another directory.
    fn words(&self) -> Vec<OsString> {
        let name =
            |value: Option<PossibleValue>| value.map(|value| value.get_name().into()).unwrap_or_default();
        let mut words: Vec<OsString> = vec!["--log".into(), name(self.log.to_possible_value())];
        words.extend(["--log-format".into(), name(self.log_format.to_possible_value())]);
        if let Some(file) = &self.log_file {
            let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            words.extend(["--log-file".into(), file.into_os_string()]);
        }
        words
    }

    /// Returns the settings of the log.
    pub fn settings(&self) -> config::LogSettings {
        let level = match self.log {
            LogLevel::Off => config::LogLevel::Off,
            LogLevel::Error => config::LogLevel::Error,
            LogLevel::Warn => config::LogLevel::Warn,
            LogLevel::Info => config::LogLevel::Info,
            LogLevel::Debug => config::LogLevel::Debug,
            LogLevel::Trace => config::LogLevel::Trace,
        };
        let format = match self.log_format {
            LogFormat::Text => config::LogFormat::Text,
            LogFormat::Json => config::LogFormat::Json,
        };
        config::LogSettings { level, file: self.log_file.clone(), format }
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
