//! What the arguments of all subcommands share: `LazyArgs`, which clap describes only once their subcommand is typed,
//! the options of the log, and parsers that are stricter than those of clap's own types. Without `LazyArgs`, each start
//! of a bridge would describe all the other subcommands as well, which takes a third of a millisecond.
//! The arguments of a subcommand are in its own file.

use std::{ffi::OsString, ops::Deref, path::PathBuf};

use askbridge_control::inbox::AskedUnder;
use askbridge_os::log::{LogFormat, LogLevel, LogSettings};
use askbridge_settings::{AnyKey, Settings, keys, kinds::Timeout, render, words::Word};
use clap::{
    ArgMatches, Args, Command, Error, FromArgMatches,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use humantime::Duration;

/// The arguments `T`, which clap describes only when their subcommand is used.
#[derive(Debug)]
pub struct LazyArgs<T>(T);

impl<T> From<T> for LazyArgs<T> {
    fn from(args: T) -> Self {
        LazyArgs(args)
    }
}

impl<T> Deref for LazyArgs<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for LazyArgs<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| named(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| named(command, T::augment_args_for_update))
    }
}

/// Describes the arguments, and restores the description of the subcommand: that of the arguments' type is for readers
/// of the code.
fn named(command: Command, augment: impl Fn(Command) -> Command) -> Command {
    let about = command.get_about().cloned();
    let command = augment(command).long_about(None);
    let command = match about {
        Some(about) => command.about(about),
        None => command,
    };
    logged(command)
}

impl<T: FromArgMatches> FromArgMatches for LazyArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// Returns the help of an option that says what its setting says, with the setting's default.
pub(super) fn of_setting(key: &dyn AnyKey) -> String {
    with_default(key.about(), key)
}

/// Returns the help of an option in words of its own, with the default of its setting.
pub(super) fn with_default(help: &str, key: &dyn AnyKey) -> String {
    format!("{help} [default: {}]", render::plain(&key.default_value()))
}

/// Options that say where the log goes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Logging")]
pub struct LogArgs {
    /// The setting `log.level`.
    #[arg(
        long,
        global = true,
        hide = true,
        value_name = "LEVEL",
        value_parser = word::<LogLevel>(),
        help = with_default("Minimum log level", &keys::LOG_LEVEL)
    )]
    pub log: Option<LogLevel>,

    /// Append the log to this file instead of writing it to stderr
    #[arg(long, global = true, hide = true, value_name = "PATH")]
    pub log_file: Option<PathBuf>,

    /// The setting `log.format`.
    #[arg(
        long,
        global = true,
        hide = true,
        value_name = "FORMAT",
        value_parser = word::<LogFormat>(),
        help = with_default("How a log line is written", &keys::LOG_FORMAT)
    )]
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

/// The long-running subcommands, whose help lists the options of the log. The other subcommands accept these options
/// too, and name this list in one line of their help.
const LOGGED: [&str; 5] = ["run", "proxy", "attach", "mcp", "inbox"];
/// The options of the log, which are hidden unless the help shows them.
const LOG: [&str; 3] = ["log", "log_file", "log_format"];

/// Where the options of the log are listed, for the help of the other commands.
const LOGGING: &str = "Logging: --log, --log-file and --log-format, as in `askbridge run --help`.";

/// Shows the options of the log, or the line that says where they are shown.
fn logged(command: Command) -> Command {
    // clap adds global options before it asks for the arguments of a subcommand.
    let known: Vec<_> =
        LOG.into_iter().filter(|name| command.get_arguments().any(|arg| arg.get_id() == name)).collect();
    if LOGGED.contains(&command.get_name()) {
        return known.into_iter().fold(command, |command, name| command.mut_arg(name, |arg| arg.hide(false)));
    }
    let after = command.get_after_help().map(|after| format!("{after}\n\n")).unwrap_or_default();
    command.after_help(after + LOGGING)
}

/// Returns a parser for the words that a setting of this type takes, too. The help lists them.
pub(super) fn word<T: Word>() -> impl TypedValueParser<Value = T> {
    let values = T::WORDS.iter().map(|(word, _, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(values).try_map(|given| {
        // clap has refused every other word by now, so this error cannot occur.
        let found = T::WORDS.iter().find(|(word, ..)| *word == given);
        found.map(|(_, meaning, _)| *meaning).ok_or("it is none of the words")
    })
}

/// Reads a text that is not empty.
pub(super) fn text(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("it is empty") } else { Ok(text.to_owned()) }
}

/// Reads the key under which a question is asked.
pub(super) fn key(text: &str) -> Result<String, &'static str> {
    AskedUnder::check(text).map(|()| text.to_owned())
}

/// Reads a time span.
pub(super) fn span(text: &str) -> Result<Duration, &'static str> {
    text.parse().map_err(|_| "give a number and a unit, such as 500ms, 90s, 10m or 2h")
}

/// Reads a time span that is not zero.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    longer_than_none(text, "it must be longer than 0s")
}

/// Reads the timeout of a bridge. `never` overrides a timeout of the settings.
pub(super) fn limit(text: &str) -> Result<Timeout, String> {
    if text == "never" {
        return Ok(Timeout(None));
    }
    let read = longer_than_none(text, "it must be longer than 0s: `never` waits for ever")?;
    Ok(Timeout(Some(read.into())))
}

/// Reads a timeout. Zero is refused, because many people mean "never" by it, and not "at once".
pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    longer_than_none(text, "it must be longer than 0s: leave the option out to wait for ever")
}

fn longer_than_none(text: &str, otherwise: &str) -> Result<Duration, String> {
    let read = span(text)?;
    if read.is_zero() { Err(otherwise.to_owned()) } else { Ok(read) }
}
