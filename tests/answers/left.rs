//! Permissions that a project leaves to the client: they are in no inbox, and `askbridge history` says so.

use std::{fs, path::PathBuf, process::Command};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::answers::machine::{Run, TestMachine, end};
use crate::support::Process;

const CLIENT: &str = "[bridge]\npermissions = \"client\"\n";
const SAID: &str = "permissions of this session were left to the client by .askbridge.toml";

/// A machine with a project and its file.
struct Scene {
    machine: TestMachine,
    project: PathBuf,
}

impl Scene {
    fn new(file: &str) -> Self {
        let machine = TestMachine::new();
        let project = machine.path().join("shop");
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::write(project.join(".askbridge.toml"), file).unwrap();
        Scene { machine, project }
    }

    /// Writes the user's own settings.
    fn sets(self, own: &str) -> Self {
        let folder = self.machine.path().join("config/askbridge");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), own).unwrap();
        self
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.machine.command(args);
        command.current_dir(&self.project).env("XDG_CONFIG_HOME", self.machine.path().join("config"));
        command
    }

    /// Runs a bridge whose agent ends at once.
    fn runs(&self, options: &[&str]) {
        let args = [&["run"], options, &["--", "true"]].concat();
        let run = end(Process::spawn(&mut self.command(&args)));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    }

    fn history(&self, args: &[&str]) -> Run {
        end(Process::spawn(&mut self.command(&[&["history"], args].concat())))
    }

    /// Returns what `history --json` says of sessions whose permissions were left to the client.
    fn left(&self) -> Vec<Value> {
        let json: Value = serde_json::from_str(&self.history(&["--json"]).stdout).unwrap();
        json["leftToClient"].as_array().unwrap().clone()
    }
}

#[test]
fn history_says_that_a_project_left_permissions_to_the_client() {
    let scene = Scene::new(CLIENT);
    scene.runs(&[]);
    let past = scene.history(&[]).stdout;
    assert!(past.contains(SAID) && past.contains("shop"), "{past}");
    let project = fs::canonicalize(&scene.project).unwrap();
    let [left] = &scene.left()[..] else { panic!("{:?}", scene.left()) };
    assert_eq!(left["project"], json!(project));
    assert_eq!(left["file"], json!(project.join(".askbridge.toml")));
    let bridge = left["bridge"].as_str().unwrap();
    assert!(past.contains(bridge) && left["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{left}");
    let exported: Value = serde_json::from_str(scene.history(&["export"]).stdout.trim_end()).unwrap();
    assert_eq!(exported, json!({ "leftToClient": left }));
    let verified = scene.history(&["verify"]);
    assert!(verified.code == 0 && verified.stdout.starts_with("0 settlements, none changed"), "{verified:?}");
}

#[test]
fn sessions_are_listed_by_project_and_time_beside_questions_and_removed_by_age() {
    let scene = Scene::new(CLIENT);
    scene.runs(&[]);
    let asks = Process::spawn(&mut scene.command(&["ask", "--confirm", "Deploy?"]));
    scene.machine.does(&["answer", &scene.machine.question(), "y"]);
    assert_eq!(end(asks).code, 0);
    let project = scene.project.to_str().unwrap();
    for (args, is_listed) in [
        (&["--project", project][..], true),
        (&["--project", scene.machine.path().to_str().unwrap()], true),
        (&["--project", "/elsewhere"], false),
        (&["--since", "1h"], true),
        (&["--limit", "1"], false),
        (&["--by", "page"], false),
        (&["--session", "s"], false),
        (&["--lost"], false),
    ] {
        assert_eq!(scene.history(args).stdout.contains(SAID), is_listed, "{args:?}");
    }
    let past = scene.history(&[]).stdout;
    let place = |text: &str| past.lines().position(|line| line.contains(text));
    assert_eq!((place("Deploy?"), place(SAID)), (Some(1), Some(2)), "the latest first: {past}");
    assert_eq!(scene.history(&["prune", "--older-than", "0s"]).stdout, "1 question is removed\n");
    assert!(scene.left().is_empty());
}

#[test]
fn nothing_is_said_where_the_user_left_them_to_the_client_or_did_not() {
    for (file, own, options) in [
        (CLIENT, CLIENT, &[][..]),
        ("", CLIENT, &[]),
        (CLIENT, "", &["--permissions", "client"]),
        (CLIENT, "", &["--permissions", "inbox"]),
        (CLIENT, "[journal]\nenabled = false\n", &[]),
        (CLIENT, "", &["--no-inbox"]),
        ("", "", &[]),
    ] {
        let scene = Scene::new(file).sets(own);
        scene.runs(options);
        let empty = scene.history(&[]);
        assert_eq!((empty.code, empty.stdout.as_str()), (0, ""), "{file} {own} {options:?}: {empty:?}");
        let state = scene.machine.path().join("state/askbridge/journal.db");
        assert!(!state.exists(), "no journal begins: {file} {own} {options:?}");
    }
}

#[test]
fn a_bridge_that_is_killed_has_said_so_before() {
    let scene = Scene::new(CLIENT);
    let mut bridge = Process::spawn(&mut scene.command(&["run", "--", "cat"]));
    let listed = || !scene.history(&[]).stdout.is_empty();
    let began = std::time::Instant::now();
    while !listed() {
        assert!(began.elapsed() < crate::support::DEADLINE, "nothing is noted");
    }
    kill_process(Pid::from_raw(bridge.id().cast_signed()).unwrap(), Signal::KILL).unwrap();
    bridge.wait();
    assert_eq!(scene.left().len(), 1);
}

#[test]
fn texts_that_are_not_kept_are_not_needed_for_it() {
    let scene = Scene::new(CLIENT).sets("[journal]\ntexts = false\n");
    scene.runs(&[]);
    assert!(scene.history(&[]).stdout.contains(SAID));
}
