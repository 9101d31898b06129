//! Each advice of `askbridge doctor` is followed as it is printed, in the situation in which it is given. An advice that
//! is added to the program fails here until it has a case.

use std::{collections::BTreeMap, fs, os::unix::net::UnixListener, path::Path};

use serde_json::Value;

use super::home::{Home, ZED, follow, of_area};

const SETTINGS: &str = ".config/askbridge/config.toml";

/// What is left of a finding once its advice was followed.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// The advice is given no longer.
    Gone,
    /// The rest is not for askbridge to do, such as to start the agent.
    Stays,
}
use Then::{Gone, Stays};

/// A situation, and the advice that is given in it.
struct Case {
    /// The advice as it stands in the source, between backticks.
    advice: &'static str,
    /// The area of the finding, or `first` for the first step.
    area: &'static str,
    /// The programs on `PATH`.
    programs: &'static [&'static str],
    prepare: fn(&Home),
    then: Then,
}

const fn case(
    advice: &'static str,
    area: &'static str,
    programs: &'static [&'static str],
    prepare: fn(&Home),
    then: Then,
) -> Case {
    Case { advice, area, programs, prepare, then }
}

const CASES: &[Case] = &[
    case("askbridge config edit", "settings", &[], |home| set(home, "[bridge]\ntimout = '1s'\n"), Gone),
    case(
        "askbridge config edit",
        "notifiers",
        &[],
        |home| set(home, "[notify.webhook]\ntext = 'all'\n"),
        Gone,
    ),
    case("askbridge config edit", "notifiers", &[], project_off, Gone),
    case("askbridge config edit", "inbox", &[], |home| set(home, "[callbacks]\nhosts = ['a']\n"), Gone),
    case(
        "askbridge config unset log.file",
        "settings",
        &[],
        |home| set(home, "[log]\nfile = '/nowhere/x'\n"),
        Gone,
    ),
    case("askbridge config unset notify.desktop.enabled", "notifiers", &[], desktop, Gone),
    case(
        "askbridge config unset {}",
        "notifiers",
        &[],
        |home| set(home, "[notify.sound]\ncommand = ['x']\n"),
        Gone,
    ),
    case("askbridge config set notify.desktop.enabled true", "notifiers", &[], bus, Gone),
    case("askbridge config set inbox.address {free}", "inbox", &[], |_| {}, Gone),
    case("askbridge config set claude.enabled true", "terminals", &["claude"], claude_off, Gone),
    case("claude plugin enable askbridge@askbridge", "terminals", &["claude"], plugin_off, Gone),
    case("askbridge setup claude", "terminals", &["claude"], claude, Gone),
    case("askbridge setup claude", "terminals", &["claude"], plugin_broken, Gone),
    case("askbridge setup claude", "first", &["claude"], claude, Gone),
    case("askbridge setup {program}", "terminals", &["codex"], |_| {}, Gone),
    case("askbridge setup", "first", &["codex"], |_| {}, Gone),
    case("askbridge inbox --detach", "first", &["codex"], attach, Gone),
    case("askbridge inbox --detach", "terminals", &["codex"], attach, Gone),
    case("askbridge inbox --detach", "inbox", &[], any_port, Gone),
    case("askbridge setup", "first", &[], |_| {}, Stays),
    case("askbridge setup", "first", &["npx"], |home| home.write(ZED, REGISTRY), Gone),
    case(
        "askbridge setup",
        "program",
        &["npx"],
        |home| fs::remove_file(home.at("bin/askbridge")).unwrap(),
        Stays,
    ),
    case("askbridge setup", "bridges", &["npx"], |home| home.write(ZED, REGISTRY), Stays),
    case("askbridge setup {} {name:?}", "editors", &["npx"], |home| home.write(ZED, REGISTRY), Gone),
    case("{command}", "editors", &["gemini"], |home| home.write(ZED, OWN), Gone),
    case("{command} --undo", "editors", &["gemini"], wrapped_and_gone, Gone),
    case("{command}", "editors", &["gemini"], wrapped_elsewhere, Gone),
    case("askbridge setup {name}", "editors", &["gemini"], |home| home.write(ZED, "{}"), Gone),
    case("askbridge setup {name} {}", "editors", &["npx"], |home| home.write(ZED, "{}"), Gone),
    case("askbridge setup {name} --print", "editors", &[], |home| home.write(ZED, "{}"), Stays),
    case("askbridge setup {}", "editors", &["emacs"], |_| {}, Stays),
    case("askbridge setup mcp --host {}", "mcp", &["npx"], server, Gone),
    case("askbridge setup mcp {:?} --host {} --undo", "mcp", &["npx"], server_gone, Gone),
];

/// What a person does first is no command, or it cannot be brought about here.
const NOT_PLAYED: [(&str, &str); 8] = [
    ("askbridge config edit", "no port is free"),
    ("askbridge config edit", "a header of an MCP server has no value"),
    ("askbridge setup {}", "repair it, then"),
    ("askbridge setup mcp --host {}", "the same"),
    ("askbridge inbox --stop", "a server that hangs; the same commands are played for one that does not"),
    ("askbridge inbox --detach", "the same"),
    (
        "askbridge machine connect {name}",
        "`answers::machine_tables` plays it, with a machine that is not reached",
    ),
    ("askbridge machine connect {name}", "the same, of a machine that a command reaches"),
];

/// Commands that a text names, and does not tell to run.
const NAMED: &[&str] = &[
    "askbridge",
    "askbridge demo",
    "askbridge inbox",
    "askbridge list",
    "askbridge mcp",
    "askbridge next",
    "askbridge open",
    "askbridge tui",
];

const REGISTRY: &str = r#"{"agent_servers":{"claude":{"type":"registry"}}}"#;
const OWN: &str = r#"{"agent_servers":{"Own":{"command":"gemini","args":["--acp"]}}}"#;

/// A `claude` that keeps its plugins in the files that the real one does.
const CLAUDE: &str = r#"#!/bin/sh
case "$1 $2" in
"plugin list") cat "$HOME/plugins" 2> /dev/null ;;
"plugin install") echo "$3" > "$HOME/plugins"; mkdir -p "$HOME/.claude/plugins"
    echo '{"plugins":{"askbridge@askbridge":[]}}' > "$HOME/.claude/plugins/installed_plugins.json" ;;
"plugin uninstall") rm "$HOME/plugins" "$HOME/.claude/plugins/installed_plugins.json" ;;
"plugin enable") echo '{}' > "$HOME/.claude/settings.json" ;;
esac
"#;

fn set(home: &Home, text: &str) {
    home.write(SETTINGS, text);
}

fn project_off(home: &Home) {
    let folder = std::env::current_dir().unwrap();
    set(home, &format!("[[notify.project]]\nfolder = {folder:?}\nenabled = false\n"));
}

fn desktop(home: &Home) {
    set(home, "[notify.desktop]\nenabled = true\n");
}

fn bus(home: &Home) {
    fs::create_dir_all(home.at("run")).unwrap();
    // It listens as long as the test runs.
    std::mem::forget(UnixListener::bind(home.at("run/bus")).unwrap());
}

fn any_port(home: &Home) {
    set(home, "[inbox]\naddress = '127.0.0.1:0'\n");
}

fn attach(home: &Home) {
    set(home, "[inbox]\naddress = '127.0.0.1:0'\nattach = ['codex']\n");
}

fn claude(home: &Home) {
    home.write("bin/claude", CLAUDE);
}

fn installed(home: &Home) {
    claude(home);
    home.write("plugins", "askbridge@askbridge\n");
    home.write(".claude/plugins/installed_plugins.json", r#"{"plugins":{"askbridge@askbridge":[]}}"#);
}

fn claude_off(home: &Home) {
    installed(home);
    set(home, "[claude]\nenabled = false\n");
}

fn plugin_off(home: &Home) {
    installed(home);
    home.write(".claude/settings.json", r#"{"enabledPlugins":{"askbridge@askbridge":false}}"#);
}

fn plugin_broken(home: &Home) {
    installed(home);
    let hooks = r#"{"hooks":{"PermissionRequest":[{"hooks":[{"command":"exec '/gone' hook claude"}]}]}}"#;
    home.write(".local/share/askbridge/claude-plugin/hooks/hooks.json", hooks);
}

/// The path of askbridge in the settings is that of one which was moved.
fn wrapped_elsewhere(home: &Home) {
    home.write(ZED, OWN);
    home.ok(&["setup", "zed", "--yes"]);
    let settings = home.read(ZED);
    let moved = settings.replace("/askbridge\"", "/moved/askbridge\"");
    assert_ne!(moved, settings);
    home.write(ZED, &moved);
}

fn wrapped_and_gone(home: &Home) {
    home.write(ZED, OWN);
    home.ok(&["setup", "zed", "--yes"]);
    fs::remove_file(home.at("bin/gemini")).unwrap();
}

fn server(home: &Home) {
    home.write(".cursor/mcp.json", r#"{"mcpServers":{"a":{"command":"npx"}}}"#);
}

fn server_gone(home: &Home) {
    server(home);
    home.ok(&["setup", "mcp", "--yes"]);
    fs::remove_file(home.at("bin/npx")).unwrap();
}

/// Returns the advice of an area.
fn advice(home: &Home, area: &str) -> Vec<String> {
    if area == "first" {
        let report: Value = serde_json::from_str(&home.run(&["doctor", "--json"]).stdout).unwrap();
        return report["first"].as_str().map(str::to_owned).into_iter().collect();
    }
    of_area(home, area).into_iter().map(|(_, _, advice)| advice).collect()
}

/// Returns whether a command was made of this one in the source, in which `{}` and its like stand for words.
fn is_of(command: &str, template: &str) -> bool {
    let template = match template {
        "{command}" => "askbridge setup zed \"{}\"",
        "{command} --undo" => "askbridge setup zed \"{}\" --undo",
        "askbridge setup {} {name:?}" => "askbridge setup {} \"{}\"",
        "askbridge setup mcp {:?} --host {} --undo" => "askbridge setup mcp \"{}\" --host {} --undo",
        template => template,
    };
    let pattern = regex(template);
    pattern.is_match(command)
}

fn regex(template: &str) -> regex_lite::Regex {
    let mut pattern = String::new();
    for (at, part) in template.split(['{', '}']).enumerate() {
        pattern += &if at % 2 == 0 { regex_lite::escape(part) } else { "[^ \"]+".to_owned() };
    }
    regex_lite::Regex::new(&format!("^{pattern}$")).unwrap()
}

fn commands(advice: &str) -> impl Iterator<Item = &str> {
    advice.split('`').skip(1).step_by(2)
}

#[test]
fn each_advice_can_be_followed_as_it_is_printed() {
    for case in CASES {
        let home = Home::with_askbridge(case.programs);
        (case.prepare)(&home);
        // The address at which an inbox would listen is taken.
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        if case.advice.starts_with("askbridge config set inbox.address") {
            set(&home, &format!("[inbox]\naddress = '{}'\n", taken.local_addr().unwrap()));
        }
        let given = advice(&home, case.area);
        let found = given.iter().find(|advice| commands(advice).any(|command| is_of(command, case.advice)));
        let found = found.unwrap_or_else(|| panic!("{}: {}: {given:?}", case.area, case.advice));
        follow(&home, found);
        let is_gone = !advice(&home, case.area).contains(found);
        home.ok(&["inbox", "--stop"]);
        assert_eq!(is_gone, case.then == Gone, "{}: {found}", case.area);
    }
}

#[test]
fn a_server_that_does_not_reply_is_started_anew() {
    let home = Home::with_askbridge(&[]);
    any_port(&home);
    follow(&home, "`askbridge inbox --detach`");
    follow(&home, "`askbridge inbox --stop`, then `askbridge inbox --detach`");
    assert_eq!(of_area(&home, "inbox")[0].0, "ok");
    home.ok(&["inbox", "--stop"]);
}

/// The commands in the texts of `doctor`, with how often each is there.
fn in_source() -> BTreeMap<String, usize> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/command/doctor");
    let command = regex_lite::Regex::new(r#"`((?:askbridge|claude|\{command\})(?: [^`]*)?)`"#).unwrap();
    let mut found = BTreeMap::new();
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for found_here in command.captures_iter(&code) {
            *found.entry(found_here[1].to_owned()).or_default() += 1;
        }
    }
    found
}

#[test]
fn each_advice_has_its_case() {
    let mut expected: BTreeMap<String, usize> = BTreeMap::new();
    let played = CASES.iter().map(|case| case.advice).chain(NOT_PLAYED.iter().map(|(advice, _)| *advice));
    played.for_each(|advice| *expected.entry(advice.to_owned()).or_default() += 1);
    let mut found = in_source();
    for named in NAMED {
        assert!(found.remove(*named).is_some(), "{named} is named no longer: remove it from the list");
        let home = Home::new(&[]);
        let mut words: Vec<_> = named.split(' ').skip(1).collect();
        words.push("--help");
        home.ok(&words);
    }
    found.retain(|advice, _| !advice.starts_with("askbridge config set notify.ntfy.topic"));
    assert_eq!(found, expected, "left: what doctor says; right: what is played");
}
