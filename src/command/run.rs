//! Runs a command to its end: on one thread, with one place that reports errors.

use std::{
    future::Future,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
};

use super::CommandError;
use crate::{
    desk::{IdPrefix, Record, Refusal},
    exit,
    machine::{Gaps, Machine, Missing, discovery},
    present::gaps,
    signals,
    terminal::printable_line,
};

/// Runs a command, and returns its exit code.
pub fn run(command: impl Future<Output = Result<u8, CommandError>>) -> ExitCode {
    let runtime = signals::runtime();
    let done = runtime.map_err(CommandError::Io).and_then(|runtime| {
        let done = runtime.block_on(command);
        // A read of stdin cannot be cancelled: the process must not wait for it.
        runtime.shutdown_background();
        done
    });
    ExitCode::from(match done {
        Ok(code) => code,
        Err(error) => {
            say(&error.to_string());
            error.exit_code()
        }
    })
}

/// Joins the inboxes of all bridges of this machine.
pub(super) async fn join() -> Result<Machine, CommandError> {
    Ok(Machine::open(&discovery::folder()?).await?)
}

/// Finds a question, open or settled. Only the bridges that may have it are connected to.
pub(super) async fn look_up(id: &str) -> Result<(Machine, IdPrefix, Arc<Record>), CommandError> {
    let refused = |refusal| CommandError::Refused(id.to_owned(), refusal);
    // A text that cannot be an ID is that of no question.
    let typed: IdPrefix = id.parse().map_err(|_| refused(Refusal::NotFound))?;
    let machine = Machine::open_for(&discovery::folder()?, &typed).await?;
    match machine.seek(&typed).await {
        Ok(record) => Ok((machine, typed, record)),
        Err(Missing::Refused(refusal)) => Err(refused(refusal)),
        Err(Missing::Unreadable) => Err(CommandError::Unreadable(id.to_owned())),
        Err(Missing::Unasked(gaps)) => Err(CommandError::Unsure(id.to_owned(), gaps)),
    }
}

/// Says something on stderr, in one line.
pub(super) fn say(text: &str) {
    // If stderr is closed, the exit code still tells.
    drop(writeln!(io::stderr(), "askbridge: {}", printable_line(text)));
}

/// Says on stderr what is left out, a line for each reason.
pub(super) fn warn(gaps: &Gaps) {
    gaps::lines(gaps).iter().for_each(|line| say(line));
}

/// Prints the output of a command.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Returns the exit code of a command that only shows something.
pub(super) fn shown(printed: io::Result<()>) -> Result<u8, CommandError> {
    match printed {
        // A reader that closes the pipe has what it wants.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(exit::OK),
    }
}

/// Prints what a command did. The exit code says what was done, even if that cannot be printed.
pub(super) fn done(code: u8, text: &str) -> u8 {
    if let Err(error) = print(text) {
        say(&format!("cannot print what was done: {error}"));
    }
    code
}
