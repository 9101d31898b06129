//! Two machines: the one where the person is, and the one where the agent asks, with the launcher between them.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use askbridge_control::join::remote;
use serde_json::{Value, json};

use super::{
    launcher::{Far, Launcher},
    played::Wire,
};
use crate::{
    answers::{
        machine::{ASKBRIDGE, Run, TestMachine},
        person::Person,
    },
    support::{DEADLINE, Process},
};

/// The name of the other machine in the settings.
pub(crate) const BOX: &str = "box";

pub(crate) struct World {
    pub(crate) person: Person,
    /// The other machine.
    pub(crate) far: TestMachine,
    pub(crate) launcher: Launcher,
    inbox: Option<Process>,
    /// What the inbox said when it began.
    said: String,
}

impl World {
    /// Returns two machines, of which the person's has the other in its settings.
    pub(crate) fn new() -> Self {
        World::dialing(&["dial"])
    }

    /// The same, with these arguments for the program at the other end.
    pub(crate) fn dialing(arguments: &[&str]) -> Self {
        let far = TestMachine::new();
        let (runtime, arguments) = (far.path().to_owned(), arguments.iter().map(|&a| a.to_owned()));
        let arguments: Vec<String> = arguments.collect();
        let dial = move || {
            let mut command = Command::new(ASKBRIDGE);
            command.args(&arguments).env("XDG_RUNTIME_DIR", &runtime);
            command.env("XDG_STATE_HOME", runtime.join("state")).env("XDG_CONFIG_HOME", &runtime);
            command
        };
        World::with(far, Far::Dial(Box::new(dial)))
    }

    /// The same, with another machine that the test plays.
    pub(crate) fn played(play: impl Fn(Wire) + Send + Sync + 'static) -> Self {
        let play = move |calls, replies| play(Wire::new(calls, replies));
        World::with(TestMachine::new(), Far::Played(Box::new(play)))
    }

    fn with(far: TestMachine, end: Far) -> Self {
        let person = Person::new();
        let launcher = Launcher::new(person.machine.path().join("launcher"), end);
        let world = World { person, far, launcher, inbox: None, said: String::new() };
        world.sets(&[]);
        world
    }

    /// Sets the machine, and others with their commands.
    pub(crate) fn sets(&self, others: &[(&str, &[&str])]) {
        let mut text = format!("[machine.{BOX}]\ncommand = {}\n", json!(self.launcher.words()));
        for (name, words) in others {
            text += &format!("[machine.{name}]\ncommand = {}\n", json!(words));
        }
        self.person.sets(&text);
    }

    /// Starts the inbox of the person, which holds the connection, and waits until it has begun.
    pub(crate) fn inbox(&mut self) {
        self.inbox_alone();
        self.launcher.until("a connection", |seen| seen.connections > 0);
        self.until_listed("box connected", |_, list| list.contains("\"complete\": true"));
    }

    /// Ends the inbox of the person, and starts another one.
    pub(crate) fn restart(&mut self) {
        self.inbox = None;
        self.inbox();
    }

    /// Starts the inbox of the person.
    pub(crate) fn inbox_alone(&mut self) {
        let inbox = Process::spawn(&mut self.person.command(&["inbox", "--addr", "127.0.0.1:0"]));
        // The whole address is there with the end of its line.
        self.said = inbox.expect_stderr("that it listens", |said| {
            said.split_once("http://127.0.0.1:").is_some_and(|(_, rest)| rest.contains(char::is_whitespace))
        });
        self.inbox = Some(inbox);
    }

    /// Returns what the inbox has said so far.
    pub(crate) fn said(&self) -> String {
        self.inbox.as_ref().expect("an inbox").expect_stderr("anything", |_| true)
    }

    /// Waits until the inbox says this on stderr.
    pub(crate) fn until_said(&self, what: &str) {
        self.inbox.as_ref().expect("an inbox").expect_stderr(what, |said| said.contains(what));
    }

    /// Returns where the inbox listens.
    pub(crate) fn address(&self) -> String {
        let (_, rest) = self.said.split_once("http://").expect("an address");
        rest.split(|char: char| char != '.' && char != ':' && !char.is_ascii_digit())
            .next()
            .unwrap()
            .to_owned()
    }

    pub(crate) fn inbox_id(&self) -> u32 {
        self.inbox.as_ref().expect("an inbox").id()
    }

    pub(crate) fn start(&self, args: &[&str]) -> Process {
        Process::spawn(&mut self.person.command(args))
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.person.run(args)
    }

    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        self.person.ok(args)
    }

    /// Repeats a listing until this holds of the IDs in it and of its text.
    pub(crate) fn until_listed(&self, what: &str, fits: impl Fn(&[String], &str) -> bool) -> Vec<String> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let run = self.run(&["list", "--json"]);
            let ids = ids(&run.stdout);
            if fits(&ids, &run.stdout) {
                return ids;
            }
            assert!(Instant::now() < deadline, "not listed in time: {what}: {run:?}");
            thread::yield_now();
        }
    }

    /// Waits until the inbox says this of why the machine is not connected, and returns all that it says.
    pub(crate) fn until_problem(&self, said: &str) -> String {
        let deadline = Instant::now() + DEADLINE;
        let path = remote::socket(&self.person.machine.sockets());
        loop {
            let report = report(&path).unwrap_or_else(|error| json!({ "error": error.to_string() }));
            if let Some(problem) =
                report["result"]["problem"].as_str().filter(|problem| problem.contains(said))
            {
                return problem.to_owned();
            }
            assert!(Instant::now() < deadline, "not said in time: {said}: {report}");
            thread::yield_now();
        }
    }

    /// Follows the questions where the person is.
    pub(crate) fn watch(&self) -> Followed {
        Followed(self.start(&["list", "--watch", "--json"]))
    }

    /// Asks on the other machine, and returns the agent and the ID that the question has there.
    pub(crate) fn asks(&self, prompt: &str) -> (Agent, String) {
        ask(&self.far, prompt)
    }
}

/// No process of a test outlives it.
impl Drop for World {
    fn drop(&mut self) {
        // Nothing connects again after it.
        self.inbox = None;
        self.launcher.end();
    }
}

/// Returns the IDs in a listing.
pub(crate) fn ids(listing: &str) -> Vec<String> {
    let listing: Value = serde_json::from_str(listing).unwrap_or_default();
    let questions = listing["questions"].as_array().cloned().unwrap_or_default();
    questions.iter().map(|question| question["id"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A process that follows the questions.
pub(crate) struct Followed(Process);

impl Followed {
    /// Waits until this holds of the IDs of the open questions. Fails if `never` holds of a line before.
    pub(crate) fn until(
        &mut self,
        what: &str,
        fits: impl Fn(&[String]) -> bool,
        never: impl Fn(&[String]) -> bool,
    ) {
        let mut broken = None;
        self.0.expect(what, |line| {
            let ids = ids(line);
            if fits(&ids) {
                return true;
            }
            if never(&ids) {
                broken = Some(line.to_owned());
            }
            broken.is_some()
        });
        assert_eq!(broken, None, "before {what}");
    }
}

/// Number of agents that were started.
static AGENTS: AtomicUsize = AtomicUsize::new(0);

/// An agent behind a bridge: it asks once, and keeps what it hears.
pub(crate) struct Agent {
    pub(crate) bridge: Process,
    heard: Receiver<String>,
}

impl Agent {
    /// Lets the agent end, and returns how often it was answered, and what it heard.
    pub(crate) fn end(mut self) -> (usize, String) {
        self.bridge.close_stdin();
        let heard = self.heard.recv_timeout(DEADLINE).expect("the agent ends");
        (heard.matches("\"answered\"").count(), heard)
    }
}

/// Starts an agent that asks on this machine, and waits until it has asked.
pub(crate) fn ask(machine: &TestMachine, prompt: &str) -> (Agent, String) {
    let params = json!({ "sessionId": "s", "prompt": prompt, "options": ["a", "b"] });
    let method = "_sandboxagent/session/request_question";
    let question = json!({ "jsonrpc": "2.0", "id": "ask", "method": method, "params": params }).to_string();
    let content = json!({ "type": "text", "text": format!("I wonder: {prompt}") });
    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
    let says =
        json!({ "method": "session/update", "params": { "sessionId": "s", "update": update } }).to_string();
    let before = machine.names();
    let path = machine.path().join(format!("heard{}", AGENTS.fetch_add(1, Ordering::Relaxed)));
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let heard = heard(path.clone());
    let script = r#"printf '%s\n' "$1" "$2" '{"jsonrpc":"2.0","method":"asked"}'; cat >"$3""#;
    let command = ["run", "--client-questions", "none", "--", "sh", "-c", script, "sh", &says, &question];
    let mut bridge = machine.start(&[&command[..], &[path.to_str().unwrap()]].concat());
    bridge.expect("that it has asked", |line| line.contains("asked"));
    let names = machine.names();
    let is_new = |name: &&String| !before.contains(name) && name.ends_with(".sock");
    let socket = names.iter().find(is_new).unwrap_or_else(|| panic!("no socket: {names:?}"));
    (Agent { bridge, heard }, format!("{}-1", socket.trim_end_matches(".sock")))
}

fn heard(path: PathBuf) -> Receiver<String> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || sender.send(fs::read_to_string(path).unwrap_or_default()));
    receiver
}

/// Returns the ID that a question of the other machine has where the person is.
pub(crate) fn on_box(id: &str) -> String {
    format!("{BOX}/{id}")
}

/// Asks the process that holds a machine how it is connected.
fn report(socket: &Path) -> io::Result<Value> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    let select = json!({ "jsonrpc": "2.0", "id": 1, "method": "machine_select", "params": { "name": BOX } });
    let report = json!({ "jsonrpc": "2.0", "id": 2, "method": "machine_report" });
    stream.write_all(format!("{select}\n{report}\n").as_bytes())?;
    let mut lines = BufReader::new(stream).lines();
    let selected: Value = serde_json::from_str(&lines.next().expect("a reply")?)?;
    assert_eq!(selected["result"], json!(null), "{selected}");
    Ok(serde_json::from_str(&lines.next().expect("a reply")?)?)
}

/// Returns how long something takes.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    (work(), begun.elapsed())
}
