//! A broker, machines with agents, and persons.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::Command,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, sync_channel},
    },
    thread,
    time::Instant,
};

use askbridge_fleet::Gateway;
use rustix::process::Pid;
use serde_json::{Value, json};

use crate::{
    answers::{machine::Run, person::Person},
    link::Link,
    server::{Server, Users},
    support::{DEADLINE, Process},
};

/// Number of agents that were started.
static AGENTS: AtomicUsize = AtomicUsize::new(0);

/// A broker and its users.
pub(crate) struct World {
    pub(crate) users: Users,
    pub(crate) server: Server,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = World::without_directory();
        world.server.create(&world.users);
        world
    }

    /// The same, of a broker that leaves a client time: thousands of machines are too many for the computer of the test.
    pub(crate) fn patient() -> Self {
        let users = Users::new();
        let server = Server::pinging(&users, "one", "60s", "");
        server.create(&users);
        World { users, server }
    }

    /// The same, before the operator has created the directory.
    pub(crate) fn without_directory() -> Self {
        let users = Users::new();
        let server = Server::start(&users, "one", "");
        World { users, server }
    }

    /// Returns a machine or a person of this user.
    pub(crate) fn member(&self, user: &str) -> Member {
        Member::new(&self.users, user, &self.server.url())
    }

    /// The same, over a network of its own.
    pub(crate) fn linked(&self, user: &str) -> (Member, Link) {
        let link = Link::to(self.server.port);
        (Member::new(&self.users, user, &link.url()), link)
    }

    /// Starts a machine of one user whose agent asks, and the inbox of another user, who sees the question.
    pub(crate) fn asked(&self, machine: &str, person: &str) -> Asked {
        let (mut far, mut person) = (self.member(machine), self.member(person));
        person.inbox();
        let machine = far.gateway();
        let (agent, own) = far.asks("Which?");
        let id = format!("{machine}/{own}");
        person.until_listed("the question", |ids| ids.contains(&id));
        Asked { far, person, machine, agent, own, id }
    }
}

/// A question of a machine that a person sees.
pub(crate) struct Asked {
    pub(crate) far: Member,
    /// Whose inbox serves.
    pub(crate) person: Member,
    /// The name of the machine.
    pub(crate) machine: String,
    pub(crate) agent: Agent,
    /// The ID of the question on its machine.
    pub(crate) own: String,
    /// The ID where the person is.
    pub(crate) id: String,
}

/// A machine of a user: its own folders, and a broker in its settings.
pub(crate) struct Member {
    pub(crate) person: Person,
    /// What serves here: the gateway, or the inbox.
    serving: Option<Process>,
}

impl Member {
    pub(crate) fn new(users: &Users, user: &str, url: &str) -> Self {
        let person = Person::new();
        let member = Member { person, serving: None };
        member.sets(&users.file(user), url);
        member
    }

    pub(crate) fn sets(&self, credentials: &std::path::Path, url: &str) {
        self.person.sets(&format!("[fleet]\nurl = {url:?}\ncredentials = {credentials:?}\n"));
    }

    /// Starts the gateway, and waits until it is the one of this machine. Returns the name of the machine.
    pub(crate) fn gateway(&mut self) -> String {
        self.serves(&["fleet", "gateway"])
    }

    /// Starts the inbox of a person. Returns the name of the machine.
    pub(crate) fn inbox(&mut self) -> String {
        self.serves(&["inbox", "--addr", "127.0.0.1:0"])
    }

    fn serves(&mut self, args: &[&str]) -> String {
        self.serving = Some(Process::spawn(&mut self.person.command(args)));
        self.until_served()
    }

    /// Waits until a gateway is the one of this machine, and returns the name of the machine.
    pub(crate) fn until_served(&self) -> String {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let name = self.place();
            if !name.is_empty() && Gateway::runs(&self.person.machine.sockets()) {
                return name;
            }
            assert!(Instant::now() < deadline, "no gateway in time");
            thread::yield_now();
        }
    }

    /// Returns the name that the last gateway of this machine has taken. Empty if there was none.
    fn place(&self) -> String {
        fs::read_to_string(self.person.machine.sockets().join("fleet.lock")).unwrap_or_default()
    }

    /// Waits for the process that a bridge has started as the gateway after this one.
    pub(crate) fn started_gateway(&self, before: Option<Pid>) -> Pid {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(pid) = self.gateway_process().filter(|pid| Some(*pid) != before) {
                return pid;
            }
            assert!(Instant::now() < deadline, "no gateway was started in time");
            thread::yield_now();
        }
    }

    fn gateway_process(&self) -> Option<Pid> {
        let place = format!("XDG_RUNTIME_DIR={}", self.person.machine.path().display());
        let is_gateway = |id: i32| {
            let read = |file: &str| fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
            let has =
                |bytes: &[u8], word: &str| bytes.split(|byte| *byte == 0).any(|of| of == word.as_bytes());
            has(&read("cmdline"), "gateway") && has(&read("environ"), &place)
        };
        let ids =
            fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        ids.into_iter().find(|id| is_gateway(*id)).and_then(Pid::from_raw)
    }

    pub(crate) fn serving(&self) -> &Process {
        self.serving.as_ref().expect("it serves")
    }

    /// Kills the process that serves here, whose lock ends with it.
    pub(crate) fn kill(&mut self) {
        self.serving.take().expect("it serves");
    }

    /// Sends a request to the inbox, and returns the whole response.
    pub(crate) fn rest(&self, method: &str, path: &str, body: &str) -> String {
        let said = self.serving().expect_stderr("an address", |said| {
            said.split_once("listening on http://").is_some_and(|(_, rest)| rest.contains('\n'))
        });
        let (_, rest) = said.split_once("listening on http://").unwrap();
        let address = rest.split(',').next().unwrap();
        let token = fs::read_to_string(self.person.machine.sockets().join("token")).unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nContent-Type: \
             application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            token.trim_end(),
            body.len()
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.person.command(args)
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.person.run(args)
    }

    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        self.person.ok(args)
    }

    /// Repeats a listing until this holds of the IDs in it.
    #[track_caller]
    pub(crate) fn until_listed(&self, what: &str, fits: impl Fn(&[String]) -> bool) -> Vec<String> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let run = self.run(&["list", "--json"]);
            let ids = ids(&run.stdout);
            if fits(&ids) {
                return ids;
            }
            assert!(Instant::now() < deadline, "not listed in time: {what}: {run:?}");
            thread::yield_now();
        }
    }

    /// Repeats a request for all questions until the response has this text: an inbox that has just started lists the
    /// machines of its fleet as it hears of them.
    #[track_caller]
    pub(crate) fn until_served_with(&self, text: &str) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let open = self.rest("GET", "/v1/questions", "");
            assert!(open.starts_with("HTTP/1.1 200 "), "{open}");
            if open.contains(text) {
                return;
            }
            assert!(Instant::now() < deadline, "not served in time: {text}: {open}");
            thread::yield_now();
        }
    }

    /// Repeats a command until its output has this text.
    #[track_caller]
    pub(crate) fn until_said(&self, args: &[&str], text: &str) -> Run {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let run = self.run(args);
            if run.stdout.contains(text) || run.stderr.contains(text) {
                return run;
            }
            assert!(Instant::now() < deadline, "not said in time: {text}: {run:?}");
            thread::yield_now();
        }
    }

    /// Starts an agent that asks, and waits until it has asked. Returns it with the ID of its question here.
    pub(crate) fn asks(&self, prompt: &str) -> (Agent, String) {
        let params = json!({ "sessionId": "s", "prompt": prompt, "options": ["a", "b"] });
        let method = "_sandboxagent/session/request_question";
        let question =
            json!({ "jsonrpc": "2.0", "id": "ask", "method": method, "params": params }).to_string();
        let before = self.person.machine.names();
        let number = AGENTS.fetch_add(1, Ordering::Relaxed);
        let path = self.person.machine.path().join(format!("heard{number}"));
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let heard = heard(path.clone());
        let script = r#"printf '%s\n' "$1" '{"jsonrpc":"2.0","method":"asked"}'; cat >"$2""#;
        let command = ["run", "--client-questions", "none", "--", "sh", "-c", script, "sh", &question];
        let args = [&command[..], &[path.to_str().unwrap()]].concat();
        let mut bridge = Process::spawn(&mut self.command(&args));
        bridge.expect("that it has asked", |line| line.contains("asked"));
        let names = self.person.machine.names();
        let is_new = |name: &&String| !before.contains(name) && name.ends_with(".sock");
        let socket = names.iter().find(is_new).unwrap_or_else(|| panic!("no socket: {names:?}"));
        (Agent { bridge, heard }, format!("{}-1", socket.trim_end_matches(".sock")))
    }
}

/// Returns the IDs in a listing.
pub(crate) fn ids(listing: &str) -> Vec<String> {
    let listing: Value = serde_json::from_str(listing).unwrap_or_default();
    let questions = listing["questions"].as_array().cloned().unwrap_or_default();
    questions.iter().map(|question| question["id"].as_str().unwrap_or_default().to_owned()).collect()
}

/// An agent behind a bridge: it asks once, and keeps what it hears.
pub(crate) struct Agent {
    pub(crate) bridge: Process,
    heard: Receiver<String>,
}

impl Agent {
    /// Lets the agent end. Fails if it was not answered once, with this option.
    #[track_caller]
    pub(crate) fn has_heard(self, option: &str) {
        let (answers, heard) = self.end();
        assert!(answers == 1 && heard.contains(&format!("[[\"{option}\"]]")), "{heard}");
    }

    /// Lets the agent end, and returns how often it was answered, and what it heard.
    pub(crate) fn end(mut self) -> (usize, String) {
        self.bridge.close_stdin();
        let heard = self.heard.recv_timeout(DEADLINE).expect("the agent ends");
        (heard.matches("\"answered\"").count(), heard)
    }
}

fn heard(path: PathBuf) -> Receiver<String> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || sender.send(fs::read_to_string(path).unwrap_or_default()));
    receiver
}
