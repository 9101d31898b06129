//! Runs a command to its end: on one thread, with one place that reports errors.

use std::{
    future::Future,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
};

use super::CommandError;
use crate::{
    control::client::Depth,
    desk::{IdPrefix, Record, Refusal},
    exit, limits,
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

/// Finds a question, open or settled. Only the bridges that the ID may name are connected to. Where none of them has the
/// question, all are: the agent itself may have given it this ID.
pub(super) async fn look_up(id: &str) -> Result<(Machine, IdPrefix, Arc<Record>), CommandError> {
    let folder = discovery::folder()?;
    if let Ok(typed) = id.parse::<IdPrefix>() {
        let machine = Machine::open_for(&folder, &typed).await?;
        match machine.seek(&typed).await {
            Ok(record) => return Ok((machine, typed, record)),
            Err(Missing::Refused(Refusal::NotFound)) => {}
            Err(missing) => return Err(unfound(id, missing)),
        }
    }
    // Whether it is the only question with this ID is known once all bridges have replied.
    let machine = Machine::glance(&folder, Depth::Outline, limits::HANDSHAKE_TIMEOUT).await?;
    let record = machine.seek_own(id).map_err(|missing| unfound(id, missing))?;
    let typed = IdPrefix::from(&record.id);
    let machine = Machine::open_for(&folder, &typed).await?;
    let record = machine.seek(&typed).await.map_err(|missing| unfound(id, missing))?;
    Ok((machine, typed, record))
}

fn unfound(id: &str, missing: Missing) -> CommandError {
    let id = id.to_owned();
    match missing {
        Missing::Refused(refusal) => CommandError::Refused(id, refusal),
        Missing::Unreadable => CommandError::Unreadable(id),
        Missing::Unasked(gaps) => CommandError::Unsure(id, gaps),
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
