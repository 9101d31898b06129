//! A command on a pseudo-terminal of its own, which is its controlling terminal: keys such as Ctrl-C reach it as signals.
//! What is typed, and what is expected, is left to the tests.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    num::NonZero,
    process::{Command, ExitStatus},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};

use crate::answers::machine::{ASKBRIDGE, TestMachine};
use crate::support::running::Running;

fn sized(rows: u16, columns: u16) -> [NonZero<u16>; 2] {
    [rows, columns].map(|size| NonZero::new(size).unwrap())
}

/// A command and its terminal.
pub(crate) struct Terminal {
    pub(crate) running: Running,
    master: File,
    /// All that was shown, without carriage returns.
    pub(crate) text: String,
    /// Where the text begins that no test has looked at.
    seen: usize,
    /// The screen, as a terminal shows it.
    emulated: vt100::Parser,
}

impl Terminal {
    /// Starts a command on a terminal of this size.
    pub(crate) fn start(machine: &TestMachine, args: &[&str], ws_col: u16, ws_row: u16) -> Self {
        Terminal::start_in(machine, args, &[], ws_col, ws_row)
    }

    /// Starts a command on a terminal of this size, which says of itself what these variables do.
    pub(crate) fn start_in(
        machine: &TestMachine,
        args: &[&str],
        variables: &[(&str, &str)],
        ws_col: u16,
        ws_row: u16,
    ) -> Self {
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(ASKBRIDGE).args(args);
        command
            .env("XDG_RUNTIME_DIR", machine.path())
            .env("XDG_STATE_HOME", machine.path().join("state"))
            .env("USER", "somebody")
            .env("TERM", "xterm-256color")
            // What is sent is sent at once. A test that takes it back says so.
            .env("ASKBRIDGE_SEND_UNDO", "0s");
        command.env_remove("TERM_PROGRAM").env_remove("TMUX").env_remove("NO_COLOR");
        command.env_remove("STY").envs(variables.iter().copied());
        Terminal::spawn(command, ws_col, ws_row)
    }

    pub(crate) fn spawn(mut command: Command, ws_col: u16, ws_row: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let slave = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let open = || OpenOptions::new().read(true).write(true).open(&slave).unwrap();
        command.stderr(open());
        let running = Running::start(command, open(), open());
        let [rows, columns] = sized(ws_row, ws_col);
        Terminal {
            running,
            master: File::from(master),
            text: String::new(),
            seen: 0,
            emulated: vt100::Parser::new(rows, columns, 0),
        }
    }

    /// Waits until this is shown behind what was expected before.
    #[track_caller]
    pub(crate) fn expect(&mut self, what: &str) {
        loop {
            if let Some(at) = self.text[self.seen..].find(what) {
                self.seen += at + what.len();
                return;
            }
            if !self.read() {
                let status = self.running.wait();
                panic!("the command ended ({status}) before it showed {what:?}:\n{}", self.text);
            }
        }
    }

    /// Waits until the screen shows this.
    #[track_caller]
    pub(crate) fn screen(&mut self, what: &str) {
        self.until(what, |screen| screen.contents().contains(what));
    }

    /// Waits until the screen shows all of this.
    #[track_caller]
    pub(crate) fn screens(&mut self, all: &[&str]) {
        self.until(&all.join(", "), |screen| {
            let contents = screen.contents();
            all.iter().all(|what| contents.contains(what))
        });
    }

    /// Waits until this holds for the screen.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&vt100::Screen) -> bool) {
        while !holds(self.emulated.screen()) {
            assert!(
                self.read(),
                "the command ended before it showed {what:?}:\n{}",
                self.emulated.screen().contents()
            );
        }
    }

    /// Waits until the list says this of its questions, and takes keys.
    #[track_caller]
    pub(crate) fn list(&mut self, what: &str) {
        self.screen(what);
        // A question that came into an empty list takes none at first.
        self.screen(">");
    }

    /// Returns the screen, as a terminal shows it.
    pub(crate) fn emulated(&self) -> &vt100::Screen {
        self.emulated.screen()
    }

    /// Returns whether the alternate screen is shown.
    pub(crate) fn is_alternate(&self) -> bool {
        self.emulated.screen().alternate_screen()
    }

    /// Returns how often the bell rang, beside what ends a title.
    pub(crate) fn bells(&self) -> usize {
        self.text.matches('\x07').count() - self.text.matches("askbridge\x07").count()
    }

    /// Shows what comes until the command has written this behind what was expected before, and replies with these bytes.
    #[track_caller]
    pub(crate) fn replies(&mut self, query: &str, reply: &str) {
        self.expect(query);
        self.types(reply);
    }

    /// Types these bytes.
    pub(crate) fn types(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Changes the size.
    pub(crate) fn resize(&mut self, ws_col: u16, ws_row: u16) {
        let [rows, columns] = sized(ws_row, ws_col);
        self.emulated.screen_mut().set_size(rows, columns);
        tcsetwinsize(&self.master, Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    }

    /// Returns whether the terminal shows what is typed, and reads whole lines.
    pub(crate) fn echoes(&self) -> (bool, bool) {
        let modes = tcgetattr(&self.master).unwrap().local_modes;
        (modes.contains(LocalModes::ECHO), modes.contains(LocalModes::ICANON))
    }

    /// Waits for the end of the command, and returns its exit code.
    #[track_caller]
    pub(crate) fn code(&mut self) -> i32 {
        let status = self.end();
        status.code().unwrap_or_else(|| panic!("{status}: {}", self.text))
    }

    /// Waits for the end of the command.
    pub(crate) fn end(&mut self) -> ExitStatus {
        while self.read() {}
        self.running.wait()
    }

    /// Reads what is shown next; returns whether there was anything.
    fn read(&mut self) -> bool {
        let mut chunk = [0; 4096];
        // Once no process has the terminal open any more, reading fails. A kernel may fail it before it has handed on what
        // was shown last.
        let read = self.master.read(&mut chunk).or_else(|_| {
            self.running.wait();
            self.master.read(&mut chunk)
        });
        let count = read.unwrap_or_default();
        self.emulated.process(&chunk[..count]);
        self.text += &String::from_utf8_lossy(&chunk[..count]).replace('\r', "");
        count > 0
    }
}
