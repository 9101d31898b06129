//! A command whose words stand beside it in the input of a tool: `{"command":"git","args":["push","--force"]}` is
//! `git push --force`. Reading the rest of an input is left to `guard` and to the dialects, which share this, so that
//! what is shown is what is judged.

use std::mem;

use super::subject::{quoted, quoted_words};

/// Members that name a program, or are a whole command, by their names without case and punctuation. Of several, the
/// first one here counts.
const PROGRAMS: [&str; 12] = [
    "command",
    "cmd",
    "program",
    "executable",
    "exe",
    "binary",
    "bin",
    "commandline",
    "cmdline",
    "exec",
    "commandname",
    "entrypoint",
];

/// Members that have the words behind a program, in the order in which they stand there.
const WORDS: [&str; 24] = [
    "subcommand",
    "subcommands",
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
    "argslist",
    "cmdoptions",
    "flags",
    "options",
    "extraargs",
    "extraarguments",
    "additionalargs",
    "additionalarguments",
    "positional",
    "rest",
];

/// Those among [`WORDS`] that have words only if they are a list of texts: they may be the options of the tool itself.
const LISTS: [&str; 4] = ["flags", "options", "positional", "rest"];

/// Those among [`WORDS`] that are one word if they are a text.
const SUBCOMMANDS: [&str; 2] = ["subcommand", "subcommands"];

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
    /// The bare name of the member that has the program.
    pub name: String,
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
    let (of_program, program) = members.iter().filter(of(is_program)).min_by_key(rank)?;
    let beside = beside(members);
    let (name, words) = beside.first()?;
    let (name, words) = (name.as_str(), words);
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
            Joined { command: command.join(" "), is_unclear: true, ..Joined::default() }
        }
    };
    joined.name.clone_from(of_program);
    // Of two programs, it is not known which one runs.
    joined.is_unclear |= members.iter().filter(of(is_program)).any(|(_, other)| other != program);
    // All are shown, though it is not known which of several lists counts.
    for (_, other) in beside[1..].iter().filter(|(_, other)| other != words) {
        joined.is_unclear = true;
        if let Words::List(other) = other {
            joined.command = format!("{} {}", joined.command, list(other));
        }
    }
    Some(joined)
}

/// Returns the members that have the words behind a program, in the order in which they stand there. A subcommand is put in
/// front of the others.
fn beside(members: &[(String, Words)]) -> Vec<(String, Words)> {
    let is_list = |words: &Words| matches!(words, Words::List(_));
    let has_words = |(name, words): &&(String, Words)| {
        is_words(name) && *words != Words::Nothing && (is_list(words) || !LISTS.contains(&name.as_str()))
    };
    let mut beside: Vec<_> = members.iter().filter(has_words).cloned().collect();
    beside.sort_by_key(|(name, _)| WORDS.iter().position(|known| known == name));
    let is_subcommand = |(name, _): &(String, Words)| SUBCOMMANDS.contains(&name.as_str());
    if !beside.first().is_some_and(is_subcommand) {
        return beside;
    }
    let (name, first) = beside.remove(0);
    let first = match first {
        Words::Text(word) => vec![word],
        Words::List(words) => words,
        first => return [vec![(name, first)], beside].concat(),
    };
    match beside.first_mut() {
        Some((_, Words::List(words))) => *words = [first, mem::take(words)].concat(),
        _ => beside.insert(0, (name, Words::List(first))),
    }
    beside
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
    Joined { command, other: Some(as_words), ..Joined::default() }
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
            (&[("command", "git"), ("args", "* push"), ("argv", "* pull")], "git push pull", None, true),
            (&[("command", "git"), ("flags", "* push|--force")], "git push --force", None, false),
            (&[("command", "git"), ("extraargs", "* push")], "git push", None, false),
            (&[("cmdline", "git"), ("argslist", "* push")], "git push", None, false),
            (
                &[("args", "* --force"), ("subcommand", "push"), ("command", "git")],
                "git push --force",
                None,
                false,
            ),
            (&[("command", "git"), ("subcommand", "push")], "git push", None, false),
            (&[("command", "git"), ("subcommand", "push"), ("args", "?")], "git push", None, true),
        ] {
            let members: Vec<_> =
                members.iter().map(|(name, value)| ((*name).to_owned(), words(value))).collect();
            let found = joined(&members).expect("a command");
            let known = (&*found.command, found.other.as_deref(), found.is_unclear);
            assert_eq!(known, (command, other, is_unclear), "{members:?}");
        }
        for members in [
            &[("command", "git")][..],
            &[("command", "git"), ("args", "")],
            &[("args", "* push")],
            // They are options of the tool.
            &[("command", "git"), ("options", "?")],
            &[("command", "git"), ("flags", "fast")],
        ] {
            let members: Vec<_> =
                members.iter().map(|(name, value)| ((*name).to_owned(), words(value))).collect();
            assert_eq!(joined(&members), None, "{members:?}");
        }
        assert_eq!(bare_name("Command_Args"), "commandargs");
    }
}
