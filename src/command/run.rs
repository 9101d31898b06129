//! Runs a command to its end: one thread, and one place that says what went wrong.

use std::{
    future::Future,
    io::{self, Write},
    process::ExitCode,
};

use super::CommandError;
use crate::{
    exit,
    inbox::{discovery, joined::Joined},
    terminal::printable_line,
};

/// Runs a command, and returns its exit code.
pub fn run(command: impl Future<Output = Result<u8, CommandError>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.map_err(CommandError::Io).and_then(|runtime| {
        let done = runtime.block_on(command);
        // A read of stdin cannot be taken back: it must not keep us.
        runtime.shutdown_background();
        done
    });
    ExitCode::from(match done {
        Ok(code) => code,
        // Whoever reads no further has what it wants.
        Err(CommandError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => exit::OK,
        Err(error) => {
            say(&error.to_string());
            error.exit_code()
        }
    })
}

/// Joins the inboxes of all bridges of this machine.
pub(super) async fn join() -> Result<Joined, CommandError> {
    Ok(Joined::open(&discovery::folder()?).await?)
}

/// Says something beside what is asked for, in one line.
pub(super) fn say(text: &str) {
    // If stderr is gone, the exit code still tells.
    drop(writeln!(io::stderr(), "askbridge: {}", printable_line(text)));
}

/// Prints what is asked for.
pub(super) fn print(text: &str) -> Result<(), CommandError> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}
