//! `askbridge demo`: the real bridge around the mock agent, with a client at this terminal, and a page in a browser
//! that shows an inbox of the demo's own. The client reaches the bridge only through its pipe. The conversation is
//! left to `client`.

use std::{
    env,
    io::{self, BufRead, BufReader, IsTerminal, Write},
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    time::Duration,
};

use askbridge_os::{exit, keyboard, limits, terminal::printable_line};
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    AskConsent, ClientKind, DemoSettings, Fallback, REACTION,
    client::{ClientError, Conversation, ConversationSettings, Process, Screen, ScriptedAnswers, TypedLines},
};

/// The exit code if the turn did not end well.
const FAILED: u8 = 1;
/// The timeout of requests that the bridge answers without a person.
const PATIENCE: Duration = Duration::from_secs(10);
/// The bridge's `--timeout` for a client that asks no person.
const OPEN_FOR: &str = "3s";
/// The first prompt of the demo.
pub const QUESTION: &str = "Please ask me a question.";
/// The prompt for `--permission`: a command has the most to show.
pub const PERMISSION: &str = "Please ask me for a dangerous permission.";
/// The variable that sets which lines the bridge writes to stderr.
const LOG_LEVEL: &str = "ASKBRIDGE_LOG_LEVEL";
/// The exit codes, for `--help`.
pub const HELP: &str = "\
With the tiers silent and approve, the person is not asked: a question that stays open is rejected after 3 s.

Exit codes:
  0  the agent's turn ended well
  1  it did not, or an answer of --answer did not fit
  2  the command line was not understood";

/// Runs the demonstration until the agent's turn has ended.
pub fn run(settings: &DemoSettings, consent: AskConsent) -> ExitCode {
    let ended = demonstrate(settings, consent);
    if asks_person(settings.kind) && settings.answers.is_empty() {
        // What is left of what was typed would run in the shell.
        keyboard::drain(limits::BURST);
    }
    match ended {
        Ok(()) => ExitCode::from(exit::OK),
        Err(ClientError::Screen(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::from(exit::OK)
        }
        Err(error) => {
            let error = error.to_string();
            // Ignore the error: there is nowhere left to report it.
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
        manner: None,
        reaction: REACTION,
        consent: Some(consent),
        wire: settings.wire,
        patience: Some(PATIENCE),
        deadline: None,
        lingers: true,
    };
    let fallback = if asks_person(settings.kind) { Fallback::AskPerson } else { Fallback::TakeFirst };
    let mut screen = Screen::on_stdout();
    // The value is kept until the demo ends, since dropping it ends the inbox.
    let _inbox = if settings.page { page(&mut screen)? } else { None };
    let typed = match io::stdin().is_terminal() {
        true => TypedLines::Terminal,
        false => TypedLines::Input(Box::new(io::stdin())),
    };
    let started = bridge(settings).and_then(|mut bridge| Process::start(&mut bridge, typed));
    let process = started.map_err(|source| ClientError::Start { peer: conversation.peer, source })?;
    let answers = ScriptedAnswers::new(&settings.answers, fallback);
    let reason = Conversation::new(process, screen, answers, conversation).converse(&settings.prompts)?;
    if settings.page {
        Screen::on_stdout().say("next", NEXT).map_err(ClientError::Screen)?;
    }
    if reason == "end_turn" { Ok(()) } else { Err(ClientError::Stopped(reason)) }
}

/// What to do after the demo.
const NEXT: &str = "askbridge setup connects your agents and editors; askbridge open shows what they ask.";

/// Shows the page, and says where. If that fails, the demo continues without the page.
fn page(screen: &mut Screen<impl Write>) -> Result<Option<Inbox>, ClientError> {
    let started = env::current_exe().and_then(|program| {
        let inbox = Inbox::start(&program)?;
        let opened = inbox.open(&program)?;
        Ok((inbox, opened))
    });
    let (inbox, said) = match started {
        Ok((inbox, opened)) => (Some(inbox), opened),
        // The question can be answered without the page.
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
    // This client leaves the question open. Without a timeout, the demo would not end.
    if !asks_person(settings.kind) {
        command.args(["--timeout", OPEN_FOR]);
    }
    command.arg("--").arg(&program).arg("mock-agent");
    command.args(["--dialect", settings.dialect.name()]);
    if settings.wire {
        command.arg("--wire").stderr(Stdio::piped());
    } else if io::stdin().is_terminal() && env::var_os(LOG_LEVEL).is_none() {
        // The person sees each question in the demo itself: that one waits would be written into the prompt.
        command.env(LOG_LEVEL, "off");
    }
    Ok(command)
}

/// The hint for the person below the address of the page.
pub(super) const ELSEWHERE: &str =
    "Answer there, here, or in another terminal with askbridge tui or askbridge next.";

/// An inbox that serves the page.
pub(super) struct Inbox(Child);

impl Inbox {
    /// Starts an inbox on a free port, and waits until it serves.
    pub(super) fn start(program: &Path) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(["inbox", "--addr", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut inbox = Inbox(command.stderr(Stdio::piped()).spawn()?);
        let mut said = String::new();
        if let Some(stderr) = inbox.0.stderr.take() {
            // The first line says that the inbox listens, or why it does not.
            BufReader::new(stderr).read_line(&mut said)?;
        }
        if said.contains("listening on") { Ok(inbox) } else { Err(io::Error::other(said.trim().to_owned())) }
    }

    /// Shows the page in a browser. Returns a text about it: where it was opened, or its address.
    pub(super) fn open(&self, program: &Path) -> io::Result<String> {
        let opened = Command::new(program).arg("open").stdin(Stdio::null()).output()?;
        let text = if opened.status.success() { opened.stdout } else { opened.stderr };
        let text = String::from_utf8_lossy(&text);
        let text = text.trim();
        // `askbridge open` prints the bare address if it has no browser to start.
        let is_address = text.starts_with("http");
        Ok(if is_address { format!("Open this in a browser:\n{text}") } else { text.to_owned() })
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        // This sends SIGTERM and not SIGKILL, so that the inbox removes its socket.
        if let Some(pid) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM).unwrap_or_default();
            drop(self.0.wait());
        }
    }
}
