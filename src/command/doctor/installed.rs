//! How this program was installed, and so which commands upgrade and remove it. Packages name themselves in a file
//! beside the program; other tools are known by the folders that they install into. No tool is run.

use std::path::Path;

/// The file in which a package names itself, relative to the folder of the program: one word, such as `deb`.
const MARK: &str = "../share/askbridge/installer";

/// A tool that installs programs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Installer {
    name: &'static str,
    upgrade: &'static str,
    remove: &'static str,
}

const fn installer(name: &'static str, upgrade: &'static str, remove: &'static str) -> Installer {
    Installer { name, upgrade, remove }
}

const NPM: Installer = installer("npm", "npm install -g askbridge@latest", "npm uninstall -g askbridge");
const UV: Installer = installer("uv", "uv tool upgrade askbridge", "uv tool uninstall askbridge");
const PIPX: Installer = installer("pipx", "pipx upgrade askbridge", "pipx uninstall askbridge");
const PIP: Installer = installer("pip", "pip install --upgrade askbridge", "pip uninstall askbridge");
const HOMEBREW: Installer = installer("Homebrew", "brew upgrade askbridge", "brew uninstall askbridge");
const NIX: Installer = installer("Nix", "nix profile upgrade askbridge", "nix profile remove askbridge");
const DEB: Installer = installer("a deb", "apt install ./NEWER.deb", "apt remove askbridge");
const RPM: Installer = installer("an rpm", "dnf install ./NEWER.rpm", "dnf remove askbridge");
const CARGO: Installer = installer("cargo", "cargo install --locked askbridge", "cargo uninstall askbridge");

impl Installer {
    /// Returns the tool that installed the program at this path, which has no symlinks. `read` returns the text of a
    /// file. `None` for a program that no tool manages, such as one from an archive or of a checkout.
    pub(super) fn of(program: &Path, read: impl Fn(&Path) -> Option<String>) -> Option<Self> {
        let folder = program.parent()?;
        let parts: Vec<_> = program.components().filter_map(|part| part.as_os_str().to_str()).collect();
        let within = |folders: &[&str]| parts.windows(folders.len()).any(|window| window == folders);
        // uv and pipx install the same wheel as pip, so its file names pip: their environments are looked for first.
        if within(&["uv", "tools", "askbridge"]) {
            return Some(UV);
        }
        if within(&["pipx", "venvs", "askbridge"]) {
            return Some(PIPX);
        }
        if within(&["Cellar", "askbridge"]) {
            return Some(HOMEBREW);
        }
        if within(&["nix", "store"]) {
            return Some(NIX);
        }
        let beside = |name: &str| -> Option<String> { read(&folder.join(name)) };
        match beside(MARK).as_deref().map(str::trim) {
            Some("npm") => Some(NPM),
            Some("pip") => Some(PIP),
            Some("deb") => Some(DEB),
            Some("rpm") => Some(RPM),
            // Cargo keeps the list of the programs that it installed beside their `bin` folder.
            _ => beside("../.crates2.json").filter(|list| list.contains("\"askbridge ")).map(|_| CARGO),
        }
    }

    /// Returns the sentence of the report.
    pub(super) fn sentence(&self) -> String {
        let Installer { name, upgrade, remove } = self;
        format!("installed by {name}: `{upgrade}` upgrades it, `{remove}` removes it")
    }
}

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
        assert_eq!(name(program, &[(list, r#"{"installs":{"askbridge 0.1.0 (…)":{}}}"#)]), Some("cargo"));
        assert_eq!(name(program, &[(list, r#"{"installs":{"ripgrep 14.0.0 (…)":{}}}"#)]), None);
        assert_eq!(name("/src/askbridge/target/debug/askbridge", &[]), None);
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
