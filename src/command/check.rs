//! `askbridge check`: conformance cases for an agent, a client or a bridge, their selection, and where the results go.
//! The cases, the checker and the words of the results are left to `crates/check`.

use std::{
    ffi::OsString,
    fs,
    io::{self, IsTerminal},
    num::NonZeroUsize,
    os::fd::AsFd,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    thread,
    time::Instant,
};

use askbridge_check::{
    kind::Kind,
    library, puppet,
    report::{Document, Progress, json, junit, list, summary},
    serve::driver::Persons,
    suite::{self, Settings, SuiteError},
    talk::prompts::Prompts,
};
use askbridge_core::{dialect, question::Origin};
use askbridge_os::{exit, signals::Signals};
use clap::{Args, Subcommand, builder::PossibleValuesParser};
use rustix::termios::tcgetwinsize;
use tokio::signal::unix::{SignalKind, signal};

use super::{
    CommandError,
    runner::{print, shown},
};

/// How the command of `askbridge check` is written, and its exit codes.
const HELP: &str = "\
Examples:
  askbridge check agent -- my-agent --acp
  askbridge check client -- my-client --agent {agent}
  askbridge check bridge -- my-bridge -- {agent}
  askbridge check bridge --mcp -- my-bridge -- {server}

`{agent}` or `{server}` becomes the path of a program without arguments.
docs/check.md has the form of the cases, and what the verdicts mean.

Exit codes of `askbridge check`:
  0    each case ended as expected
  1    a case failed, or one that was expected to fail passed
  2    the cases could not be run, or the command line was not understood";

/// Options of `askbridge check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// What is checked.
    #[command(subcommand)]
    pub what: CheckWhat,
}

/// What is checked.
#[derive(Clone, Debug, Subcommand)]
pub enum CheckWhat {
    /// Check an agent: askbridge is its client
    #[command(after_help = HELP)]
    Agent(AgentArgs),
    /// Check a client: askbridge is its agent, whose command is `{agent}`
    #[command(after_help = HELP)]
    Client(ClientArgs),
    /// Check a program between the two: askbridge is both, `{agent}` is the agent's command
    #[command(after_help = HELP)]
    Bridge(BridgeArgs),
    /// Be an agent that the checker plays
    #[command(hide = true)]
    Puppet(PuppetArgs),
}

/// Options of `askbridge check agent`.
#[derive(Clone, Debug, Args)]
pub struct AgentArgs {
    /// Prompt by this text, such as `question=Ask me which database to use`: for plain, long, question, many, text, fields, two,
    /// permission or dangerous (can be repeated)
    #[arg(long, value_name = "NAME=TEXT")]
    pub prompt: Vec<String>,

    /// The dialect in which it must ask its questions [default: any that is known]
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    pub dialect: Option<String>,

    /// The options of all kinds.
    #[command(flatten)]
    pub cases: CasesArgs,
}

/// Options of `askbridge check client`.
#[derive(Clone, Debug, Args)]
pub struct ClientArgs {
    /// Answer in the client by this command of the shell, which gets the agent's request on its stdin as JSON
    #[arg(long, value_name = "COMMAND")]
    pub answer_with: Option<OsString>,

    /// The client answers by itself, by design: leave out that it must not
    #[arg(long, conflicts_with = "answer_with")]
    pub answers_itself: bool,

    /// The options of all kinds.
    #[command(flatten)]
    pub cases: CasesArgs,
}

/// Options of `askbridge check bridge`.
#[derive(Clone, Debug, Args)]
pub struct BridgeArgs {
    /// Check a program between a host of MCP and a server, whose command is `{server}`
    #[arg(long)]
    pub mcp: bool,

    /// The options of all kinds.
    #[command(flatten)]
    pub cases: CasesArgs,
}

/// Options of `askbridge check agent`, `client` and `bridge`.
#[derive(Clone, Debug, Args)]
pub struct CasesArgs {
    /// Run these cases only: an ID, a group such as `order`, or a pattern such as `*/cancel*`
    #[arg(value_name = "CASE")]
    pub cases: Vec<String>,

    /// List the cases, with their levels and rules
    #[arg(long)]
    pub list: bool,

    /// Also run the cases of rules that only askbridge promises to keep
    #[arg(long)]
    pub ours: bool,

    /// Fail where a recommendation is not followed (level `should`), and where nothing was shown
    #[arg(long)]
    pub strict: bool,

    /// Expect that these cases fail: a file with an ID, group or pattern on each line
    #[arg(long, value_name = "FILE")]
    pub expected: Option<PathBuf>,

    /// Write the results as JSON (`-` is stdout)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the results in the XML of JUnit (`-` is stdout)
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Write the whole conversation of each case to a file of this folder
    #[arg(long, value_name = "DIR")]
    pub wire: Option<PathBuf>,

    /// The time without a byte or a finished step after which a case ends
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    pub timeout: humantime::Duration,

    /// How many cases run at once [default: two for each processor]
    #[arg(long, value_name = "COUNT")]
    pub jobs: Option<NonZeroUsize>,

    /// The command to check and its arguments
    #[arg(last = true, required_unless_present = "list", value_name = "COMMAND [ARGS]")]
    pub command: Vec<OsString>,
}

/// Options of `askbridge check puppet`.
#[derive(Clone, Debug, Args)]
pub struct PuppetArgs {
    /// Be a child of an agent
    #[arg(long)]
    pub child: bool,

    /// The folder of the case
    pub folder: PathBuf,
}

/// Runs the cases, or lists them. Every error has the exit code of cases that could not be run.
pub async fn check(args: &CheckArgs) -> Result<u8, CommandError> {
    checked(args).await.map_err(|error| CommandError::Usage(error.to_string()))
}

async fn checked(args: &CheckArgs) -> Result<u8, CommandError> {
    match &args.what {
        CheckWhat::Agent(args) => {
            let prompts = Prompts::with(&args.prompt).map_err(CommandError::Usage)?;
            let settings =
                Settings { prompts, dialect: args.dialect.clone(), ..settings(Kind::Agent, &args.cases)? };
            run_until_signal(settings, &args.cases).await
        }
        CheckWhat::Client(args) => {
            let persons = Persons { command: args.answer_with.clone(), is_automatic: args.answers_itself };
            run_until_signal(Settings { persons, ..settings(Kind::Client, &args.cases)? }, &args.cases).await
        }
        CheckWhat::Bridge(args) => {
            let kind = if args.mcp { Kind::Mcp } else { Kind::Bridge };
            run_until_signal(settings(kind, &args.cases)?, &args.cases).await
        }
        CheckWhat::Puppet(args) => Ok(puppet::run(&args.folder, args.child)?),
    }
}

/// Runs the cases. A signal ends the commands that were started, and removes the folder of the cases.
async fn run_until_signal(settings: Settings, args: &CasesArgs) -> Result<u8, CommandError> {
    let mut signals = Signals::catch()?;
    for kind in [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::terminate()] {
        // The handler stays: a command under test must not inherit that `nohup` or a shell ignores the signal.
        drop(signal(kind)?);
    }
    let (stop, args) = (Arc::clone(&settings.stop), args.clone());
    let mut cases = tokio::task::spawn_blocking(move || run(&settings, &args));
    tokio::select! {
        done = &mut cases => done.map_err(io::Error::from)?,
        code = signals.next() => {
            stop.store(true, Ordering::Relaxed);
            // The run was stopped, so its result means nothing.
            drop(cases.await);
            Ok(code)
        }
    }
}

fn run(settings: &Settings, args: &CasesArgs) -> Result<u8, CommandError> {
    let kind = settings.kind;
    let cases = library::cases(kind).map_err(|error| CommandError::Usage(error.to_string()))?;
    let cases = suite::selected(cases, kind, &args.cases).map_err(not_run)?;
    if args.list {
        return shown(print(&list(&cases)));
    }
    let placeholder = kind.placeholder();
    let has_placeholder = args.command.iter().any(|word| word.to_string_lossy().contains(placeholder));
    if kind != Kind::Agent && !has_placeholder {
        let starts = if kind == Kind::Mcp { "a server" } else { "an agent" };
        let checked = if kind == Kind::Client { "client" } else { "bridge" };
        let what = format!(
            "the command to check starts {starts}: put `{placeholder}` where a {checked} has its command"
        );
        return Err(CommandError::Usage(what));
    }
    suite::probe(settings).map_err(not_run)?;
    let mut progress = Progress::new(anstream::stderr(), columns(&io::stderr()), &cases);
    let started = Instant::now();
    // Progress that cannot be shown does not stop the cases.
    let outcomes = suite::run(&cases, settings, |outcome| progress.ended(outcome).unwrap_or_default());
    progress.finish().unwrap_or_default();
    let outcomes = outcomes.map_err(not_run)?;
    if settings.stop.load(Ordering::Relaxed) {
        return Ok(exit::PROBLEM);
    }
    let seconds = started.elapsed().as_secs_f64();
    // The summary precedes the documents, so that it is shown if they cannot be written. A document on stdout must not be
    // mixed with it.
    if [&args.json, &args.junit].into_iter().flatten().any(|path| path == Path::new("-")) {
        let text = summary(settings, &outcomes, seconds, columns(&io::stderr()));
        io::Write::write_all(&mut anstream::stderr(), text.as_bytes())?;
    } else {
        let text = summary(settings, &outcomes, seconds, columns(&io::stdout()));
        io::Write::write_all(&mut anstream::stdout(), text.as_bytes())?;
    }
    if let Some(path) = &args.json {
        let text = json(&Document::new(settings, &outcomes, env!("CARGO_PKG_VERSION")));
        write(path, &text.map_err(io::Error::from)?)?;
    }
    if let Some(path) = &args.junit {
        write(path, &junit(settings, &outcomes))?;
    }
    let is_unexpected = outcomes.iter().any(|outcome| outcome.is_unexpected);
    Ok(if is_unexpected { exit::PROBLEM } else { exit::OK })
}

fn settings(kind: Kind, args: &CasesArgs) -> Result<Settings, CommandError> {
    // Most cases wait for processes, or for a time in which nothing may happen, so more of them run than there are
    // cores.
    let jobs = args
        .jobs
        .map_or_else(|| 2 * thread::available_parallelism().map_or(1, NonZeroUsize::get), NonZeroUsize::get);
    Ok(Settings {
        kind,
        command: args.command.clone(),
        program: std::env::current_exe()?,
        timeout: *args.timeout,
        jobs,
        stop: Arc::default(),
        ours: args.ours,
        wire: args.wire.clone(),
        expected: args.expected.as_deref().map(expected).transpose()?.unwrap_or_default(),
        strict: args.strict,
        persons: Persons::default(),
        prompts: Prompts::default(),
        dialect: None,
    })
}

/// Reads the cases that are expected to fail: one a line, with comments after `#`.
fn expected(path: &Path) -> Result<Vec<String>, CommandError> {
    let text =
        fs::read_to_string(path).map_err(|source| CommandError::Read { path: path.to_owned(), source })?;
    let names = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    Ok(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

fn not_run(error: SuiteError) -> CommandError {
    CommandError::Usage(error.to_string())
}

fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    if path == Path::new("-") {
        return Ok(print(text)?);
    }
    fs::write(path, text).map_err(|source| CommandError::Write { path: path.to_owned(), source })
}

/// Returns the parser of a dialect, by the name of the origin of its questions.
fn dialects() -> PossibleValuesParser {
    PossibleValuesParser::new(dialect::ORIGINS.iter().map(Origin::name))
}

/// Returns the width of the terminal that an output is.
fn columns(output: &(impl IsTerminal + AsFd)) -> Option<usize> {
    let size = tcgetwinsize(output).ok().filter(|size| output.is_terminal() && size.ws_col > 0)?;
    Some(size.ws_col.into())
}
