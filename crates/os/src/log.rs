//! Writes the log to stderr or to a file, never to stdout, which belongs to the protocol (I5).
//!
//! A thread of its own writes the lines, so that a log that nobody reads never blocks the data path (I7): lines that do
//! not fit into its queue are dropped. `log/subscriber.rs` decides which warnings are counted instead of written, and
//! `log/rotation.rs` bounds the file.

mod rotation;
mod subscriber;

use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, Write},
    mem,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use rotation::Stderr;
use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
};
use subscriber::{LateSubscriber, Repeats, Summary};
use thiserror::Error;
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    filter::Targets,
    fmt::{MakeWriter, writer::OptionalWriter},
};

use crate::terminal::printable_json;

pub use rotation::{bound_stderr, open_bounded};

/// Lines that may wait to be written.
const WAITING: usize = 1024;
/// Bytes of the lines that may wait to be written: at the level `trace`, one has up to 4 MiB.
const WAITING_BYTES: usize = 8 * 1024 * 1024;

/// The log's file could not be opened.
#[derive(Debug, Error)]
#[error("cannot open the log file {path:?}: {source}{}", hint(source))]
pub struct LogError {
    path: PathBuf,
    source: io::Error,
}

fn hint(source: &io::Error) -> &'static str {
    // This is the error for a socket, and for a FIFO without a reader.
    if source.raw_os_error() == Some(Errno::NXIO.raw_os_error()) {
        "; to log into a FIFO, start the program that reads it first"
    } else {
        ""
    }
}

/// The running log. Dropping it waits until the queued lines are written.
#[derive(Debug)]
pub struct Log {
    writers: Vec<LazyWriter>,
    repeats: Arc<Repeats>,
}

impl Drop for Log {
    fn drop(&mut self) {
        // The summaries are written before the writers end.
        self.repeats.rest().iter().for_each(Summary::write);
        self.writers.iter().for_each(LazyWriter::end);
    }
}

/// The writer of notices, where they do not go into the log.
static NOTICES: OnceLock<LazyWriter> = OnceLock::new();

/// Starts the log.
pub fn start(settings: &LogSettings) -> Result<Log, LogError> {
    let is_terminal = io::IsTerminal::is_terminal(&io::stderr());
    let escapes_json = is_terminal && matches!(settings.format, LogFormat::Json);
    let stderr = LazyWriter::new(Box::new(Stderr), escapes_json);
    let writer = match &settings.file {
        Some(path) => {
            let file = open(path).map_err(|source| LogError { path: path.clone(), source })?;
            LazyWriter::new(Box::new(file), false)
        }
        None => stderr.clone(),
    };
    // A program that parses JSON on stderr must not find plain text between the lines.
    let is_json = settings.file.is_none() && matches!(settings.format, LogFormat::Json);
    let in_the_log = match settings.level {
        LogLevel::Off => true,
        LogLevel::Error => false,
        _ => is_json,
    };
    if !in_the_log {
        // This fails only if a log was started before.
        drop(NOTICES.set(stderr.clone()));
    }
    let repeats = Arc::new(Repeats::default());
    subscribe(settings, writer.clone(), settings.file.is_none() && is_terminal, Arc::clone(&repeats));
    Ok(Log { writers: vec![stderr, writer], repeats })
}

/// Opens the log file, to append to it. Never blocks.
pub fn open(path: &Path) -> io::Result<File> {
    // Without O_NONBLOCK, opening a FIFO waits for a reader, and the bridge would not start.
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().create(true).append(true).custom_flags(nonblocking).open(path)?;
    // The log's thread may block; with the flag, it would lose lines to a slow reader.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Tells the reader of stderr what to do, even where the log goes to a file or holds errors only. Writes nothing
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
struct LazyWriter {
    state: Arc<Mutex<WriterState>>,
    queued: Arc<Backlog>,
    /// Whether JSON goes to a terminal, which must not act on what an agent says (I10).
    escapes_json: bool,
}

/// The number and the size of the lines that wait to be written.
#[derive(Debug, Default)]
struct Backlog {
    lines: AtomicUsize,
    bytes: AtomicUsize,
}

impl Backlog {
    /// Counts one more line, if it fits.
    fn add(&self, bytes: usize) -> bool {
        // Threads that log at the same time may all pass this check. The queue keeps [`WRITERS`] places free for their
        // lines.
        let fits = self.lines.load(Ordering::Relaxed) < WAITING - WRITERS
            && self.bytes.load(Ordering::Relaxed) + bytes <= WAITING_BYTES;
        if fits {
            self.lines.fetch_add(1, Ordering::Relaxed);
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        fits
    }

    fn remove(&self, bytes: usize) {
        self.lines.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// An upper bound of the threads that may log at the same time.
const WRITERS: usize = 24;

/// The target of the thread, which takes each written line off the backlog. Each call writes one line.
struct CountedWriter {
    target: Box<dyn Write + Send>,
    queued: Arc<Backlog>,
}

impl Write for CountedWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let written = self.target.write_all(line);
        self.queued.remove(line.len());
        written.map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

/// Queues one line.
struct LineQueue {
    writer: OptionalWriter<NonBlocking>,
    queued: Arc<Backlog>,
    escapes_json: bool,
}

impl Write for LineQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = self.escapes_json.then(|| String::from_utf8_lossy(line));
        let escaped = text.as_ref().map(|text| printable_json(text));
        let queued = escaped.as_ref().map_or(line, |escaped| escaped.as_bytes());
        if self.queued.add(queued.len()) {
            self.writer.write_all(queued)?;
        }
        // A line that was dropped counts as written, since a caller would otherwise write it again (I7).
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

enum WriterState {
    Unused(Box<dyn Write + Send>),
    Used { writer: NonBlocking, _guard: WorkerGuard },
    Over,
}

impl LazyWriter {
    fn new(target: Box<dyn Write + Send>, escapes_json: bool) -> Self {
        let queued = Arc::<Backlog>::default();
        let target = Box::new(CountedWriter { target, queued: Arc::clone(&queued) });
        LazyWriter { state: Arc::new(Mutex::new(WriterState::Unused(target))), queued, escapes_json }
    }

    /// Waits until the queued lines are written. Later lines are dropped.
    fn end(&self) {
        let state = mem::replace(&mut *self.state(), WriterState::Over);
        // Dropping the guard waits for the thread. The lock is not held meanwhile.
        drop(state);
    }

    fn state(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MakeWriter<'_> for LazyWriter {
    type Writer = LineQueue;

    fn make_writer(&self) -> Self::Writer {
        let mut state = self.state();
        if let WriterState::Unused(target) = &mut *state {
            // The placeholder is replaced with the state at once, and gets no line.
            let target = mem::replace(target, Box::new(io::sink()));
            let builder = NonBlockingBuilder::default().buffered_lines_limit(WAITING).lossy(true);
            let (writer, guard) = builder.finish(target);
            *state = WriterState::Used { writer, _guard: guard };
        }
        let writer = match &*state {
            WriterState::Used { writer, .. } => OptionalWriter::some(writer.clone()),
            WriterState::Unused(_) | WriterState::Over => OptionalWriter::none(),
        };
        LineQueue { writer, queued: Arc::clone(&self.queued), escapes_json: self.escapes_json }
    }
}

impl fmt::Debug for WriterState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            WriterState::Unused(_) => "Unused",
            WriterState::Used { .. } => "Used",
            WriterState::Over => "Over",
        })
    }
}

fn subscribe(settings: &LogSettings, writer: LazyWriter, is_terminal: bool, repeats: Arc<Repeats>) {
    let level = level(settings.level);
    let targets = targets(level);
    let (format, has_colors) = (settings.format, is_terminal && std::env::var_os("NO_COLOR").is_none());
    let make = move || {
        let builder =
            tracing_subscriber::fmt().with_max_level(level).with_writer(writer.clone()).with_ansi(has_colors);
        match format {
            // A person at a terminal sees lines as they appear, and has no use for the name of a module.
            LogFormat::Text if is_terminal => builder.without_time().with_target(false).finish().into(),
            LogFormat::Text => builder.finish().into(),
            LogFormat::Json => builder.json().finish().into(),
        }
    };
    // This fails only if a log was started before.
    drop(tracing::subscriber::set_global_default(LateSubscriber::new(targets, level, repeats, make)));
}

/// Returns the level of each crate. `rmcp` logs whole messages at lower levels, which only `trace` may show.
fn targets(level: LevelFilter) -> Targets {
    let all = Targets::new().with_default(level);
    if level == LevelFilter::TRACE {
        all
    } else {
        all.with_target("rmcp", level.min(LevelFilter::WARN)).with_target("async_nats", LevelFilter::OFF)
    }
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

/// Where the log goes, and how much of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogSettings {
    /// The minimum level.
    pub level: LogLevel,
    /// The file that the log is appended to. `None` writes it to stderr.
    pub file: Option<PathBuf>,
    /// The format of a line.
    pub format: LogFormat,
}

/// The minimum level of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogLevel {
    /// No lines.
    Off,
    /// Problems that ended the bridge.
    Error,
    /// Problems that did not stop the bridge.
    #[default]
    Warn,
    /// Questions as they open and settle, without their text.
    Info,
    /// Each intercepted line, without its text.
    Debug,
    /// The intercepted lines themselves, prompts and answers included.
    Trace,
}

/// The format of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, sync_channel};

    use super::*;

    /// Writes nothing until it is told to.
    struct Stalled(Receiver<()>);

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().unwrap_or_default();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_are_not_read_take_bounded_memory() {
        let (go_on, stalled) = sync_channel(0);
        let lazy = LazyWriter::new(Box::new(Stalled(stalled)), false);
        for length in [100_000, 10] {
            let line = "x".repeat(length);
            for _ in 0..4 * WAITING {
                lazy.make_writer().write_all(line.as_bytes()).expect("a log never fails");
            }
            assert!(lazy.queued.bytes.load(Ordering::Relaxed) <= WAITING_BYTES);
            assert!(lazy.queued.lines.load(Ordering::Relaxed) <= WAITING);
        }
        drop(go_on);
        lazy.end();
        assert_eq!(lazy.queued.bytes.load(Ordering::Relaxed), 0, "all of it is written in the end");
    }

    #[test]
    fn json_on_a_terminal_has_no_character_that_acts_on_it() {
        let (sender, written) = sync_channel(16);
        struct Kept(std::sync::mpsc::SyncSender<Vec<u8>>);
        impl Write for Kept {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.send(bytes.to_owned()).expect("the test reads it");
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let lazy = LazyWriter::new(Box::new(Kept(sender)), true);
        let line = "{\"session\":\"\u{9b}2J\u{202e}\u{85}\u{7f}\"}\n";
        lazy.make_writer().write_all(line.as_bytes()).expect("a log never fails");
        lazy.end();
        let written = String::from_utf8(written.recv().expect("a line")).expect("text");
        assert!(
            written.ends_with('\n') && written.trim_end().chars().all(|c| (' '..='~').contains(&c)),
            "{written:?}"
        );
    }
}
