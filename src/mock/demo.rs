//! `askbridge demo`: the real bridge around the mock agent, with a client at this terminal.
//! The client knows the bridge only through its pipe. The conversation is left to `client`.

use std::{
    env,
    io::{self, Write},
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use super::{
    AskConsent, ClientKind, DemoSettings, Fallback,
    client::{ClientError, Conversation, ConversationSettings, Process, Screen, ScriptedAnswers},
    tour::{ELSEWHERE, Inbox},
};
use crate::{exit, terminal::printable_line};

/// The exit code if the turn did not end well.
const FAILED: u8 = 1;
/// The timeout of requests that the bridge answers without a person.
const PATIENCE: Duration = Duration::from_secs(10);
/// The bridge's `--timeout` for a client that asks no person.
const OPEN_FOR: &str = "3s";
/// What the mock agent is told first.
pub(crate) const QUESTION: &str = "Please ask me a question.";
/// What the mock agent is told for `--permission`: a command has the most to show.
pub(crate) const PERMISSION: &str = "Please ask me for a dangerous permission.";
/// The exit codes, for `--help`.
pub(crate) const HELP: &str = "\
With the tiers silent and approve, the person is not asked: a question that stays open is rejected after 3 s.

Exit codes:
  0  the agent's turn ended well
  1  it did not, or an answer of --answer did not fit
  2  the command line was not understood";

/// Runs the demonstration until the agent's turn has ended.
pub fn run(settings: &DemoSettings, consent: AskConsent) -> ExitCode {
    match demonstrate(settings, consent) {
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

fn demonstrate(settings: &DemoSettings, consent: AskConsent) -> Result<(), ClientError> {
    let conversation = ConversationSettings {
        name: "askbridge-demo",
        peer: "bridge",
        kind: settings.kind,
        permission: None,
        consent: Some(consent),
        wire: settings.wire,
        patience: Some(PATIENCE),
        deadline: None,
        lingers: true,
    };
    let fallback = if asks_person(settings.kind) { Fallback::AskPerson } else { Fallback::TakeFirst };
    let mut screen = Screen::on_stdout();
    let _inbox = if settings.page { page(&mut screen)? } else { None };
    let started = bridge(settings).and_then(|mut bridge| Process::start(&mut bridge, io::stdin()));
    let process = started.map_err(|source| ClientError::Start { peer: conversation.peer, source })?;
    let answers = ScriptedAnswers::new(&settings.answers, fallback);
    let reason = Conversation::new(process, screen, answers, conversation).converse(&settings.prompts)?;
    if reason == "end_turn" { Ok(()) } else { Err(ClientError::Stopped(reason)) }
}

/// Shows the page, and says where. The demo goes on without it.
fn page(screen: &mut Screen<impl Write>) -> Result<Option<Inbox>, ClientError> {
    let started = env::current_exe().and_then(|program| {
        let inbox = Inbox::start(&program)?;
        let opened = inbox.open(&program)?;
        Ok((inbox, opened))
    });
    let (inbox, said) = match started {
        Ok((inbox, opened)) => (Some(inbox), opened),
        Err(error) => (None, format!("not shown: {error}")),
    };
    screen.say("page", &format!("{said}\n{ELSEWHERE}")).map_err(ClientError::Screen)?;
    Ok(inbox)
}

fn asks_person(kind: ClientKind) -> bool {
    match kind {
        ClientKind::Native | ClientKind::Forms | ClientKind::Permission => true,
        ClientKind::Silent | ClientKind::Approve => false,
    }
}

/// Returns the command of the bridge around the mock agent. Both are this program.
fn bridge(settings: &DemoSettings) -> io::Result<Command> {
    let program = env::current_exe()?;
    let mut command = Command::new(&program);
    command.arg("run");
    if !asks_person(settings.kind) {
        command.args(["--timeout", OPEN_FOR]);
    }
    command.arg("--").arg(&program).arg("mock-agent");
    command.args(["--dialect", settings.dialect.name()]);
    if settings.wire {
        command.arg("--wire").stderr(Stdio::piped());
    }
    Ok(command)
}
