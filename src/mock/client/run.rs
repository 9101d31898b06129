//! `askbridge mock-client`: the client around an agent's command, with answers from the command line.
//! What it is asked, and how it answers, is left to `conversation.rs` and `given.rs`.

use std::{
    io::{self, Write},
    process::{Command, ExitCode},
    time::Instant,
};

use super::{
    conversation::{Conversation, Settings},
    error::ClientError,
    given::{Given, Otherwise},
    process::Process,
    screen::Screen,
};
use crate::{cli::MockClientArgs, exit, terminal::printable_line};

/// The agent failed, or said something wrong.
const FAILED: u8 = 1;
/// The turn did not end in time.
const TIMED_OUT: u8 = 3;

/// The exit codes, for `--help`.
pub(crate) const HELP: &str = "\
Exit codes:
  0  the turn has ended, whatever was asked and answered in it
  1  the agent failed or said something wrong, or an answer of --answer did not fit
  2  the command line was not understood
  3  the turn did not end within the time of --timeout";

/// Runs the client until the agent's turn has ended.
pub fn run(args: &MockClientArgs) -> ExitCode {
    let code = match converse(args) {
        Ok(_) => exit::OK,
        Err(ClientError::Screen(error)) if error.kind() == io::ErrorKind::BrokenPipe => exit::OK,
        Err(error) => {
            let said = error.to_string();
            writeln!(io::stderr().lock(), "askbridge mock-client: {}", printable_line(&said))
                .unwrap_or_default();
            if matches!(error, ClientError::TimedOut) { TIMED_OUT } else { FAILED }
        }
    };
    ExitCode::from(code)
}

fn converse(args: &MockClientArgs) -> Result<String, ClientError> {
    let deadline = args.timeout.map(|timeout| Instant::now() + *timeout);
    let settings = Settings {
        name: "askbridge-mock-client",
        peer: "agent",
        tier: args.tier,
        wire: args.wire,
        patience: None,
        deadline,
        lingers: false,
    };
    let otherwise = match (args.reject, args.leave_open) {
        (true, _) => Otherwise::Reject,
        (_, true) => Otherwise::LeaveOpen,
        _ => Otherwise::TakeFirst,
    };
    let (program, arguments) = args.agent.split_first().unzip();
    let mut command = Command::new(program.map(|program| program.as_os_str()).unwrap_or_default());
    command.args(arguments.unwrap_or_default());
    let process = Process::start(&mut command, io::empty())
        .map_err(|source| ClientError::Start { peer: settings.peer, source })?;
    Conversation::new(process, Screen::on_stdout(), Given::new(&args.answer, otherwise), settings)
        .converse(&args.prompt)
}
