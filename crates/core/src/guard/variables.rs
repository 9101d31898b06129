//! Variables that are set for a command: most only change what it prints, some change what runs. The table is
//! `grammar/tables/variables.txt`; a variable that is not in it is the project's own.

use std::sync::LazyLock;

use super::{
    argument::{OPEN, is_like},
    places,
};

struct Line {
    names: Vec<&'static str>,
    /// Values that change nothing.
    values: Vec<&'static str>,
}

static LINES: LazyLock<Vec<Line>> = LazyLock::new(|| {
    let lines = include_str!("grammar/tables/variables.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("##"));
    let read = |line: &'static str| {
        let (names, values) = line.split_once(": ").unwrap_or((line, ""));
        let words = |text: &'static str| text.split_ascii_whitespace().collect();
        Line { names: words(names), values: words(values) }
    };
    lines.map(read).collect()
});

/// Returns why it may change what runs to set a variable to this value.
pub(super) fn why_dangerous(name: &str, value: &str) -> Option<String> {
    // npm takes its variables in any case.
    let upper = name.to_ascii_uppercase();
    let named = |line: &&Line| line.names.iter().any(|known| is_like(&upper, known));
    let line = LINES.iter().find(named)?;
    let is_folder = |part: &str| !part.is_empty() && !part.starts_with('-') && places::is_inside(part);
    let mut words = value.split_ascii_whitespace();
    let is_known = |word: &str| {
        let is_fine = |fine: &&&str| match **fine {
            "inside" => word.split(':').all(is_folder),
            "near" => is_folder(word) || places::is_passing(word),
            fine => is_like(word, fine),
        };
        !word.contains(OPEN) && line.values.iter().any(|fine| is_fine(&fine))
    };
    let is_fine = line.values.contains(&"*") || (!value.trim().is_empty() && words.all(is_known));
    (!is_fine).then(|| format!("it sets {name}, which may change what runs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_change_what_runs() {
        for (name, value, is_dangerous) in [
            ("VITE_API_URL", "http://a", false),
            ("FOO", "bar", false),
            ("CI", "1", false),
            ("RUST_LOG", "debug", false),
            ("NODE_ENV", "test", false),
            ("NODE_OPTIONS", "--max-old-space-size=4096", false),
            ("NODE_OPTIONS", "--max-old-space-size=4096 --require ./x", true),
            ("NODE_OPTIONS", "", true),
            ("PYTHONPATH", ".", false),
            ("PYTHONPATH", "src:lib", false),
            ("PYTHONPATH", "/opt/x", true),
            ("PYTHONPATH", "../x", true),
            ("RUSTFLAGS", "-D warnings", false),
            ("RUSTFLAGS", "-C linker=./x", true),
            ("CARGO_TARGET_DIR", "/tmp/a", false),
            ("CARGO_TARGET_DIR", "/usr", true),
            ("CARGO_BUILD_RUSTC_WRAPPER", "./x", true),
            ("PATH", ".", true),
            ("LD_PRELOAD", "./x.so", true),
            ("GIT_SSH_COMMAND", "x", true),
            ("GIT_PAGER", "cat", false),
            ("GIT_EDITOR", "true", false),
            ("npm_config_script_shell", "./x", true),
            ("DATABASE_URL", "postgres://localhost/a", false),
            ("DATABASE_URL", "postgres://prod/a", true),
            ("IFS", "", false),
        ] {
            assert_eq!(why_dangerous(name, value).is_some(), is_dangerous, "{name}={value}");
        }
    }
}
