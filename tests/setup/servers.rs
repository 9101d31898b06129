//! `askbridge setup mcp` on copies of settings as the hosts write them. What the edit itself does is left to the unit
//! tests of `src/command/setup/mcp`. `UPDATE=1 cargo test --test suites setup::` writes the diffs in
//! `fixtures/setup/mcp`.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Command, Stdio},
};

use askbridge_os::exit;
use serde_json::Value;

use super::home::{ASKBRIDGE, Home, Run, of_area};
use crate::support::golden;

/// A file of a host, and the fixture that stands there.
struct Case {
    host: &'static str,
    path: &'static str,
    fixture: &'static str,
    /// The servers that are wrapped.
    wrapped: &'static [&'static str],
}

const CASES: [Case; 9] = [
    Case {
        host: "claude-code",
        path: ".claude.json",
        fixture: "claude-code.json",
        wrapped: &["github", "plain", "local", "db"],
    },
    Case {
        host: "claude-desktop",
        path: ".config/Claude/claude_desktop_config.json",
        fixture: "claude-desktop.json",
        wrapped: &["filesystem", "sqlite"],
    },
    Case { host: "cursor", path: ".cursor/mcp.json", fixture: "cursor.jsonc", wrapped: &["tools", "figma"] },
    Case {
        host: "vscode",
        path: ".config/Code/User/mcp.json",
        fixture: "vscode.jsonc",
        wrapped: &["perplexity", "docs"],
    },
    Case {
        host: "vscode",
        path: ".config/Code/User/settings.json",
        fixture: "vscode-old.jsonc",
        wrapped: &["time"],
    },
    Case {
        host: "zed",
        path: ".config/zed/settings.json",
        fixture: "zed.jsonc",
        wrapped: &["tools", "figma"],
    },
    Case {
        host: "opencode",
        path: ".config/opencode/opencode.jsonc",
        fixture: "opencode.jsonc",
        wrapped: &["tools", "everything", "here"],
    },
    Case {
        host: "opencode",
        path: ".config/opencode/opencode.json",
        fixture: "opencode-2.jsonc",
        wrapped: &["tools", "here"],
    },
    Case {
        host: "codex",
        path: ".codex/config.toml",
        fixture: "codex.toml",
        wrapped: &["github", "plain", "inline", "dotted", "figma"],
    },
];

const CURSOR: &str = ".cursor/mcp.json";

fn fixture(name: &str) -> String {
    super::home::fixture(&format!("mcp/{name}"))
}

#[track_caller]
fn check(home: &Home, name: &str, shown: &str) {
    let shown = shown.replace(home.0.path().to_str().unwrap(), "~").replace(ASKBRIDGE, "~/bin/askbridge");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/setup/mcp").join(name);
    golden::is(&path, &shown);
}

/// Runs a command in a project, which is a folder within the home directory.
fn run_in(home: &Home, folder: &str, args: &[&str]) -> Run {
    fs::create_dir_all(home.at("run")).unwrap();
    let mut command: Command = home.command(args);
    let output = command.current_dir(home.at(folder)).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run {
        code: output.status.code().unwrap().try_into().unwrap(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

#[test]
fn servers_are_wrapped_once_and_given_back_byte_for_byte() {
    for case in CASES {
        let Case { host, path, fixture: name, wrapped } = case;
        let home = Home::new(&[]);
        home.write(path, &fixture(name));
        let shown = home.ok(&["setup", "mcp", "--print"]);
        check(&home, &format!("{name}.diff"), &shown);
        assert_eq!(home.read(path), fixture(name), "--print writes nothing");

        let written = home.ok(&["setup", "mcp", "--host", host, "--yes"]);
        assert!(
            written.contains(&format!("`askbridge setup mcp --host {host} --undo` undoes it")),
            "{written}"
        );
        let after = home.read(path);
        for server in wrapped {
            assert!(
                after.contains(&format!("\"--name\", \"{server}\""))
                    || after.contains(&format!("\"{server}\",")),
                "{server}: {after}"
            );
        }
        let again = home.ok(&["setup", "mcp", "--yes"]);
        assert!(again.ends_with("nothing to change\n"), "{again}");
        assert_eq!(again.matches("runs through askbridge already").count(), wrapped.len(), "{again}");
        assert_eq!(home.read(path), after);

        home.ok(&["setup", "mcp", "--undo", "--yes"]);
        assert_eq!(home.read(path), fixture(name));
        let nothing = home.ok(&["setup", "mcp", "--undo", "--yes"]);
        assert!(nothing.contains("nothing to undo"), "{nothing}");
        let kept = fs::read_dir(home.at(".local/state/askbridge/setup")).unwrap().count();
        assert_eq!(kept, 1, "only the list of changes is left");
    }
}

#[test]
fn what_the_person_changed_since_stays() {
    for Case { path, fixture: name, .. } in CASES {
        let home = Home::new(&[]);
        home.write(path, &fixture(name));
        home.ok(&["setup", "mcp", "--yes"]);
        let edited = |text: &str| text.replace("EDITED-LATER", "edited, and \\\" much longer");
        home.write(path, &edited(&home.read(path)));
        home.ok(&["setup", "mcp", "--undo", "--yes"]);
        assert_eq!(home.read(path), edited(&fixture(name)), "{name}");
    }
}

#[test]
fn a_file_that_its_host_wrote_anew_is_given_back_as_well() {
    for Case { path, fixture: name, .. } in CASES.into_iter().filter(|case| case.fixture.ends_with(".json")) {
        let home = Home::new(&[]);
        home.write(path, &fixture(name));
        home.ok(&["setup", "mcp", "--yes"]);
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let anew = |text: &str| serde_json::to_string_pretty(&value(text)).unwrap();
        home.write(path, &anew(&home.read(path)));
        home.ok(&["setup", "mcp", "--undo", "--yes"]);
        assert_eq!(value(&home.read(path)), value(&fixture(name)), "{name}");
    }
}

#[test]
fn one_server_is_wrapped_and_given_back_and_the_others_stay() {
    let home = Home::new(&[]);
    home.write(CURSOR, &fixture("cursor.jsonc"));
    home.write(".codex/config.toml", &fixture("codex.toml"));
    home.ok(&["setup", "mcp", "figma", "--host", "cursor", "--yes"]);
    let figma = home.read(CURSOR);
    assert_eq!(figma.matches("mcp-proxy").count(), 1);
    assert_eq!(home.read(".codex/config.toml"), fixture("codex.toml"));
    home.ok(&["setup", "mcp", "--yes"]);
    assert_eq!(home.read(CURSOR).matches("mcp-proxy").count(), 2);
    home.ok(&["setup", "mcp", "tools", "--undo", "--yes"]);
    assert_eq!(home.read(CURSOR), figma);
    assert!(home.read(".codex/config.toml").contains("mcp-proxy"));
    home.ok(&["setup", "mcp", "--host", "codex", "--undo", "--yes"]);
    assert_eq!(home.read(".codex/config.toml"), fixture("codex.toml"));
    // `setup --undo` undoes everything that setup has changed.
    home.ok(&["setup", "--undo", "--yes"]);
    assert_eq!(home.read(CURSOR), fixture("cursor.jsonc"));
    let unknown = home.run(&["setup", "mcp", "figma", "fgima", "--yes"]);
    assert_eq!(unknown.code, exit::USAGE, "{unknown:?}");
    assert!(
        unknown.stderr.contains("no MCP server \"fgima\" is in the settings; known are dotted, "),
        "{unknown:?}"
    );
    assert_eq!(home.read(CURSOR), fixture("cursor.jsonc"), "nothing is written before all names are known");
}

#[test]
fn a_remote_server_is_wrapped_once_it_is_named() {
    let home = Home::new(&[]);
    home.write(".claude.json", &fixture("claude-code.json"));
    let said = home.ok(&["setup", "mcp", "--print"]);
    assert!(said.contains("`askbridge setup mcp linear` wraps it"), "{said}");
    home.ok(&["setup", "mcp", "linear", "--yes"]);
    let settings: Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
    let linear = &settings["mcpServers"]["linear"];
    let words = ["mcp-proxy", "--name", "linear", "--url", "https://mcp.linear.example/mcp"];
    assert_eq!((&linear["type"], &linear["command"]), (&"stdio".into(), &ASKBRIDGE.into()));
    assert_eq!(linear["args"], serde_json::json!(words));
    assert_eq!(linear.get("url"), None);
    home.ok(&["setup", "mcp", "linear", "--undo", "--yes"]);
    assert_eq!(home.read(".claude.json"), fixture("claude-code.json"));
}

#[test]
fn both_an_agent_and_a_server_of_one_file_are_undone_in_any_order() {
    const ZED: &str = ".config/zed/settings.json";
    for order in [["zed", "mcp"], ["mcp", "zed"]] {
        let home = Home::new(&[]);
        home.write(ZED, &fixture("zed.jsonc"));
        home.ok(&["setup", "zed", "Work", "--yes"]);
        home.ok(&["setup", "mcp", "--yes"]);
        for what in order {
            home.ok(&["setup", what, "--undo", "--yes"]);
        }
        assert_eq!(home.read(ZED), fixture("zed.jsonc"), "{order:?}");
    }
}

#[test]
fn the_files_of_a_project_are_changed_on_request_alone() {
    const FILE: &str = "shop/.mcp.json";
    let home = Home::new(&[]);
    home.write(FILE, &fixture("claude-code-project.json"));
    home.write("shop/.cursor/mcp.json", r#"{"mcpServers":{"off":{"command":"x","disabled":true}}}"#);
    let said = run_in(&home, "shop", &["setup", "mcp", "--yes"]);
    assert_eq!(said.code, exit::OK, "{said:?}");
    assert!(said.stdout.contains("Claude Code: .mcp.json belongs to this project"), "{said:?}");
    assert!(!said.stdout.contains("Cursor: .cursor"), "it has no server that could be wrapped: {said:?}");
    assert_eq!(home.read(FILE), fixture("claude-code-project.json"));
    let shown = run_in(&home, "shop", &["setup", "mcp", "--project", "--print"]);
    check(&home, "claude-code-project.json.diff", &shown.stdout);
    let done = run_in(&home, "shop", &["setup", "mcp", "--project", "--yes"]);
    assert_eq!(done.code, exit::OK, "{done:?}");
    let settings: Value = serde_json::from_str(&home.read(FILE)).unwrap();
    assert_eq!(settings["mcpServers"]["tools"]["command"], "askbridge", "a path means nothing to others");
    home.write("other/x", "");
    let other = run_in(&home, "other", &["setup", "mcp", "--project", "--undo", "--yes"]);
    assert!(other.stdout.contains("nothing to undo"), "{other:?}");
    let undone = run_in(&home, "shop", &["setup", "mcp", "--project", "--undo", "--yes"]);
    assert_eq!(undone.code, exit::OK, "{undone:?}");
    assert_eq!(home.read(FILE), fixture("claude-code-project.json"));
    let none = run_in(&home, "other", &["setup", "mcp", "--project", "--host", "claude-desktop"]);
    assert!(none.stdout.contains("Claude Desktop has no settings in a project"), "{none:?}");
}

#[test]
fn the_folders_that_the_environment_names_are_looked_at() {
    let home = Home::new(&[]);
    home.write("claude/.claude.json", r#"{"mcpServers":{"a":{"command":"q"}}}"#);
    home.write("codex/config.toml", "[mcp_servers.b]\ncommand = 'q'\n");
    home.write("oc.json", r#"{"mcp":{"c":{"type":"local","command":["q"]}}}"#);
    home.write(".config/Code/User/profiles/x1/mcp.json", r#"{"servers":{"d":{"command":"q"}}}"#);
    home.write(".claude.json", r#"{"mcpServers":{"unused":{"command":"q"}}}"#);
    fs::create_dir_all(home.at("run")).unwrap();
    let mut command = home.command(&["setup", "mcp", "--yes"]);
    command.env("CLAUDE_CONFIG_DIR", home.at("claude")).env("CODEX_HOME", home.at("codex"));
    command.env("OPENCODE_CONFIG", home.at("oc.json")).stdin(Stdio::null());
    assert!(command.status().unwrap().success());
    for file in
        ["claude/.claude.json", "codex/config.toml", "oc.json", ".config/Code/User/profiles/x1/mcp.json"]
    {
        assert!(home.read(file).contains("mcp-proxy"), "{file}");
    }
    assert!(!home.read(".claude.json").contains("mcp-proxy"));
}

#[test]
fn without_a_yes_nothing_is_written() {
    let home = Home::new(&[]);
    home.write(CURSOR, &fixture("cursor.jsonc"));
    let run = home.run(&["setup", "mcp"]);
    assert_eq!(run.code, exit::NOT_DONE);
    assert!(run.stderr.contains("give --yes"), "{run:?}");
    let (code, stdout) = home.typed(&["setup", "mcp"], "n\n");
    assert_eq!(code, Some(exit::NOT_DONE.into()), "{stdout}");
    assert!(stdout.contains("Write this? [y/N] nothing was written"), "{stdout}");
    assert_eq!(home.read(CURSOR), fixture("cursor.jsonc"));
    assert!(!home.at(".local/state/askbridge/setup").exists());
    let (code, stdout) = home.typed(&["setup", "mcp"], "y\n");
    assert_eq!(code, Some(0), "{stdout}");
    let wrapped = home.read(CURSOR);
    let (code, stdout) = home.typed(&["setup", "mcp", "--undo"], "n\n");
    assert_eq!((code, home.read(CURSOR)), (Some(exit::NOT_DONE.into()), wrapped), "{stdout}");
    let (code, stdout) = home.typed(&["setup", "mcp", "--undo"], "y\n");
    assert_eq!((code, home.read(CURSOR)), (Some(0), fixture("cursor.jsonc")), "{stdout}");
}

#[test]
fn the_backup_is_the_persons_alone_and_a_symlink_stays_one() {
    let home = Home::new(&[]);
    home.write("dotfiles/mcp.json", &fixture("cursor.jsonc"));
    fs::create_dir_all(home.at(".cursor")).unwrap();
    symlink(home.at("dotfiles/mcp.json"), home.at(CURSOR)).unwrap();
    let said = home.ok(&["setup", "mcp", "--yes"]);
    let backup = said.lines().find_map(|line| line.strip_prefix("a backup of the file: ")).unwrap();
    assert_eq!(fs::read_to_string(backup).unwrap(), fixture("cursor.jsonc"));
    for path in [Path::new(backup), Path::new(backup).parent().unwrap()] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o077, 0, "{path:?}");
    }
    assert!(home.at(CURSOR).symlink_metadata().unwrap().is_symlink());
    home.ok(&["setup", "mcp", "--undo", "--yes"]);
    assert_eq!(home.read("dotfiles/mcp.json"), fixture("cursor.jsonc"));
}

#[test]
fn nothing_is_lost_of_what_cannot_be_read() {
    let home = Home::new(&[]);
    home.write(".codex/config.toml", &fixture("codex.toml"));
    for (text, why) in [
        ("{\n  \"mcpServers\": {}\n  \"b\": 2\n}", "mcp.json: line 2, column 19: expected comma"),
        ("{ \"mcpServers\": [] }", "column 17: \"mcpServers\" must be an object; nothing was changed"),
        ("{ \"mcpServers\": { \"x\": {}, \"x\": {} } }", "\"x\" occurs twice"),
        ("[]", "must be an object"),
        ("{", "line 1, column 1"),
    ] {
        home.write(CURSOR, text);
        let run = home.run(&["setup", "mcp", "--yes"]);
        assert_eq!(run.code, exit::FAILED, "{run:?}");
        assert!(run.stderr.contains(why) && run.stderr.lines().count() == 1, "{text}: {run:?}");
        assert_eq!(home.read(CURSOR), text);
        assert!(home.read(".codex/config.toml").contains("mcp-proxy"), "the others are wrapped all the same");
    }
    home.write(".codex/config.toml", "[mcp_servers.a]\ncommand = \n");
    fs::write(home.at(CURSOR), b"{\n\xe9}").unwrap();
    let run = home.run(&["setup", "mcp", "--yes"]);
    assert!(run.stderr.contains("config.toml: line 2, column 1"), "{run:?}");
    assert!(run.stderr.contains("mcp.json: line 2: not UTF-8"), "{run:?}");
    home.write(CURSOR, &fixture("cursor.jsonc"));
    home.write(".codex/config.toml", "");
    home.ok(&["setup", "mcp", "--yes"]);
    home.write(CURSOR, "{");
    let run = home.run(&["setup", "mcp", "--undo", "--yes"]);
    assert!(run.code == exit::FAILED && run.stderr.contains("line 1"), "{run:?}");
    home.write(CURSOR, &fixture("cursor.jsonc"));
    fs::remove_file(home.at(CURSOR)).unwrap();
    let gone = home.ok(&["setup", "mcp", "--host", "cursor", "--undo", "--yes"]);
    assert!(gone.contains("the file no longer exists"), "{gone}");
}

#[test]
fn where_no_server_is_nothing_is_changed() {
    let home = Home::new(&[]);
    let none = home.ok(&["setup", "mcp"]);
    assert!(none.contains("no settings for MCP servers were found, of Claude Code"), "{none}");
    let none = home.ok(&["setup", "mcp", "--host", "cursor"]);
    assert!(
        none.contains("Cursor has no settings for MCP servers") && none.contains("mcp.json does not exist"),
        "{none}"
    );
    assert!(!home.at(".cursor").exists() && !home.at(".local").exists());
    for (path, text) in [
        (CURSOR, ""),
        (CURSOR, "{}"),
        (CURSOR, "// nothing\n"),
        (CURSOR, "{ \"mcpServers\": {} }"),
        (".config/opencode/opencode.json", "{\"mcp\":{\"timeout\":5,\"servers\":{}}}"),
        (".codex/config.toml", ""),
        (".codex/config.toml", "model = 'x'\n[mcp_servers]\n"),
    ] {
        home.write(path, text);
        assert_eq!(home.ok(&["setup", "mcp", "--yes"]), "", "{text}");
        assert_eq!(home.read(path), text);
    }
    let typo = home.run(&["setup", "mcp", "--host", "cursr"]);
    assert!(typo.code == exit::USAGE && typo.stderr.contains("did you mean `cursor`?"), "{typo:?}");
}

#[test]
fn members_that_no_host_has_stay() {
    let home = Home::new(&[]);
    let text =
        r#"{"x":[1,{"y":null}],"mcpServers":{"a":{"z":{"w":[true]},"command":"q","v":1.50e3}},"u":"é"}"#;
    home.write(CURSOR, text);
    home.ok(&["setup", "mcp", "--yes"]);
    let after = home.read(CURSOR);
    for part in [r#""x":[1,{"y":null}]"#, r#"{"z":{"w":[true]},"#, r#""v":1.50e3}}"#, r#""u":"é"}"#] {
        assert!(after.contains(part), "{part}: {after}");
    }
    home.ok(&["setup", "mcp", "--undo", "--yes"]);
    assert_eq!(home.read(CURSOR), text);
}

#[test]
fn doctor_says_before_which_servers_askbridge_stands() {
    let home = Home::with_askbridge(&["npx"]);
    assert_eq!(of_area(&home, "mcp")[0].1, "no MCP server is in the settings of a host");
    home.write(CURSOR, r#"{"mcpServers":{"a":{"command":"npx"},"b":{"command":"${env:B}/b"},"c":{"url":"x","disabled":true}}}"#);
    home.write(".config/opencode/opencode.json", r#"{"mcp":{"o":{"type":"local","command":["npx"]}}}"#);
    home.write(".claude.json", r#"{"mcpServers":{"l":{"type":"http","url":"http://localhost/mcp"}}}"#);
    let found = of_area(&home, "mcp");
    let said: Vec<_> = found.iter().map(|(level, text, _)| format!("{level}: {text}")).collect();
    assert_eq!(
        said,
        [
            "note: Claude Code shows in its terminal alone, and declines elsewhere, what these ask: l",
            "note: Cursor alone shows what its MCP servers ask: a, b",
            "note: opencode drops what its MCP servers ask: o",
        ]
    );
    assert_eq!(found[2].2, "`askbridge setup mcp --host opencode`");
    home.ok(&["setup", "mcp", "--yes"]);
    let found = of_area(&home, "mcp");
    assert!(found.iter().all(|(level, ..)| level == "ok"), "{found:?}");
    assert_eq!(found[1].1, "Cursor: what these ask is in the inbox: a, b");
    let tool = of_area(&home, "terminals").pop().unwrap();
    assert_eq!(tool.1, "MCP: no agent has the tool of askbridge", "a server behind it is not its tool");
    fs::remove_file(home.at("bin/npx")).unwrap();
    let found = of_area(&home, "mcp");
    let gone: Vec<_> = found.iter().filter(|(level, ..)| level == "problem").collect();
    assert_eq!(gone.len(), 2, "{found:?}");
    assert_eq!(gone[0].1, "Cursor: a starts npx, which does not exist");
    assert!(gone[0].2.contains("`askbridge setup mcp \"a\" --host cursor --undo`"), "{gone:?}");
    home.write(".codex/config.toml", "[mcp_servers.a]\ncommand = \n");
    let broken = of_area(&home, "mcp").pop().unwrap();
    assert!(broken.0 == "warning" && broken.1.contains("config.toml: line 2"), "{broken:?}");
}
