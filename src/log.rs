//! Where the log goes. Never to stdout, which belongs to the protocol (I5).
//! Lines are handed to a thread, so that a full log never stops the data path (I7): what does not fit is lost.

use std::{
    fmt,
    fs::OpenOptions,
    io::{self, Write},
    mem,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use thiserror::Error;
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::fmt::{MakeWriter, writer::OptionalWriter};

use crate::cli::{LogArgs, LogFormat, LogLevel};

/// Log lines that wait to be written.
const WAITING: usize = 1024;

/// The log's file could not be opened.
#[derive(Debug, Error)]
#[error("cannot open the log file {path:?}: {source}")]
pub struct LogError {
    path: PathBuf,
    source: io::Error,
}

/// Writes the log. What is left of it is written when this is dropped.
#[derive(Debug)]
pub struct Log(Vec<Lazy>);

impl Drop for Log {
    fn drop(&mut self) {
        self.0.iter().for_each(Lazy::end);
    }
}

/// Where notices go, if not into the log.
static NOTICES: OnceLock<Lazy> = OnceLock::new();

/// Starts the log.
pub fn start(args: &LogArgs) -> Result<Log, LogError> {
    let stderr = Lazy::new(Box::new(io::stderr()));
    let writer = match &args.log_file {
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            Lazy::new(Box::new(file.map_err(|source| LogError { path: path.clone(), source })?))
        }
        None => stderr.clone(),
    };
    // Where there is JSON on stderr, it stays so.
    let is_json = args.log_file.is_none() && matches!(args.log_format, LogFormat::Json);
    let in_the_log = match args.log {
        LogLevel::Off => true,
        LogLevel::Error => false,
        _ => is_json,
    };
    if !in_the_log {
        // It fails only where a log was started already.
        drop(NOTICES.set(stderr.clone()));
    }
    let colours = args.log_file.is_none() && io::IsTerminal::is_terminal(&io::stderr());
    subscribe(args, writer.clone(), colours);
    Ok(Log(vec![stderr, writer]))
}

/// Says to the person who reads stderr what is to be done, also where the log goes elsewhere, or has errors only: unless
/// all of it is off. No text of the agent may be in it.
pub fn notice(text: &str) {
    match NOTICES.get() {
        // What does not fit is lost, as of the log.
        Some(stderr) => drop(stderr.make_writer().write_all(format!("askbridge: {text}\n").as_bytes())),
        None => tracing::warn!("{text}"),
    }
}

/// A thread that writes, which starts with the first line: most runs have none.
#[derive(Clone, Debug)]
struct Lazy(Arc<Mutex<State>>);

enum State {
    Unused(Box<dyn Write + Send>),
    Used { writer: NonBlocking, _guard: WorkerGuard },
    Over,
}

impl Lazy {
    fn new(target: Box<dyn Write + Send>) -> Self {
        Lazy(Arc::new(Mutex::new(State::Unused(target))))
    }

    /// Waits until all is written; what comes later is lost.
    fn end(&self) {
        let state = mem::replace(&mut *self.state(), State::Over);
        // Its guard waits, and no lock is held meanwhile.
        drop(state);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MakeWriter<'_> for Lazy {
    type Writer = OptionalWriter<NonBlocking>;

    fn make_writer(&self) -> Self::Writer {
        let mut state = self.state();
        if let State::Unused(target) = &mut *state {
            let target = mem::replace(target, Box::new(io::sink()));
            let builder = NonBlockingBuilder::default().buffered_lines_limit(WAITING).lossy(true);
            let (writer, guard) = builder.finish(target);
            *state = State::Used { writer, _guard: guard };
        }
        match &*state {
            State::Used { writer, .. } => OptionalWriter::some(writer.clone()),
            State::Unused(_) | State::Over => OptionalWriter::none(),
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            State::Unused(_) => "Unused",
            State::Used { .. } => "Used",
            State::Over => "Over",
        })
    }
}

fn subscribe(args: &LogArgs, writer: Lazy, colours: bool) {
    let builder = tracing_subscriber::fmt()
        .with_max_level(level(args.log))
        .with_writer(writer)
        .with_ansi(colours && std::env::var_os("NO_COLOR").is_none());
    // It fails only where a log was started already.
    drop(match args.log_format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    });
}

fn level(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}
