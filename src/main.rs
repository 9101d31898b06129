//! Parses the command line, starts the log, runs the command, and returns its exit code.

use std::process::ExitCode;

use askbridge::{
    cli::{Cli, Command},
    driver,
    mock::{agent, demo},
};
use clap::Parser;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match &cli.command {
        Command::Run(args) => driver::run(args),
        Command::MockAgent(args) => agent::run(args),
        Command::Demo(args) => demo::run(args),
    }
}
