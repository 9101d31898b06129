//! Runs a command to its end: one thread, and one place that says what went wrong.

use std::{
    future::Future,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
};

use super::CommandError;
use crate::{
    control::old::{Record, Refusal, Source},
    exit,
    machine::{bridges::Machine, discovery},
    signals,
    terminal::printable_line,
};

/// Runs a command, and returns its exit code.
pub fn run(command: impl Future<Output = Result<u8, CommandError>>) -> ExitCode {
    let runtime = signals::runtime();
    let done = runtime.map_err(CommandError::Io).and_then(|runtime| {
        let done = runtime.block_on(command);
        // A read of stdin cannot be taken back: it must not keep us.
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

/// Finds a question, open or settled, in the bridges that can be asked.
pub(super) async fn look_up(joined: &Machine, id: &str) -> Result<Arc<Record>, CommandError> {
    let refusal = match joined.look_up(id).await {
        Ok(view) => return Ok(view),
        Err(refusal) => refusal,
    };
    let unreachable = joined.unreachable();
    Err(match refusal {
        Refusal::NotFound | Refusal::Unavailable if !unreachable.is_empty() => {
            CommandError::Unsure(id.to_owned(), unreachable)
        }
        refusal => CommandError::Refused(id.to_owned(), refusal),
    })
}

/// Says something beside what is asked for, in one line.
pub(super) fn say(text: &str) {
    // If stderr is gone, the exit code still tells.
    drop(writeln!(io::stderr(), "askbridge: {}", printable_line(text)));
}

/// Prints what is asked for.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Returns the exit code of a command that only shows something.
pub(super) fn shown(printed: io::Result<()>) -> Result<u8, CommandError> {
    match printed {
        // Whoever reads no further has what it wants.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(exit::OK),
    }
}

/// Prints what came of a command that does something. The exit code is that of what was done, whoever reads of it.
pub(super) fn done(code: u8, text: &str) -> u8 {
    if let Err(error) = print(text) {
        say(&format!("cannot print what was done: {error}"));
    }
    code
}
