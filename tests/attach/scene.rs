//! An agent with a keyboard that listens on a port, and what attaches to it.

use std::{os::unix::process::CommandExt, process::Command, time::Duration};

use serde_json::Value;

use crate::answers::machine::TestMachine;
use crate::support::Process;

/// The pauses between three connections that break at once, and the one before.
pub(crate) const PAUSES: Duration = Duration::from_millis(300);

/// A kind of agent.
pub(crate) struct Kind {
    /// Its name in commands.
    pub name: &'static str,
    /// What the log says once it is attached to.
    pub attached: &'static str,
    /// The variable with the secret that it wants.
    pub secret: &'static str,
}

pub(crate) struct Scene {
    pub machine: TestMachine,
    pub agent: Process,
    pub attached: Option<Process>,
    pub port: String,
    kind: &'static Kind,
}

impl Scene {
    pub(crate) fn new(kind: &'static Kind) -> Self {
        Self::with(kind, |_| {})
    }

    /// Starts the agent and what attaches to it, both with what this changes in their commands.
    pub(crate) fn with(kind: &'static Kind, change: impl Fn(&mut Command)) -> Self {
        let mut scene = Self::alone(kind, &change);
        scene.attach_with(change);
        scene
    }

    /// Starts an agent that nothing attaches to yet.
    pub(crate) fn alone(kind: &'static Kind, change: impl Fn(&mut Command)) -> Self {
        let machine = TestMachine::new();
        let mut command = machine.command(&["mock", kind.name]);
        change(&mut command);
        let mut agent = Process::spawn(&mut command);
        let line = agent.expect("a port", |line| line.starts_with("listening "));
        let port = line.trim_end().rsplit([':', ' ']).next().expect("a port").to_owned();
        Scene { machine, agent, attached: None, port, kind }
    }

    /// Attaches to the agent, and waits until its inbox is there. What attached before is killed.
    pub(crate) fn attach(&mut self) {
        self.attach_with(|_| {});
    }

    fn attach_with(&mut self, change: impl Fn(&mut Command)) {
        self.attached = None;
        let mut command = self.machine.command(&["attach", self.kind.name, &self.port, "--log", "info"]);
        change(&mut command);
        let attached = Process::spawn(&mut command);
        attached.expect_stderr("an attachment", |text| text.contains(self.kind.attached));
        self.attached = Some(attached);
    }

    /// Returns what the attachment has logged so far.
    pub(crate) fn log(&self) -> String {
        let attached = self.attached.as_ref().expect("an attachment");
        attached.expect_stderr("a log", |text| text.contains(self.kind.attached))
    }

    /// Ends the agent, and starts another one in its place.
    pub(crate) fn restart(&mut self) {
        let Scene { machine, port, kind, .. } = self;
        let other = TestMachine::new();
        // The one before is killed when the place of its handle is taken.
        self.agent = Process::spawn(&mut other.command(&["--version"]));
        self.agent = machine.start(&["mock", kind.name, "--port", port]);
        self.agent.expect("a port", |line| line.starts_with("listening "));
    }

    pub(crate) fn key(&mut self, line: &str) {
        self.agent.send(line);
    }

    /// Asks, and returns the ID of the question.
    pub(crate) fn ask(&mut self, what: &str) -> String {
        self.key(&format!("ask {what}"));
        self.machine.question()
    }

    /// Waits until the model is told something, and returns which client told it, and what.
    pub(crate) fn told(&mut self) -> (String, Value) {
        let line = self.agent.expect("an end", |line| line.starts_with("told "));
        let mut words = line.trim_end().splitn(4, ' ');
        let (client, json) = (words.nth(2).expect("a client"), words.next().expect("an answer"));
        (client.to_owned(), serde_json::from_str(json).expect("JSON"))
    }

    /// Waits until no question is open, and returns how this one ended.
    pub(crate) fn ended(&self, id: &str) -> Value {
        self.machine.questions(0);
        let shown = self.machine.ok(&["show", id, "--json"]);
        let record: Value = serde_json::from_str(&shown).expect("JSON");
        record["settlement"].clone()
    }

    /// Kills the agent with an open question, and answers the first question of the agent in its place. Returns what the
    /// model is told.
    pub(crate) fn outlives_its_agent(mut self) -> (String, Value) {
        let id = self.ask("question");
        self.restart();
        self.machine.questions(0);
        let late = self.machine.run(&["answer", &id, "1"]);
        assert!([3, 4, 6].contains(&late.code), "{late:?}");
        // The process in its place has an inbox of its own.
        let id = self.ask("question");
        self.machine.does(&["answer", &id, "1"]);
        self.told()
    }

    /// Attaches to an agent that wants a secret, with it and without.
    pub(crate) fn wants_its_secret(kind: &'static Kind) {
        let mut scene = Scene::with(kind, |command| {
            command.env(kind.secret, "top secret");
        });
        let id = scene.ask("question");
        scene.machine.does(&["answer", &id, "1"]);
        assert_ne!(scene.told().0, "keyboard");
        let log = scene.log();
        assert!(!log.contains("top secret"), "{log}");
        let without = scene.machine.start(&["attach", kind.name, &scene.port]);
        without.expect_stderr("a hint", |text| text.contains(kind.secret));
    }

    /// Attaches to an agent without being told where it is.
    pub(crate) fn is_found(kind: &'static Kind) {
        let machine = TestMachine::new();
        let mut agent = Process::spawn(machine.command(&["mock", kind.name, "--ui-server"]).arg0(kind.name));
        agent.expect("a port", |line| line.starts_with("listening "));
        let attached = machine.start(&["attach", kind.name, "--log", "info"]);
        attached.expect_stderr("an attachment", |text| text.contains(kind.attached));
        agent.send("ask question");
        let id = machine.question();
        machine.does(&["answer", &id, "1"]);
        let told = agent.expect("an answer", |line| line.starts_with("told "));
        assert!(!told.contains("keyboard"), "{told}");
    }
}
