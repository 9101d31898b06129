//! Measures the time to open, list, find, answer and follow the questions of many bridges at once, and the commands
//! `list` and `answer` from start to exit. The targets are 150 ms for `list` and 15 ms for `answer`.
//!
//! `cargo bench --bench inbox` runs 100 bridges with 100 open questions each, on a thread of this process, with real
//! sockets. The time that the engine and the agent take for an answer is left to `relay`.

mod bridges;

mod measure;

use std::{
    io::{self, Write},
    process::ExitCode,
};

fn main() -> ExitCode {
    match measure::all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If stderr is closed, the exit code still reports the error.
            drop(writeln!(io::stderr(), "inbox: {error}"));
            ExitCode::FAILURE
        }
    }
}
