//! Settings as processes take them: each layer, each kind of hostile file, and `askbridge config`.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::Command,
};

use askbridge_core::desk::Timestamp;
use serde_json::{Value, json};

use crate::answers::machine::end;
use crate::answers::person::{Person, run};
use crate::support::Process;

fn project_sets(person: &Person, text: &str) {
    fs::write(person.project().join(".askbridge.toml"), text).unwrap();
}

/// The agent asks a question and prints the answer that it gets on stderr.
const ASKER: [&str; 4] = [
    "--",
    "sh",
    "-c",
    r#"echo '{"jsonrpc":"2.0","id":1,"method":"_sandboxagent/session/request_question","params":{"prompt":"Which?","options":["a"]}}'; read -r line; echo "got $line" >&2"#,
];

#[test]
fn a_bridge_takes_its_settings_and_options_win() {
    let person = Person::new();
    person.sets("[bridge]\ntimeout = '1ms'\n");
    let asked = |options: &[&str], environment: Option<&str>| {
        let mut command = person.command(&[&["run"], options, &ASKER].concat());
        command.envs(environment.map(|value| ("ASKBRIDGE_BRIDGE_TIMEOUT", value)));
        Process::spawn(&mut command)
    };
    let rejected = |process: Process| {
        process.expect_stderr("the answer", |text| text.contains("got")).contains("timeout")
    };
    assert!(rejected(asked(&[], None)), "the file");
    person.sets("[bridge]\ntimeout = 'never'\n");
    assert!(rejected(asked(&[], Some("1ms"))), "the environment wins over the file");
    assert!(rejected(asked(&["--timeout", "1ms"], Some("never"))), "the option wins over all");
    let open = asked(&["--timeout", "never"], Some("1ms"));
    person.machine.question();
    drop(open);
}

/// An agent that prints what its client wants it to ask, and says what it gets on stderr.
const ASKS_WHEN_TOLD: [&str; 4] = [
    "--",
    "sh",
    "-c",
    r#"while read -r verb line; do case "$verb" in ask) printf '%s\n' "$line";; *) echo "got $verb $line" >&2;; esac; done"#,
];

fn ask(bridge: &mut Process, id: u32) {
    let params = json!({ "prompt": format!("Which {id}?"), "options": ["a"] });
    let method = "_sandboxagent/session/request_question";
    bridge
        .send(&format!("ask {}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })));
}

/// Returns how many seconds a listed question has in all.
fn seconds(question: &Value) -> Option<u64> {
    let time = |name: &str| question[name].as_str().map(|text| text.parse::<Timestamp>().unwrap());
    Some(time("deadline")?.since(time("openedAt")?).as_secs())
}

#[test]
fn a_timeout_that_is_set_while_a_bridge_runs_counts_for_its_next_question() {
    let person = Person::new();
    person.sets("[bridge]\ntimeout = '1h'\n");
    let mut bridge = Process::spawn(&mut person.command(&[&["run"], &ASKS_WHEN_TOLD[..]].concat()));
    let mut watch = person.machine.watch();
    let mut next = |bridge: &mut Process, id: usize, expected: &[Option<u64>]| {
        ask(bridge, id.try_into().unwrap());
        let what = format!("questions with {expected:?}");
        watch.until(&what, |open| {
            // The list has first what ends soon.
            let mut open: Vec<_> = open.iter().collect();
            open.sort_by_key(|question| question["openedAt"].as_str().map(str::to_owned));
            open.into_iter().map(seconds).collect::<Vec<_>>() == expected
        });
    };
    let hour = Some(3600);
    next(&mut bridge, 1, &[hour]);
    person.ok(&["config", "set", "bridge.timeout", "5m"]);
    next(&mut bridge, 2, &[hour, Some(300)]);
    next(&mut bridge, 3, &[hour, Some(300), Some(300)]);
    person.ok(&["config", "unset", "bridge.timeout"]);
    next(&mut bridge, 4, &[hour, Some(300), Some(300), None]);
    fs::remove_file(person.file()).unwrap();
    person.sets("[bridge]\ntimeout = '2m'\n");
    next(&mut bridge, 5, &[hour, Some(300), Some(300), None, Some(120)]);
}

#[test]
fn options_and_the_environment_win_over_a_change_of_the_settings() {
    for (options, environment) in [(&["--timeout", "2h"][..], None), (&[], Some("2h"))] {
        let person = Person::new();
        person.sets("[bridge]\ntimeout = '1h'\n");
        let mut command = person.command(&[&["run"], options, &ASKS_WHEN_TOLD].concat());
        command.envs(environment.map(|value| ("ASKBRIDGE_BRIDGE_TIMEOUT", value)));
        let mut bridge = Process::spawn(&mut command);
        let mut watch = person.machine.watch();
        ask(&mut bridge, 1);
        watch.until("a question", |open| open.len() == 1);
        person.sets("[bridge]\ntimeout = '5m'\n");
        for id in 2..4 {
            ask(&mut bridge, id);
            // The look that a question leads to is over when the next one is listed.
            let open = watch.until("a question", |open| open.len() == usize::try_from(id).unwrap());
            assert!(open.iter().all(|question| seconds(question) == Some(7200)), "{open:?}");
        }
    }
}

#[test]
fn what_becomes_of_unattended_questions_is_read_again() {
    let person = Person::new();
    let mut bridge = Process::spawn(
        &mut person.command(&[&["run", "--client-questions", "none"], &ASKS_WHEN_TOLD[..]].concat()),
    );
    ask(&mut bridge, 1);
    let first = person.machine.question();
    person.sets("[unattended]\nthen = 'reject'\n");
    ask(&mut bridge, 2);
    bridge.expect_stderr("the rejection", |text| text.contains("got ") && text.contains(r#""id":2"#));
    assert_eq!(person.machine.question(), first, "one that was open before waits");
}

#[test]
fn options_undo_what_the_settings_switch_off() {
    let person = Person::new();
    person.sets("[bridge]\ninbox = false\n");
    let bridge = Process::spawn(&mut person.command(&[&["run", "--inbox"], &ASKER[..]].concat()));
    person.machine.question();
    drop(bridge);
    person.sets("[bridge]\ninbox = true\nserve = 0\n");
    let mut bridge =
        Process::spawn(&mut person.command(&["run", "--log", "info", "--no-serve", "--", "cat"]));
    bridge.close_stdin();
    let run = end(bridge);
    assert_eq!((run.code, run.stderr.contains("http://")), (0, false), "{run:?}");
    let mut bridge = Process::spawn(&mut person.command(&["run", "--", "cat"]));
    bridge.expect_stderr("the address", |text| text.contains("http://127.0.0.1:"));
    bridge.close_stdin();
    assert_eq!(end(bridge).code, 0);
}

#[test]
fn the_log_and_the_inbox_take_their_settings() {
    let person = Person::new();
    person.sets("[log]\nfile = '~/all.log'\nlevel = 'debug'\nformat = 'json'\n[inbox]\naddress = 0\ntoken-file = '~/own.token'\n");
    let inbox = Process::spawn(&mut person.command(&["inbox"]));
    inbox.expect_stderr("its address", |text| text.contains("http://127.0.0.1:") && !text.contains(":8421"));
    drop(inbox);
    assert!(person.machine.path().join("own.token").exists());
    assert_eq!(run(&mut person.command(&["run", "--", "askbridge-no-such-agent"])).code, 127);
    assert!(person.machine.path().join("all.log").exists());
}

#[test]
fn no_file_of_settings_stops_a_bridge() {
    let person = Person::new();
    let bridge = ["run", "--", "sh", "-c", "exit 7"];
    let survives = |problem: &str| {
        let run = person.run(&bridge);
        assert_eq!(run.code, 7, "{run:?}");
        assert!(run.stderr.contains(problem), "{problem}: {}", run.stderr);
    };
    person.sets("[log]\nfile = '/'\n");
    survives("log.file: cannot open the log file");
    person.sets("x\n= 3\n[bridge]\ntimout = 1\n");
    survives("config.toml:4:1: there is no setting `bridge.timout`; did you mean `bridge.timeout`?");
    fs::write(person.file(), [0xff, 0xfe]).unwrap();
    survives("is ignored: stream did not contain valid UTF-8");
    fs::write(person.file(), vec![b' '; 1 << 20]).unwrap();
    survives("is ignored: it is larger than 64 KiB");
    fs::remove_file(person.file()).unwrap();
    let made = Command::new("mkfifo").arg(person.file()).status().unwrap();
    assert!(made.success());
    survives("is ignored: it is not a regular file");
    fs::remove_file(person.file()).unwrap();
    fs::create_dir(person.file()).unwrap();
    survives("is ignored: it is not a regular file");
}

#[test]
fn a_hostile_project_is_named_and_has_no_effect() {
    let person = Person::new();
    project_sets(
        &person,
        "[log]\nfile = '~/stolen'\n[bridge]\nserve = '0.0.0.0:0'\ntimeout = '1ms'\nchat-hint = false\n[notify.command]\ncommand = ['touch', 'pwned']\n# \u{1b}]0;title\u{7}\n",
    );
    let run = person.run(&["run", "--", "sh", "-c", "exit 7"]);
    assert_eq!(run.code, 7, "{run:?}");
    for refused in [
        "shop/.askbridge.toml:2:1: only your own file may set `log.file`",
        ".askbridge.toml:4:1: only your own file may set `bridge.serve`",
        ".askbridge.toml:5:1: only your own file may set `bridge.timeout`",
        ".askbridge.toml:8:1: only your own file may set `notify.command.command`",
    ] {
        assert!(run.stderr.contains(refused), "{refused}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("http://") && !run.stderr.contains('\u{1b}'), "{}", run.stderr);
    assert!(!person.machine.path().join("stolen").exists());
    assert_eq!(
        person.run(&["config", "get", "bridge.chat-hint"]).stdout,
        "false\n",
        "what it may set counts"
    );
    // Commands that a project has no say in do not read its file.
    assert_eq!(person.ok(&["status", "--json"]).matches("settings").count(), 0);
    fs::remove_file(person.project().join(".askbridge.toml")).unwrap();
    fs::write(person.machine.path().join("id_rsa"), "PRIVATE KEY").unwrap();
    symlink("../id_rsa", person.project().join(".askbridge.toml")).unwrap();
    let run = person.run(&["config"]);
    assert!(run.stderr.contains("a link to a file outside of the project"), "{run:?}");
    assert!(!format!("{run:?}").contains("PRIVATE"), "{run:?}");
}

#[test]
fn values_are_set_shown_and_taken_out() {
    let person = Person::new();
    let file = person.file();
    assert_eq!(person.ok(&["config", "path"]), format!("{}\n", file.display()));
    let none = person.run(&["config", "get", "notify.ntfy.topic"]);
    assert_eq!((none.code, none.stdout.as_str(), none.stderr.as_str()), (1, "", ""));
    assert_eq!(
        person.ok(&["config", "set", "notify.delay", "60s"]),
        format!("notify.delay = \"1m\" in {}\n", file.display())
    );
    person.ok(&["config", "set", "notify.sound.command", "say", "-v", "Ada", "a question"]);
    let said = person.ok(&["config", "set", "notify.ntfy.token", "tk_s3cret"]);
    assert!(!said.contains("s3cret"), "{said}");
    assert_eq!(person.ok(&["config", "get", "notify.delay"]), "1m\n");
    assert_eq!(
        person.ok(&["config", "get", "notify.sound.command"]),
        "[\"say\", \"-v\", \"Ada\", \"a question\"]\n"
    );
    assert_eq!(person.ok(&["config", "get", "notify.ntfy.token"]), "tk_s3cret\n");
    assert!(!person.ok(&["config", "--origin"]).contains("s3cret"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    person.ok(&["config", "unset", "notify.delay"]);
    assert_eq!(person.ok(&["config", "get", "notify.delay"]), "10s\n");
    let mut command = person.command(&["config", "set", "notify.delay", "2m"]);
    let overridden = run(command.env("ASKBRIDGE_NOTIFY_DELAY", "3m"));
    assert_eq!(
        overridden.stderr,
        "askbridge: notify.delay has another value here, from ASKBRIDGE_NOTIFY_DELAY\n"
    );
}

#[test]
fn a_value_that_cannot_be_set_changes_nothing() {
    let person = Person::new();
    let text = "[notify]\ndelay = '5s' # soon\n";
    person.sets(text);
    for (args, why) in [
        (&["notify.delai", "5s"][..], "there is no setting `notify.delai`; did you mean `notify.delay`?"),
        (&["notify.delay", "soon"], "notify.delay: \"soon\" is not a number and a unit"),
        (&["notify.command.command", "rm -rf $HOME"], "no shell reads it"),
        (&["notify.desktop.enabled", "a", "b"], "is not true or false"),
        (&["notify", "a"], "`notify` is a table"),
    ] {
        let run = person.run(&[&["config", "set"], args].concat());
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(why), "{why}: {}", run.stderr);
    }
    assert_eq!(fs::read_to_string(person.file()).unwrap(), text);
    person.sets("[notify\n");
    let broken = person.run(&["config", "set", "notify.delay", "5s"]);
    assert_eq!(broken.code, 125, "{broken:?}");
    assert!(broken.stderr.contains("config.toml is unchanged: line 1: "), "{broken:?}");
    assert_eq!(fs::read_to_string(person.file()).unwrap(), "[notify\n");
}

#[test]
fn each_value_is_shown_with_its_origin() {
    let person = Person::new();
    person.sets("[notify]\ndelay = '5s'\nqiet = []\n");
    project_sets(&person, "[bridge]\nchat-hint = false\n");
    let mut command = person.command(&["config", "--origin"]);
    let run = run(command.env("ASKBRIDGE_LOG_LEVEL", "info"));
    let config = person.file();
    assert_eq!(run.code, 0);
    for line in [
        format!("# your own file: {}", config.display()),
        format!("delay = \"5s\"  # {}:2:9", config.display()),
        format!("chat-hint = false  # {}:2:13", person.project().join(".askbridge.toml").display()),
        "level = \"info\"  # ASKBRIDGE_LOG_LEVEL".to_owned(),
        "grace = \"10s\"  # default".to_owned(),
        "# topic is not set".to_owned(),
    ] {
        assert!(run.stdout.lines().any(|shown| shown == line), "{line}: {}", run.stdout);
    }
    let problem =
        format!("{}:3:1: there is no setting `notify.qiet`; did you mean `notify.quiet`?", config.display());
    assert_eq!(run.stderr, format!("askbridge: {problem}\n"));
    let json: Value = serde_json::from_str(&person.ok(&["config", "--json"])).unwrap();
    let delay =
        json["settings"].as_array().unwrap().iter().find(|entry| entry["key"] == "notify.delay").unwrap();
    assert_eq!((&delay["value"], &delay["origin"]["layer"]), (&"5s".into(), &"user".into()));
    assert_eq!((&delay["origin"]["line"], &delay["origin"]["column"]), (&2.into(), &9.into()));
    assert_eq!(json["problems"][0]["origin"]["line"], 3);
}

#[test]
fn an_edited_file_is_checked() {
    let person = Person::new();
    let edit = |script: &str| {
        let mut command = person.command(&["config", "edit"]);
        run(command.env("VISUAL", "").env("EDITOR", format!("sh -c '{script}' editor")))
    };
    assert_eq!(edit("grep -c askbridge $1").code, 0, "a new file has every setting as a comment");
    let template = fs::read_to_string(person.file()).unwrap();
    assert!(template.contains("# delay = \"10s\"\n"), "{template}");
    assert_eq!(edit("echo \"[notify]\" > $1").code, 0);
    let wrong = edit("echo \"x = 1\" > $1");
    assert_eq!(wrong.code, 1, "{wrong:?}");
    assert!(wrong.stderr.contains("config.toml:1:1: there is no setting `x`"), "{wrong:?}");
    let failed = edit("exit 3");
    assert_eq!(failed.code, 125, "{failed:?}");
}
