//! `askbridge setup` and `askbridge doctor` in a home directory of their own, on copies of real settings.
//! What the edit itself does is left to the unit tests of `src/command/setup`. `UPDATE=1 cargo test --test suites setup::` writes the
//! diffs in `fixtures/setup`.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::Write,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use askbridge_os::exit;
use rustix::{
    fs::{CWD, Mode, mkfifoat},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::Process;

const ASKBRIDGE: &str = env!("CARGO_BIN_EXE_askbridge");
const ZED: &str = ".config/zed/settings.json";

#[derive(Debug)]
struct Run {
    code: u8,
    stdout: String,
    stderr: String,
}

/// A home directory, with programs that are only looked at.
struct Home(TempDir);

impl Home {
    fn new(programs: &[&str]) -> Self {
        let home = Home(tempfile::tempdir().unwrap());
        for program in programs {
            home.write(&format!("bin/{program}"), "");
            fs::set_permissions(home.at(&format!("bin/{program}")), Permissions::from_mode(0o755)).unwrap();
        }
        home
    }

    /// As [`Home::new`], and with askbridge on `PATH`.
    fn with_askbridge(programs: &[&str]) -> Self {
        let home = Home::new(programs);
        fs::create_dir_all(home.at("bin")).unwrap();
        symlink(ASKBRIDGE, home.at("bin/askbridge")).unwrap();
        home
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(ASKBRIDGE);
        command.args(args).env_clear().env("HOME", self.0.path()).env("PATH", self.at("bin"));
        command.env("XDG_RUNTIME_DIR", self.at("run")).env("XDG_CONFIG_HOME", self.at(".config"));
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        fs::create_dir_all(self.at("run")).unwrap();
        let mut process = Process::spawn(&mut self.command(args));
        process.close_stdin();
        let mut stdout = Vec::new();
        while let Some(line) = process.next_line() {
            stdout.extend(line);
        }
        let code = process.wait().code().unwrap().try_into().unwrap();
        Run { code, stdout: String::from_utf8(stdout).unwrap(), stderr: process.whole_stderr() }
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!((run.code, run.stderr.as_str()), (exit::OK, ""), "{args:?}: {}", run.stdout);
        run.stdout
    }

    /// Runs a command at a terminal on which a person types this, and returns its exit code and stdout.
    fn typed(&self, args: &[&str], typed: &str) -> (Option<i32>, String) {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = OpenOptions::new().read(true).write(true).open(slave).unwrap();
        File::from(master.try_clone().unwrap()).write_all(typed.as_bytes()).unwrap();
        let mut command = self.command(args);
        let output = command.stdin(Stdio::from(slave)).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }
}

fn fixture(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/setup").join(name)).unwrap()
}

/// Compares with a file.
#[track_caller]
fn check(home: &Home, name: &str, shown: &str) {
    let shown = shown.replace(home.0.path().to_str().unwrap(), "~").replace(ASKBRIDGE, "~/bin/askbridge");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/setup").join(name);
    let written = fs::read_to_string(&path).unwrap_or_default();
    if written != shown && std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &shown).unwrap();
    }
    assert!(written == shown, "{}, expected:\n{written}\nactual:\n{shown}", path.display());
}

#[test]
fn settings_are_changed_once_and_undone_byte_for_byte() {
    for (client, path, name) in [
        ("zed", ZED, "zed.jsonc"),
        ("vscode", ".config/Code/User/settings.json", "vscode.jsonc"),
        ("jetbrains", ".jetbrains/acp.json", "jetbrains.json"),
    ] {
        let home = Home::new(&["gemini", "npx"]);
        home.write(".vscode/extensions/formulahendry.acp-client-0.2.0/package.json", "{}");
        home.write(path, &fixture(name));
        let shown = home.ok(&["setup", client, "--print"]);
        check(&home, &format!("{client}.diff"), &shown);
        assert_eq!(home.read(path), fixture(name), "--print writes nothing");

        let written = home.ok(&["setup", client, "--yes"]);
        assert!(written.contains("written; `askbridge setup"), "{written}");
        let after = home.read(path);
        assert!(after.contains(ASKBRIDGE), "{after}");
        let again = home.ok(&["setup", client, "--yes"]);
        assert!(again.ends_with("nothing to change\n"), "{again}");
        assert_eq!(home.read(path), after);

        home.ok(&["setup", client, "--undo", "--yes"]);
        assert_eq!(home.read(path), fixture(name));
        let nothing = home.ok(&["setup", client, "--undo", "--yes"]);
        assert!(nothing.contains("nothing to undo"), "{nothing}");
        let kept = fs::read_dir(home.at(".local/state/askbridge/setup")).unwrap().count();
        assert_eq!(kept, 1, "only the list of changes is left");
    }
}

#[test]
fn the_backup_is_the_persons_alone() {
    let home = Home::new(&["gemini"]);
    home.write(ZED, &fixture("zed.jsonc"));
    let said = home.ok(&["setup", "zed", "--yes"]);
    let backup = said.lines().find_map(|line| line.strip_prefix("the file as it was: ")).unwrap();
    assert_eq!(fs::read_to_string(backup).unwrap(), fixture("zed.jsonc"));
    for path in [Path::new(backup), Path::new(backup).parent().unwrap()] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o077, 0, "{path:?}");
    }
}

#[test]
fn one_agent_is_undone_and_the_others_stay() {
    let home = Home::new(&["gemini", "npx"]);
    home.write(ZED, &fixture("zed.jsonc"));
    home.ok(&["setup", "zed", "Work", "--yes"]);
    let work = home.read(ZED);
    home.ok(&["setup", "zed", "claude", "--yes"]);
    assert!(home.read(ZED).contains("Claude Agent (askbridge)"));
    home.ok(&["setup", "zed", "claude", "--undo", "--yes"]);
    assert_eq!(home.read(ZED), work);
    home.ok(&["setup", "--undo", "--yes"]);
    assert_eq!(home.read(ZED), fixture("zed.jsonc"));
}

#[test]
fn a_file_that_setup_made_is_removed_again() {
    let home = Home::new(&["codex-acp"]);
    fs::create_dir(home.at(".jetbrains")).unwrap();
    let said = home.ok(&["setup", "--yes"]);
    assert!(said.contains("--- /dev/null") && !said.contains("the file as it was"), "{said}");
    let file: Value = serde_json::from_str(&home.read(".jetbrains/acp.json")).unwrap();
    let agent = &file["agent_servers"]["Codex (askbridge)"];
    assert_eq!(agent["args"][0], "run");
    assert_eq!(agent["args"][2], home.at("bin/codex-acp").to_str().unwrap());
    home.ok(&["setup", "jetbrains", "--undo", "--yes"]);
    assert!(!home.at(".jetbrains/acp.json").exists());
}

#[test]
fn without_a_yes_nothing_is_written() {
    let home = Home::new(&["gemini"]);
    home.write(ZED, &fixture("zed.jsonc"));
    let run = home.run(&["setup", "zed"]);
    assert_eq!(run.code, exit::NOT_DONE);
    assert!(run.stderr.contains("give --yes"), "{run:?}");
    for no in ["n\n", "\n", "\u{4}"] {
        let (code, stdout) = home.typed(&["setup", "zed"], no);
        assert_eq!(code, Some(exit::NOT_DONE.into()), "{stdout}");
        assert!(stdout.contains("Write this? [y/N] nothing was written"), "{stdout}");
    }
    assert_eq!(home.read(ZED), fixture("zed.jsonc"));
    assert!(!home.at(".local/state/askbridge/setup").exists());
    let (code, stdout) = home.typed(&["setup", "zed"], "y\n");
    assert_eq!(code, Some(0), "{stdout}");
    assert!(home.read(ZED).contains("Gemini CLI (askbridge)"));
    let (code, stdout) = home.typed(&["setup", "zed", "--undo"], "yes\n");
    assert_eq!(code, Some(0), "{stdout}");
    assert_eq!(home.read(ZED), fixture("zed.jsonc"));
}

#[test]
fn broken_settings_are_refused_with_the_place() {
    let home = Home::new(&["gemini"]);
    for (text, why) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "settings.json: line 2, column 9: expected comma"),
        ("{ \"agent_servers\": [] }", "line 1, column 3: \"agent_servers\" must be an object"),
        ("{ \"agent_servers\": {},\n \"agent_servers\": {} }", "\"agent_servers\" is there twice"),
        ("{ \"agent_servers\": {\"x\": {\"command\": \"a\", \"command\": \"b\"}} }", "is there twice"),
        ("[]", "must be an object"),
        ("{", "line 1, column 1: unterminated object"),
    ] {
        home.write(ZED, text);
        let run = home.run(&["setup", "zed", "--yes"]);
        assert_eq!(run.code, exit::FAILED, "{run:?}");
        assert!(run.stderr.contains(why) && run.stderr.lines().count() == 1, "{text}: {run:?}");
        assert_eq!(home.read(ZED), text);
    }
}

#[test]
fn a_symlink_stays_one() {
    let home = Home::new(&["gemini"]);
    home.write("dotfiles/zed.json", &fixture("zed.jsonc"));
    fs::create_dir_all(home.at(".config/zed")).unwrap();
    symlink(home.at("dotfiles/zed.json"), home.at(ZED)).unwrap();
    home.ok(&["setup", "zed", "--yes"]);
    assert!(home.at(ZED).symlink_metadata().unwrap().is_symlink());
    assert!(home.read("dotfiles/zed.json").contains("(askbridge)"));
}

#[test]
fn control_characters_of_settings_do_not_reach_the_terminal() {
    let home = Home::new(&["gemini"]);
    home.write(ZED, "{\n  // \u{1b}[2J\u{202e}\n}\n");
    let shown = home.ok(&["setup", "zed", "--print"]);
    assert!(shown.contains("␛[2J\\u{202e}"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn editors_whose_settings_are_a_program_get_a_snippet() {
    let home = Home::new(&["codex-acp", "emacs"]);
    let emacs = home.ok(&["setup", "emacs"]);
    assert!(emacs.contains("agent-shell-openai-codex-acp-command"), "{emacs}");
    let neovim = home.ok(&["setup", "neovim", "codex"]);
    assert!(neovim.contains("extend(\"codex\""), "{neovim}");
    let all = home.ok(&["setup"]);
    assert!(all.contains("`askbridge setup emacs` prints"), "{all}");
}

#[test]
fn what_is_not_there_is_said() {
    let home = Home::new(&[]);
    for (args, code, why) in [
        (&["setup"][..], exit::FAILED, "no client was found"),
        (&["setup", "zed", "clawd"], exit::USAGE, "no agent \"clawd\"; known are claude"),
        (&["setup", "zed", "claude"], exit::USAGE, "nor npx is on PATH"),
        (&["setup", "zed"], exit::FAILED, "no agent is in the settings or on PATH"),
        (&["setup", "emacs"], exit::USAGE, "is not on PATH"),
    ] {
        let run = home.run(args);
        assert_eq!(run.code, code, "{args:?}: {run:?}");
        assert!(run.stderr.contains(why), "{args:?}: {run:?}");
    }
    assert!(!home.at(".config/zed").exists());
}

/// A `claude` that notes its plugins as the real one does.
const CLAUDE: &str = r#"#!/bin/sh
echo "$*" >> "$HOME/calls"
case "$1 $2" in
"plugin list") /bin/cat "$HOME/plugins" 2> /dev/null ;;
"plugin install") echo "$3" > "$HOME/plugins" ;;
"plugin uninstall") /bin/rm "$HOME/plugins" ;;
esac
exit "$(/bin/cat "$HOME/code" 2> /dev/null || echo 0)"
"#;

#[test]
fn the_plugin_of_claude_is_installed_once_and_taken_out() {
    const FOLDER: &str = ".local/share/askbridge/claude-plugin";
    let home = Home::new(&["claude"]);
    home.write("bin/claude", CLAUDE);
    let calls = || {
        let calls = fs::read_to_string(home.at("calls")).unwrap_or_default();
        drop(fs::remove_file(home.at("calls")));
        calls.lines().filter(|call| *call != "plugin list").map(str::to_owned).collect::<Vec<_>>()
    };
    let shown = home.ok(&["setup", "claude", "--print"]);
    assert!(shown.contains("hook claude") && shown.contains("$ claude plugin install"), "{shown}");
    assert_eq!((calls(), home.at(FOLDER).exists()), (Vec::new(), false));
    assert_eq!(home.run(&["setup", "claude"]).code, exit::NOT_DONE);

    home.ok(&["setup", "claude", "--yes"]);
    let add = format!("plugin marketplace add {}", home.at(FOLDER).display());
    assert_eq!(calls(), [add.as_str(), "plugin install askbridge@askbridge --scope user"]);
    let hooks: Value = serde_json::from_str(&home.read(&format!("{FOLDER}/hooks/hooks.json"))).unwrap();
    let command = &hooks["hooks"]["Stop"][0]["hooks"][0]["command"];
    assert_eq!(command, &format!("'{ASKBRIDGE}' hook claude"));
    assert!(home.ok(&["setup", "claude", "--yes"]).ends_with("nothing to change\n"));
    assert_eq!(calls(), [""; 0]);

    // Another version wrote the files.
    home.write(&format!("{FOLDER}/hooks/hooks.json"), "{}");
    home.ok(&["setup", "claude", "--yes"]);
    let (install, uninstall) =
        ("plugin install askbridge@askbridge --scope user", "plugin uninstall askbridge@askbridge");
    assert_eq!(calls(), [add.as_str(), uninstall, install]);

    home.ok(&["setup", "claude", "--undo", "--yes"]);
    assert_eq!(calls(), ["plugin uninstall askbridge@askbridge", "plugin marketplace remove askbridge"]);
    assert!(!home.at(FOLDER).exists());
    assert!(home.ok(&["setup", "claude", "--undo"]).contains("nothing to undo"));

    home.write("code", "3");
    let failed = home.run(&["setup", "claude", "--yes"]);
    assert!(failed.code == exit::FAILED && failed.stderr.contains("marketplace add"), "{failed:?}");
    // It stopped half way. What is not there cannot be forgotten, and that stops nothing.
    calls();
    home.ok(&["setup", "claude", "--undo", "--yes"]);
    assert_eq!(calls(), ["plugin marketplace remove askbridge"]);
    assert!(!home.at(FOLDER).exists());
    let missing = Home::new(&[]).run(&["setup", "claude"]);
    assert!(missing.stderr.contains("no program `claude` is on PATH"), "{missing:?}");
}

#[test]
fn doctor_finds_nothing_wrong_on_a_fresh_machine() {
    let home = Home::with_askbridge(&[]);
    let report = home.run(&["doctor"]);
    assert_eq!((report.code, report.stderr.as_str()), (exit::OK, ""), "{report:?}");
    for part in [
        "\nfolder\n  ok ",
        "mode 0700",
        "no bridge runs",
        "no editor was found",
        "none is set: a question waits",
    ] {
        assert!(report.stdout.contains(part), "no {part}: {}", report.stdout);
    }
    let last = report.stdout.lines().last().unwrap();
    assert!(last.starts_with("no agent is connected yet: install an agent"), "{last}");
    let report: Value = serde_json::from_str(&home.ok(&["doctor", "--json"])).unwrap();
    assert_eq!((&report["healthy"], &report["connected"]), (&json!(true), &json!(false)));
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/doctor_report.schema.json");
    let schema = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&report), "{report}");
}

#[test]
fn doctor_says_what_to_do_about_each_problem() {
    let home = Home::new(&["gemini"]);
    let unhealthy = |what: &str, advice: &str| {
        let report = home.run(&["doctor"]);
        assert_eq!(report.code, exit::PROBLEM, "{}", report.stdout);
        let mut lines = report.stdout.lines().skip_while(|line| !line.contains(what));
        let found = lines.next().unwrap_or_else(|| panic!("no {what}: {}", report.stdout));
        assert!(found.trim_start().starts_with("problem"), "{found}");
        assert!(lines.next().unwrap().contains(advice), "{}", report.stdout);
    };
    home.write(ZED, "{ broken");
    unhealthy("settings.json: line 1", "askbridge setup zed");
    home.write(ZED, &fixture("zed.jsonc"));
    home.ok(&["setup", "zed", "gemini", "--yes"]);
    fs::remove_file(home.at("bin/gemini")).unwrap();
    unhealthy("bin/gemini, which is not there", "--undo");
    home.ok(&["setup", "zed", "--undo", "--yes"]);
    assert_eq!(home.run(&["doctor"]).code, exit::OK);

    home.write("run/askbridge/token", "not a token\n");
    fs::set_permissions(home.at("run/askbridge/token"), Permissions::from_mode(0o600)).unwrap();
    unhealthy("there is no token", "remove");
    fs::remove_file(home.at("run/askbridge/token")).unwrap();
    fs::set_permissions(home.at("run/askbridge"), Permissions::from_mode(0o755)).unwrap();
    unhealthy("can be entered by other users", "no bridge can be found");
}

/// Returns what `doctor` says of an area: a level, a text and an advice for each.
fn of_area(home: &Home, area: &str) -> Vec<(String, String, String)> {
    let run = home.run(&["doctor", "--json"]);
    assert_eq!(run.stderr, "", "what is wrong is in the report");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().unwrap().iter().filter(|it| it["area"] == area);
    let read = findings.map(|it| (text(it, "level"), text(it, "text"), text(it, "advice")));
    let read: Vec<_> = read.collect();
    let has_problem = read.iter().any(|(level, ..)| level == "problem");
    assert!(!has_problem || run.code == exit::PROBLEM, "{read:?}");
    read
}

/// Types the commands of an advice, which stand between backticks.
fn follow(home: &Home, advice: &str) {
    for command in advice.split('`').skip(1).step_by(2).filter(|it| it.starts_with("askbridge ")) {
        let mut shell = Command::new("/bin/sh");
        let as_typed = command.replacen("askbridge", ASKBRIDGE, 1);
        let environment = home.command(&[]);
        shell.env_clear().envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let done = shell.args(["-c", &as_typed]).output().unwrap();
        assert!(done.status.success(), "{command}: {done:?}");
    }
}

#[test]
fn doctor_names_mistakes_in_the_settings() {
    let home = Home::with_askbridge(&[]);
    assert_eq!(of_area(&home, "settings")[0].0, "ok");
    home.write(
        ".config/askbridge/config.toml",
        "[bridge]\ntimout = '1s'\n[notify]\ndelay = 5\n[log]\nfile = '/nowhere/log'\n[[rule]]\nthen = 'allow'\n",
    );
    let found = of_area(&home, "settings");
    for (part, advice) in [
        ("config.toml:2:1: there is no setting `bridge.timout`", "config edit"),
        ("config.toml:4:9: `notify.delay`", "config edit"),
        ("config.toml:7:1", "config edit"),
        ("log.file: /nowhere/log: No such file", "config unset log.file"),
    ] {
        let is_named = |(level, text, told): &(String, String, String)| {
            level == "problem" && text.contains(part) && told.contains(advice)
        };
        assert!(found.iter().any(is_named), "no {part}: {found:#?}");
    }
    assert_eq!(found.len(), 4, "{found:#?}");
    // A FIFO without a reader is not waited for.
    let fifo = home.at("log");
    mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).unwrap();
    home.write(".config/askbridge/config.toml", &format!("[log]\nfile = {fifo:?}\n"));
    assert!(of_area(&home, "settings")[0].1.starts_with("log.file: "), "{:?}", of_area(&home, "settings"));
    home.write(".config/askbridge/config.toml", "[bridge]\ntimout = '1s'\n");
    let shown = home.run(&["doctor"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (exit::PROBLEM, ""));
    assert!(shown.stdout.contains("\nsettings\n  problem  "), "{}", shown.stdout);
    assert!(shown.stdout.lines().last().unwrap().starts_with("1 problem; no agent"), "{}", shown.stdout);
}

#[test]
fn doctor_names_notifiers_that_cannot_work() {
    let home = Home::new(&["bell"]);
    let file = ".config/askbridge/config.toml";
    let cannot = |text: &str, what: &str| {
        home.write(file, text);
        let found = of_area(&home, "notifiers");
        let [(level, said, advice)] = &found[..] else { panic!("{text}: {found:?}") };
        assert!(level == "problem" && said.contains(what), "{what}: {found:?}");
        follow(&home, advice);
        assert!(of_area(&home, "notifiers").iter().all(|(level, ..)| level != "problem"), "{advice}");
    };
    cannot("[notify.desktop]\nenabled = true\n", "desktop: there is no session bus");
    cannot("[notify.sound]\ncommand = ['paplay', 'x']\n", "sound: there is no program paplay");
    cannot("[notify.command]\ncommand = ['/nowhere/x']\n", "command: there is no program /nowhere/x");
    cannot("[notify.heartbeat]\ncommand = ['nothing']\n", "heartbeat: there is no program nothing");
    home.write(file, "[notify.ntfy]\nserver = 'https://ntfy.example.com'\n");
    assert!(of_area(&home, "notifiers")[0].1.contains("ntfy: no topic is set"));
    home.write(file, "[notify.webhook]\ntext = 'all'\n");
    assert!(of_area(&home, "notifiers")[0].1.contains("webhook: no url is set"));
    home.write(file, "[notify.sound]\ncommand = ['bell']\n[notify.ntfy]\ntopic = 'not-to-be-guessed'\n");
    let found = of_area(&home, "notifiers");
    assert!(found.len() == 2 && found.iter().all(|(level, ..)| level == "ok"), "{found:?}");
}

#[test]
fn doctor_looks_where_the_inbox_serves() {
    let home = Home::new(&[]);
    // No person has a port that is free in every test, so the other program stands at the address.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let set = |address: &str| {
        home.write(".config/askbridge/config.toml", &format!("[inbox]\naddress = '{address}'\n"));
    };
    set(&address.to_string());
    let found = of_area(&home, "inbox");
    assert_eq!(found[0].1, format!("another program listens on {address}"), "{found:?}");
    follow(&home, &found[0].2);
    assert!(!home.read(".config/askbridge/config.toml").contains(&address.to_string()));
    drop(taken);
    set("127.0.0.1:0");
    let inbox = Process::spawn(&mut home.command(&["inbox"]));
    let said = inbox.expect_stderr("its address", |text| text.contains("http://127.0.0.1:"));
    let address = said.split("http://").nth(1).unwrap().split(['/', ',', ' ', '\n']).next().unwrap();
    assert_eq!(of_area(&home, "inbox")[0].1, format!("http://{address} is served by askbridge"));
    let port = address.split(':').next_back().unwrap();
    let tunnel = format!("`ssh -L {port}:{address} HOST`");
    assert!(of_area(&home, "desktop")[0].2.contains(&tunnel), "{:?}", of_area(&home, "desktop"));
}

#[test]
fn doctor_says_which_agents_in_terminals_ask_here() {
    let home = Home::with_askbridge(&["claude", "codex"]);
    let last = || home.ok(&["doctor"]).lines().last().unwrap().to_owned();
    let found = of_area(&home, "terminals");
    assert!(found[0].1.starts_with("Claude Code: the plugin is not installed"), "{found:?}");
    assert_eq!(found[0].2, "`askbridge setup claude`");
    assert!(found[1].1.starts_with("Codex: inbox.attach is off"), "{found:?}");
    assert_eq!(last(), "no agent is connected yet: `askbridge setup claude` connects Claude Code");

    home.write(".claude/plugins/installed_plugins.json", r#"{"plugins":{"askbridge@askbridge":[]}}"#);
    assert_eq!(of_area(&home, "terminals")[0].1, "Claude Code: the plugin is installed");
    assert_eq!(last(), "everything works");
    let hooks = format!(
        r#"{{"hooks":{{"PermissionRequest":[{{"hooks":[{{"command":"exec '{}' hook claude"}}]}}]}}}}"#,
        home.at("gone").display()
    );
    home.write(".local/share/askbridge/claude-plugin/hooks/hooks.json", &hooks);
    let (level, text, _) = of_area(&home, "terminals").swap_remove(0);
    assert!(level == "problem" && text.contains("/gone, which is not there"), "{text}");
    fs::remove_file(home.at(".local/share/askbridge/claude-plugin/hooks/hooks.json")).unwrap();
    home.write(".claude/settings.json", r#"{"enabledPlugins":{"askbridge@askbridge":false}}"#);
    assert!(of_area(&home, "terminals")[0].1.contains("switched off"));
    home.write(".claude/settings.json", "{}");
    home.ok(&["config", "set", "claude.enabled", "false"]);
    let (_, text, advice) = of_area(&home, "terminals").swap_remove(0);
    assert!(text.contains("claude.enabled is false"), "{text}");
    follow(&home, &advice);

    home.ok(&["config", "set", "inbox.address", "0"]);
    home.ok(&["config", "set", "inbox.attach", "codex"]);
    let (level, text, _) = of_area(&home, "terminals").swap_remove(1);
    assert_eq!(
        (&*level, &*text),
        ("warning", "Codex: inbox.attach is on, and no inbox runs that could attach to it")
    );
    let inbox = Process::spawn(&mut home.command(&["inbox"]));
    inbox.expect_stderr("its address", |text| text.contains("http://"));
    assert_eq!(of_area(&home, "terminals")[1].1, "Codex: the inbox attaches to it");
    home.write(".claude.json", r#"{"mcpServers":{"askbridge":{"command":"askbridge","args":["mcp"]}}}"#);
    home.write(".codex/config.toml", "[mcp_servers.askbridge]\ncommand = 'askbridge'\nargs = ['mcp']\n");
    let mcp = of_area(&home, "terminals").pop().unwrap();
    assert_eq!(mcp.1, "MCP: the tool of askbridge is known to Claude Code, Codex");
}

#[test]
fn what_doctor_says_of_an_agent_of_a_registry_can_be_done() {
    let home = Home::with_askbridge(&["npx"]);
    home.write(ZED, r#"{"agent_servers":{"claude":{"type":"registry"},"odd":{"type":"registry"}}}"#);
    let found = of_area(&home, "editors");
    assert!(found[0].1.contains("claude comes from its registry"), "{found:?}");
    assert!(found[0].2.starts_with("`askbridge setup zed \"claude\"` adds one beside it"), "{found:?}");
    assert!(found[1].2.starts_with("add an agent with a command of its own"), "{found:?}");
    assert_eq!(
        home.ok(&["doctor"]).lines().last(),
        Some("no agent is connected yet: `askbridge setup` puts askbridge before the agents of your editor")
    );
    home.ok(&["setup", "zed", "claude", "--yes"]);
    let found = of_area(&home, "editors");
    assert!(
        found.iter().any(|(level, text, _)| level == "ok" && text.contains("Claude Agent (askbridge)")),
        "{found:?}"
    );
    assert!(found.iter().all(|(_, text, _)| !text.contains("claude comes from")), "{found:?}");
}

#[test]
fn doctor_shows_bridges_and_removes_what_killed_ones_left() {
    let home = Home::new(&[]);
    fs::create_dir_all(home.at("run/askbridge")).unwrap();
    fs::set_permissions(home.at("run/askbridge"), Permissions::from_mode(0o700)).unwrap();
    drop(std::os::unix::net::UnixListener::bind(home.at("run/askbridge/dead00.sock")).unwrap());
    let mut bridge = Process::spawn(&mut home.command(&["run", "--", "/bin/cat"]));
    bridge.send("on");
    bridge.expect("the echo", |line| line == "on");
    let report = home.run(&["doctor"]);
    assert_eq!(report.code, exit::OK, "{}", report.stdout);
    assert!(report.stdout.contains("removed a socket of bridges that were killed"), "{}", report.stdout);
    assert!(report.stdout.contains(": cat in "), "{}", report.stdout);
    assert!(!report.stdout.contains("the client, "), "{}", report.stdout);
    assert!(!home.at("run/askbridge/dead00.sock").exists());
}

#[test]
fn doctor_says_what_the_client_and_the_agent_promised() {
    let home = Home::new(&[]);
    let shows = |capabilities: Value, expected: &[&str]| {
        let params = json!({
            "protocolVersion": 1, "clientInfo": { "name": "Zed\u{7}" }, "clientCapabilities": capabilities,
        });
        let mut bridge = Process::spawn(&mut home.command(&["run", "--", "/bin/cat"]));
        // An echo is all that this agent says: a request at first, and then what the test lets it say.
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params });
        bridge.send(&request.to_string());
        bridge.expect("the echo", |line| line.contains("initialize"));
        let report = home.run(&["doctor"]);
        assert_eq!(report.code, exit::OK, "{}", report.stdout);
        let silent = "warning  BRIDGE: the agent has not replied to `initialize`";
        for part in expected.iter().chain([&silent]) {
            assert!(without_name(&report.stdout).contains(part), "no {part}: {}", report.stdout);
        }
    };
    shows(
        json!({ "elicitation": { "form": {} } }),
        &["ok       BRIDGE: the client, Zed␇, with ACP 1, shows questions: forms"],
    );
    let without = "note     BRIDGE: the client, Zed␇, with ACP 1, promises no forms";
    shows(json!({}), &[without, "-> several fields come one after the other there"]);

    // The client initializes twice: what both say last counts.
    let agent = r#"for name in Old Gemini; do read -r line; echo '{"jsonrpc":"2.0","id":7,"result":{"protocolVersion":1,"agentInfo":{"name":"gemini","title":"'$name'"}}}'; done; exec /bin/cat"#;
    let mut bridge = Process::spawn(&mut home.command(&["run", "--", "/bin/sh", "-c", agent]));
    bridge.send(r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"Old"}}}"#);
    bridge.expect("the first response", |line| line.contains("Old"));
    bridge.send(r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1}}"#);
    bridge.expect("the response", |line| line.contains("Gemini"));
    let report = home.run(&["doctor"]);
    for part in [
        "BRIDGE: the client, which has no name, with ACP 1",
        "ok       BRIDGE: the agent, Gemini, with ACP 1",
    ] {
        assert!(without_name(&report.stdout).contains(part), "no {part}: {}", report.stdout);
    }
    let status: Value = serde_json::from_str(&home.ok(&["status", "--json"])).unwrap();
    let peers = json!({
        "client": { "protocol": 1, "promises": [] },
        "agent": { "name": "Gemini", "protocol": 1, "promises": [] },
    });
    assert_eq!(status["bridges"][0]["peers"], peers, "{status}");
}

/// Puts a word for the names of bridges at the beginning of findings.
fn without_name(report: &str) -> String {
    let plain = |line: &str| match line.split_once(": ") {
        Some((start, rest)) if start.len() == 17 => format!("{}BRIDGE: {rest}\n", &start[..11]),
        _ => format!("{line}\n"),
    };
    report.lines().map(plain).collect()
}
