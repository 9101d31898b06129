//! The arguments of a subcommand, which clap learns of once that subcommand is typed.
//! Without this each start of a bridge would describe all the other subcommands as well, at a third of a millisecond.

use std::ops::Deref;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use super::help;

/// `T`, described only when it is needed.
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

/// The subcommands that run for long: their help has the options of the log. They work for the others too, whose help
/// names this one in a line.
const LOGGED: [&str; 5] = ["run", "proxy", "attach", "mcp", "inbox"];
/// The options of the log, which are hidden unless the help shows them.
const LOG: [&str; 3] = ["log", "log_file", "log_format"];

/// Describes the arguments. What the subcommand says of itself stays: the arguments' own description is for readers of
/// the code.
fn named(command: Command, augment: impl Fn(Command) -> Command) -> Command {
    let about = command.get_about().cloned();
    let command = augment(command).long_about(None);
    let command = match about {
        Some(about) => command.about(about),
        None => command,
    };
    logged(command)
}

/// Shows the options of the log, or the line that says where they are shown.
fn logged(command: Command) -> Command {
    // clap adds global options before it asks for the arguments of a subcommand.
    let known: Vec<_> =
        LOG.into_iter().filter(|name| command.get_arguments().any(|arg| arg.get_id() == name)).collect();
    if LOGGED.contains(&command.get_name()) {
        return known.into_iter().fold(command, |command, name| command.mut_arg(name, |arg| arg.hide(false)));
    }
    let after = command.get_after_help().map(|after| format!("{after}\n\n")).unwrap_or_default();
    command.after_help(after + help::LOGGING)
}

impl<T: FromArgMatches> FromArgMatches for LazyArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
