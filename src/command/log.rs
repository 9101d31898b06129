//! The options of the log, which every subcommand takes.

use std::{ffi::OsString, path::PathBuf};

use askbridge_os::log::{LogFormat, LogLevel, LogSettings};
use clap::Args;

use super::arguments;
use crate::settings::{Settings, keys, words::Word};

/// Options that say where the log goes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Logging")]
pub struct LogArgs {
    /// Minimum log level [default: warn]
    #[arg(long, global = true, hide = true, value_name = "LEVEL", value_parser = arguments::word::<LogLevel>())]
    pub log: Option<LogLevel>,

    /// Append the log to this file instead of writing it to stderr
    #[arg(long, global = true, hide = true, value_name = "PATH")]
    pub log_file: Option<PathBuf>,

    /// How a log line is written [default: text]
    #[arg(long, global = true, hide = true, value_name = "FORMAT", value_parser = arguments::word::<LogFormat>())]
    pub log_format: Option<LogFormat>,
}

impl LogArgs {
    /// Returns the settings of the log: an option wins over its setting.
    pub fn settings(&self, settings: &Settings) -> LogSettings {
        LogSettings {
            level: self.log.unwrap_or_else(|| settings.get(&keys::LOG_LEVEL)),
            format: self.log_format.unwrap_or_else(|| settings.get(&keys::LOG_FORMAT)),
            file: self.log_file.clone().or_else(|| settings.path(&keys::LOG_FILE)),
        }
    }

    /// Returns the options as words, for another process, which may run in another directory.
    pub(super) fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        // The other process reads the settings itself.
        if let Some(level) = self.log {
            words.extend(["--log".into(), level.word().into()]);
        }
        if let Some(format) = self.log_format {
            words.extend(["--log-format".into(), format.word().into()]);
        }
        if let Some(file) = &self.log_file {
            let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            words.extend(["--log-file".into(), file.into_os_string()]);
        }
        words
    }
}
