//! What `askbridge doctor` finds. Whether its advice can be followed is left to `advice.rs`.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use askbridge_os::exit;
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};

use super::home::{Home, ZED, fixture, follow, of_area};
use crate::support::Process;

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
        "none is set up: a question waits",
    ] {
        assert!(report.stdout.contains(part), "no {part}: {}", report.stdout);
    }
    let last = report.stdout.lines().last().unwrap();
    assert!(last.starts_with("no agent is connected yet: `askbridge setup` lists the agents"), "{last}");
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
    unhealthy("bin/gemini, which does not exist", "--undo");
    home.ok(&["setup", "zed", "--undo", "--yes"]);
    assert_eq!(home.run(&["doctor"]).code, exit::OK);

    home.write("run/askbridge/token", "not a token\n");
    fs::set_permissions(home.at("run/askbridge/token"), Permissions::from_mode(0o600)).unwrap();
    unhealthy("contains no token", "remove");
    fs::remove_file(home.at("run/askbridge/token")).unwrap();
    fs::set_permissions(home.at("run/askbridge"), Permissions::from_mode(0o755)).unwrap();
    unhealthy("can be entered by other users", "`chmod 700 ");
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
    cannot("[notify.sound]\ncommand = ['paplay', 'x']\n", "sound: the program paplay");
    cannot("[notify.command]\ncommand = ['/nowhere/x']\n", "command: the program /nowhere/x");
    cannot("[notify.heartbeat]\ncommand = ['nothing']\n", "heartbeat: the program nothing");
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
    home.write(
        ".config/askbridge/config.toml",
        "[inbox]\naddress = '127.0.0.1:0'\nallow-origin = ['https://dash.example', 'http://localhost:3000']\n",
    );
    let found = of_area(&home, "inbox");
    let origins =
        "inbox.allow-origin: web pages of https://dash.example, http://localhost:3000 can use the token";
    assert_eq!((&*found[0].0, &*found[0].1), ("ok", origins), "{found:?}");
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
    assert!(level == "problem" && text.contains("/gone, which does not exist"), "{text}");
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
        ("warning", "Codex: inbox.attach is on, but no inbox runs that could attach to it")
    );
    let inbox = Process::spawn(&mut home.command(&["inbox"]));
    inbox.expect_stderr("its address", |text| text.contains("http://"));
    assert_eq!(of_area(&home, "terminals")[1].1, "Codex: the inbox attaches to it");
    home.write(".claude.json", r#"{"mcpServers":{"askbridge":{"command":"askbridge","args":["mcp"]}}}"#);
    home.write(".codex/config.toml", "[mcp_servers.askbridge]\ncommand = 'askbridge'\nargs = ['mcp']\n");
    let mcp = of_area(&home, "terminals").pop().unwrap();
    assert_eq!(mcp.1, "MCP: the tool of askbridge is set up in Claude Code, Codex");
}

#[test]
fn what_doctor_says_of_an_agent_of_a_registry_can_be_done() {
    let home = Home::with_askbridge(&["npx"]);
    home.write(ZED, r#"{"agent_servers":{"claude":{"type":"registry"},"odd":{"type":"registry"}}}"#);
    let found = of_area(&home, "editors");
    assert!(found[0].1.contains("claude comes from its registry"), "{found:?}");
    assert!(
        found[0].2.starts_with("`askbridge setup zed \"claude\"` adds an entry that runs it"),
        "{found:?}"
    );
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
    let without = "note     BRIDGE: the client, Zed␇, with ACP 1, declares no support for forms";
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
