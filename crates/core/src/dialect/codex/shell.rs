//! The shell that Codex runs its commands in: of `/bin/bash -lc 'cargo test'`, the person's shell runs `cargo test`, as the
//! shells of other agents do without a word of it.

use serde_json::Value as Json;

use crate::dialect::permission;

/// The person's shells, and the folders that they are in. In another folder, it may be any program.
const SHELLS: [&str; 4] = ["bash", "dash", "sh", "zsh"];
const FOLDERS: [&str; 3] = ["/bin/", "/usr/bin/", ""];

/// Returns the command that a shell would run, or all words where it is not given to one.
pub(super) fn command(json: &Json) -> Option<String> {
    let words = match json {
        Json::Array(words) => words.iter().map(|word| word.as_str().map(str::to_owned)).collect(),
        json => json.as_str().and_then(shlex::split),
    };
    words.and_then(in_shell).or_else(|| permission::command(json))
}

fn in_shell(words: Vec<String>) -> Option<String> {
    let [shell, option, script] = <[String; 3]>::try_from(words).ok()?;
    let names = FOLDERS.iter().filter_map(|folder| shell.strip_prefix(folder));
    let is_shell = names.into_iter().any(|name| SHELLS.contains(&name)) && ["-c", "-lc"].contains(&&*option);
    Some(script).filter(|script| is_shell && !script.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_is_what_the_shell_is_given() {
        for (json, expected) in [
            (json!("/bin/bash -lc 'cargo test'"), "cargo test"),
            (json!("/usr/bin/zsh -c \"rg -n 'fn main' src\""), "rg -n 'fn main' src"),
            (json!(["bash", "-lc", "rm -rf \"a b\" && ls"]), "rm -rf \"a b\" && ls"),
            (json!("cargo test"), "cargo test"),
            (json!("./bash -lc 'cargo test'"), "./bash -lc 'cargo test'"),
            (json!("/p/bin/bash -lc 'cargo test'"), "/p/bin/bash -lc 'cargo test'"),
            (json!("bash -lc cargo test"), "bash -lc cargo test"),
            (json!("bash -x 'cargo test'"), "bash -x 'cargo test'"),
            (json!("bash -lc ''"), "bash -lc ''"),
            (json!("bash -lc 'cargo test"), "bash -lc 'cargo test"),
            (json!(["python3", "-c", "print(1)"]), "python3 -c 'print(1)'"),
        ] {
            assert_eq!(command(&json).as_deref(), Some(expected), "{json}");
        }
        assert_eq!((command(&json!([])), command(&json!("")), command(&json!(["a", 1]))), (None, None, None));
    }
}
