//! A command reads the settings once, and makes the directory of the sockets only if it needs one.

use std::{fs, mem::MaybeUninit, os::fd::OwnedFd, path::Path};

use rustix::{fs::inotify, io::Errno};

use crate::{answers::person::Person, support::Process};

/// Counts how often a file is opened.
struct Openings(OwnedFd);

impl Openings {
    fn of(file: &Path) -> Self {
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
        // The kernel joins equal events in a row, so the end of each use is watched as well.
        let events = inotify::WatchFlags::OPEN | inotify::WatchFlags::CLOSE;
        inotify::add_watch(&watch, file, events).unwrap();
        Openings(watch)
    }

    /// Returns how often the file was opened since the last call.
    fn since(&self) -> usize {
        let mut room = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.0, &mut room);
        let mut count = 0;
        loop {
            match events.next() {
                Ok(event) => count += usize::from(event.events().contains(inotify::ReadFlags::OPEN)),
                Err(Errno::AGAIN) => return count,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn commands_read_the_settings_once() {
    let person = Person::new();
    person.sets("[[rule]]\nname = 'never'\ncommand = 'never'\nthen = 'allow'\n");
    let _asks = Process::spawn(&mut person.command(&["ask", "Which?", "--option", "a"]));
    let id = person.machine.question();
    let openings = Openings::of(&person.file());
    for args in [
        &["list", "--json"][..],
        &["status"],
        &["show", &id],
        &["doctor"],
        &["config"],
        &["config", "get", "notify.delay"],
        &["machine", "list"],
        &["rules", "list"],
        &["rules", "check"],
        &["rules", "try", &id],
        &["history"],
        &["answer", &id, "a"],
    ] {
        // What it prints and its exit code are of other tests.
        drop(person.run(args));
        assert_eq!(openings.since(), 1, "{args:?}");
    }
}

#[test]
fn commands_without_a_socket_make_no_directory() {
    let person = Person::new();
    for args in
        [&["config"][..], &["config", "path"], &["rules", "list"], &["completions", "bash"], &["setup"]]
    {
        drop(person.run(args));
        assert!(fs::symlink_metadata(person.machine.sockets()).is_err(), "{args:?}");
    }
    person.ok(&["list"]);
    assert!(person.machine.sockets().is_dir());
}
