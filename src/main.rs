//! Parses the command line, starts the log, runs the command, and returns its exit code.

use std::{io::Write, process::ExitCode};

#[cfg(feature = "mock")]
use askbridge::mock::{agent, client, demo};
use askbridge::{
    cli::{Cli, Command},
    command,
    driver::{self, FatalError},
    exit, log, serve,
};
use clap::{CommandFactory, Parser};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let _log = match log::start(&cli.log) {
        Ok(guard) => guard,
        Err(error) => return fail(exit::FAILED, &error.to_string()),
    };
    match &cli.command {
        Command::Run(args) => ended(driver::run(args)),
        Command::Proxy(args) => ended(driver::proxy(args)),
        Command::Inbox(args) => {
            serve::run::inbox(args).unwrap_or_else(|error| fail(exit::FAILED, &error.to_string()))
        }
        Command::List(args) => command::run(command::list(args)),
        Command::Show(args) => command::run(command::show(args)),
        Command::Answer(args) => command::run(command::answer(args)),
        Command::Reject(args) => command::run(command::reject(args)),
        Command::Extend(args) => command::run(command::extend(args)),
        Command::Ask(args) => command::run(command::ask(args)),
        Command::Completions(args) => completions(args.shell),
        #[cfg(feature = "mock")]
        Command::MockAgent(args) => agent::run(&args.settings()),
        #[cfg(feature = "mock")]
        Command::MockClient(args) => client::run(&args.settings()),
        #[cfg(feature = "mock")]
        Command::Demo(args) => demo::run(&args.settings()),
    }
}

/// The exit code of a bridge, however it ended.
fn ended(result: Result<ExitCode, FatalError>) -> ExitCode {
    result.unwrap_or_else(|error| fail(error.exit_code(), &error.to_string()))
}

fn completions(shell: clap_complete::Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "askbridge", &mut script);
    // Whoever reads no further has what it wants.
    drop(std::io::stdout().write_all(&script));
    ExitCode::from(exit::OK)
}

/// Says what ended the program, in one line.
fn fail(code: u8, error: &str) -> ExitCode {
    // If stderr is gone, the exit code still tells.
    drop(writeln!(std::io::stderr(), "askbridge: {error}"));
    ExitCode::from(code)
}
