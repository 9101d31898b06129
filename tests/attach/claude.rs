//! The hooks of `packaging/claude-plugin` under a mock of Claude Code, which has the keyboard.

use std::{
    env,
    fs::{self, OpenOptions},
    io::Write,
    os::unix::net::UnixListener,
    path::Path,
};

use askbridge_os::exit;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::answers::machine::{ASKBRIDGE, TestMachine, end};
use crate::support::Process;

/// A session of Claude Code with the plugin.
pub(crate) struct Scene {
    pub machine: TestMachine,
    pub claude: Process,
}

impl Scene {
    /// Starts a session whose hooks have these settings.
    pub(crate) fn new(settings: &[(&str, &str)]) -> Self {
        let machine = TestMachine::new();
        let claude = session(&machine, "transcript.jsonl", settings);
        Scene { machine, claude }
    }

    fn key(&mut self, line: &str) {
        self.claude.send(line);
    }

    /// Opens a dialog, and returns the ID of its question.
    fn ask(&mut self, what: &str) -> String {
        self.key(what);
        self.machine.question()
    }

    /// Waits until the dialog is closed, and returns by what, and what the model is told.
    fn closed(&mut self) -> (String, String) {
        let line = self.claude.expect("a closed dialog", |line| line.contains("\"closed\""));
        let line: Value = serde_json::from_str(&line).expect("JSON");
        let text = |name: &str| line[name].as_str().expect("a text").to_owned();
        (text("closed"), text("told"))
    }

    /// Waits until no hook waits any more.
    fn has_left(&self) {
        self.machine.questions(0);
    }
}

/// Starts a session whose hooks have these settings, with a transcript of this name.
pub(crate) fn session(machine: &TestMachine, transcript: &str, settings: &[(&str, &str)]) -> Process {
    let hooks = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/claude-plugin/hooks/hooks.json");
    let transcript = machine.path().join(transcript);
    let (hooks, transcript) = (hooks.display().to_string(), transcript.display().to_string());
    let mut command = machine.command(&["mock", "claude-hook", &hooks, "--transcript", &transcript]);
    let bin = Path::new(ASKBRIDGE).parent().expect("a folder");
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([bin.to_owned()].into_iter().chain(env::split_paths(&path)));
    command.env("PATH", path.expect("a path")).env("ASKBRIDGE_CLAUDE_GRACE", "0s");
    command.envs(settings.iter().copied());
    Process::spawn(&mut command)
}

#[test]
fn without_the_program_the_start_of_a_session_says_so_and_no_hook_fails() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/claude-plugin/hooks/hooks.json");
    let hooks: Value = serde_json::from_str(&fs::read_to_string(file).expect("the hooks")).expect("JSON");
    let folder = tempfile::tempdir().expect("a folder");
    for (event, entries) in hooks["hooks"].as_object().expect("events") {
        let command = entries[0]["hooks"][0]["command"].as_str().expect("a command");
        let shell = which("sh");
        let output = std::process::Command::new(shell)
            .args(["-c", command])
            .env_clear()
            .env("PATH", folder.path())
            .stdin(std::process::Stdio::null())
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{event}: {output:?}");
        match event.as_str() {
            "SessionStart" => {
                let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
                let message = said["systemMessage"].as_str().expect("a message");
                assert!(message.contains("askbridge is not installed"), "{message}");
            }
            _ => assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{event}"),
        }
    }
}

/// Returns the path of a program of this machine.
fn which(program: &str) -> std::path::PathBuf {
    let path = env::var_os("PATH").expect("a PATH");
    env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
        .expect("it is there")
}

#[test]
fn a_question_is_answered_elsewhere() {
    let mut scene = Scene::new(&[]);
    let id = scene.ask("ask");
    let listed = scene.machine.ok(&["list"]);
    assert!(listed.contains("Claude Code") && listed.contains("Which database"), "{listed}");
    scene.machine.does(&["answer", &id, "SQLite", "--note", "in WAL mode"]);
    let (by, told) = scene.closed();
    assert_eq!(by, "hook");
    assert_eq!(
        told,
        r#"Your questions have been answered: "Which database should we use?"="SQLite" notes: in WAL mode."#
    );
    scene.has_left();
}

#[test]
fn a_question_is_rejected_elsewhere_with_a_reason() {
    let mut scene = Scene::new(&[]);
    let id = scene.ask("ask");
    scene.machine.does(&["reject", &id, "--reason", "Not on a Saturday."]);
    assert_eq!(scene.closed(), ("hook".to_owned(), "Not on a Saturday.".to_owned()));
}

#[test]
fn a_command_is_allowed_or_denied_elsewhere() {
    let mut scene = Scene::new(&[]);
    let id = scene.ask("bash");
    assert!(scene.machine.ok(&["show", &id]).contains("touch made-by-bash && ls"));
    scene.machine.does(&["allow", &id, "--yes"]);
    assert_eq!(scene.closed().1, r#"ran "touch made-by-bash && ls""#);
    scene.has_left();
    let id = scene.ask("bash");
    scene.machine.does(&["allow", &id, "--always", "--yes"]);
    let told = scene.closed().1;
    assert!(told.contains(r#""ruleContent":"touch made-by-bash *""#), "{told}");
    scene.has_left();
    let id = scene.ask("bash");
    scene.machine.does(&["reject", &id, "--reason", "No."]);
    assert_eq!(scene.closed().1, "No.");
}

#[test]
fn a_plan_is_approved_elsewhere() {
    let mut scene = Scene::new(&[]);
    let id = scene.ask("plan");
    assert!(scene.machine.ok(&["show", &id]).contains("1. Write the test"));
    scene.machine.does(&["allow", &id, "--yes"]);
    assert_eq!(scene.closed(), ("hook".to_owned(), "allowed".to_owned()));
}

#[test]
fn a_hook_ends_when_the_keyboard_decides() {
    for (what, key, told) in [
        ("ask", "answer Postgres", "answered Postgres"),
        ("ask", "chat", "chat"),
        ("ask", "no", "rejected"),
        ("bash", "yes", "answered "),
        ("bash", "no", "rejected"),
    ] {
        let mut scene = Scene::new(&[]);
        let id = scene.ask(what);
        let mut follower = scene.machine.start(&["list", "--watch"]);
        follower.expect("the question", |line| line.contains(&id));
        scene.key(key);
        assert_eq!(scene.closed(), ("keyboard".to_owned(), told.to_owned()), "{what} {key}");
        let line = follower.expect("an end", |line| line.contains("settled"));
        match (what, key) {
            ("ask", "answer Postgres") => assert!(line.contains("Postgres"), "{line}"),
            (_, "chat") => assert!(line.contains("replied in the chat"), "{line}"),
            _ => {}
        }
        assert!(key == "chat" || line.contains("dialog (Claude Code)"), "{what} {key}: {line}");
        scene.has_left();
        // The same answer as at the keyboard is accepted once more.
        let late = scene.machine.run(&["answer", &id, "1"]);
        let codes: &[i32] = if key == "answer Postgres" { &[0] } else { &[0, 3, 4, 6] };
        assert!(codes.contains(&late.code), "{what} {key}: {late:?}");
    }
}

#[test]
fn a_repeated_answer_succeeds_and_another_fails_after_the_hook_has_ended() {
    let mut scene = Scene::new(&[]);
    let id = scene.ask("ask");
    let done = scene.machine.does(&["answer", &id, "2"]);
    assert_eq!((done, scene.closed().0), (format!("{id} answered"), "hook".to_owned()));
    scene.has_left();
    assert_eq!(scene.machine.does(&["answer", &id, "2"]), format!("{id} answered"));
    assert!(scene.machine.ok(&["show", &id]).contains("SQLite"));
    for other in [&["answer", &id, "1"][..], &["answer", &id, "no such option"], &["reject", &id]] {
        let run = scene.machine.run(other);
        assert_eq!((run.code, run.stdout.as_str()), (i32::from(exit::SETTLED), ""), "{other:?}: {run:?}");
        assert!(
            run.stderr.contains(" ago it was answered by the command line") && run.stderr.contains("SQLite"),
            "{run:?}"
        );
    }
    let shortened = id.get(2..).expect("a long ID");
    let run = scene.machine.run(&["answer", &format!("zz{shortened}"), "2"]);
    assert_eq!(run.code, i32::from(exit::NO_QUESTION), "{run:?}");
}

/// Answers a question elsewhere, and writes this of its result into the transcript once the hook has printed the answer.
/// Returns the exit code of the command that answered.
fn answered_while(result: &Value) -> i32 {
    let Scene { machine, claude } = Scene::new(&[]);
    let transcript = machine.path().join("written.jsonl");
    let write = |content: &Value, more: &Value| {
        let mut line = json!({ "message": { "content": [content] } });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut file = OpenOptions::new().create(true).append(true).open(&transcript).expect("a file");
        writeln!(file, "{line}").expect("it is written");
    };
    let options =
        [json!({ "label": "Postgres", "description": "" }), json!({ "label": "SQLite", "description": "" })];
    let asked = json!({ "questions": [{ "question": "Which?", "header": "Database", "options": options }] });
    let used = json!({ "type": "tool_use", "id": "t1", "name": "AskUserQuestion", "input": asked });
    write(&used, &json!({}));
    let mut command = machine.command(&["hook", "claude", "--confirm"]);
    command.env("ASKBRIDGE_CLAUDE_GRACE", "0s").env("CLAUDE_PID", claude.id().to_string());
    let mut hook = Process::spawn(&mut command);
    let call = json!({
        "session_id": "s", "hook_event_name": "PermissionRequest", "transcript_path": transcript,
        "tool_name": "AskUserQuestion", "tool_input": asked,
    });
    hook.send(&call.to_string());
    hook.close_stdin();
    let id = machine.question();
    let mut answering = machine.start(&["answer", &id, "SQLite"]);
    answering.close_stdin();
    // The output ends before the process does.
    hook.expect("a decision", |line| line.contains("SQLite"));
    assert_eq!(hook.next_line(), None);
    write(&json!({ "type": "tool_result", "tool_use_id": "t1" }), result);
    end(answering).code
}

#[test]
fn a_responder_is_told_whether_its_answer_or_the_dialog_was_first() {
    let answered = |name: &str, source: &str| {
        let result = json!({ "answers": { "Which?": name } });
        json!({ "toolUseResult": result, "permissionDecision": { "decision": "accept", "source": source } })
    };
    assert_eq!(answered_while(&answered("SQLite", "hook")), 0);
    assert_eq!(answered_while(&answered("Postgres", "user_temporary")), 4);
    // The same answer was given there: it is in force.
    assert_eq!(answered_while(&answered("SQLite", "user_temporary")), 0);
    let rejected = json!({ "toolUseResult": "User rejected tool use", "toolDenialKind": "user-rejected" });
    assert_eq!(answered_while(&rejected), 4);
}

#[test]
fn an_answer_is_held_back_while_the_person_may_be_typing() {
    let mut scene = Scene::new(&[("ASKBRIDGE_CLAUDE_GRACE", "1h")]);
    let id = scene.ask("ask");
    let mut answering = scene.machine.start(&["answer", &id, "SQLite"]);
    answering.close_stdin();
    scene.machine.watch().until("a delivery", |questions| {
        questions.first().is_some_and(|question| question["state"] == "delivering")
    });
    scene.key("answer Postgres");
    assert_eq!(scene.closed().0, "keyboard");
    let answered = end(answering);
    assert_eq!(answered.code, 4, "{answered:?}");
}

#[test]
fn a_dialog_that_is_locked_is_answered_elsewhere_or_passed() {
    for what in ["agent", "form"] {
        let mut scene = Scene::new(&[]);
        let id = scene.ask(what);
        scene.key("answer Postgres");
        scene.claude.expect("a locked dialog", |line| line.contains("ignored"));
        // Whoever fills a long form sees how much time is left, and can take more.
        let listed = scene.machine.ok(&["list", "--json"]);
        assert!(listed.contains("\"deadline\""), "{listed}");
        scene.machine.does(&["extend", &id, "1h"]);
        scene.machine.does(&["answer", &id, "SQLite"]);
        let (by, told) = scene.closed();
        assert!(by == "hook" && told.contains("SQLite"), "{by} {told}");
    }
    let mut scene = Scene::new(&[("ASKBRIDGE_CLAUDE_PASS_AFTER", "50ms")]);
    scene.key("agent");
    scene.claude.expect("a free dialog", |line| line.contains("no decision"));
    scene.key("answer Postgres");
    assert_eq!(scene.closed().0, "keyboard");
}

#[test]
fn a_hook_that_is_killed_leaves_the_dialog() {
    let mut scene = Scene::new(&[]);
    scene.ask("ask");
    let status: Value = serde_json::from_str(&scene.machine.ok(&["status", "--json"])).expect("JSON");
    let pid = status["bridges"][0]["pid"].as_i64().expect("a process");
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).expect("a process")).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is there");
    scene.claude.expect("a dialog that stays", |line| line.contains("no decision"));
    scene.key("answer Postgres");
    assert_eq!(scene.closed().0, "keyboard");
}

#[test]
fn a_session_that_ends_leaves_no_hook() {
    let mut scene = Scene::new(&[]);
    scene.ask("ask");
    scene.key("exit");
    let Scene { machine, claude } = scene;
    assert_eq!(end(claude).code, 0);
    machine.questions(0);
    let hooks = machine.sockets().join("hooks");
    assert_eq!(fs::read_dir(hooks).expect("a folder").count(), 0);
}

#[test]
fn an_agent_that_is_killed_leaves_no_hook() {
    let mut scene = Scene::new(&[]);
    scene.ask("ask");
    let Scene { machine, claude } = scene;
    drop(claude);
    machine.questions(0);
}

/// Starts the hook of a Claude Code that asks to run `make`, and that does not answer itself.
fn asks_to_make(machine: &TestMachine, claude: u32, transcript: &Path) -> Process {
    let mut command = machine.command(&["hook", "claude"]);
    command.env("ASKBRIDGE_CLAUDE_GRACE", "0s").env("CLAUDE_PID", claude.to_string());
    let mut hook = Process::spawn(&mut command);
    let call = json!({
        "session_id": "s", "hook_event_name": "PermissionRequest", "transcript_path": transcript,
        "tool_name": "Bash", "tool_input": { "command": "make" },
    });
    hook.send(&call.to_string());
    hook.close_stdin();
    hook
}

#[test]
fn what_led_to_a_permission_is_at_the_end_of_the_transcript() {
    let machine = TestMachine::new();
    let agent = machine.start(&["mock-agent"]);
    let transcript = machine.path().join("s.jsonl");
    let line = |session: &str, content: Value| {
        json!({ "type": "assistant", "sessionId": session, "message": { "content": content } }).to_string()
    };
    let tool = |id: &str, command: &str| json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }]);
    let lines = [
        line("other", json!([{ "type": "text", "text": "Elsewhere." }])),
        line("s", json!([{ "type": "text", "text": "I build it now." }])),
        line("s", tool("t1", "ls")),
        line("s", tool("t2", "make")),
    ];
    fs::write(&transcript, lines.join("\n") + "\n").expect("it is written");
    let hook = asks_to_make(&machine, agent.id(), &transcript);
    let id = machine.question();
    let led = machine.ok(&["show", "--context", &id]);
    assert_eq!(led, "I build it now.\n\nIts last tool call:\n  in progress  ls\n");
    machine.does(&["allow", &id, "--yes"]);
    assert_eq!(end(hook).code, 0);
}

#[test]
fn a_transcript_that_is_no_file_is_not_waited_for() {
    let machine = TestMachine::new();
    let path = |name: &str| machine.path().join(name);
    mknodat(CWD, path("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a FIFO");
    let _listener = UnixListener::bind(path("socket")).expect("a socket");
    for transcript in [path("fifo"), path("socket"), machine.path().to_owned(), "/dev/zero".into()] {
        // The agent does not answer itself: it is not this process, which answers.
        let agent = machine.start(&["mock-agent"]);
        let hook = asks_to_make(&machine, agent.id(), &transcript);
        let id = machine.question();
        machine.does(&["allow", &id, "--yes"]);
        let run = end(hook);
        assert!(run.code == 0 && run.stdout.contains(r#""behavior":"allow""#), "{transcript:?}: {run:?}");
        machine.questions(0);
    }
}

#[test]
fn a_hook_with_broken_settings_is_no_decision() {
    let call = json!({ "session_id": "s", "hook_event_name": "PermissionRequest", "tool_name": "Bash" });
    for settings in
        ["", "claude = 1", "[claude]\nenabled = \"maybe\"\ngrace = -1", "\u{0}[[[", "log.file = \"/\""]
    {
        let machine = TestMachine::new();
        let folder = machine.path().join("config/askbridge");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("config.toml"), settings).expect("it is written");
        let mut hook = Process::spawn(
            machine.command(&["hook", "claude"]).env("XDG_CONFIG_HOME", machine.path().join("config")),
        );
        hook.send(&call.to_string());
        hook.close_stdin();
        let run = end(hook);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{settings}: {run:?}");
        assert_eq!(run.stderr.is_empty(), settings.is_empty(), "{settings}: {run:?}");
    }
}

#[test]
fn a_call_that_is_not_understood_is_left_to_the_dialog() {
    let machine = TestMachine::new();
    for stdin in ["", "{", "null", r#"{"session_id":"s","hook_event_name":"PermissionRequest"}"#] {
        let mut hook = machine.start(&["hook", "claude"]);
        hook.send(stdin);
        hook.close_stdin();
        let run = end(hook);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{stdin}: {run:?}");
    }
    let off = json!({ "session_id": "s", "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": { "command": "ls" } });
    for (name, value) in [("ASKBRIDGE_CLAUDE_ENABLED", "false"), ("ASKBRIDGE_BRIDGE_PERMISSIONS", "client")] {
        let mut hook = Process::spawn(machine.command(&["hook", "claude"]).env(name, value));
        hook.send(&off.to_string());
        hook.close_stdin();
        let run = end(hook);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{name}: {run:?}");
    }
}
