//! Where the log goes. Never to stdout, which belongs to the protocol (I5).
//! Lines are handed to a thread, so that a full log never stops the data path (I7): what does not fit is lost.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::PathBuf,
    sync::OnceLock,
};

use thiserror::Error;
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};

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

/// What writes the log. What is left of it is written when this is dropped.
#[derive(Debug)]
pub struct Log {
    _writers: Vec<WorkerGuard>,
}

/// Where notices go, if not into the log.
static NOTICES: OnceLock<NonBlocking> = OnceLock::new();

/// Starts the log.
pub fn start(args: &LogArgs) -> Result<Log, LogError> {
    let (stderr, guard) = builder().finish(io::stderr());
    let mut writers = vec![guard];
    let writer = match &args.log_file {
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let file = file.map_err(|source| LogError { path: path.clone(), source })?;
            let (writer, guard) = builder().finish(file);
            writers.push(guard);
            writer
        }
        None => stderr.clone(),
    };
    if args.log_file.is_some() || level(args.log) < LevelFilter::WARN {
        // It fails only where a log was started already.
        drop(NOTICES.set(stderr));
    }
    let colours = args.log_file.is_none() && io::IsTerminal::is_terminal(&io::stderr());
    subscribe(args, writer, colours);
    Ok(Log { _writers: writers })
}

/// Says to the person who reads stderr what is to be done, also where the log goes elsewhere or leaves it out. No text of
/// the agent may be in it.
pub fn notice(text: &str) {
    match NOTICES.get() {
        // What does not fit is lost, as of the log.
        Some(stderr) => drop(stderr.clone().write_all(format!("askbridge: {text}\n").as_bytes())),
        None => tracing::warn!("{text}"),
    }
}

fn builder() -> NonBlockingBuilder {
    NonBlockingBuilder::default().buffered_lines_limit(WAITING).lossy(true)
}

fn subscribe(args: &LogArgs, writer: NonBlocking, colours: bool) {
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
