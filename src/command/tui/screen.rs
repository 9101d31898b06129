//! The terminal of the full-screen inbox: it is taken, and restored however the program ends. Keys,
//! pastes and clicks are read as events of the inbox.
//! Handling events is left to `handle.rs`.

use std::{
    cell::Cell,
    io::{self, Write},
    panic,
    sync::{Mutex, MutexGuard, Once, PoisonError},
};

use crossterm::{
    event::{
        Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent,
        MouseEventKind,
    },
    terminal::{disable_raw_mode, enable_raw_mode},
};

use super::event::{Key, TuiEvent};
use crate::present::attention::TerminalKind;

/// Switches to the alternate screen, hides the cursor, and asks for pastes and for the focus to be reported. No line
/// wraps, so that a character that is wider than this program counts stays on its line.
const ENTER: &str = "\x1b[?1049h\x1b[?7l\x1b[?25l\x1b[?2004h\x1b[?1004h";
/// Undoes [`ENTER`], [`MOUSE`] and the last styles.
const LEAVE: &str =
    "\x1b[0m\x1b[?1000l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[H\x1b[J\x1b[?7h\x1b[?25h\x1b[?1049l";
/// Asks for clicks and the wheel.
const MOUSE: &str = "\x1b[?1000h\x1b[?1006h";
/// Saves the title, and asks for keys with their modifiers, in terminals that are known to support it.
const KEEP_TITLE: &str = "\x1b[22;2t";
const GIVE_TITLE_BACK: &str = "\x1b[23;2t";
const MODIFIERS: &str = "\x1b[>1u";
const NO_MODIFIERS: &str = "\x1b[<u";

/// The escape sequences that give the terminal back, while it is taken. A panic and the unwinding after it give it back
/// only once: the report of the panic is on the screen by then, and must stay there.
static TAKEN: Mutex<Option<String>> = Mutex::new(None);

/// The terminal in full-screen mode. Dropping the value restores the terminal.
pub(super) struct Screen {
    known: TerminalKind,
    mouse: bool,
}

impl Screen {
    /// Switches the terminal to raw mode and the full screen. The caller catches the signals that end the process, so
    /// that the `Screen` is dropped.
    pub(super) fn enter(known: TerminalKind, mouse: bool) -> io::Result<Self> {
        give_back_on_panic();
        let screen = Screen { known, mouse };
        screen.take()?;
        Ok(screen)
    }

    fn take(&self) -> io::Result<()> {
        enable_raw_mode()?;
        // This comes before the write, so that the terminal is given back even if the write fails half way.
        *taken() = Some(self.leave());
        let mouse = if self.mouse { MOUSE } else { "" };
        let title = if self.known == TerminalKind::Plain { "" } else { KEEP_TITLE };
        let modifiers = if self.known.tells_modifiers() { MODIFIERS } else { "" };
        write(&format!("{title}{ENTER}{modifiers}{mouse}"))
    }

    fn leave(&self) -> String {
        let title = if self.known == TerminalKind::Plain { "" } else { GIVE_TITLE_BACK };
        let modifiers = if self.known.tells_modifiers() { NO_MODIFIERS } else { "" };
        // The alternate screen has its own stack of keyboard modes, so they are reset before it is left.
        format!("{modifiers}{LEAVE}{title}")
    }

    /// Gives the terminal back, stops the process, and takes the terminal again once the process is continued.
    pub(super) fn stop(&self) -> io::Result<()> {
        give();
        // The signal of Ctrl-Z is caught, so only SIGSTOP still stops the process.
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?;
        self.take()
    }

    /// Returns whether the terminal prints sequences that it does not know.
    pub(super) fn is_plain(&self) -> bool {
        self.known == TerminalKind::Plain
    }

    /// Notifies the user by this terminal's escape sequence for notifications.
    pub(super) fn tell(&self, text: &str) -> io::Result<()> {
        write(&self.known.tell(text))
    }

    /// Writes escape sequences that change nothing in how the terminal is given back.
    pub(super) fn write(&self, text: &str) -> io::Result<()> {
        write(text)
    }

    /// Shows the number of open questions in the title.
    pub(super) fn title(&self, open: usize) -> io::Result<()> {
        write(&self.known.title(open))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give();
    }
}

thread_local! {
    /// Whether a panic of this thread ends nothing but its work.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Does work that may panic without an end of the program: the terminal stays as it is, and no report is written into it.
/// The panic unwinds to the end of the thread's task.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> T {
    struct Unguard;
    impl Drop for Unguard {
        fn drop(&mut self) {
            IS_GUARDED.set(false);
        }
    }
    IS_GUARDED.set(true);
    let _unguard = Unguard;
    work()
}

/// Gives the terminal back before a panic is reported: the report would be lost with the alternate screen.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                give();
                before(info);
            }
        }));
    });
}

fn taken() -> MutexGuard<'static, Option<String>> {
    // No code panics while it holds the lock, so its data is consistent.
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the terminal back, if it is taken.
fn give() {
    let leave = taken().take();
    if let Some(leave) = leave {
        // This fails only if the terminal is gone, and then there is nothing to restore.
        write(&leave).unwrap_or_default();
        disable_raw_mode().unwrap_or_default();
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Lines that one turn of the wheel scrolls by.
const WHEEL: i32 = 3;

/// Returns the event of the inbox for an input; `None` if the input means nothing to it.
pub(super) fn event(input: Input) -> Option<TuiEvent> {
    match input {
        Input::Key(key) => Some(TuiEvent::Key(read(key)?)),
        Input::Paste(text) => Some(TuiEvent::Paste(text)),
        Input::Resize(columns, lines) => Some(TuiEvent::Resize(columns, lines)),
        Input::Mouse(MouseEvent { kind, column, row, .. }) => match kind {
            MouseEventKind::Down(MouseButton::Left) => Some(TuiEvent::Click(column, row)),
            MouseEventKind::ScrollDown => Some(TuiEvent::Scroll(WHEEL)),
            MouseEventKind::ScrollUp => Some(TuiEvent::Scroll(-WHEEL)),
            _ => None,
        },
        Input::FocusGained | Input::FocusLost => None,
    }
}

fn read(key: KeyEvent) -> Option<Key> {
    // Some terminals report each key twice: when it is pressed, and when it is released.
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let has = |modifier| key.modifiers.contains(modifier);
    Some(match key.code {
        // A terminal sends Ctrl+J for a newline, and many send it for Ctrl+Enter.
        KeyCode::Enter if has(KeyModifiers::CONTROL) || has(KeyModifiers::ALT) => Key::Send,
        KeyCode::Char('j') if has(KeyModifiers::CONTROL) => Key::Send,
        KeyCode::Char(c) if has(KeyModifiers::CONTROL) => Key::Control(c.to_ascii_lowercase()),
        KeyCode::Char(_) if has(KeyModifiers::ALT) || has(KeyModifiers::SUPER) => return None,
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Tab if has(KeyModifiers::SHIFT) => Key::BackTab,
        KeyCode::Tab => Key::Tab,
        KeyCode::Backspace if has(KeyModifiers::ALT) || has(KeyModifiers::CONTROL) => Key::Control('w'),
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{File, OpenOptions},
        io::Read,
        process::Command,
    };

    use rustix::{
        pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
        termios::{LocalModes, tcgetattr},
    };

    use super::*;

    /// Set for the process that panics.
    const PANICS: &str = "PANICS_ON_ITS_TERMINAL";

    #[test]
    fn a_panic_gives_the_terminal_back_and_is_readable_there() {
        if std::env::var_os(PANICS).is_some() {
            let _screen = Screen::enter(TerminalKind::Other, true).unwrap();
            // What decodes an image may panic without an end of the program.
            std::thread::spawn(|| guarded(|| panic!("not seen"))).join().unwrap_err();
            assert!(taken().is_some(), "the terminal was given back");
            panic!("of the test");
        }
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let open = || OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let before = tcgetattr(&master).unwrap().local_modes;
        let name = "command::tui::screen::tests::a_panic_gives_the_terminal_back_and_is_readable_there";
        let mut command = Command::new("timeout");
        command.args(["30", "setsid", "--wait", "--ctty"]).arg(std::env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(PANICS, "1");
        let mut child = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
        // It has the terminal open as well.
        drop(command);
        let mut output = File::from(master.try_clone().unwrap());
        let (mut text, mut chunk) = (String::new(), [0; 4096]);
        // Once no process has the terminal open, reading fails.
        while let Ok(count @ 1..) = output.read(&mut chunk) {
            text += &String::from_utf8_lossy(&chunk[..count]);
        }
        child.wait().unwrap();
        let left = text.rfind("\x1b[?1049l").unwrap_or_else(|| panic!("the screen is not left: {text:?}"));
        assert!(text[..left].contains("\x1b[?1049h"), "{text:?}");
        assert_eq!(text.matches("\x1b[?1049l").count(), 1, "the report is wiped: {text:?}");
        let report = text.find("of the test").unwrap_or_else(|| panic!("no report: {text:?}"));
        assert!(left < report, "the report is lost with the screen: {text:?}");
        assert!(!text.contains("not seen"), "{text:?}");
        for undone in ["\x1b[?1000l", "\x1b[?2004l", "\x1b[?25h", GIVE_TITLE_BACK] {
            assert_eq!(text.matches(undone).count(), 1, "{undone:?}: {text:?}");
        }
        let after = tcgetattr(&master).unwrap().local_modes;
        assert!(after.contains(LocalModes::ECHO | LocalModes::ICANON) && after == before, "{after:?}");
    }

    #[test]
    fn keys_are_read_with_their_modifiers() {
        let key = |code, modifiers| read(KeyEvent::new(code, modifiers));
        for (code, modifiers, expected) in [
            (KeyCode::Char('J'), KeyModifiers::SHIFT, Some(Key::Char('J'))),
            (KeyCode::Char('s'), KeyModifiers::CONTROL, Some(Key::Control('s'))),
            (KeyCode::Char('j'), KeyModifiers::CONTROL, Some(Key::Send)),
            (KeyCode::Enter, KeyModifiers::CONTROL, Some(Key::Send)),
            (KeyCode::Enter, KeyModifiers::ALT, Some(Key::Send)),
            (KeyCode::Enter, KeyModifiers::NONE, Some(Key::Enter)),
            (KeyCode::Char('y'), KeyModifiers::ALT, None),
            (KeyCode::Tab, KeyModifiers::SHIFT, Some(Key::BackTab)),
            (KeyCode::F(1), KeyModifiers::NONE, None),
        ] {
            assert_eq!(key(code, modifiers), expected, "{code:?} {modifiers:?}");
        }
    }
}
