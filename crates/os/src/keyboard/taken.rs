//! A terminal in raw mode while a program asks in plain lines: a thread reads it, shows what is typed, and hands on what
//! the person gives. What it reads between two prompts is thrown away.
//! What the bytes mean is left to `strokes.rs` and `line.rs`.

use std::{
    env,
    io::{self, IsTerminal},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read, write},
    termios::{InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr},
};

use super::{
    line::{Entry, Line, Takes},
    strokes::Strokes,
};
use crate::limits;

/// Asks the terminal to mark pastes.
const MARK: &str = "\x1b[?2004h";
/// Undoes [`MARK`].
const NO_MARK: &str = "\x1b[?2004l";

/// The keyboard of our terminal. Dropping the value gives the terminal back, once nothing is typed any more: what is left
/// would run in the shell. The caller catches the signals that end the process, so that the value is dropped.
#[derive(Debug)]
pub struct Keyboard {
    state: Arc<Mutex<State>>,
    before: Termios,
    marks: bool,
}

#[derive(Debug)]
struct State {
    /// The line that is typed. Without one, what is typed is thrown away.
    line: Option<Line>,
    strokes: Strokes,
    /// When something was typed last.
    last: Instant,
}

impl Keyboard {
    /// Takes the terminal, and throws away what was typed before. `give` gets what the person gives, on a thread of the
    /// keyboard, until it returns false.
    ///
    /// # Errors
    /// Stdin is no terminal, or it is gone.
    pub fn take(give: impl FnMut(Entry) -> bool + Send + 'static) -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let state = State { line: None, strokes: Strokes::default(), last: Instant::now() };
        let state = Arc::new(Mutex::new(state));
        // Some terminals would show the sequence as it is.
        let is_dumb = env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
        let marks = !is_dumb && io::stdout().is_terminal();
        let keyboard = Keyboard { state, before, marks };
        keyboard.begin()?;
        let state = Arc::clone(&keyboard.state);
        thread::Builder::new().name("keyboard".to_owned()).spawn(move || run(&state, give))?;
        Ok(keyboard)
    }

    fn begin(&self) -> io::Result<()> {
        let mut raw = self.before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        // Otherwise a paste with carriage returns and newlines would have each line break twice.
        raw.input_modes.remove(InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR);
        tcsetattr(io::stdin(), OptionalActions::Flush, &raw)?;
        if self.marks {
            show(MARK);
        }
        Ok(())
    }

    fn give_back(&self) {
        if self.marks {
            show(NO_MARK);
        }
        // This fails only if the terminal is gone, and then there is nothing to restore.
        tcsetattr(io::stdin(), OptionalActions::Flush, &self.before).unwrap_or_default();
    }

    /// Throws away what was typed, and what will be until [`ask`](Self::ask).
    pub fn hush(&self) {
        let mut state = lock(&self.state);
        (state.line, state.last) = (None, Instant::now());
        state.strokes.disown();
    }

    /// Returns how long to wait until nothing was typed for this long; `None` if so.
    pub fn noise(&self, quiet: Duration) -> Option<Duration> {
        let left = quiet.saturating_sub(lock(&self.state).last.elapsed());
        (!left.is_zero()).then_some(left)
    }

    /// Shows a prompt, and takes what is typed from now on.
    pub fn ask(&self, prompt: &str, takes: Takes) {
        // The lock keeps keys that follow the prompt at once waiting until they count.
        let mut state = lock(&self.state);
        show(prompt);
        state.line = Some(Line::new(takes));
    }

    /// Returns what the person has typed so far, as it is shown: for a prompt that is shown again.
    pub fn typed(&self) -> String {
        lock(&self.state).line.as_ref().map(Line::shown).unwrap_or_default()
    }

    /// Gives the terminal back, stops the process as Ctrl-Z does, and takes the terminal again once the process is
    /// continued. The caller has caught that signal.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn stop(&self) -> io::Result<()> {
        self.give_back();
        // The signal of Ctrl-Z is caught, so only SIGSTOP still stops the process.
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?;
        self.begin()
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.hush();
        let until = Instant::now() + limits::DRAIN;
        while let Some(left) = self.noise(limits::BURST).filter(|_| Instant::now() < until) {
            thread::sleep(left);
        }
        self.give_back();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // No code panics while it holds the lock, so its data is consistent.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows a text on our terminal. Another thread may hold the lock of stdout for as long as it runs, so this writes without
/// it: nothing is buffered while a prompt is shown.
fn show(text: &str) {
    let mut left = text.as_bytes();
    while !left.is_empty() {
        match write(io::stdout(), left) {
            Ok(written) => left = &left[written..],
            Err(Errno::INTR) => {}
            // The terminal is gone: the next read reports that.
            Err(_) => return,
        }
    }
}

/// Reads the terminal, and hands on what the person gives.
fn run(state: &Mutex<State>, mut give: impl FnMut(Entry) -> bool) {
    loop {
        let is_unfinished = lock(state).strokes.is_unfinished();
        if is_unfinished && !is_ready(Some(limits::BURST)) {
            lock(state).strokes.expire();
        }
        is_ready(None);
        // What is there before the prompt was meant for something else.
        let is_heard = lock(state).line.is_some();
        let mut bytes = Vec::new();
        let is_over = !more(&mut bytes);
        lock(state).last = Instant::now();
        if is_heard {
            // Lines that arrive together may come in pieces.
            while bytes.iter().any(|byte| b"\r\n".contains(byte)) && bytes.len() <= limits::TYPED {
                if !is_ready(Some(limits::BURST)) || !more(&mut bytes) {
                    break;
                }
            }
        }
        let entry = heard(&mut lock(state), &bytes, is_heard);
        let is_wanted = entry.is_none_or(&mut give) && (!is_over || give(Entry::End));
        if is_over || !is_wanted {
            return;
        }
    }
}

/// Adds bytes that were typed to the line; returns what they led to.
fn heard(state: &mut State, bytes: &[u8], is_heard: bool) -> Option<Entry> {
    state.last = Instant::now();
    let strokes = state.strokes.read(bytes);
    let Some(line) = state.line.as_mut().filter(|_| is_heard) else {
        state.strokes.disown();
        return None;
    };
    for stroke in strokes {
        let (shown, entry) = line.take(stroke);
        show(&shown);
        if entry.is_some() {
            // What is behind it was typed before the next prompt.
            state.line = None;
            state.strokes.disown();
            return entry;
        }
    }
    None
}

/// Reads what is there, and adds it; returns false at the end of the input.
fn more(bytes: &mut Vec<u8>) -> bool {
    let mut chunk = [0; 4096];
    loop {
        match read(io::stdin(), &mut chunk) {
            Ok(0) => return false,
            Ok(count) => {
                bytes.extend(&chunk[..count]);
                return true;
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return false,
        }
    }
}

/// Waits until something can be read, for this long or without a limit; returns whether it can.
fn is_ready(within: Option<Duration>) -> bool {
    let within = within.map(|time| Timespec::try_from(time).unwrap_or_default());
    let stdin = io::stdin();
    loop {
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], within.as_ref()) {
            Err(Errno::INTR) => {}
            // Where it fails, reading says why.
            ready => return ready.is_ok_and(|ready| ready > 0),
        }
    }
}
