//! `askbridge setup claude`: installs the plugin whose hooks bring the questions of Claude Code's terminal into the
//! inbox, and removes it. The plugin is installed by Claude Code's own command; its settings are not touched otherwise.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use askbridge_os::exit;
use serde_json::Value;

use super::{
    args::SetupArgs,
    change::{agrees, show, tell},
    environment::{Environment, is_program},
};
use crate::command::CommandError;

/// The plugin and its marketplace, as Claude Code names them.
const PLUGIN: &str = "askbridge@askbridge";
const MARKETPLACE: &str = "askbridge";

/// The file of the plugin that has the command of its hooks.
const HOOKS: &str = "hooks/hooks.json";
/// The command in the packaged file, which a shell finds on `PATH`. [`with_path`] replaces it.
const COMMAND: &str = "askbridge hook claude";

/// The files of the plugin, by their paths in it.
const FILES: [(&str, &str); 3] = [
    (
        ".claude-plugin/plugin.json",
        include_str!("../../../packaging/claude-plugin/.claude-plugin/plugin.json"),
    ),
    (
        ".claude-plugin/marketplace.json",
        include_str!("../../../packaging/claude-plugin/.claude-plugin/marketplace.json"),
    ),
    (HOOKS, include_str!("../../../packaging/claude-plugin/hooks/hooks.json")),
];

/// Installs the plugin, or removes it.
pub(super) fn setup(around: &Environment, args: &SetupArgs) -> Result<u8, CommandError> {
    if args.agent.is_some() || args.file.is_some() {
        let what = "`setup claude` installs a plugin: it takes no agent, and no settings file";
        return Err(CommandError::Usage(what.to_owned()));
    }
    let folder = around.data.join("claude-plugin");
    match around.program("claude") {
        Some(claude) if args.undo => remove(&claude, &folder, args),
        Some(claude) => install(&claude, &folder, around, args),
        None if args.print && !args.undo => {
            print_installation(&folder, around, args)?;
            tell("no program `claude` is on PATH: install Claude Code first")?;
            Ok(exit::OK)
        }
        None => {
            let what = "Claude Code was not found: no program `claude` is on PATH; `askbridge setup claude --print` \
                        shows what would be done";
            Err(CommandError::Setup(what.to_owned()))
        }
    }
}

/// Shows the files of the plugin that change, and returns them with their new text. A file that is new is only named
/// unless its text is asked for: setup owns the whole folder.
fn changed_files(
    folder: &Path,
    around: &Environment,
    args: &SetupArgs,
) -> Result<Vec<(PathBuf, String)>, CommandError> {
    let askbridge = around.askbridge();
    let askbridge = askbridge.as_deref().and_then(Path::to_str);
    let askbridge =
        askbridge.ok_or_else(|| CommandError::Setup("the path of this program is not text".to_owned()))?;
    tell("Claude Code in a terminal: a plugin with hooks")?;
    let mut changed = Vec::new();
    for (name, text) in FILES {
        let (path, after) = (folder.join(name), with_path(name, text, askbridge));
        // A file that cannot be read is written again.
        let before = fs::read_to_string(&path).ok();
        if before.as_deref() != Some(&after) {
            if args.print || before.is_some() {
                show(&path, before.as_deref(), Some(&after))?;
            } else {
                tell(&format!("writes {}", path.display()))?;
            }
            changed.push((path, after));
        }
    }
    if !changed.is_empty() && !args.print {
        tell(&format!(
            "Its hooks start {askbridge} when Claude Code asks something, and when a turn or a session ends; `askbridge setup claude --print` shows all of it"
        ))?;
    }
    Ok(changed)
}

/// Returns the arguments of the two `claude` commands that install the plugin. The first adds the marketplace that the
/// second installs from.
fn installing(folder: &Path) -> Result<[Vec<&str>; 2], CommandError> {
    let add = vec!["plugin", "marketplace", "add", text(folder)?];
    Ok([add, vec!["plugin", "install", PLUGIN, "--scope", "user"]])
}

/// Shows what setup would do if Claude Code were installed.
fn print_installation(folder: &Path, around: &Environment, args: &SetupArgs) -> Result<(), CommandError> {
    changed_files(folder, around, args)?;
    for args in installing(folder)? {
        tell(&format!("$ claude {}", args.join(" ")))?;
    }
    Ok(())
}

fn install(claude: &Path, folder: &Path, around: &Environment, args: &SetupArgs) -> Result<u8, CommandError> {
    let changed = changed_files(folder, around, args)?;
    let is_installed = is_installed(claude);
    if changed.is_empty() && is_installed {
        tell("nothing to change")?;
        return Ok(exit::OK);
    }
    let [add, install] = installing(folder)?;
    for args in [&add, &install] {
        tell(&format!("$ claude {}", args.join(" ")))?;
    }
    if args.print {
        return Ok(exit::OK);
    }
    if !agrees(args.yes, "Install it?")? {
        return Ok(exit::NOT_DONE);
    }
    for (path, text) in changed {
        write(&path, &text).map_err(|error| at(&path, &error))?;
    }
    // The marketplace comes first: if that fails, the installed plugin still works.
    run(claude, &add)?;
    if is_installed {
        // Claude Code may run a copy of the files, which only another installation replaces.
        run(claude, &["plugin", "uninstall", PLUGIN])?;
    }
    run(claude, &install)?;
    tell(
        "installed: sessions that start from now on ask in the inbox as well: `askbridge open` shows it in a browser, `askbridge tui` here",
    )?;
    Ok(exit::OK)
}

fn remove(claude: &Path, folder: &Path, args: &SetupArgs) -> Result<u8, CommandError> {
    let is_installed = is_installed(claude);
    if !is_installed && !folder.exists() {
        tell("the plugin is not installed: there is nothing to undo")?;
        return Ok(exit::OK);
    }
    let uninstall = ["plugin", "uninstall", PLUGIN];
    let forget = ["plugin", "marketplace", "remove", MARKETPLACE];
    for args in is_installed.then_some(&uninstall[..]).into_iter().chain([&forget[..]]) {
        tell(&format!("$ claude {}", args.join(" ")))?;
    }
    tell(&format!("removes {}", folder.display()))?;
    if args.print {
        return Ok(exit::OK);
    }
    if !agrees(args.yes, "Remove it?")? {
        return Ok(exit::NOT_DONE);
    }
    if is_installed {
        run(claude, &uninstall)?;
    }
    // An installation that stopped half way may have added the marketplace or not: without the plugin, this may fail.
    let forgotten = run(claude, &forget);
    if is_installed {
        forgotten?;
    }
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(folder, &error)),
        _ => {}
    }
    tell("removed: running sessions keep the plugin until they end")?;
    Ok(exit::OK)
}

/// Returns the text of a plugin's file, in which the command is the path of this program: a session may have another
/// `PATH`.
fn with_path(name: &str, text: &str, askbridge: &str) -> String {
    if name != HOOKS {
        return text.to_owned();
    }
    // A shell runs the command.
    let quoted = format!("'{}' hook claude", askbridge.replace('\'', r"'\''"));
    // The command stands in a JSON string whose quotes the file has already.
    let json = Value::from(quoted).to_string();
    text.replace(COMMAND, json.trim_matches('"'))
}

/// The state of the plugin, read without Claude Code, which takes a second to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::command) enum Plugin {
    /// It is not installed.
    Missing,
    /// It is installed, and starts a program that does not exist.
    Broken(String),
    /// It is installed, and the user disabled it.
    Disabled,
    /// It is installed.
    Installed,
}

/// Reads from Claude Code's own files whether the plugin is installed.
pub(in crate::command) fn plugin(around: &Environment) -> Plugin {
    let set = env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = set.unwrap_or_else(|| around.folders.home.join(".claude"));
    let json = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        serde_json::from_str::<Value>(&text).ok()
    };
    let installed = json("plugins/installed_plugins.json");
    if installed.and_then(|all| all.get("plugins")?.get(PLUGIN).cloned()).is_none() {
        return Plugin::Missing;
    }
    let enabled = json("settings.json").and_then(|all| all.get("enabledPlugins")?.get(PLUGIN)?.as_bool());
    if enabled == Some(false) {
        return Plugin::Disabled;
    }
    // Claude Code installs the plugin from this copy, so it has the same command.
    let hooks = fs::read_to_string(around.data.join("claude-plugin").join(HOOKS)).unwrap_or_default();
    match command_in(&hooks) {
        Some(program) if !is_program(Path::new(&program)) => Plugin::Broken(program),
        _ => Plugin::Installed,
    }
}

/// Returns the path of the program that the hooks start, as [`with_path`] wrote it. `None` if no hook has one.
fn command_in(hooks: &str) -> Option<String> {
    let hooks: Value = serde_json::from_str(hooks).ok()?;
    let command = hooks.pointer("/hooks/PermissionRequest/0/hooks/0/command")?.as_str()?;
    let start = command.find('\'')?;
    let (quoted, _) = command.get(start + 1..)?.split_once("' hook claude")?;
    Some(quoted.replace(r"'\''", "'"))
}

/// Returns whether Claude Code lists the plugin. If the list fails, this is `false`.
fn is_installed(claude: &Path) -> bool {
    let listed = output(claude, &["plugin", "list"]);
    listed.is_ok_and(|listed| String::from_utf8_lossy(&listed.stdout).contains(PLUGIN))
}

fn output(claude: &Path, args: &[&str]) -> io::Result<Output> {
    // The output is captured, so the person would not see a prompt: without stdin, there is none.
    Command::new(claude).args(args).stdin(Stdio::null()).output()
}

fn run(claude: &Path, args: &[&str]) -> Result<(), CommandError> {
    let failed = |why: &str| {
        let command = args.join(" ");
        CommandError::Setup(format!("`claude {command}` failed: {}", why.trim()))
    };
    let ended = output(claude, args).map_err(|error| failed(&error.to_string()))?;
    let said = [&ended.stderr[..], &ended.stdout].map(String::from_utf8_lossy).join("\n");
    if ended.status.success() { Ok(()) } else { Err(failed(&said)) }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, text)
}

fn text(path: &Path) -> Result<&str, CommandError> {
    path.to_str().ok_or_else(|| CommandError::Setup(format!("{}: not text", path.display())))
}

fn at(path: &Path, error: &io::Error) -> CommandError {
    CommandError::Setup(format!("{}: {error}", PathBuf::from(path).display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_runs_this_program_whatever_its_path() {
        for (path, command) in [
            ("/usr/bin/askbridge", "'/usr/bin/askbridge' hook claude"),
            ("/a b/it's \"x\"/askbridge", r#"'/a b/it'\''s "x"/askbridge' hook claude"#),
        ] {
            let hooks = with_path(HOOKS, FILES[2].1, path);
            let hooks: Value = serde_json::from_str(&hooks).expect("JSON");
            for event in ["PermissionRequest", "Elicitation", "PostToolUse", "Stop", "SessionEnd"] {
                let runs = hooks["hooks"][event][0]["hooks"][0]["command"].as_str().expect("a command");
                assert!(runs.contains(command), "{event}: {runs}");
            }
            assert_eq!(command_in(&hooks.to_string()).as_deref(), Some(path));
        }
    }

    #[test]
    fn the_plugin_has_the_version_of_this_program() {
        let plugin: Value = serde_json::from_str(FILES[0].1).expect("JSON");
        assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
    }
}
