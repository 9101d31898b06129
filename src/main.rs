//! Parses the command line, starts the log, runs the command, and returns its exit code.

use std::{io::Write, process::ExitCode};

use askbridge::{
    cli::{Cli, Command},
    driver::{self, FatalError},
    exit, log,
    mock::{agent, client, demo},
};
use clap::Parser;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let _log = match log::start(&cli.log) {
        Ok(guard) => guard,
        Err(error) => return fail(exit::FAILED, &error.to_string()),
    };
    match &cli.command {
        Command::Run(args) => ended(driver::run(args)),
        Command::Proxy(args) => ended(driver::proxy(args)),
        Command::MockAgent(args) => agent::run(args),
        Command::MockClient(args) => client::run(args),
        Command::Demo(args) => demo::run(args),
    }
}

/// The exit code of a bridge, however it ended.
fn ended(result: Result<ExitCode, FatalError>) -> ExitCode {
    result.unwrap_or_else(|error| fail(error.exit_code(), &error.to_string()))
}

/// Says what ended the program, in one line.
fn fail(code: u8, error: &str) -> ExitCode {
    // If stderr is gone, the exit code still tells.
    drop(writeln!(std::io::stderr(), "askbridge: {error}"));
    ExitCode::from(code)
}
