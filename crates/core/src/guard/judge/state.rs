//! What is known while a script is judged.

use std::{
    borrow::Cow,
    cell::{Cell, OnceCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::guard::{argument::Argument, shell::Document};

/// Where a script runs.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub project: Option<&'a str>,
    /// Whether it may run in another folder than the project's.
    pub is_outside: bool,
    /// Whether that folder is plainly one of the system, or of the person's own.
    pub is_far: bool,
    /// Whether it runs in a folder that the script has fetched.
    pub is_fetched: bool,
    /// How much deeper commands may be nested.
    pub depth: usize,
    /// The line of the whole command that its first line is.
    pub first_line: usize,
    /// How many steps are left.
    pub fuel: &'a Cell<usize>,
}

/// What a program reads.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// Nothing that is known.
    Nothing,
    /// What another program prints.
    Pipe(Source),
    /// This text, with its first line.
    Text(Rc<str>, usize),
    /// A file of the project.
    File,
    /// A text or a file that is not known.
    Unknown,
    /// A terminal, where no person is.
    Terminal,
}

/// What is known of the program before a `|`.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub name: String,
    pub printed: Printed,
}

/// What is known of a text that commands print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    /// There is none.
    Nothing,
    Number,
    /// One word that is no option and no path elsewhere, such as a commit or the name of a branch.
    Word,
    /// Names of files in the folder, none of which is an option, or other such words.
    Names,
    /// The name of a new file that nobody keeps.
    Passing,
    /// A text that is no option, such as a path or a date.
    Tame,
    /// What stands in the files of the project.
    Ours,
    Unknown,
}

impl Printed {
    /// Returns whether a part of it is the same.
    pub(super) fn is_kept(self) -> bool {
        matches!(self, Printed::Number | Printed::Word | Printed::Names | Printed::Ours)
    }
}

/// What is known of the value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// The value itself.
    Text(String),
    Number,
    /// The name of a file in the folder.
    Inside,
    /// The same, without spaces.
    Word,
    /// A text that is no option and not empty.
    Tame,
    /// A file that nobody keeps.
    Passing,
    /// What commands print, or nothing.
    Printed(Printed),
    Unknown,
}

/// The judge of one script.
pub(super) struct Judge<'a> {
    pub text: &'a str,
    pub documents: &'a [Document],
    pub place: Place<'a>,
    /// The variables that the script has set so far.
    pub values: BTreeMap<String, Value>,
    /// Variables whose values are not known anywhere.
    pub never: BTreeSet<String>,
    /// Files that the script has fetched, or whose text it has written.
    pub made: BTreeSet<String>,
    /// Programs that it has compiled.
    pub compiled: Vec<String>,
    /// Whether the script has unpacked what it has fetched.
    pub has_unpacked: bool,
    /// Where the lines of the text end, once it is asked for.
    pub lines: OnceCell<Vec<usize>>,
}

impl Judge<'_> {
    /// Returns the line of the whole command that a place is in.
    pub(super) fn line(&self, at: usize) -> usize {
        let ends =
            || self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
        self.place.first_line + self.lines.get_or_init(ends).partition_point(|end| *end < at)
    }
}

/// Returns whether a program fetches what it prints or writes.
pub(super) fn is_fetching(name: &str) -> bool {
    const FETCHING: [&str; 9] = ["curl", "wget", "wget2", "http", "https", "xh", "aria2c", "lynx", "fetch"];
    FETCHING.contains(&name)
}

/// Returns words with this text replaced.
pub(super) fn replaced_by<'w>(words: &[Argument<'w>], text: &str, by: &str) -> Vec<Argument<'w>> {
    let replaced = |word: &Argument<'w>| match word.text.contains(text) {
        true => Argument { text: Cow::Owned(word.text.replace(text, by)), pattern: None },
        false => word.clone(),
    };
    words.iter().map(replaced).collect()
}
