//! Writes the log to stderr or to a file, never to stdout, which belongs to the protocol (I5).
//!
//! A thread of its own writes the lines, so that a log that is not read never stops the data path (I7): lines that do
//! not fit into its queue are dropped.

use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, Write},
    mem,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
};
use thiserror::Error;
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::fmt::{MakeWriter, writer::OptionalWriter};

use crate::cli::{LogArgs, LogFormat, LogLevel};

/// Lines that may wait to be written.
const WAITING: usize = 1024;

/// The log's file could not be opened.
#[derive(Debug, Error)]
#[error("cannot open the log file {path:?}: {source}{}", hint(source))]
pub struct LogError {
    path: PathBuf,
    source: io::Error,
}

fn hint(source: &io::Error) -> &'static str {
    // The error of a FIFO that is opened for writing without blocking, and of a socket.
    if source.raw_os_error() == Some(Errno::NXIO.raw_os_error()) {
        "; to log into a FIFO, start the program that reads it first"
    } else {
        ""
    }
}

/// The running log. Dropping it waits until the queued lines are written.
#[derive(Debug)]
pub struct Log(Vec<Lazy>);

impl Drop for Log {
    fn drop(&mut self) {
        self.0.iter().for_each(Lazy::end);
    }
}

/// The writer of notices, where they do not go into the log.
static NOTICES: OnceLock<Lazy> = OnceLock::new();

/// Starts the log.
pub fn start(args: &LogArgs) -> Result<Log, LogError> {
    let stderr = Lazy::new(Box::new(io::stderr()));
    let writer = match &args.log_file {
        Some(path) => {
            let file = open(path).map_err(|source| LogError { path: path.clone(), source })?;
            Lazy::new(Box::new(file))
        }
        None => stderr.clone(),
    };
    // A program that parses JSON on stderr must not find plain text between the lines.
    let is_json = args.log_file.is_none() && matches!(args.log_format, LogFormat::Json);
    let in_the_log = match args.log {
        LogLevel::Off => true,
        LogLevel::Error => false,
        _ => is_json,
    };
    if !in_the_log {
        // It fails only if a log was started before.
        drop(NOTICES.set(stderr.clone()));
    }
    let colours = args.log_file.is_none() && io::IsTerminal::is_terminal(&io::stderr());
    subscribe(args, writer.clone(), colours);
    Ok(Log(vec![stderr, writer]))
}

/// Opens the log file, to append to it.
fn open(path: &Path) -> io::Result<File> {
    // Without O_NONBLOCK, opening a FIFO waits for a reader, and the bridge would not start.
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().create(true).append(true).custom_flags(nonblocking).open(path)?;
    // The log's thread may block; with the flag, it would lose lines to a slow reader.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Tells the person who reads stderr what to do, even where the log goes to a file or holds errors only. Writes nothing
/// if the log is off. The text must not contain text of the agent.
pub fn notice(text: &str) {
    match NOTICES.get() {
        // A notice that does not fit into the queue is dropped, like a line of the log.
        Some(stderr) => drop(stderr.make_writer().write_all(format!("askbridge: {text}\n").as_bytes())),
        None => tracing::warn!("{text}"),
    }
}

/// A thread that writes lines. It starts with the first line: most runs have none.
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

    /// Waits until the queued lines are written. Later lines are dropped.
    fn end(&self) {
        let state = mem::replace(&mut *self.state(), State::Over);
        // Dropping the guard waits for the thread. The lock is not held meanwhile.
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
    // It fails only if a log was started before.
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
