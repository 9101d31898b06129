//! A launcher in the place of ssh: the command of the settings only hands its stdin and stdout to the test, which runs
//! `askbridge dial` on the other machine, and passes on the lines between the two, late, changed, or not at all.

use std::{
    collections::HashSet,
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc, Condvar, Mutex,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::{Pid, Signal, kill_process, test_kill_process},
};
use serde_json::Value;

use crate::support::DEADLINE;

/// The command of the settings. It names its pipes by its own process, and ends as ssh does if it is to fail.
const COMMAND: &str = r#"
if [ -f "$1/fails" ]; then cat "$1/fails" >&2; exit 255; fi
mkfifo "$1/$$.in" "$1/$$.out" && echo $$ >>"$1/calls" || exit 1
cat "$1/$$.out" &
exec cat >"$1/$$.in"
"#;

/// How often it is looked whether the other end is still there, while nothing passes.
const LOOK: Duration = Duration::from_millis(50);

/// Lines that are read ahead.
const LINES: usize = 64;

/// What the launcher does to the connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    /// What is sent before the greeting.
    pub banner: Vec<u8>,
    /// What is sent in the place of the greeting.
    pub greeting: Option<String>,
    /// Nothing passes in the direction of the person.
    pub is_stalled: bool,
    /// The connection is cut in the place of the reply to this method, once.
    pub loses: Option<&'static str>,
    /// The connection is cut in the place of the call of this method, once.
    pub swallows: Option<&'static str>,
    /// Replies to this method wait until it is not held any more.
    pub holds: Option<&'static str>,
}

/// What the launcher has seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The connections that were begun.
    pub connections: usize,
    /// The connections that are there.
    pub alive: usize,
    /// The methods that were called, in order.
    pub called: Vec<String>,
    /// The methods whose replies were lost, held or swallowed.
    pub withheld: usize,
}

#[derive(Debug, Default)]
struct State {
    faults: Faults,
    seen: Seen,
    /// The commands of the settings that run, and the process at the other end of each.
    running: Vec<(Pid, Option<Pid>)>,
    /// Nothing begins any more.
    has_ended: bool,
}

impl State {
    fn begin(&mut self, command: Pid, dial: Option<Pid>) {
        self.seen.connections += 1;
        self.seen.alive += 1;
        self.running.push((command, dial));
    }

    fn end(&mut self, command: Pid) {
        let before = self.running.len();
        self.running.retain(|(running, _)| *running != command);
        self.seen.alive -= before - self.running.len();
    }
}

/// The launcher of one machine.
#[derive(Clone)]
pub(crate) struct Launcher {
    folder: PathBuf,
    shared: Arc<(Mutex<State>, Condvar)>,
}

/// What is at the other end of a connection.
pub(crate) enum Far {
    /// The process of this command.
    Dial(Box<dyn Fn() -> Command + Send + Sync>),
    /// The test itself, which reads the calls, and writes what it likes.
    Played(Box<dyn Fn(fs::File, fs::File) + Send + Sync>),
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_bits_truncate(0o600), 0).unwrap();
}

impl Launcher {
    /// Returns a launcher with files in this directory.
    pub(crate) fn new(folder: PathBuf, far: Far) -> Self {
        fs::create_dir(&folder).unwrap();
        fifo(&folder.join("calls"));
        let launcher = Launcher { folder, shared: Arc::default() };
        let (accepting, far) = (launcher.clone(), Arc::new(far));
        // With an end to write as well, it is never at its end.
        let calls =
            fs::OpenOptions::new().read(true).write(true).open(launcher.folder.join("calls")).unwrap();
        thread::spawn(move || {
            for line in BufReader::new(calls).lines() {
                let pid: i32 = line.unwrap().parse().unwrap();
                if !accepting.folder.exists() {
                    return;
                }
                accepting.begin(Pid::from_raw(pid).unwrap(), &far);
            }
        });
        launcher
    }

    /// Returns the words of the command in the settings.
    pub(crate) fn words(&self) -> Vec<String> {
        ["sh", "-c", COMMAND, "sh", self.folder.to_str().unwrap()].map(str::to_owned).to_vec()
    }

    /// Changes what happens from now on.
    pub(crate) fn set(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut self.shared.0.lock().unwrap().faults);
        self.shared.1.notify_all();
    }

    /// Lets all tries to connect fail with this message, as ssh does, or not any more.
    pub(crate) fn fails(&self, message: Option<&str>) {
        let path = self.folder.join("fails");
        match message {
            Some(message) => fs::write(path, message).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
    }

    /// Waits until this holds of what was seen, and returns it.
    pub(crate) fn until(&self, what: &str, holds: impl Fn(&Seen) -> bool) -> Seen {
        let (state, changed) = &*self.shared;
        let waited =
            changed.wait_timeout_while(state.lock().unwrap(), DEADLINE, |state| !holds(&state.seen)).unwrap();
        assert!(!waited.1.timed_out(), "not seen in time: {what}: {:?}", waited.0);
        waited.0.seen.clone()
    }

    /// Cuts all connections.
    pub(crate) fn cut(&self) {
        for (command, dial) in self.running() {
            for pid in [Some(command), dial].into_iter().flatten() {
                kill(pid);
            }
        }
    }

    /// Ends all connections, waits for the processes at their other ends, and begins no more.
    pub(crate) fn end(&self) {
        self.change(|state| state.has_ended = true);
        self.cut();
        let (state, changed) = &*self.shared;
        let dials = |state: &mut State| state.running.iter().any(|(_, dial)| dial.is_some());
        drop(changed.wait_timeout_while(state.lock().unwrap(), DEADLINE, dials).unwrap());
    }

    /// Stops the processes at the other end, so that they do not reply, while the connections stay.
    pub(crate) fn freeze(&self) {
        for (_, dial) in self.running() {
            kill_process(dial.expect("a process"), Signal::STOP).unwrap();
        }
    }

    fn running(&self) -> Vec<(Pid, Option<Pid>)> {
        self.shared.0.lock().unwrap().running.clone()
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.shared.0.lock().unwrap());
        self.shared.1.notify_all();
        changed
    }

    fn begin(&self, command: Pid, far: &Arc<Far>) {
        let path = |end: &str| self.folder.join(format!("{}.{end}", command.as_raw_nonzero()));
        let (calls, replies) = (path("in"), path("out"));
        let (launcher, far) = (self.clone(), Arc::clone(far));
        thread::spawn(move || {
            // The command may be killed before it opens its ends: then nothing begins.
            let replies = fs::OpenOptions::new().write(true).open(replies);
            let (Ok(replies), Ok(calls)) = (replies, fs::File::open(calls)) else { return };
            match &*far {
                Far::Dial(start) => launcher.dial(command, start(), calls, replies),
                Far::Played(play) => {
                    launcher.change(|state| state.begin(command, None));
                    play(calls, replies);
                }
            }
            kill(command);
            launcher.change(|state| state.end(command));
        });
    }

    /// Runs the process at the other end until its connection ends.
    fn dial(&self, command: Pid, mut process: Command, calls: fs::File, replies: fs::File) {
        process.stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = self.change(|state| {
            (!state.has_ended).then(|| {
                let dial = process.spawn().unwrap();
                state.begin(command, Pid::from_raw(dial.id().cast_signed()));
                dial
            })
        });
        let Some(mut dial) = started else { return };
        let (stdin, stdout) = (dial.stdin.take().unwrap(), dial.stdout.take().unwrap());
        let connection = Arc::new(Connection { launcher: self.clone(), command, calls: Mutex::default() });
        let up = Arc::clone(&connection);
        thread::spawn(move || up.up(calls, stdin));
        connection.down(replies, stdout);
        // A stopped process ends by this as well.
        drop(dial.kill());
        dial.wait().unwrap();
    }
}

/// One connection.
struct Connection {
    launcher: Launcher,
    command: Pid,
    /// The IDs of the calls whose replies are interesting, by what is done to them.
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    lost: HashSet<String>,
    held: HashSet<String>,
}

impl Connection {
    fn cut(&self) {
        kill(self.command);
    }

    /// Passes on what the person's side calls.
    fn up(&self, calls: fs::File, mut stdin: ChildStdin) {
        for line in BufReader::new(calls).split(b'\n') {
            let Ok(mut line) = line else { break };
            let call: Value = serde_json::from_slice(&line).unwrap_or_default();
            let (method, id) = (call["method"].as_str().unwrap_or_default(), call["id"].to_string());
            let is_swallowed = self.launcher.change(|state| {
                state.seen.called.push(method.to_owned());
                let mut calls = self.calls.lock().unwrap();
                if state.faults.loses == Some(method) {
                    calls.lost.insert(id.clone());
                    state.faults.loses = None;
                }
                if state.faults.holds == Some(method) {
                    calls.held.insert(id.clone());
                }
                let is_swallowed = state.faults.swallows == Some(method);
                if is_swallowed {
                    state.faults.swallows = None;
                    state.seen.withheld += 1;
                }
                is_swallowed
            });
            if is_swallowed {
                self.cut();
                break;
            }
            line.push(b'\n');
            if stdin.write_all(&line).is_err() {
                break;
            }
        }
    }

    /// Passes on what the other machine says.
    fn down(&self, mut replies: fs::File, stdout: ChildStdout) {
        let (sender, lines) = sync_channel(LINES);
        thread::spawn(move || read(stdout, &sender));
        self.pass_on(&mut replies, &lines);
    }

    fn pass_on(&self, replies: &mut fs::File, lines: &Receiver<Vec<u8>>) {
        let Faults { banner, greeting, .. } = self.launcher.shared.0.lock().unwrap().faults.clone();
        let mut instead = greeting;
        if replies.write_all(&banner).is_err() {
            return;
        }
        while let Ok(line) = lines.recv() {
            let said: Value = serde_json::from_slice(&line).unwrap_or_default();
            let id = said["id"].to_string();
            let line = instead.take().map_or(line, |greeting| (greeting + "\n").into_bytes());
            if self.calls.lock().unwrap().lost.contains(&id) {
                self.launcher.change(|state| state.seen.withheld += 1);
                return;
            }
            let is_held = self.calls.lock().unwrap().held.contains(&id);
            if !self.may_pass(is_held) || replies.write_all(&line).is_err() {
                return;
            }
        }
    }

    /// Waits until a line may pass. Returns false if the connection has ended meanwhile.
    fn may_pass(&self, is_held: bool) -> bool {
        let (state, changed) = &*self.launcher.shared;
        let mut state = state.lock().unwrap();
        if is_held {
            state.seen.withheld += 1;
            changed.notify_all();
        }
        let deadline = Instant::now() + DEADLINE;
        while state.faults.is_stalled || (is_held && state.faults.holds.is_some()) {
            let left = deadline.saturating_duration_since(Instant::now());
            // The other end may be gone, which no change says.
            let is_there = state
                .running
                .iter()
                .any(|(command, _)| *command == self.command && test_kill_process(*command).is_ok());
            if left.is_zero() || !is_there {
                return false;
            }
            state = changed.wait_timeout(state, left.min(LOOK)).unwrap().0;
        }
        true
    }
}

/// Kills a process, which may have ended by itself.
fn kill(pid: Pid) {
    kill_process(pid, Signal::KILL).unwrap_or_default();
}

/// Reads lines, each with its end.
fn read(stdout: ChildStdout, lines: &SyncSender<Vec<u8>>) {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match reader.by_ref().read_until(b'\n', &mut line) {
            Ok(1..) if lines.send(line).is_ok() => {}
            _ => return,
        }
    }
}
