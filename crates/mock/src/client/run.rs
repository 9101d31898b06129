//! `askbridge mock-client`: a client around an agent's command, with prepared answers.
//! The conversation is left to `conversation.rs`, and the choice of an answer to `answers.rs`.

use std::{
    io::{self, Write},
    process::{Command, ExitCode},
    time::Instant,
};

use askbridge_os::{exit, terminal::printable_line};

use super::{
    answers::ScriptedAnswers,
    conversation::{Conversation, ConversationSettings},
    error::ClientError,
    manner::Manner,
    process::{Process, TypedLines},
    screen::Screen,
};
use crate::ClientSettings;

/// The exit code if the agent failed or broke the protocol, or an answer did not fit.
const FAILED: u8 = 1;
/// The exit code if the turn did not end in time.
const TIMED_OUT: u8 = 3;

/// The exit codes, for `--help`.
pub const HELP: &str = "\
Exit codes:
  0  the turn has ended, whatever was asked and answered in it
  1  the agent failed or said something wrong, or an answer of --answer or --permission did not fit
  2  the command line was not understood
  3  the turn did not end within the time of --timeout";

/// Runs the client until the agent's turn has ended.
pub fn run(settings: &ClientSettings) -> ExitCode {
    let code = match converse(settings) {
        Ok(_) => exit::OK,
        // A closed stdout is no failure: its reader, such as `head`, has seen enough.
        Err(ClientError::Screen(error)) if error.kind() == io::ErrorKind::BrokenPipe => exit::OK,
        Err(error) => {
            let said = error.to_string();
            // Ignore the error: there is nowhere left to report it.
            writeln!(io::stderr().lock(), "askbridge mock-client: {}", printable_line(&said))
                .unwrap_or_default();
            if matches!(error, ClientError::TimedOut) { TIMED_OUT } else { FAILED }
        }
    };
    ExitCode::from(code)
}

fn converse(settings: &ClientSettings) -> Result<String, ClientError> {
    let deadline = settings.timeout.map(|timeout| Instant::now() + timeout);
    let conversation = ConversationSettings {
        name: settings.manner.and_then(Manner::client_name).unwrap_or("askbridge-mock-client"),
        peer: "agent",
        kind: settings.kind,
        permission: settings.permission.clone(),
        manner: settings.manner,
        reaction: settings.reaction,
        consent: None,
        wire: settings.wire,
        patience: None,
        deadline,
        lingers: false,
    };
    let (program, arguments) = settings.agent.split_first().unzip();
    let mut command = Command::new(program.map(|program| program.as_os_str()).unwrap_or_default());
    command.args(arguments.unwrap_or_default());
    let process = Process::start(&mut command, TypedLines::Input(Box::new(io::empty())))
        .map_err(|source| ClientError::Start { peer: conversation.peer, source })?;
    let answers = ScriptedAnswers::new(&settings.answers, settings.fallback);
    Conversation::new(process, Screen::on_stdout(), answers, conversation)
        .converse(std::slice::from_ref(&settings.prompt))
}
