//! What outlives a bridge: the journal, what was lost, the same question again, and `askbridge history`.

use std::{
    fs,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    process::Command,
};

use askbridge_os::exit;
use serde_json::{Value, json};

use crate::answers::machine::{Run, TestMachine, end, name};
use crate::answers::terminal::Terminal;
use crate::support::Process;

/// The agent asks what stands in its argument, and says on stderr what it is told.
const AGENT: &str = r#"printf '%s\n' "$1"; while IFS= read -r line; do printf 'got %s\n' "$line" >&2; done"#;

fn question(session: &str) -> Value {
    let params =
        json!({ "sessionId": session, "prompt": "Which database?", "options": ["SQLite", "Postgres"] });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "_sandboxagent/session/request_question", "params": params })
}

fn secret() -> Value {
    let field = json!({ "name": "token", "label": "The token", "kind": "text", "secret": true });
    let params = json!({ "sessionId": "s", "prompt": "?", "_meta": { "askbridge": { "fields": [field] } } });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "_sandboxagent/session/request_question", "params": params })
}

fn bridge_with(machine: &TestMachine, options: &[&str], asks: &Value) -> Process {
    let mut command: Command = machine.command(&["run"]);
    command.args(options).args(["--", "sh", "-c", AGENT, "sh", &asks.to_string()]);
    Process::spawn(&mut command)
}

fn bridge(machine: &TestMachine, asks: &Value) -> Process {
    bridge_with(machine, &["--client-questions", "none"], asks)
}

/// Kills a bridge as a crash does.
fn kill(mut bridge: Process) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(bridge.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    bridge.wait();
}

fn history(machine: &TestMachine, args: &[&str]) -> Run {
    machine.run(&[&["history"], args].concat())
}

/// Waits until the journal has this. A bridge notes what happens a moment after it happened.
fn until(machine: &TestMachine, args: &[&str], fits: impl Fn(&str) -> bool) -> String {
    let deadline = std::time::Instant::now() + crate::support::DEADLINE;
    loop {
        let run = history(machine, args);
        if run.code == 0 && fits(&run.stdout) {
            return run.stdout;
        }
        assert!(std::time::Instant::now() < deadline, "{run:?}");
    }
}

#[test]
fn a_question_whose_bridge_is_killed_is_lost_and_is_not_listed_as_open() {
    let machine = TestMachine::new();
    let killed = bridge(&machine, &question("s"));
    let id = machine.question();
    until(&machine, &[], |text| text.contains(&id));
    kill(killed);
    let listed = machine.ok(&["list"]);
    assert!(listed.contains("lost: 1 question was open when its bridge ended"), "{listed}");
    assert!(listed.contains(&format!("{id}  asked ")) && listed.contains("resume the session"), "{listed}");
    let listed: Value = serde_json::from_str(&machine.ok(&["list", "--json"])).unwrap();
    assert_eq!(listed["questions"], json!([]));
    assert_eq!((&listed["lost"][0]["id"], &listed["lost"][0]["state"]), (&json!(id), &json!("lost")));
    // The same is asked again: the first is not waited for any more.
    let _again = bridge(&machine, &question("s"));
    machine.question();
    until(&machine, &["--json"], |text| text.matches("\"openedAt\"").count() == 2);
    let listed: Value = serde_json::from_str(&machine.ok(&["list", "--json"])).unwrap();
    assert_eq!(listed["lost"], json!([]));
}

#[test]
fn an_answer_that_was_delivered_is_offered_and_not_given() {
    let machine = TestMachine::new();
    let first = bridge(&machine, &question("s"));
    let id = machine.question();
    assert_eq!(machine.does(&["answer", &id, "SQLite"]), format!("{id} answered"));
    kill(first);
    // Another session, and another question, are not the same.
    let other = bridge(&machine, &question("t"));
    let open = machine.question();
    assert!(!machine.ok(&["show", &open]).contains("asked before"));
    until(&machine, &[], |text| text.contains(&open));
    kill(other);
    let mut again = bridge(&machine, &question("s"));
    let open = machine.watch().until("what is known from before", |open| {
        open.iter().any(|question| !question["earlier"].is_null())
    });
    assert_eq!(open[0]["earlier"]["wasDelivered"], json!(true), "{open:?}");
    let open = name(&open[0]);
    let shown = machine.ok(&["show", &open]);
    assert!(shown.contains(&format!("asked before as {id}, ")), "{shown}");
    assert!(shown.contains("answered by the command line (somebody): SQLite"), "{shown}");
    assert!(shown.ends_with(&format!("askbridge answer {open} --again\n")), "{shown}");
    assert_eq!(machine.does(&["answer", &open, "--again"]), format!("{open} answered"));
    again.expect_stderr("the answer", |text| text.contains("got ") && text.contains("SQLite"));
    again.close_stdin();
    again.wait();
    let past = until(&machine, &[], |text| text.matches("answered by the command line").count() == 2);
    assert_eq!(past.lines().count(), 4, "{past}");
}

#[test]
fn history_lists_shows_exports_and_verifies() {
    let machine = TestMachine::new();
    let empty = history(&machine, &[]);
    assert_eq!((empty.code, empty.stdout.as_str()), (0, ""), "{empty:?}");
    assert_eq!(history(&machine, &["show", "abc-1"]).code, 3);
    let mut running = bridge(&machine, &question("s"));
    let id = machine.question();
    machine.does(&["answer", &id, "Postgres"]);
    // It is written before the responder hears that it was accepted.
    let past = history(&machine, &[]).stdout;
    assert!(
        past.contains(&id) && past.contains("answered by the command line (somebody): Postgres"),
        "{past}"
    );
    running.close_stdin();
    running.wait();
    assert!(history(&machine, &["show", &id]).stdout.contains("Which database?"));
    for (args, is_found) in [
        (&["--session", "s"][..], true),
        (&["--session", "t"], false),
        (&["--by", "command_line"], true),
        (&["--by", "page"], false),
        (&["--since", "1h"], true),
        (&["--until", "2999-01-01"], true),
        (&["--until", "2020-01-01"], false),
        (&["--search", "POSTGRES which somebody"], true),
        (&["--search", "postgres page"], false),
        // The name of a member is no text of the question.
        (&["--search", "settlement"], false),
    ] {
        assert_eq!(history(&machine, args).stdout.contains(&id), is_found, "{args:?}");
    }
    let line: Value =
        serde_json::from_str(history(&machine, &["export"]).stdout.lines().next().unwrap()).unwrap();
    assert_eq!((&line["seq"], &line["record"]["id"]), (&json!(1), &json!(id)));
    let whole = history(&machine, &["verify"]);
    assert!(whole.code == 0 && whole.stdout.contains("1 settlements, none changed or missing"), "{whole:?}");
    // Whoever can write the file can change it, and is found out.
    let file = machine.path().join("state/askbridge/journal.db");
    rusqlite::Connection::open(file)
        .unwrap()
        .execute("UPDATE settlement SET responder = 'page'", [])
        .unwrap();
    let changed = history(&machine, &["verify"]);
    assert!(changed.code == 1 && changed.stdout.contains(&id), "{changed:?}");
    assert_eq!(history(&machine, &["prune", "--older-than", "0s"]).stdout, "1 question is removed\n");
    assert!(!history(&machine, &[]).stdout.contains(&id));
}

/// Some programs end a line at U+2028 and U+2029.
#[test]
fn an_exported_line_is_one_line_for_every_reader() {
    let machine = TestMachine::new();
    let text = "Which\u{2028}database\u{2029}?";
    let asked = question("s").to_string().replace("Which database?", text);
    let _bridge = bridge(&machine, &serde_json::from_str(&asked).unwrap());
    let id = machine.question();
    machine.does(&["answer", &id, "Postgres"]);
    until(&machine, &[], |text| text.contains(&id));
    let exported = history(&machine, &["export"]).stdout;
    assert!(!exported.contains(['\u{2028}', '\u{2029}']), "{exported}");
    let line: Value = serde_json::from_str(exported.trim_end()).unwrap();
    assert!(line["record"]["question"].to_string().contains(text), "{line}");
}

#[test]
fn history_is_asked_since_a_day_or_a_date() {
    let machine = TestMachine::new();
    let _bridge = bridge(&machine, &question("s"));
    let id = machine.question();
    machine.ok(&["answer", &id, "1"]);
    for since in ["1h", "today", "yesterday", "2020-02-29", "2020-02-29T12:00", "2020-02-29T12:00:00Z"] {
        until(&machine, &["--since", since], |text| text.contains(&id));
    }
    let later = history(&machine, &["--since", "2999-01-01"]);
    assert!(later.stderr.contains("no question in the journal matches"), "{later:?}");
    for wrong in ["tomorrow", "2020-02-30", "2020-02-29T25:00", "0s", ""] {
        let run = history(&machine, &["--since", wrong]);
        assert_eq!(run.code, i32::from(exit::USAGE), "{run:?}");
        assert!(run.stderr.contains("`today`, `yesterday`, or a date such as 2026-11-21"), "{run:?}");
    }
}

#[test]
fn history_shows_the_state_before_a_question_that_may_be_long() {
    let machine = TestMachine::new();
    let unknown = history(&machine, &["show", "nope"]);
    assert!(unknown.stderr.contains("`askbridge history` lists the latest"), "{unknown:?}");
    let long = "Which database? ".repeat(80);
    let ask = machine.start(&["ask", "--confirm", &long]);
    let id = machine.question();
    machine.ok(&["reject", &id]);
    end(ask);
    let listed = until(&machine, &[], |text| text.contains(&id));
    let [head, row] = listed.lines().collect::<Vec<_>>()[..] else { panic!("{listed}") };
    assert!(head.contains("  STATE") && head.ends_with("  QUESTION"), "{listed}");
    assert!(
        row.contains("  rejected  Which database?")
            && row.ends_with("…: rejected by the command line (somebody)"),
        "{listed}"
    );
    let unknown = history(&machine, &["show", "nope"]);
    assert_eq!(unknown.code, i32::from(exit::NO_QUESTION), "{unknown:?}");
    assert!(unknown.stderr.contains("the journal has no such question"), "{unknown:?}");
}

#[test]
fn no_command_prints_more_marks_on_a_character_than_any_script_has() {
    let machine = TestMachine::new();
    let marks = |letter: &str| letter.to_owned() + &"\u{301}".repeat(3001);
    let form = json!({ "questions": [{
        "question": marks("q"), "header": marks("h"), "custom": true,
        "options": [{ "value": "a", "label": marks("l"), "description": marks("d") }, { "value": "b", "label": "B" }],
    }] });
    let mut asks = machine.start(&["ask", "--json", "--form", "-", "--agent", &marks("n")]);
    asks.send(&form.to_string());
    asks.close_stdin();
    let id = machine.question();
    let most = |text: &str| {
        let runs = text.split(|c| c != '\u{301}').map(|run| run.chars().count());
        runs.max().unwrap_or(0)
    };
    let check = |args: &[&str]| {
        let piped = machine.run(args).stdout;
        let mut terminal = Terminal::start(&machine, args, 80, 24);
        assert_eq!(terminal.code(), 0, "{}", terminal.text);
        for (text, what) in [(&piped, "a pipe"), (&terminal.text, "a terminal")] {
            assert!((1..=16).contains(&most(text)), "{args:?} in {what} prints {} marks", most(text));
        }
    };
    check(&["list"]);
    check(&["show", &id]);
    check(&["status"]);
    // JSON has escapes instead, which mean the same.
    let json = ["show", &id, "--json"];
    check(&json);
    let shown: Value = serde_json::from_str(&machine.run(&json).stdout).unwrap();
    assert_eq!(shown["question"]["agent"], marks("n"));
    machine.does(&["answer", &id, "--text", &marks("o"), "--note", &marks("r")]);
    assert_eq!(end(asks).code, 0);
    until(&machine, &[], |text| text.contains(&id));
    check(&["history"]);
    check(&["history", "show", &id]);
}

#[test]
fn what_a_program_asks_is_in_the_history_and_is_not_lost_with_it() {
    let machine = TestMachine::new();
    let asks = machine.start(&["ask", "--confirm", "Deploy?"]);
    let id = machine.question();
    machine.does(&["answer", &id, "y"]);
    let past = history(&machine, &[]).stdout;
    assert!(past.contains(&id) && past.contains("answered by the command line (somebody)"), "{past}");
    assert_eq!(end(asks).code, 0);
    // There is no session that could be resumed.
    let asks = machine.start(&["ask", "Why?"]);
    let id = machine.question();
    until(&machine, &[], |past| past.contains(&id));
    kill(asks);
    let list = machine.run(&["list"]);
    assert!(list.code == 0 && !list.stdout.contains(&id), "{list:?}");
}

#[test]
fn secrets_are_never_in_the_journal_and_texts_are_not_where_that_is_set() {
    for (texts, asks, answer) in [("true", secret(), "hunter2"), ("false", question("s"), "Postgres")] {
        let machine = TestMachine::new();
        let mut command =
            machine.command(&["run", "--client-questions", "none", "--", "sh", "-c", AGENT, "sh"]);
        command.arg(asks.to_string()).env("ASKBRIDGE_JOURNAL_TEXTS", texts);
        let mut running = Process::spawn(&mut command);
        let id = machine.question();
        machine.does(&["answer", &id, answer]);
        running.close_stdin();
        running.wait();
        assert!(history(&machine, &[]).stdout.contains(&id));
        let folder = machine.path().join("state/askbridge");
        for file in fs::read_dir(folder).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(!has(answer), "{answer}");
            assert!(texts == "true" || !has("database"), "a text is kept");
        }
    }
}

/// An agent that asks one after the other what stands in its arguments, and says on stderr what it is told.
const ASKS_ALL: &str = r#"for ask; do printf '%s\n' "$ask"; IFS= read -r line; printf 'got %s\n' "$line" >&2; done; cat >/dev/null"#;

/// Lets an agent ask twice while the journal cannot be written: both questions are answered, and one warning says it.
/// Returns the warning. `before` is what the shell does before it runs the bridge.
#[track_caller]
fn asks_without_a_journal(machine: &TestMachine, before: &str) -> String {
    let mut command = Command::new("sh");
    let without_settings = |args: &[&str]| {
        let mut command = machine.command(args);
        command.env("XDG_CONFIG_HOME", machine.path().join("config"));
        command
    };
    let bridge = without_settings(&["run", "--client-questions", "none", "--", "sh", "-c", ASKS_ALL, "sh"]);
    command
        .args(["-c", &format!(r#"{before} exec "$0" "$@""#)])
        .arg(bridge.get_program())
        .args(bridge.get_args());
    command.envs(bridge.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let asked = |id: u32| {
        let mut asked = question(&format!("s{id}"));
        asked["id"] = id.into();
        asked.to_string()
    };
    let mut running = Process::spawn(command.args([asked(1), asked(2)]));
    for number in 1..=2 {
        running.expect_stderr("the hint", |text| text.matches(" waits: ").count() == number);
        let open = end(Process::spawn(&mut without_settings(&["list", "--json"])));
        let open: Value = serde_json::from_str(&open.stdout).unwrap();
        let id = name(&open["questions"][0]);
        let answered = end(Process::spawn(&mut without_settings(&["answer", &id, "SQLite"])));
        assert_eq!(answered.code, 0, "{answered:?}");
        running.expect_stderr("the answer", |text| text.matches("got ").count() == number);
    }
    running.close_stdin();
    running.wait();
    let said = running.whole_stderr();
    let warned: Vec<_> =
        said.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).collect();
    assert_eq!(warned.len(), 1, "{said}");
    assert!(warned[0].contains("questions continue without the journal: "), "{said}");
    warned[0].to_owned()
}

/// Makes the journal's folder, and returns the path of its file.
fn journal_file(machine: &TestMachine) -> std::path::PathBuf {
    let folder = machine.path().join("state/askbridge");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
    folder.join("journal.db")
}

#[test]
fn journal_whose_folder_is_a_file_costs_one_warning_and_no_question() {
    let machine = TestMachine::new();
    fs::write(machine.path().join("state"), "").unwrap();
    asks_without_a_journal(&machine, "");
}

#[test]
fn journal_whose_file_is_broken_costs_one_warning_and_no_question() {
    let machine = TestMachine::new();
    fs::write(journal_file(&machine), "This is no database. ".repeat(99)).unwrap();
    asks_without_a_journal(&machine, "");
}

#[test]
fn journal_whose_format_was_changed_costs_one_warning_and_no_question() {
    let machine = TestMachine::new();
    let file = journal_file(&machine);
    rusqlite::Connection::open(&file).unwrap().execute_batch("CREATE TABLE question (id)").unwrap();
    let warned = asks_without_a_journal(&machine, "");
    assert!(warned.contains("the journal was changed: it has tables, and its format is 0, "), "{warned}");
    assert!(
        warned.contains(&format!("to start a new journal, move this one away: {}", file.display())),
        "{warned}"
    );
}

#[test]
fn journal_whose_format_was_changed_is_called_so_by_each_command() {
    let machine = TestMachine::new();
    let mut running = bridge(&machine, &question("s"));
    let id = machine.question();
    machine.does(&["answer", &id, "Postgres"]);
    running.close_stdin();
    running.wait();
    let journal = rusqlite::Connection::open(journal_file(&machine)).unwrap();
    journal.pragma_update(None, "user_version", 0).unwrap();
    for args in
        [&[][..], &["--json"], &["--lost"], &["show", &id], &["export"], &["prune", "--older-than", "1day"]]
    {
        let run = history(&machine, args);
        assert_eq!((run.code, run.stdout.as_str()), (i32::from(exit::PROBLEM), ""), "{run:?}");
        assert!(run.stderr.contains("the journal was changed: "), "{run:?}");
    }
    let run = history(&machine, &["verify"]);
    assert_eq!(run.code, i32::from(exit::PROBLEM), "{run:?}");
    assert!(run.stdout.contains("the file was changed: its format is 0, "), "{run:?}");
    assert!(run.stdout.contains("1 settlements, and the chain is broken in 1 place"), "{run:?}");
    // What a newer version wrote is read as far as that works, and each command says so.
    journal.pragma_update(None, "user_version", 9999).unwrap();
    for args in [&[][..], &["show", &id], &["export"], &["verify"], &["verify", "--json"]] {
        let run = history(&machine, args);
        assert!(run.code == 0 && run.stderr.contains("written by a newer askbridge: "), "{run:?}");
    }
    journal.execute_batch("PRAGMA user_version = 101; UPDATE settlement SET hash = 'none'").unwrap();
    let run = history(&machine, &["export"]);
    assert_eq!(run.code, i32::from(exit::PROBLEM), "{run:?}");
    assert!(run.stdout.contains(&id), "{run:?}");
    let named = format!("row 1 was changed; its question is {id:?}, settled at ");
    assert!(run.stderr.contains(&named), "{run:?}");
    assert!(history(&machine, &["verify"]).stdout.contains(&named));
}

#[test]
fn journal_whose_file_is_locked_costs_one_warning_and_no_question() {
    let machine = TestMachine::new();
    let holder = rusqlite::Connection::open(journal_file(&machine)).unwrap();
    holder.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x); BEGIN EXCLUSIVE").unwrap();
    asks_without_a_journal(&machine, "");
}

#[test]
fn journal_that_has_no_room_costs_one_warning_and_no_question() {
    // No file of the bridge may become larger than a few KiB. The signal that says so is ignored, as it is by a server.
    asks_without_a_journal(&TestMachine::new(), "trap '' XFSZ; ulimit -f 16;");
}

/// Runs this as another user than root, who may write everywhere. What it starts is of that user, too.
fn without_root(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                let nobody = 65534;
                rustix::thread::set_thread_groups(&[]).unwrap();
                rustix::thread::set_thread_gid(rustix::process::Gid::from_raw(nobody)).unwrap();
                rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(nobody)).unwrap();
            }
            test();
        });
        run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

#[test]
fn journal_in_a_home_that_is_read_only_costs_one_warning_and_no_question() {
    without_root(|| {
        // A build in the home of root is out of reach of any other user.
        if rustix::fs::access(crate::answers::machine::ASKBRIDGE, rustix::fs::Access::EXEC_OK).is_err() {
            return;
        }
        let machine = TestMachine::new();
        let state = machine.path().join("state");
        fs::create_dir(&state).unwrap();
        fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).unwrap();
        asks_without_a_journal(&machine, "");
        assert_eq!(fs::read_dir(&state).unwrap().count(), 0);
    });
}

#[test]
fn what_the_journal_does_not_keep_is_never_the_same_answer() {
    for (texts, asks, answer) in [("true", secret(), "hunter2"), ("false", question("s"), "Postgres")] {
        let machine = TestMachine::new();
        let mut command = machine.command(&["run", "--client-questions", "none", "--"]);
        command.args(["sh", "-c", AGENT, "sh", &asks.to_string()]).env("ASKBRIDGE_JOURNAL_TEXTS", texts);
        let mut bridge = Process::spawn(&mut command);
        let id = machine.question();
        machine.does(&["answer", &id, answer]);
        bridge.close_stdin();
        assert_eq!(bridge.wait().code(), Some(0));
        let again = machine.run(&["answer", &id, answer]);
        assert_eq!(again.code, i32::from(exit::SETTLED), "{texts}: {again:?}");
        assert!(again.stderr.contains(" ago it was answered by the command line"), "{again:?}");
        assert!(!again.stderr.contains(answer), "{again:?}");
    }
}

#[test]
fn question_that_no_person_can_answer_is_rejected_or_ends_the_agent() {
    let machine = TestMachine::new();
    let rejects =
        bridge_with(&machine, &["--client-questions", "none", "--unattended", "reject"], &question("s"));
    rejects.expect_stderr("the rejection", |text| text.contains("got ") && !text.contains("SQLite"));
    let past = until(&machine, &[], |text| text.contains("rejected by"));
    assert!(past.contains("rejected by rule \"unattended\": no person can answer here"), "{past}");
    let mut fails =
        bridge_with(&machine, &["--client-questions", "none", "--unattended", "fail"], &question("t"));
    assert_eq!(fails.wait().code(), Some(9));
    let said = fails.whole_stderr();
    assert!(said.contains("no person can answer question ") && said.contains("Which database?"), "{said}");
    assert!(!said.contains("SQLite"), "no answer is made up: {said}");
    // Both have to hold, and one does not.
    let mut command = machine.command(&["run", "--client-questions", "none", "--unattended", "fail", "--"]);
    command.args(["sh", "-c", AGENT, "sh", &question("u").to_string()]);
    command.env("ASKBRIDGE_UNATTENDED_WHEN", "no-client,ci").env_remove("CI");
    let waits = Process::spawn(&mut command);
    let open = machine
        .watch()
        .until("the question", |open| open.iter().any(|one| one["question"]["sessionId"] == "u"));
    assert_eq!(machine.does(&["answer", &name(&open[0]), "SQLite"]), format!("{} answered", name(&open[0])));
    waits.expect_stderr("the answer", |text| text.contains("SQLite"));
}

#[test]
fn bridges_of_another_environment_are_named_and_not_called_lost() {
    let machine = TestMachine::new();
    let bridges = [bridge(&machine, &question("s")), bridge(&machine, &question("t"))];
    machine.questions(2);
    // As under cron, or over ssh without a session.
    let elsewhere = |args: &[&str]| {
        let mut command = machine.command(args);
        end(Process::spawn(command.env_remove("XDG_RUNTIME_DIR")))
    };
    until(&machine, &[], |text| text.matches("  open  ").count() == 2);
    let run = elsewhere(&["list"]);
    let (here, there) = (machine.path().join("state/askbridge"), machine.sockets());
    let expected = format!(
        "no bridge runs in {}\n2 open questions wait at 2 bridges in {}, where this command did not look\n\
         To see what waits there: XDG_RUNTIME_DIR={} askbridge list\n",
        here.display(),
        there.display(),
        machine.path().display()
    );
    assert_eq!(run.stdout, expected, "{run:?}");
    let listed: Value = serde_json::from_str(&elsewhere(&["list", "--json"]).stdout).unwrap();
    assert_eq!(listed["lost"], json!([]));
    assert_eq!(listed["elsewhere"][0]["directory"].as_str(), there.to_str());
    assert_eq!(
        (&listed["elsewhere"][0]["running"], &listed["elsewhere"][0]["questions"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(elsewhere(&["history"]).stdout.matches("  open  ").count(), 2);
    // A process that lives without its socket is not lost either.
    for name in machine.names().iter().filter(|name| name.ends_with(".sock")) {
        fs::remove_file(there.join(name)).unwrap();
    }
    let listed = machine.ok(&["list"]);
    let pids: Vec<_> = bridges.iter().map(|bridge| bridge.id().to_string()).collect();
    assert!(listed.contains("2 open questions wait at 2 bridges whose socket is gone (process "), "{listed}");
    assert!(pids.iter().all(|pid| listed.contains(pid)) && !listed.contains("lost"), "{listed}");
    bridges.into_iter().for_each(kill);
    assert!(machine.ok(&["list"]).contains("lost: 2 questions"));
}

#[test]
fn a_long_list_of_lost_questions_is_cut_and_says_how_to_see_all() {
    let machine = TestMachine::new();
    let asks: Vec<_> = (0..12)
        .map(|number| {
            let params = json!({ "sessionId": "s", "prompt": format!("{number} {}", "x".repeat(1200)), "options": ["a"] });
            json!({ "jsonrpc": "2.0", "id": number, "method": "_sandboxagent/session/request_question", "params": params })
        })
        .collect();
    let lines: Vec<_> = asks.iter().map(Value::to_string).collect();
    let mut command: Command = machine.command(&["run", "--client-questions", "none"]);
    command.args(["--", "sh", "-c", AGENT, "sh", &lines.join("\n")]);
    let killed = Process::spawn(&mut command);
    machine.questions(12);
    until(&machine, &[], |text| text.matches("  open  ").count() == 12);
    kill(killed);
    let listed = machine.ok(&["list"]);
    let lines: Vec<_> = listed.lines().skip_while(|line| !line.starts_with("lost: 12 questions")).collect();
    assert_eq!(lines.len(), 1 + 5 + 2, "{listed}");
    assert!(lines.iter().all(|line| line.chars().count() <= 200), "{listed}");
    assert_eq!(lines[6], "and 7 more: askbridge history --lost shows all");
    // So it does beside those that `list` does not count: what a killed command asked.
    for number in 0..2 {
        let asks = machine.start(&["ask", "--confirm", &format!("Deploy {number}?")]);
        machine.question();
        until(&machine, &[], |text| text.contains(&format!("Deploy {number}?")));
        kill(asks);
    }
    assert!(
        machine.ok(&["list"]).contains("\nlost: 12 questions")
            || machine.ok(&["list"]).starts_with("lost: 12")
    );
    assert_eq!(machine.ok(&["history", "--lost"]).matches("lost: its bridge ended").count(), 14);
    let limited = machine.ok(&["history", "--lost", "--limit", "2"]);
    assert_eq!(limited.lines().count(), 3, "{limited}");
}
