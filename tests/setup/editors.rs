//! `askbridge setup` on copies of real settings. What the edit itself does is left to the unit tests of
//! `src/command/setup`. `UPDATE=1 cargo test --test suites setup::` writes the diffs in `fixtures/setup`.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use askbridge_os::exit;
use serde_json::Value;

use super::home::{ASKBRIDGE, Home, Terminal, ZED, fixture};
use crate::support::golden;

/// Compares with a file.
#[track_caller]
fn check(home: &Home, name: &str, shown: &str) {
    let shown = shown.replace(home.0.path().to_str().unwrap(), "~").replace(ASKBRIDGE, "~/bin/askbridge");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/setup").join(name);
    golden::is(&path, &shown);
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
    let backup = said.lines().find_map(|line| line.strip_prefix("a backup of the file: ")).unwrap();
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
fn an_agent_is_undone_by_its_name_and_none_whose_name_begins_alike() {
    let agents =
        r#"{"agent_servers":{"Pilot":{"command":"qwen"},"Mine":{"command":"npx","args":["pi-acp"]}}}"#;
    let home = Home::new(&["npx"]);
    home.write(ZED, agents);
    home.ok(&["setup", "zed", "--yes"]);
    home.ok(&["setup", "zed", "pi", "--undo", "--yes"]);
    let settings: Value = serde_json::from_str(&home.read(ZED)).unwrap();
    let command = |entry: &str| settings["agent_servers"][entry]["command"].clone();
    assert_eq!((command("Pilot"), command("Mine")), (ASKBRIDGE.into(), "npx".into()));
    home.ok(&["setup", "zed", "qwen", "--undo", "--yes"]);
    assert_eq!(home.read(ZED), agents);
}

#[test]
fn broken_settings_of_one_editor_do_not_keep_the_others_from_being_undone() {
    let home = Home::new(&["codex-acp"]);
    home.write(ZED, "{}");
    fs::create_dir(home.at(".jetbrains")).unwrap();
    home.ok(&["setup", "--yes"]);
    home.write(ZED, "{");
    let run = home.run(&["setup", "--undo", "--yes"]);
    assert_eq!(run.code, exit::FAILED, "{run:?}");
    assert!(run.stderr.contains("settings.json: line 1") && run.stdout.contains("acp.json"), "{run:?}");
    assert!(!home.at(".jetbrains/acp.json").exists(), "it is undone");
    assert_eq!(home.read(ZED), "{");
}

#[test]
fn a_file_that_setup_made_is_removed_again() {
    let home = Home::new(&["codex-acp"]);
    fs::create_dir(home.at(".jetbrains")).unwrap();
    let said = home.ok(&["setup", "--yes"]);
    assert!(said.contains("--- /dev/null") && !said.contains("a backup of the file"), "{said}");
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
fn what_was_typed_before_the_change_was_shown_writes_nothing() {
    let home = Home::new(&["gemini"]);
    home.write(ZED, &fixture("zed.jsonc"));
    let mut terminal = Terminal::new();
    terminal.type_in("y\ny\n");
    let output = terminal.run(home.command(&["setup", "zed"]), "n\n");
    assert_eq!(output.status.code(), Some(exit::NOT_DONE.into()), "{output:?}");
    assert_eq!(home.read(ZED), fixture("zed.jsonc"));
}

#[test]
fn broken_settings_are_refused_with_the_place() {
    let home = Home::new(&["gemini"]);
    for (text, why) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "settings.json: line 2, column 9: expected comma"),
        ("{ \"agent_servers\": [] }", "line 1, column 3: \"agent_servers\" must be an object"),
        ("{ \"agent_servers\": {},\n \"agent_servers\": {} }", "\"agent_servers\" occurs twice"),
        ("{ \"agent_servers\": {\"x\": {\"command\": \"a\", \"command\": \"b\"}} }", "occurs twice"),
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
        (&["setup", "zde"][..], exit::USAGE, "did you mean `zed`?"),
        (&["setup", "nothing"], exit::USAGE, "it is none of zed, jetbrains"),
        (&["setup", "zed", "clawd"], exit::USAGE, "no agent \"clawd\"; known are claude"),
        (&["setup", "zed", "claude"], exit::USAGE, "nor npx is on PATH"),
        (&["setup", "zed"], exit::FAILED, "no agent is in the settings or on PATH"),
        (&["setup", "claude"], exit::FAILED, "no program `claude` is on PATH"),
        (&["setup", "codex", "codex"], exit::USAGE, "leave out the second agent"),
    ] {
        let run = home.run(args);
        assert_eq!(run.code, code, "{args:?}: {run:?}");
        assert!(run.stderr.contains(why), "{args:?}: {run:?}");
    }
    assert!(home.ok(&["setup"]).starts_with("Nothing to set up was found"));
    assert!(!home.at(".config").exists());
}

#[test]
fn what_is_not_installed_is_shown_with_what_it_needs() {
    let home = Home::new(&[]);
    for (args, parts) in [
        (&["setup", "claude", "--print"][..], &["hook claude", "no program `claude` is on PATH"][..]),
        (&["setup", "codex", "--print"], &["+attach = [\"codex\"]"]),
        (
            &["setup", "zed", "--print"],
            &["claude is shown as an example", "@agentclientprotocol/claude-agent-acp", "needs npx"],
        ),
        (
            &["setup", "zed", "gemini", "--print"],
            &["Gemini CLI (askbridge)", "needs npx, which is not on PATH"],
        ),
        (&["setup", "zed", "grok", "--print"], &["\"stdio\"", "needs grok, which is not on PATH"]),
    ] {
        let shown = home.ok(args);
        for part in parts {
            assert!(shown.contains(part), "{args:?}: no {part}: {shown}");
        }
    }
    let snippet = home.run(&["setup", "emacs", "kimi"]);
    assert!(snippet.stdout.contains("agent-shell-command-prefix"), "{snippet:?}");
    assert!(snippet.stderr.contains("needs kimi, which is not on PATH"), "{snippet:?}");
    assert!(!home.at(".config").exists());
}

#[test]
fn agents_in_terminals_are_attached_to_and_left_again() {
    const SETTINGS: &str = ".config/askbridge/config.toml";
    let home = Home::new(&["codex", "copilot", "claude"]);
    home.write("bin/claude", CLAUDE);
    home.write(SETTINGS, "# mine\n[inbox]\naddress = \"127.0.0.1:0\"\n");
    let all = home.ok(&["setup", "--yes"]);
    for part in
        ["$ claude plugin install", "Codex, Copilot CLI in a terminal", "next: `askbridge inbox --detach`"]
    {
        assert!(all.contains(part), "no {part}: {all}");
    }
    assert!(all.contains("then start Copilot CLI by `copilot --ui-server --port 8850`"), "{all}");
    assert_eq!(
        home.read(SETTINGS),
        "# mine\n[inbox]\naddress = \"127.0.0.1:0\"\nattach = [\"codex\", \"copilot\"]\n"
    );
    assert!(home.ok(&["setup", "codex", "--yes"]).contains("nothing to change"));
    home.ok(&["setup", "copilot", "--undo", "--yes"]);
    assert!(home.read(SETTINGS).ends_with("attach = [\"codex\"]\n"));
    home.ok(&["setup", "codex", "--undo", "--yes"]);
    assert_eq!(home.read(SETTINGS), "# mine\n[inbox]\naddress = \"127.0.0.1:0\"\n");
    assert_eq!(home.run(&["setup", "codex"]).code, exit::NOT_DONE);
    home.ok(&["setup", "codex", "--yes"]);
    let undone = home.ok(&["setup", "--undo", "--yes"]);
    assert!(undone.contains("$ claude plugin uninstall"), "{undone}");
    assert_eq!(home.read(SETTINGS), "# mine\n[inbox]\naddress = \"127.0.0.1:0\"\n");
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
    let refused = home.run(&["setup", "claude"]);
    assert_eq!(refused.code, exit::NOT_DONE);
    // What is new is named, with what it starts: its text is for those who ask for it.
    assert!(refused.stdout.lines().count() < 10 && refused.stdout.contains(ASKBRIDGE), "{refused:?}");

    home.ok(&["setup", "claude", "--yes"]);
    let add = format!("plugin marketplace add {}", home.at(FOLDER).display());
    assert_eq!(calls(), [add.as_str(), "plugin install askbridge@askbridge --scope user"]);
    let hooks: Value = serde_json::from_str(&home.read(&format!("{FOLDER}/hooks/hooks.json"))).unwrap();
    let command = &hooks["hooks"]["Stop"][0]["hooks"][0]["command"];
    assert_eq!(command, &format!("'{ASKBRIDGE}' hook claude || true"));
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
