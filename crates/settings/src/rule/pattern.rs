//! Patterns for texts, with wildcards, and for commands, whose words are split as a shell would split them. A rule may
//! allow only a command that consists of nothing but words. A command with other shell syntax is left to the user.

use std::fmt;

use askbridge_core::guard::{
    command::{is_assignment, simple},
    programs,
};
use wildmatch::WildMatch;

/// A text in which `*` matches any number of characters, also none, and `?` matches one. A `*` also matches `/`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pattern {
    /// A text without wildcards, which is compared faster.
    Literal(String),
    Wild(WildMatch),
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        if has_wildcard(text) {
            Pattern::Wild(WildMatch::new(text))
        } else {
            Pattern::Literal(text.to_owned())
        }
    }

    /// Returns whether the pattern matches the whole text.
    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Literal(literal) => literal == text,
            Pattern::Wild(pattern) => pattern.matches(text),
        }
    }

    /// Returns whether the pattern has a wildcard.
    pub(super) fn has_wildcard(&self) -> bool {
        matches!(self, Pattern::Wild(_))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Literal(text) => formatter.write_str(text),
            Pattern::Wild(pattern) => pattern.fmt(formatter),
        }
    }
}

/// Returns whether a text contains a wildcard.
pub(super) fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Several patterns, one of which must match.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AnyOf(Vec<Pattern>);

impl AnyOf {
    pub(super) fn new(texts: &[String]) -> Self {
        AnyOf(texts.iter().map(|text| Pattern::new(text)).collect())
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(text))
    }
}

impl fmt::Display for AnyOf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patterns: Vec<_> = self.0.iter().map(|pattern| format!("\"{pattern}\"")).collect();
        formatter.write_str(&patterns.join(" or "))
    }
}

/// The pattern of the words of a command.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CommandPattern {
    /// These words.
    Exact(Vec<String>),
    /// A pattern for each word.
    Words {
        /// The assignments before the program, word by word.
        assignments: Vec<String>,
        /// The patterns of the program and its arguments, in the order of the words.
        words: Vec<Pattern>,
        /// Whether further words may follow.
        is_open: bool,
    },
}

impl CommandPattern {
    /// Returns the pattern that matches these words and no others.
    pub(super) fn exact(words: Vec<String>) -> Result<Self, String> {
        match words.first() {
            Some(program) if !program.is_empty() => Ok(CommandPattern::Exact(words)),
            _ => Err("the first word of a command is its program".to_owned()),
        }
    }

    /// Returns the pattern of a text. Its words are split as a shell splits them. If the last word is a `*`, it matches
    /// any further words.
    pub(super) fn of_text(text: &str) -> Result<Self, String> {
        let mut words = shlex::split(text).ok_or("a quotation mark has no end")?;
        let is_open = words.last().is_some_and(|word| word == "*");
        if is_open {
            words.pop();
        }
        let arguments = words.split_off(assigned(&words));
        let assignments = words;
        if let Some(loose) = assignments.iter().find(|word| has_wildcard(word)) {
            return Err(format!("\"{loose}\" could change what runs: give the value without * and ?"));
        }
        match arguments.first() {
            Some(program) if !program.is_empty() => {
                let words = arguments.iter().map(|word| Pattern::new(word)).collect();
                Ok(CommandPattern::Words { assignments, words, is_open })
            }
            _ if !assignments.is_empty() => {
                let set = assignments.join(" ");
                Err(format!(
                    "the first word of a command is its program: write it behind `{set}`, such as \"{set} cargo test *\""
                ))
            }
            _ => Err("the first word of a command is its program".to_owned()),
        }
    }

    /// Returns whether the pattern matches these words.
    pub(super) fn matches(&self, words: &[String]) -> bool {
        match self {
            CommandPattern::Exact(exact) => exact == words,
            CommandPattern::Words { assignments, words: patterns, is_open } => {
                // An assignment before a program may change which program runs, so no wildcard matches it.
                let (assigned, words) = words.split_at(assigned(words));
                let has_length =
                    if *is_open { words.len() >= patterns.len() } else { words.len() == patterns.len() };
                assignments == assigned
                    && has_length
                    && patterns.iter().zip(words).all(|(pattern, word)| pattern.matches(word))
            }
        }
    }

    /// Checks that the words that the pattern leaves open do no more than those that it names.
    ///
    /// # Errors
    /// The word that does, and what it does.
    pub(super) fn check_open(&self, words: &[String], project: Option<&str>) -> Result<(), String> {
        let CommandPattern::Words { words: patterns, .. } = self else { return Ok(()) };
        let is_named = |at: usize| patterns.get(at).is_some_and(|pattern| !pattern.has_wildcard());
        programs::hole(&words[assigned(words)..], project, &is_named).map_or(Ok(()), Err)
    }

    /// Returns the program whose words the pattern leaves open, if it is not known what they do.
    pub(super) fn unknown_program(&self) -> Option<String> {
        let CommandPattern::Words { words, is_open, .. } = self else { return None };
        let is_loose = *is_open || words.iter().any(Pattern::has_wildcard);
        let program = words.first().map(ToString::to_string)?;
        (is_loose && !programs::is_known(&program)).then_some(program)
    }

    /// Checks that a rule may allow the commands that the pattern matches.
    ///
    /// # Errors
    /// A rule never allows such a command, or the pattern would match any program.
    pub(super) fn check_allowing(&self) -> Result<(), String> {
        match self {
            CommandPattern::Exact(words) => words.iter().try_for_each(|word| {
                simple(word).map_err(|why| format!("a rule never allows such a command: {why}"))
            }),
            CommandPattern::Words { words, is_open, .. } => {
                let program = words.first().map(ToString::to_string).unwrap_or_default();
                if has_wildcard(&program) {
                    return Err(format!(
                        "\"{program}\" could be any program: name the first word without * and ?"
                    ));
                }
                let is_loose = *is_open || words.iter().any(Pattern::has_wildcard);
                let texts: Vec<_> = words.iter().map(ToString::to_string).collect();
                let fixed = |at: usize| Some(&*texts[at]).filter(|_| !words[at].has_wildcard());
                let arguments: Vec<_> = (1..words.len()).map(fixed).collect();
                // If the open words could choose what the program runs, every word must be exact.
                match programs::left_open(&program, &arguments).filter(|_| is_loose) {
                    Some(does) => Err(format!(
                        "`{}` {does}, so this pattern would allow every command: give the exact words, as a list",
                        programs::name(&program),
                    )),
                    None => Ok(()),
                }
            }
        }
    }
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandPattern::Exact(words) => write!(formatter, "{words:?}"),
            CommandPattern::Words { assignments, words, is_open } => {
                let words = assignments.iter().cloned().chain(words.iter().map(ToString::to_string));
                let words: Vec<_> = words.chain(is_open.then(|| "*".to_owned())).collect();
                write!(formatter, "\"{}\"", words.join(" "))
            }
        }
    }
}

/// Returns how many words assign variables before the program.
fn assigned(words: &[String]) -> usize {
    words.iter().take_while(|word| is_assignment(word)).count()
}

/// Returns the words of a command. `None` if a quotation mark has no end.
pub(super) fn command_words(command: &str) -> Option<Vec<String>> {
    shlex::split(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, command: &str) -> bool {
        let pattern = CommandPattern::of_text(pattern).expect("a pattern");
        command_words(command).is_some_and(|words| pattern.matches(&words))
    }

    #[test]
    fn patterns_match_word_by_word() {
        for (pattern, command, matches) in [
            ("cargo test", "cargo test", true),
            ("cargo test", "  cargo   'test' ", true),
            ("cargo test", "cargo test --lib", false),
            ("cargo test", "cargo tests", false),
            ("cargo test", "cargo", false),
            ("cargo test", "\"cargo test\"", false),
            ("cargo test *", "cargo test", true),
            ("cargo test *", "cargo test --lib 'a b'", true),
            ("cargo test *", "cargo testing", false),
            ("cargo * --lib", "cargo test --lib", true),
            ("cargo * --lib", "cargo test -v --lib", false),
            ("cargo t*", "cargo test", true),
            ("cargo t*", "cargo test --lib", false),
            ("git diff ?", "git diff a", true),
            ("cat src/*", "cat src/a/b", true),
            ("cat src/*", "cat 'src/a b'", true),
            ("cat src/*", "cat src/a src/b", false),
            ("cargo test", "cargo 'test", false),
        ] {
            assert_eq!(is_match(pattern, command), matches, "{pattern}: {command}");
        }
        let exact =
            CommandPattern::exact(["bash", "-lc", "cargo *"].map(str::to_owned).to_vec()).expect("a pattern");
        assert!(exact.matches(&command_words("bash -lc 'cargo *'").expect("words")));
        assert!(!exact.matches(&command_words("bash -lc 'cargo test'").expect("words")));
        assert!(CommandPattern::of_text("*").is_err() && CommandPattern::of_text("a 'b").is_err());
        let nothing = CommandPattern::of_text("CI=1 A=b *").expect_err("no program");
        assert!(
            nothing.contains("write it behind `CI=1 A=b`, such as \"CI=1 A=b cargo test *\""),
            "{nothing}"
        );
        assert!(CommandPattern::exact(Vec::new()).is_err() && CommandPattern::of_text("'' a").is_err());
    }

    #[test]
    fn a_pattern_that_names_too_little_allows_nothing() {
        let checked = |text: &str| CommandPattern::of_text(text).and_then(|pattern| pattern.check_allowing());
        for text in [
            "* test",
            "c*",
            "?argo test",
            "bash *",
            "/bin/sh -c *",
            "sudo *",
            "env A=1 *",
            "xargs ?",
            "timeout 5 *",
        ] {
            assert!(checked(text).is_err(), "{text}");
        }
        for text in ["cargo *", "bash build.sh", "cargo test", "./x *"] {
            assert_eq!(checked(text), Ok(()), "{text}");
        }
        let exact = |words: &[&str]| {
            CommandPattern::exact(words.iter().map(|word| (*word).to_owned()).collect())
                .and_then(|pattern| pattern.check_allowing())
        };
        assert_eq!(exact(&["bash", "-lc", "cargo test"]), Ok(()));
        assert!(exact(&["bash", "-lc", "cargo test; ls"]).is_err());
    }

    #[test]
    fn a_rule_says_of_which_programs_it_leaves_the_words_open() {
        let unknown = |text: &str| CommandPattern::of_text(text).expect("a pattern").unknown_program();
        for (pattern, expected) in [
            ("frobnicate *", Some("frobnicate")),
            ("./run ?", Some("./run")),
            ("frobnicate all", None),
            ("cargo test *", None),
            ("CI=1 npm test *", None),
        ] {
            assert_eq!(unknown(pattern).as_deref(), expected, "{pattern}");
        }
    }

    #[test]
    fn an_open_word_does_no_more_than_the_words_that_are_named() {
        let checked = |pattern: &str, command: &str| {
            let words = command_words(command).expect("words");
            let pattern = CommandPattern::of_text(pattern).expect("a pattern");
            assert!(pattern.matches(&words), "{command}");
            pattern.check_open(&words, Some("/people/ada/shop"))
        };
        for (pattern, command, is_meant) in [
            ("cargo test *", "cargo test --lib parser", true),
            ("cargo test *", "cargo test --config build.rustc-wrapper=./x", false),
            ("cargo test --config *", "cargo test --config build.rustc-wrapper=./x", true),
            ("cargo *", "cargo publish", false),
            ("cargo p*", "cargo publish", false),
            ("cargo publish *", "cargo publish --dry-run", true),
            ("git clone *", "git clone https://example.com/a b", true),
            ("git clone *", "git clone -u ./x https://example.com/a", false),
            ("git clone *", "git clone -urm .", false),
            ("go test *", "go test -c -o /elsewhere/x", false),
            ("go test *", "go test -c -o x", true),
            ("npm test *", "npm test --script-shell=./x", false),
            ("pytest *", "pytest -p evil", false),
            ("uv run pytest *", "uv run pytest -p evil", false),
            ("CI=1 cargo test *", "CI=1 cargo test --config x", false),
            ("cat *", "cat src/a.rs", true),
            ("cat *", "cat /people/ada/shop/src/a.rs", true),
            ("cat *", "cat /etc/passwd", false),
            ("cat *", "cat ../a", false),
            ("git log *", "git log --output=a", false),
            ("python3 manage.py *", "python3 manage.py flush", false),
            ("frobnicate *", "frobnicate --name x", true),
            ("frobnicate *", "frobnicate --config x", false),
            ("frobnicate *", "frobnicate --config /etc/x", false),
        ] {
            assert_eq!(checked(pattern, command).is_ok(), is_meant, "{pattern}: {command}");
        }
    }

    /// The same words as those that a real shell hands to a program.
    #[test]
    fn a_shell_splits_a_simple_command_into_the_same_words() {
        let parts = [
            "a", " ", "'", "\"", "=", "-x", ":", ",", "b c", "#", "~", "%", "^", "@", "+", "ü", "/", "  ",
            "''",
        ];
        let mut commands = Vec::new();
        for first in parts {
            for second in parts {
                for third in parts {
                    commands.push(format!("p {first}{second}{third}"));
                }
            }
        }
        commands.retain(|command| simple(command).is_ok() && command_words(command).is_some());
        assert!(commands.len() > 2000, "{}", commands.len());
        let show = "p() { for word; do printf '%s\\036' \"$word\"; done; printf '\\n'; }\n";
        let script = show.to_owned() + &commands.join("\n") + "\n";
        let ran = std::process::Command::new("sh").arg("-c").arg(script).output().expect("a shell");
        assert!(ran.status.success() && ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
        let said = String::from_utf8(ran.stdout).expect("a text");
        assert_eq!(said.lines().count(), commands.len());
        for (command, line) in commands.iter().zip(said.lines()) {
            let expected: String = command_words(command)
                .expect("words")
                .iter()
                .skip(1)
                .map(|word| format!("{word}\u{1e}"))
                .collect();
            assert_eq!(line, expected, "{command}");
        }
    }
}
