//! The main job in one command: the real bridge around the mock agent, driven from this terminal.
//! It is a client like any other: it knows nothing of the bridge but what comes over the pipe.

use std::{
    env,
    io::{self, Write},
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use clap::ValueEnum;

use super::client::{ClientError, Conversation, Given, Otherwise, Process, Screen, Settings};
use crate::{
    cli::{DemoArgs, Tier},
    exit,
    terminal::printable_line,
};

/// The turn did not end well.
const FAILED: u8 = 1;
/// How long the bridge may take to answer what needs no person.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a question stays open where no person is asked it.
const OPEN_FOR: &str = "3s";
/// The exit codes, for `--help`.
pub(crate) const HELP: &str = "\
With the tiers silent and approve, nobody is asked: a question that stays open is rejected after 3 s.

Exit codes:
  0  the agent's turn ended well
  1  it did not, or an answer of --answer did not fit
  2  the command line was not understood";

/// Runs the demonstration until the agent's turn has ended.
pub fn run(args: &DemoArgs) -> ExitCode {
    match demonstrate(args) {
        Ok(()) => ExitCode::from(exit::OK),
        Err(ClientError::Screen(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::from(exit::OK)
        }
        Err(error) => {
            let error = error.to_string();
            writeln!(io::stderr().lock(), "askbridge demo: {}", printable_line(&error)).unwrap_or_default();
            ExitCode::from(FAILED)
        }
    }
}

fn demonstrate(args: &DemoArgs) -> Result<(), ClientError> {
    let settings = Settings {
        name: "askbridge-demo",
        peer: "bridge",
        tier: args.tier,
        wire: args.wire,
        patience: Some(PATIENCE),
        deadline: None,
        lingers: true,
    };
    let otherwise = if asks_person(args.tier) { Otherwise::AskPerson } else { Otherwise::TakeFirst };
    let started = bridge(args).and_then(|mut bridge| Process::start(&mut bridge, io::stdin()));
    let process = started.map_err(|source| ClientError::Start { peer: settings.peer, source })?;
    let given = Given::new(&args.answer, otherwise);
    let reason = Conversation::new(process, Screen::on_stdout(), given, settings).converse(&args.prompt)?;
    if reason == "end_turn" { Ok(()) } else { Err(ClientError::Stopped(reason)) }
}

fn asks_person(tier: Tier) -> bool {
    match tier {
        Tier::Native | Tier::Forms | Tier::Permission => true,
        Tier::Silent | Tier::Approve => false,
    }
}

/// The bridge around the mock agent. Both are this program.
fn bridge(args: &DemoArgs) -> io::Result<Command> {
    let program = env::current_exe()?;
    let mut command = Command::new(&program);
    command.arg("run");
    if !asks_person(args.tier) {
        command.args(["--timeout", OPEN_FOR]);
    }
    command.arg("--").arg(&program).arg("mock-agent");
    if let Some(dialect) = args.dialect.to_possible_value() {
        command.args(["--dialect", dialect.get_name()]);
    }
    if args.wire {
        command.arg("--wire").stderr(Stdio::piped());
    }
    Ok(command)
}
