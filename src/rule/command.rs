//! Commands: their words as a shell would split them, the patterns that match words, and which commands a rule may allow.
//! Only a command that is nothing but words can be allowed: whatever a shell would do beyond that is left to the person.

use std::fmt;

use super::pattern::{Pattern, has_wildcard};

/// Programs that run what their arguments say: a pattern that leaves their arguments open would allow everything.
const RUNNERS: [&str; 34] = [
    "bash", "builtin", "chroot", "command", "csh", "dash", "doas", "env", "eval", "exec", "fish", "ionice",
    "ksh", "nice", "nohup", "parallel", "pkexec", "runuser", "setsid", "sh", "source", "ssh", "stdbuf",
    "strace", "su", "sudo", "tcsh", "time", "timeout", "unshare", "watch", "xargs", "zsh", ".",
];

/// Characters by which a shell does more than to split words: operators, redirections, substitutions, expansions and
/// escapes. They count inside of quotes as well: not every shell reads quotes alike.
const SYNTAX: &str = ";&|<>()`$\\{}*?[]!";

/// What the words of a command have to be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CommandPattern {
    /// These words.
    Exact(Vec<String>),
    /// A pattern for each word.
    Words {
        /// The patterns, in the order of the words.
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

    /// Returns the pattern of a text. Its words are split as a shell splits them; the last word stands for any further
    /// words if it is a `*`.
    pub(super) fn of_text(text: &str) -> Result<Self, String> {
        let mut words = shlex::split(text).ok_or("a quotation mark has no end")?;
        let is_open = words.last().is_some_and(|word| word == "*");
        if is_open {
            words.pop();
        }
        match words.first() {
            Some(program) if !program.is_empty() => {
                let words = words.iter().map(|word| Pattern::new(word)).collect();
                Ok(CommandPattern::Words { words, is_open })
            }
            _ => Err("the first word of a command is its program".to_owned()),
        }
    }

    /// Returns whether these words are meant.
    pub(super) fn matches(&self, words: &[String]) -> bool {
        match self {
            CommandPattern::Exact(exact) => exact == words,
            CommandPattern::Words { words: patterns, is_open } => {
                let fits =
                    if *is_open { words.len() >= patterns.len() } else { words.len() == patterns.len() };
                fits && patterns.iter().zip(words).all(|(pattern, word)| pattern.matches(word))
            }
        }
    }

    /// Checks that it is a pattern of commands that a rule may allow.
    ///
    /// # Errors
    /// It can match no such command, or names too little.
    pub(super) fn check_allowing(&self) -> Result<(), String> {
        match self {
            CommandPattern::Exact(words) => words.iter().try_for_each(|word| {
                simple(word).map_err(|why| format!("a rule never allows a command like that: {why}"))
            }),
            CommandPattern::Words { words, is_open } => {
                let program = words.first().map(ToString::to_string).unwrap_or_default();
                if has_wildcard(&program) {
                    return Err(format!(
                        "\"{program}\" could be any program: name the first word without * and ?"
                    ));
                }
                let name = program.rsplit('/').next().unwrap_or_default();
                let is_loose = *is_open || words.iter().any(Pattern::has_wildcard);
                match is_loose && RUNNERS.contains(&name) {
                    true => Err(format!(
                        "`{name}` runs what its arguments say, so that this would allow any command: give the exact \
                         words, as a list"
                    )),
                    false => Ok(()),
                }
            }
        }
    }
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandPattern::Exact(words) => write!(formatter, "{words:?}"),
            CommandPattern::Words { words, is_open } => {
                let words = words.iter().map(ToString::to_string);
                let words: Vec<_> = words.chain(is_open.then(|| "*".to_owned())).collect();
                write!(formatter, "\"{}\"", words.join(" "))
            }
        }
    }
}

/// Returns the words of a command. `None` where a quotation mark has no end.
pub(super) fn words(command: &str) -> Option<Vec<String>> {
    shlex::split(command)
}

/// Checks that a command is nothing but words: a shell would run one program, with these arguments.
///
/// # Errors
/// What of it is more than that. A command that was cut has a line break before its mark.
pub(super) fn simple(command: &str) -> Result<(), String> {
    let mut before = ' ';
    for char in command.chars() {
        if matches!(char, '\n' | '\r') {
            return Err("it has several lines, or was cut".to_owned());
        }
        if is_hidden(char) {
            return Err(format!("it has a character that cannot be seen: {}", char.escape_unicode()));
        }
        if SYNTAX.contains(char) {
            return Err(format!("a shell does more with `{char}` than to split words"));
        }
        let is_first = " '\"".contains(before);
        if (char == '#' && is_first) || (char == '~' && (is_first || "=:".contains(before))) {
            return Err(format!("a shell does not take `{char}` as a part of a word here"));
        }
        before = char;
    }
    Ok(())
}

/// Returns whether a terminal shows nothing for a character, or turns what is around it.
pub(super) fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
        // Spaces of other kinds look like the one that parts words.
        || (char.is_whitespace() && char != ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, command: &str) -> bool {
        let pattern = CommandPattern::of_text(pattern).expect("a pattern");
        words(command).is_some_and(|words| pattern.matches(&words))
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
        assert!(exact.matches(&words("bash -lc 'cargo *'").expect("words")));
        assert!(!exact.matches(&words("bash -lc 'cargo test'").expect("words")));
        assert!(CommandPattern::of_text("*").is_err() && CommandPattern::of_text("a 'b").is_err());
        assert!(CommandPattern::exact(Vec::new()).is_err() && CommandPattern::of_text("'' a").is_err());
    }

    #[test]
    fn only_a_command_that_is_nothing_but_words_is_simple() {
        for command in ["cargo test --lib", "git diff HEAD~1 -- 'a b'", "make -j4 CC=clang", "a#b ü 日本"]
        {
            assert_eq!(simple(command), Ok(()), "{command}");
        }
        for command in [
            "cargo test; rm -rf ~",
            "cargo test && rm x",
            "cargo test & rm x",
            "cargo test || rm x",
            "cargo test | sh",
            "cargo test $(x)",
            "cargo test `x`",
            "cargo test ${IFS}x",
            "cargo test $'\\x3b'",
            "cargo test\nrm x",
            "cargo test\r\nrm x",
            "cargo test\\\nrm x",
            "cargo test\tx",
            "cargo test > ~/.bashrc",
            "cargo test < x",
            "cargo test 2>&1",
            "(cargo test)",
            "{ cargo test",
            "cargo test {a,b}",
            "cargo test *",
            "cargo test ?",
            "cargo test [ab]",
            "! cargo test",
            "cargo test ~/x",
            "cargo test ~root",
            "cargo test --path=~/x",
            "cargo test # x",
            "#cargo test",
            "cargo test \\; rm",
            "cargo test ';' x",
            "cargo test \u{0}",
            "cargo test \u{1b}[31m",
            "cargo test \u{202e}x",
            "cargo test \u{2066}x",
            "cargo test \u{200b}x",
            "cargo test \u{a0}x",
            "cargo test \u{3000}x",
            "cargo test \u{2028}rm",
            "cargo test \u{e0041}",
            "cargo test \u{85}rm",
            "cargo test\n… 7 more bytes are not shown",
        ] {
            assert!(simple(command).is_err(), "{command:?}");
        }
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
        commands.retain(|command| simple(command).is_ok() && words(command).is_some());
        assert!(commands.len() > 2000, "{}", commands.len());
        let show = "p() { for word; do printf '%s\\036' \"$word\"; done; printf '\\n'; }\n";
        let script = show.to_owned() + &commands.join("\n") + "\n";
        let ran = std::process::Command::new("sh").arg("-c").arg(script).output().expect("a shell");
        assert!(ran.status.success() && ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
        let said = String::from_utf8(ran.stdout).expect("a text");
        assert_eq!(said.lines().count(), commands.len());
        for (command, line) in commands.iter().zip(said.lines()) {
            let expected: String =
                words(command).expect("words").iter().skip(1).map(|word| format!("{word}\u{1e}")).collect();
            assert_eq!(line, expected, "{command}");
        }
    }
}
