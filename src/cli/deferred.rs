//! The arguments of a subcommand, which clap learns of once that subcommand is typed.
//! Without this each start of a bridge would describe all the other subcommands as well, at a third of a millisecond.

use std::ops::Deref;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// `T`, described only when it is needed.
#[derive(Debug)]
pub struct Deferred<T>(T);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| named(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| named(command, T::augment_args_for_update))
    }
}

/// What the subcommand says of itself stays: the arguments' own description is for readers of the code.
fn named(command: Command, augment: impl Fn(Command) -> Command) -> Command {
    match command.get_about().cloned() {
        Some(about) => augment(command).about(about).long_about(None),
        None => augment(command),
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
