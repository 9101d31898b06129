//! Which commands are alike whatever their further words are: they do the same thing to other files, tests or packages.
//! A rule that is made from one permission may leave these words open, and a list of like permissions may differ in them.
//!
//! The list is short, and is chosen by what the programs do: the word that says what is done stands in it, and no further
//! word names a script, a target or a task, as those of `make`, `npm run` and `python3` do, or lets what checks change
//! files, as those of `eslint --fix` and `cargo clippy --fix` do. Words that do more than the rest
//! (options that load, write or remove something, paths that lead elsewhere) are kept back by [`super::programs::hole`].

/// The first words of commands that only look at files of the project.
const LOOKING: &[&str] = &[
    "cat",
    "cut",
    "du",
    "git blame",
    "git diff",
    "git log",
    "git ls-files",
    "git rev-parse",
    "git show",
    "git status",
    "grep",
    "head",
    "ls",
    "nl",
    "rg",
    "stat",
    "tail",
    "wc",
];

/// The first words of commands that build, test and check what the project has, by the tools of its language.
const BUILDING: &[&str] = &[
    "cargo build",
    "cargo check",
    "cargo doc",
    "cargo fmt",
    "cargo nextest run",
    "cargo test",
    "go build",
    "go fmt",
    "go test",
    "go vet",
    "mypy",
    "pylint",
    "pytest",
    "tsc",
];

/// Returns how many of these words, those of a command without assignments before it, say what it does: commands that begin
/// with the same ones are alike. `None` if that depends on all of them.
pub fn alike(words: &[String]) -> Option<usize> {
    let begins = |known: &&&str| known.split(' ').zip(words).all(|(known, word)| known == word);
    let count = |known: &&str| known.split(' ').count();
    let known = LOOKING.iter().chain(BUILDING).filter(|known| count(known) <= words.len());
    known.filter(begins).map(count).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        guard::{command, programs},
        question::Risk,
    };

    fn words(command: &str) -> Vec<String> {
        command.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn each_program_is_known_and_leaves_nothing_open_that_runs() {
        for (list, risk) in [(LOOKING, Risk::Plain), (BUILDING, Risk::Acts)] {
            for known in list {
                let words = words(known);
                let fixed: Vec<_> = words[1..].iter().map(|word| Some(&**word)).collect();
                assert!(programs::is_known(&words[0]), "{known}");
                assert_eq!(programs::left_open(&words[0], &fixed), None, "{known}");
                for further in ["", " a.x", " src b"] {
                    let command = format!("{known}{further}");
                    assert_eq!(command::risk(&command, Some("/p")).0, risk, "{command}");
                }
            }
        }
    }

    #[test]
    fn only_words_that_say_what_it_works_on_are_open() {
        for (command, known) in [
            ("cargo test", Some(2)),
            ("cargo test --lib", Some(2)),
            ("cargo tests", None),
            ("cargo run", None),
            ("cargo", None),
            ("cargo +nightly test", None),
            ("cargo -q test", None),
            ("git status -s", Some(2)),
            ("git statu", None),
            ("git -C web status", None),
            ("git push", None),
            ("git commit -m a", None),
            ("ls", Some(1)),
            ("/bin/ls", None),
            ("LS", None),
            ("cargo clippy --fix", None),
            ("npm run build", None),
            ("npx tsc", None),
            ("make test", None),
            ("python3 a.py", None),
            ("rm a", None),
            ("", None),
        ] {
            assert_eq!(alike(&words(command)), known, "{command}");
        }
    }
}
