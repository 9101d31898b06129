//! `askbridge config`: shows the settings with their sources, and changes the user's own file.
//! The keys, and how they are written, are left to `settings`.

use std::{
    env,
    io::ErrorKind,
    path::{Path, PathBuf},
    process,
};

use askbridge_os::{exit, terminal::printable};
use askbridge_settings::{
    AnyKey, Layer, Problem, Settings,
    files::{self, UserSources},
    keys, render as toml,
    render::{self, SettingsList},
    unknown_key,
};
use clap::{Args, Subcommand};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use super::{
    CommandError, Context,
    runner::{done, print, say, shown},
};
use crate::present::text;

/// Which layers there are, and the exit codes of `askbridge config`.
const HELP: &str = "\
A later layer wins:
  default
  your own file         config.toml in XDG_CONFIG_HOME/askbridge or
                        ~/.config/askbridge: see `askbridge config path`
  the project's file    .askbridge.toml, in this folder or above it, up to the
                        repository's root or your home; it cannot run commands,
                        set addresses, answer, or widen what leaves the machine
  the environment       such as ASKBRIDGE_NOTIFY_DELAY=1m
  options of a command  such as --timeout
An unknown setting or a bad value is reported with its place; all others apply.

  askbridge config set notify.delay 1m
  askbridge config set notify.sound.command paplay bell.ogg

Exit codes:
  0    done
  1    with `get`, the setting has no value; with `edit`, the file has mistakes
  2    the command line was not understood
  125  the file cannot be read or written, or the command itself failed";

/// Options of `askbridge config`.
#[derive(Debug, Args)]
#[command(after_help = HELP, args_conflicts_with_subcommands = true)]
pub struct ConfigArgs {
    /// Show behind each value where it comes from
    #[arg(long)]
    pub origin: bool,

    /// Print JSON: every value with where it comes from, and all mistakes
    #[arg(long)]
    pub json: bool,

    /// The action, in place of showing all settings.
    #[command(subcommand)]
    pub action: Option<ConfigAction>,
}

/// The actions of `askbridge config`.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Print the value of a setting
    Get {
        /// The setting, such as notify.delay
        #[arg(add = ArgValueCandidates::new(candidates))]
        key: String,
    },
    /// Set a value in your own file, and leave the rest of it unchanged
    Set {
        /// The setting, such as notify.delay
        #[arg(add = ArgValueCandidates::new(candidates))]
        key: String,
        /// The value; several are the entries of a list, such as a program and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        value: Vec<String>,
    },
    /// Take a setting out of your own file
    Unset {
        /// The setting, such as notify.delay
        #[arg(add = ArgValueCandidates::new(candidates))]
        key: String,
    },
    /// Print where your own file is
    Path,
    /// Open your own file in $VISUAL or $EDITOR, and check it afterwards
    Edit,
}

/// Returns the names of the settings, for shells.
fn candidates() -> Vec<CompletionCandidate> {
    let candidate = |key: &dyn askbridge_settings::AnyKey| {
        CompletionCandidate::new(key.path()).help(Some(key.about().to_owned().into()))
    };
    keys::all().map(candidate).collect()
}

/// Shows the settings, or does what the subcommand says.
pub async fn config(context: &Context, args: &ConfigArgs) -> Result<u8, CommandError> {
    match &args.action {
        None => show(context, args.origin, args.json),
        Some(ConfigAction::Get { key: name }) => get(context, key(name)?),
        Some(ConfigAction::Set { key: name, value }) => set(key(name)?, value),
        Some(ConfigAction::Unset { key: name }) => unset(key(name)?),
        Some(ConfigAction::Path) => shown(print(&format!("{}\n", own_file()?.display()))),
        Some(ConfigAction::Edit) => open(&own_file()?),
    }
}

fn key(name: &str) -> Result<&'static dyn AnyKey, CommandError> {
    keys::find(name).ok_or_else(|| CommandError::Usage(unknown_key(name)))
}

/// Returns the path of the user's own settings file.
pub(super) fn own_file() -> Result<PathBuf, CommandError> {
    let none =
        || CommandError::Config("no directory for the settings: set XDG_CONFIG_HOME or HOME".to_owned());
    files::user_file().ok_or_else(none)
}

fn show(context: &Context, origin: bool, json: bool) -> Result<u8, CommandError> {
    let settings = context.settings_here();
    if json {
        return shown(print(&text::json(&SettingsList::new(&settings, files::user_file().as_deref()))?));
    }
    name_problems(settings.problems());
    let mut out = String::new();
    if let Some(path) = files::user_file().filter(|_| origin) {
        let state = if path.exists() { "" } else { ", which does not exist" };
        out = format!("# your own file: {}{state}\n", path.display());
    }
    // Settings of a project may have control characters in them, which must not reach the terminal.
    shown(print(&printable(&(out + &toml::file(&settings, origin)))))
}

fn name_problems(problems: &[Problem]) {
    problems.iter().for_each(|problem| say(&problem.to_string()));
}

fn get(context: &Context, key: &dyn AnyKey) -> Result<u8, CommandError> {
    let settings = context.settings_here();
    let value = settings.stored(key).value;
    if value.is_null() {
        return Ok(exit::NOT_SET);
    }
    shown(print(&format!("{}\n", printable(&toml::plain(&value)))))
}

fn set(key: &dyn AnyKey, words: &[String]) -> Result<u8, CommandError> {
    let path = own_file()?;
    let refused = |message| CommandError::Usage(format!("{}: {message}", key.path()));
    let value = key.check(&key.words(words)).map_err(refused)?;
    let text = render::set(&own_text(&path)?, key, &value).map_err(|error| unchanged(&path, &error))?;
    files::write(&path, &text).map_err(|source| CommandError::Write { path: path.clone(), source })?;
    overridden(key);
    let value = toml::toml(&toml::shown(key, &value));
    Ok(done(exit::OK, &format!("{} = {value} in {}\n", key.path(), path.display())))
}

fn unset(key: &dyn AnyKey) -> Result<u8, CommandError> {
    let path = own_file()?;
    match render::unset(&own_text(&path)?, key).map_err(|error| unchanged(&path, &error))? {
        None => Ok(done(exit::OK, &format!("{} is not set in {}\n", key.path(), path.display()))),
        Some(text) => {
            files::write(&path, &text)
                .map_err(|source| CommandError::Write { path: path.clone(), source })?;
            overridden(key);
            Ok(done(exit::OK, &format!("{} is no longer set in {}\n", key.path(), path.display())))
        }
    }
}

/// Returns the text of the user's own settings file, which is empty if the file does not exist.
pub(super) fn own_text(path: &Path) -> Result<String, CommandError> {
    match files::own_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|source| CommandError::Read { path: path.to_owned(), source }),
    }
}

pub(super) fn unchanged(path: &Path, error: &render::EditError) -> CommandError {
    CommandError::Config(format!(
        "{} is unchanged: {error}; `askbridge config edit` opens it",
        path.display()
    ))
}

/// Warns if a project or the environment overrides the user's own value.
fn overridden(key: &dyn AnyKey) {
    if let origin @ (Layer::Project(_) | Layer::Environment(_)) =
        UserSources::read().settings_here().stored(key).origin
    {
        say(&format!("{} has another value here, from {origin}", key.path()));
    }
}

/// Opens the file in the user's editor, and lists the mistakes in it afterwards.
fn open(path: &Path) -> Result<u8, CommandError> {
    // A new file lists all settings as comments: an empty one would not say what can be set.
    if own_text(path)?.is_empty() {
        let written = files::write(path, &toml::template());
        written.map_err(|source| CommandError::Write { path: path.to_owned(), source })?;
    }
    let named = |name| env::var_os(name).filter(|editor| !editor.is_empty());
    let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".into());
    let failed =
        |why: String| CommandError::Config(format!("the editor {}: {why}", editor.to_string_lossy()));
    // The variable may hold options as well, such as `code --wait`. A shell splits them, as it does for other programs.
    let mut script = editor.clone();
    script.push(" \"$@\"");
    let ended = process::Command::new("sh").arg("-c").arg(script).arg(&editor).arg(path).status();
    let status = ended.map_err(|error| failed(error.to_string()))?;
    if !status.success() {
        return Err(failed(format!("{status}")));
    }
    Ok(checked(path, &files::read(None)))
}

/// Lists the mistakes in the user's own file.
fn checked(path: &Path, settings: &Settings) -> u8 {
    let is_own = |problem: &&Problem| match &problem.origin {
        Some(origin) => origin.place().is_some_and(|place| place.path == path),
        None => true,
    };
    let problems: Vec<_> = settings.problems().iter().filter(is_own).cloned().collect();
    name_problems(&problems);
    if problems.is_empty() { exit::OK } else { exit::NOT_SET }
}
