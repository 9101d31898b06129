//! A command whose words stand beside it in the input of a tool: `{"command":"git","args":["push","--force"]}` is
//! `git push --force`. Reading the rest of an input is left to `guard` and to the dialects, which share this, so that
//! what is shown is what is judged.

use super::subject::{quoted, quoted_words};

/// Members that name a program, or are a whole command, by their names without case and punctuation. Of several, the
/// first one here counts.
const PROGRAMS: [&str; 9] =
    ["command", "cmd", "program", "executable", "exe", "binary", "bin", "commandline", "exec"];

/// Members that have the words behind a program.
const WORDS: [&str; 12] = [
    "args",
    "arguments",
    "argv",
    "arg",
    "arglist",
    "argumentlist",
    "cmdargs",
    "commandargs",
    "commandarguments",
    "programargs",
    "params",
    "parameters",
];

/// The member among [`WORDS`] that begins with the program itself.
const ARGV: &str = "argv";

/// The value of a member, as far as a command can be made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// Nothing: `null`, `false`, or empty.
    Nothing,
    /// A text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
    /// Anything else.
    Other,
}

/// A command that was put together from several members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// The command as a shell would read it.
    pub command: String,
    /// The same words in another reading: a program whose name has spaces.
    pub other: Option<String>,
    /// Whether the words beside the program are no list of texts.
    pub is_unclear: bool,
}

/// Returns the name of a member without case and punctuation.
pub fn bare_name(name: &str) -> String {
    name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns whether a member with this bare name may be a program.
pub fn is_program(name: &str) -> bool {
    PROGRAMS.contains(&name)
}

/// Returns whether a member with this bare name may have the words behind a program.
pub fn is_words(name: &str) -> bool {
    WORDS.contains(&name)
}

/// Puts the command together that the members of an object are, by their bare names.
///
/// Returns `None` if no member is a program, or there are no words beside it: then each member is read on its own.
pub fn joined(members: &[(String, Words)]) -> Option<Joined> {
    let of =
        |is: fn(&str) -> bool| move |(name, value): &&(String, Words)| is(name) && *value != Words::Nothing;
    let rank = |(name, _): &&(String, Words)| PROGRAMS.iter().position(|known| known == name);
    let (_, program) = members.iter().filter(of(is_program)).min_by_key(rank)?;
    let beside: Vec<_> = members.iter().filter(of(is_words)).collect();
    let (name, words) = beside.first()?;
    let mut joined = match (program, words) {
        (Words::Text(program), Words::List(words)) => with_words(program, words, name),
        (Words::List(program), Words::List(words)) => {
            let all: Vec<_> = program.iter().chain(words).map(String::as_str).collect();
            Joined { command: quoted_words(&all), ..Joined::default() }
        }
        (program, words) => {
            let text = |words: &Words| match words {
                Words::Text(text) => Some(text.clone()),
                Words::List(words) => Some(list(words)),
                Words::Nothing | Words::Other => None,
            };
            let command: Vec<_> = [program, words].into_iter().filter_map(text).collect();
            Joined { command: command.join(" "), other: None, is_unclear: true }
        }
    };
    // It is not known which of several lists counts.
    joined.is_unclear |= beside.iter().any(|(_, other)| *other != *words);
    Some(joined)
}

fn list(words: &[String]) -> String {
    quoted_words(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn with_words(program: &str, words: &[String], name: &str) -> Joined {
    // `argv` has the program as well.
    if name == ARGV && (words.first().is_some_and(|first| first == program) || list(words) == program) {
        return Joined { command: list(words), ..Joined::default() };
    }
    let all: Vec<_> = [program].into_iter().chain(words.iter().map(String::as_str)).collect();
    let as_words = quoted_words(&all);
    let program = program.trim();
    if quoted_words(&[program]) == program {
        return Joined { command: as_words, ..Joined::default() };
    }
    // A text that is more than one word is a part of a script, or a program with an odd name: both are judged.
    let behind = words.iter().map(|word| format!(" {}", quoted(word)));
    let command = format!("{program}{}", behind.collect::<String>());
    Joined { command, other: Some(as_words), is_unclear: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Words {
        match text {
            "" => Words::Nothing,
            "?" => Words::Other,
            text => match text.strip_prefix("* ") {
                Some(list) => Words::List(list.split('|').map(str::to_owned).collect()),
                None => Words::Text(text.to_owned()),
            },
        }
    }

    #[test]
    fn a_command_is_joined_with_the_words_beside_it() {
        for (members, command, other, is_unclear) in [
            (&[("command", "git"), ("args", "* push|--force")][..], "git push --force", None, false),
            (&[("args", "* push|--force"), ("cmd", "git")], "git push --force", None, false),
            (&[("program", "find"), ("arguments", "* .|-delete")], "find . -delete", None, false),
            (&[("bin", "git"), ("params", "* commit|-m|a b")], "git commit -m 'a b'", None, false),
            (&[("command", "* git|-C|a b"), ("args", "* push")], "git -C 'a b' push", None, false),
            (
                &[("command", "npm run"), ("args", "* build|a=b")],
                "npm run build a=b",
                Some("'npm run' build a=b"),
                false,
            ),
            (&[("command", "git"), ("argv", "* git|push")], "git push", None, false),
            (&[("command", "git push"), ("argv", "* git|push")], "git push", None, false),
            (&[("command", "echo"), ("args", "* echo")], "echo echo", None, false),
            (&[("command", "git"), ("args", "push --force")], "git push --force", None, true),
            (&[("command", "git"), ("args", "?")], "git", None, true),
            (&[("command", "git"), ("args", "* push"), ("argv", "* pull")], "git push", None, true),
        ] {
            let members: Vec<_> =
                members.iter().map(|(name, value)| ((*name).to_owned(), words(value))).collect();
            let found = joined(&members).expect("a command");
            let known = (&*found.command, found.other.as_deref(), found.is_unclear);
            assert_eq!(known, (command, other, is_unclear), "{members:?}");
        }
        for members in [&[("command", "git")][..], &[("command", "git"), ("args", "")], &[("args", "* push")]]
        {
            let members: Vec<_> =
                members.iter().map(|(name, value)| ((*name).to_owned(), words(value))).collect();
            assert_eq!(joined(&members), None, "{members:?}");
        }
        assert_eq!(bare_name("Command_Args"), "commandargs");
    }
}
