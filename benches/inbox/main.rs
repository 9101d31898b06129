//! Measures how long it takes to open, list, find, answer and follow the questions of many bridges at once.
//!
//! `cargo bench --bench inbox` has 100 bridges with 100 open questions each. They are in this process, on a thread of
//! their own; the sockets are real. What the engine and the agent take for an answer is left to `relay`.

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
            // There is nowhere left to say it if stderr is gone as well.
            drop(writeln!(io::stderr(), "inbox: {error}"));
            ExitCode::FAILURE
        }
    }
}
