//! What the words of a command are found to be.

use std::fmt;

use crate::guard::degree::Judged;

/// What a word of a command is.
#[derive(Debug)]
pub(in crate::guard) enum Found<'a> {
    /// It is dangerous.
    Harm(&'static str),
    /// It sends data, if it is not to this machine.
    Send(&'static str),
    /// It may choose what code runs, by this value.
    Hole(&'static str, &'a str),
    /// It names a program that runs.
    Names(&'static str, &'a str),
    /// It may be any option, or any subcommand.
    Unknown,
    /// With it, the program does more than to look.
    More,
    /// A file that is written.
    Writes(&'a str),
    /// A folder or file whose code runs.
    Where(&'a str),
    /// The text of a command.
    Text(String),
    /// Code in a language.
    Code(&'static str, &'a str),
    /// A command, from this word up to that one.
    Command(usize, usize),
    /// A command that gets further words from the input, in place of a text or behind its own.
    Fed(usize, Option<&'a str>),
    /// A command for each file that is found.
    ForEach(usize, usize),
    /// Any of the words from here on may begin a command.
    Anywhere(usize),
    /// The words of another program, from here on.
    Of(&'static str, usize),
    /// An assignment.
    Assigned(&'a str),
    /// A file of code in a language, with the words behind it.
    Script(&'static str, usize),
    /// Code in a language, from the input.
    Input(&'static str),
    /// It does this with its input.
    Reads(&'static str),
    /// A module of a language.
    Module(usize),
    /// A folder that the next commands run in. `None` is that of the person.
    Cd(Option<&'a str>),
    /// A word that may be a path.
    Path(usize),
    /// Words that may be paths, from here on, but for one.
    Paths(usize, Option<usize>),
}

/// A program, or its subcommand.
#[derive(Clone, Copy, Debug)]
pub(in crate::guard) struct Label<'a> {
    pub name: &'a str,
    pub of: Option<&'a Label<'a>>,
}

impl Label<'_> {
    /// Returns the name of the program.
    pub(in crate::guard) fn program(&self) -> &str {
        self.of.map_or(self.name, Label::program)
    }
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            Some(of) => write!(formatter, "{of} {}", self.name),
            None => formatter.write_str(self.name),
        }
    }
}

/// A word that something was found of.
#[derive(Clone, Copy, Debug)]
pub(in crate::guard) struct Seen<'a> {
    pub label: &'a Label<'a>,
    /// The word behind the program, by its number. `None` is the program itself.
    pub at: Option<usize>,
    /// The option, or the word. `None` is the program or the subcommand.
    pub word: Option<&'a str>,
}

impl<'a> Seen<'a> {
    /// Returns the program itself.
    pub(in crate::guard) fn program(label: &'a Label<'a>) -> Self {
        Seen { label, at: None, word: None }
    }
}

impl fmt::Display for Seen<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.word {
            Some(word) => write!(formatter, "`{word}` of `{}`", self.label),
            None => write!(formatter, "`{}`", self.label),
        }
    }
}

/// Says what is found, and gets what it risks.
pub(in crate::guard) type Visit<'v> = dyn FnMut(Seen<'_>, Found<'_>) -> Judged + 'v;
