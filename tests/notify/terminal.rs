//! The terminal that a bridge was started in: it rings, and gets its title back.

use std::{
    fs::{self, File},
    io::Read,
    os::fd::OwnedFd,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::answers::machine::end;
use crate::notify::stage::{Stage, notifiers, question, wait};

/// The person's side of a terminal.
struct Screen {
    path: String,
    shown: Arc<Mutex<String>>,
}

impl Screen {
    fn open() -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let path = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let shown = Arc::new(Mutex::new(String::new()));
        let (mut reader, kept) = (File::from(terminal), Arc::clone(&shown));
        thread::spawn(move || {
            let mut bytes = [0; 1024];
            // It fails once the last process has closed the terminal.
            while let Ok(length @ 1..) = reader.read(&mut bytes) {
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..length]));
            }
        });
        Screen { path, shown }
    }

    fn side_of_programs(&self) -> OwnedFd {
        File::options().read(true).write(true).open(&self.path).unwrap().into()
    }

    #[track_caller]
    fn expect(&self, text: &str) {
        wait(&format!("{text:?}"), || self.shown.lock().unwrap().contains(text).then_some(()));
    }
}

/// A bridge that is killed with the test.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        self.0.wait().map(drop).unwrap_or_default();
    }
}

#[test]
fn the_terminal_of_the_bridge_rings_and_gets_its_title_back() {
    let stage = Stage::new().with("ASKBRIDGE_NOTIFY_TERMINAL_ENABLED", "true").with("TERM", "foot");
    let screen = Screen::open();
    let asks = format!("printf '%s\\n' '{}'; cat >/dev/null", question("Go?\u{1b}]0;x\u{7}"));
    let mut command: Command =
        stage.command(&["run", "--client-questions", "native", "--", "sh", "-c", &asks]);
    command.env_remove("TMUX").env_remove("STY").env_remove("TERM_PROGRAM");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(screen.side_of_programs());
    let bridge = Killed(command.spawn().unwrap());
    let id = stage.machine.question();
    screen.expect("\u{1b}]777;notify;askbridge;A question waits");
    screen.expect("\u{7}");
    screen.expect("\u{1b}]2;(1) askbridge");
    assert!(!screen.shown.lock().unwrap().contains("]0;x"), "text of an agent reached the terminal raw");
    assert_eq!(stage.machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
    screen.expect("\u{1b}[23;0t");
    wait("the end of the notifier", || notifiers(bridge.0.id()).is_empty().then_some(()));
}

#[test]
fn file_that_is_no_terminal_is_not_written() {
    let stage = Stage::new().with("ASKBRIDGE_NOTIFY_TERMINAL_ENABLED", "true");
    let (file, link) = (stage.file("file"), stage.file("link"));
    fs::write(&file, "mine").unwrap();
    let screen = Screen::open();
    std::os::unix::fs::symlink(&screen.path, &link).unwrap();
    let (_bridge, id) = stage.asking(&question("Go?"));
    for (path, expected) in [(&file, "it is not a terminal"), (&link, "symbolic links")] {
        let words = ["notify", "--background", "--now", "--terminal", path.to_str().unwrap(), &id];
        let run = end(stage.start(&words));
        assert!(run.stderr.contains("terminal: ") && run.stderr.contains(expected), "{run:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(*screen.shown.lock().unwrap(), "");
}
