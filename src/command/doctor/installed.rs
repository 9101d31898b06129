//! How this program was installed, and so which commands upgrade and remove it. Packages name themselves in a file
//! beside the program; other tools are known by the folders that they install into. No tool is run.

use std::{borrow::Cow, path::Path};

use percent_encoding::percent_decode_str;
use serde_json::Value as Json;

/// The file in which a package names itself, relative to the folder of the program: one word, such as `deb`.
const MARK: &str = "../share/askbridge/installer";

/// A tool that installs programs. Its commands name files and folders: no registry has a release yet, and whoever takes
/// the name there first decides what a command with the bare name installs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Installer {
    name: &'static str,
    upgrade: String,
    remove: &'static str,
}

/// What each tool is called, how it installs a newer package, and how it removes the program.
const TOOLS: [(&str, &str, &str); 8] = [
    ("npm", "npm install -g ./NEWER.tgz", "npm uninstall -g askbridge"),
    ("uv", "uv tool install --force ./NEWER.whl", "uv tool uninstall askbridge"),
    ("pipx", "pipx install --force ./NEWER.whl", "pipx uninstall askbridge"),
    ("pip", "pip install --upgrade ./NEWER.whl", "pip uninstall askbridge"),
    ("Homebrew", "brew reinstall --formula ./NEWER.rb", "brew uninstall askbridge"),
    ("Nix", "nix profile upgrade askbridge", "nix profile remove askbridge"),
    ("a deb", "apt install ./NEWER.deb", "apt remove askbridge"),
    ("an rpm", "dnf install ./NEWER.rpm", "dnf remove askbridge"),
];

impl Installer {
    /// Returns the tool that installed the program at this path, which has no symlinks. `read` returns the text of a
    /// file. `None` for a program that no tool manages, such as one from an archive or of a checkout.
    pub(super) fn of(program: &Path, read: impl Fn(&Path) -> Option<String>) -> Option<Self> {
        let folder = program.parent()?;
        let parts: Vec<_> = program.components().filter_map(|part| part.as_os_str().to_str()).collect();
        let within = |folders: &[&str]| parts.windows(folders.len()).any(|window| window == folders);
        let beside = |name: &str| -> Option<String> { read(&folder.join(name)) };
        let mark = beside(MARK);
        // uv and pipx install the same wheel as pip, so its file names pip: their environments are looked for first.
        let tool = match mark.as_deref().map(str::trim) {
            _ if within(&["uv", "tools", "askbridge"]) => "uv",
            _ if within(&["pipx", "venvs", "askbridge"]) => "pipx",
            _ if within(&["Cellar", "askbridge"]) => "Homebrew",
            _ if within(&["nix", "store"]) => "Nix",
            Some("npm") => "npm",
            Some("pip") => "pip",
            Some("deb") => "a deb",
            Some("rpm") => "an rpm",
            // Cargo keeps the list of the programs that it installed beside their `bin` folder.
            _ => return beside("../.crates2.json").and_then(|list| by_cargo(&list)),
        };
        let (name, upgrade, remove) = TOOLS.into_iter().find(|(name, ..)| *name == tool)?;
        Some(Installer { name, upgrade: upgrade.to_owned(), remove })
    }

    /// Returns the sentence of the report.
    pub(super) fn sentence(&self) -> String {
        let Installer { name, upgrade, remove } = self;
        format!("installed by {name}: `{upgrade}` upgrades it, `{remove}` removes it")
    }
}

/// Returns how cargo installed the program, by its list of what it installed: each entry names the source, as in
/// `askbridge 0.1.0 (path+file:///srv/ada/askbridge)`.
fn by_cargo(list: &str) -> Option<Installer> {
    let list: Json = serde_json::from_str(list).ok()?;
    let mut entries = list.get("installs")?.as_object()?.keys();
    let entry = entries.find_map(|entry| entry.strip_prefix("askbridge "))?;
    let source = entry.split_once('(')?.1.strip_suffix(')')?;
    let from = |kind: &str| source.strip_prefix(kind);
    let upgrade = if let Some(path) = from("path+file://") {
        let path = quoted(&unescaped(path));
        format!("git -C {path} pull && cargo install --locked --path {path}")
    } else if let Some(url) = from("git+") {
        let (url, of) = url.split_once(['?', '#']).unwrap_or((url, ""));
        let named = of.split('#').next().and_then(|query| query.split_once('='));
        let named = named.filter(|(kind, _)| ["branch", "tag", "rev"].contains(kind));
        let of = named.map(|(kind, name)| format!(" --{kind} {}", quoted(&unescaped(name))));
        format!("cargo install --locked --git {}{}", quoted(url), of.unwrap_or_default())
    } else {
        // Whoever has the name in a registry decides what comes from there.
        "cargo install --locked --path FOLDER` with a newer checkout in FOLDER, or `cargo install --locked --git URL".to_owned()
    };
    Some(Installer { name: "cargo", upgrade, remove: "cargo uninstall askbridge" })
}

/// Returns a part of an address without its escapes, such as `%20`.
fn unescaped(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// Returns a word for a shell, in quotation marks where it has other characters than those of most paths.
fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|c| c.is_alphanumeric() || "/._-+:@~".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// What to do with a program that no tool manages.
pub(super) const COPIED: &str = "no tool that is known installed it: a newer program in its place upgrades it, and deleting the file removes it";

/// Returns whether a program on `PATH` is the launcher of npm for this program, which is no other askbridge.
pub(super) fn is_launcher(on_path: &Path, program: &Path) -> bool {
    // `node_modules/askbridge/bin/askbridge.js` starts `@askbridge/PLATFORM/bin/askbridge`, which npm puts beside it, or below.
    let Some(modules) = on_path.ancestors().find(|folder| folder.ends_with("node_modules")) else {
        return false;
    };
    on_path == modules.join("askbridge/bin/askbridge.js")
        && program.starts_with(modules)
        && program.ancestors().any(|folder| folder.ends_with("node_modules/@askbridge"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(program: &str, files: &[(&str, &str)]) -> Option<&'static str> {
        let read = |path: &Path| {
            files.iter().find(|(file, _)| path == Path::new(file)).map(|(_, text)| (*text).to_owned())
        };
        Installer::of(Path::new(program), read).map(|found| found.name)
    }

    #[test]
    fn an_installer_is_known_by_its_mark_or_its_folder() {
        let mark = |folder: &str| format!("{folder}/../share/askbridge/installer");
        for (program, word, expected) in [
            ("/usr/bin/askbridge", "deb\n", Some("a deb")),
            ("/usr/bin/askbridge", "rpm\n", Some("an rpm")),
            ("/usr/lib/node_modules/@askbridge/linux-x64/bin/askbridge", "npm\n", Some("npm")),
            ("/srv/a/.venv/bin/askbridge", "pip\n", Some("pip")),
            ("/srv/a/.local/share/uv/tools/askbridge/bin/askbridge", "pip\n", Some("uv")),
            ("/srv/a/.local/pipx/venvs/askbridge/bin/askbridge", "pip\n", Some("pipx")),
            ("/opt/homebrew/Cellar/askbridge/0.1.0/bin/askbridge", "", Some("Homebrew")),
            ("/nix/store/abc-askbridge/bin/askbridge", "", Some("Nix")),
            ("/usr/local/bin/askbridge", "another", None),
        ] {
            let folder = Path::new(program).parent().expect("a folder").display().to_string();
            assert_eq!(name(program, &[(&mark(&folder), word)]), expected, "{program}");
        }
        let list = "/srv/a/.cargo/bin/../.crates2.json";
        let program = "/srv/a/.cargo/bin/askbridge";
        let path = "askbridge 0.1.0 (path+file:///srv/askbridge)";
        let installs = |entry: &str| format!(r#"{{"installs":{{"{entry}":{{}}}}}}"#);
        assert_eq!(name(program, &[(list, &installs(path))]), Some("cargo"));
        assert_eq!(name(program, &[(list, &installs("ripgrep 14.0.0 (path+file:///srv/rg)"))]), None);
        assert_eq!(name(program, &[(list, "askbridge ")]), None);
        assert_eq!(name("/src/askbridge/target/debug/askbridge", &[]), None);
    }

    #[test]
    fn cargo_upgrades_from_where_the_program_came_from() {
        for (source, upgrade) in [
            (
                "path+file:///srv/ada/askbridge",
                "git -C /srv/ada/askbridge pull && cargo install --locked --path /srv/ada/askbridge",
            ),
            (
                "path+file:///srv/ada/my src",
                "git -C '/srv/ada/my src' pull && cargo install --locked --path '/srv/ada/my src'",
            ),
            (
                "git+https://example.com/askbridge?branch=main#0a1b2c",
                "cargo install --locked --git https://example.com/askbridge --branch main",
            ),
            (
                "path+file:///srv/ada/my%20src",
                "git -C '/srv/ada/my src' pull && cargo install --locked --path '/srv/ada/my src'",
            ),
            ("git+file:///srv/a;b", "cargo install --locked --git 'file:///srv/a;b'"),
        ] {
            let list = format!(r#"{{"installs":{{"askbridge 0.1.0 ({source})":{{}}}}}}"#);
            assert_eq!(by_cargo(&list).map(|found| found.upgrade).as_deref(), Some(upgrade), "{source}");
        }
    }

    /// Whoever takes a name that is not ours decides what these commands install.
    #[test]
    fn no_tool_is_told_to_fetch_a_bare_name() {
        for source in
            ["registry+https://github.com/rust-lang/crates.io-index", "sparse+https://cargo.example.com/"]
        {
            let list = format!(r#"{{"installs":{{"askbridge 0.1.0 ({source})":{{}}}}}}"#);
            let upgrade = by_cargo(&list).map(|found| found.upgrade).unwrap_or_default();
            assert!(!upgrade.contains("askbridge") && upgrade.contains("--path FOLDER"), "{upgrade}");
        }
        for (name, upgrade, _) in TOOLS {
            // Nix keeps the source of a profile's entry.
            assert!(name == "Nix" || upgrade.contains("./NEWER"), "{name}: {upgrade}");
        }
    }

    #[test]
    fn the_launcher_of_npm_is_no_other_askbridge() {
        let program = Path::new("/usr/lib/node_modules/@askbridge/linux-x64/bin/askbridge");
        let nested =
            Path::new("/usr/lib/node_modules/askbridge/node_modules/@askbridge/linux-x64/bin/askbridge");
        for (on_path, program, expected) in [
            ("/usr/lib/node_modules/askbridge/bin/askbridge.js", program, true),
            ("/usr/lib/node_modules/askbridge/bin/askbridge.js", nested, true),
            ("/srv/a/node_modules/askbridge/bin/askbridge.js", program, false),
            ("/usr/bin/askbridge", program, false),
            ("/usr/lib/node_modules/askbridge/bin/askbridge.js", Path::new("/usr/bin/askbridge"), false),
        ] {
            assert_eq!(is_launcher(Path::new(on_path), program), expected, "{on_path} {program:?}");
        }
    }
}
