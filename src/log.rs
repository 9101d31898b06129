//! Where the log goes. Never to stdout, which belongs to the protocol (I5).
//! Lines are handed to a thread, so that a full log never stops the data path (I7): what does not fit is lost.

use std::{fs::OpenOptions, io, path::PathBuf};

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

/// Starts the log. What is left of it is written when the guard is dropped.
pub fn start(args: &LogArgs) -> Result<WorkerGuard, LogError> {
    let builder = NonBlockingBuilder::default().buffered_lines_limit(WAITING).lossy(true);
    let (writer, guard) = match &args.log_file {
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            builder.finish(file.map_err(|source| LogError { path: path.clone(), source })?)
        }
        None => builder.finish(io::stderr()),
    };
    let colours = args.log_file.is_none() && io::IsTerminal::is_terminal(&io::stderr());
    subscribe(args, writer, colours);
    Ok(guard)
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
