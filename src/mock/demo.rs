//! The main job in one command: the real bridge around the mock agent, driven from this terminal.
//! It is a client like any other: it knows nothing of the bridge but what comes over the pipe.

use std::{
    env, fmt,
    io::{self, IsTerminal, Write},
    process::{Command, ExitCode, ExitStatus, Stdio},
};

use super::{
    client::Client,
    conversation::{Conversation, PATIENCE},
    message::RpcError,
    person::Given,
    screen::Screen,
};
use crate::{cli::DemoArgs, exit, terminal::printable_line};

/// The turn did not end well.
const FAILED: u8 = 1;
/// The exit codes, for `--help`.
pub(crate) const HELP: &str = "\
Exit codes:
  0  the agent's turn ended well
  1  it did not, or an answer of --answer did not fit
  2  the command line was not understood";

/// Runs the demonstration until the agent's turn has ended.
pub fn run(args: &DemoArgs) -> ExitCode {
    let stdout = io::stdout();
    let colour = stdout.is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let screen = Screen::new(stdout.lock(), colour);
    match demonstrate(args, screen) {
        Ok(()) => ExitCode::from(exit::OK),
        Err(DemoError::Screen(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::from(exit::OK)
        }
        Err(error) => {
            let error = error.to_string();
            writeln!(io::stderr().lock(), "askbridge demo: {}", printable_line(&error)).unwrap_or_default();
            ExitCode::from(FAILED)
        }
    }
}

fn demonstrate<W: Write>(args: &DemoArgs, screen: Screen<W>) -> Result<(), DemoError> {
    let client = Client::start(&mut bridge(args.wire)?, io::stdin()).map_err(DemoError::Start)?;
    let given = Given::new(&args.answer);
    let mut conversation = Conversation::new(client, screen, given, args.wire);
    let ended = conversation.converse(&args.prompt);
    conversation.close(ended)
}

/// The bridge around the mock agent. Both are this program.
fn bridge(wire: bool) -> Result<Command, DemoError> {
    let program = env::current_exe().map_err(DemoError::Start)?;
    let mut command = Command::new(&program);
    command.args(["run", "--"]).arg(&program).arg("mock-agent");
    if wire {
        command.arg("--wire").stderr(Stdio::piped());
    }
    Ok(command)
}

/// Why the demonstration did not come to a good end.
#[derive(Debug, thiserror::Error)]
pub(super) enum DemoError {
    #[error("cannot start the bridge: {0}")]
    Start(io::Error),
    #[error("cannot show anything: {0}")]
    Screen(#[from] io::Error),
    #[error("the bridge ended before the turn did, with {}", Ending(*.0))]
    BridgeEnded(ExitStatus),
    #[error("the turn ended well, but the bridge ended with {}", Ending(*.0))]
    BadEnd(ExitStatus),
    #[error("the bridge is gone before the turn ended")]
    BridgeGone,
    #[error("no answer to {0} within {wait} s", wait = PATIENCE.as_secs())]
    Silence(&'static str),
    #[error("{method} was refused: {error}")]
    Refused { method: &'static str, error: RpcError },
    #[error("the answer to {0} was not understood")]
    Misunderstood(&'static str),
    #[error("--answer: {0}")]
    DoesNotFit(String),
    #[error("the turn ended with {0}")]
    Stopped(String),
}

struct Ending(ExitStatus);

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use std::os::unix::process::ExitStatusExt;
        match (self.0.code(), self.0.signal()) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => write!(f, "{}", self.0),
        }
    }
}
