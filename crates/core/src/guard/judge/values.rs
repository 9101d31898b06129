//! The variables of a script: what is known of their values, and the words that a shell makes of them. A value is only known
//! where the script has set it before, whatever way it went.

use std::borrow::Cow;

use super::state::{Judge, Printed, Value};
use crate::guard::{
    argument::{ANY, Argument, INSIDE, MANY, TAME},
    places,
    shell::{Assignment, Node, Piece, Simple, Word},
};

/// Variables that a shell or a login sets, with their values as far as they count.
const USUAL: [(&str, &str); 22] = [
    ("HOME", "~"),
    ("PWD", "."),
    ("TMPDIR", "/tmp"),
    ("PATH", "\u{3}"),
    ("GITHUB_ENV", "/tmp/github"),
    ("GITHUB_OUTPUT", "/tmp/github"),
    ("GITHUB_STEP_SUMMARY", "/tmp/github"),
    ("USER", "\u{3}"),
    ("LOGNAME", "\u{3}"),
    ("HOSTNAME", "\u{3}"),
    ("OSTYPE", "\u{3}"),
    ("UID", "0"),
    ("EUID", "0"),
    ("PPID", "0"),
    ("RANDOM", "0"),
    ("SECONDS", "0"),
    ("LINENO", "0"),
    ("SHLVL", "0"),
    ("COLUMNS", "0"),
    ("LINES", "0"),
    ("EPOCHSECONDS", "0"),
    ("BASHPID", "0"),
];

/// Those of them that each shell has, and that are no path.
const ALWAYS: [&str; 2] = ["PATH", "PPID"];

/// The most bytes of a value that is known.
const VALUE: usize = 1024;

impl<'a> Judge<'a> {
    pub(super) fn set(&mut self, name: &str, value: Value) {
        // Values that are put together from others would grow without end.
        let is_long = matches!(&value, Value::Text(text) if text.len() > VALUE);
        let value = if is_long { Value::Unknown } else { value };
        if !self.never.contains(name) {
            self.values.insert(name.to_owned(), value);
        }
    }

    /// Returns the value that an assignment gives.
    pub(super) fn value(&self, assignment: &'a Assignment) -> Value {
        if assignment.is_more {
            return Value::Unknown;
        }
        if let [Piece::Output { list, .. }] = &assignment.value.pieces[..] {
            return match self.printed(list) {
                Printed::Passing => Value::Passing,
                printed => Value::Printed(printed),
            };
        }
        let argument = self.argument(&assignment.value);
        let is_tame = |char: char| argument.text.starts_with(char);
        match &*argument.text {
            _ if argument.pattern.is_some() => Value::Unknown,
            text if !argument.is_unknown() => Value::Text(text.to_owned()),
            _ if argument.has_any() => Value::Unknown,
            text if text.starts_with("/tmp/\u{3}") => Value::Passing,
            _ if is_tame(INSIDE) => Value::Inside,
            _ if is_tame(TAME) => Value::Tame,
            _ => Value::Unknown,
        }
    }

    /// Returns what is known of a variable that has each of these values in turn.
    pub(super) fn one_of(&self, words: &'a [Word]) -> Value {
        let arguments: Vec<_> = words.iter().flat_map(|word| self.arguments(word)).collect();
        let is_tame = |argument: &Argument<'_>| {
            !argument.has_any()
                && !argument.text.is_empty()
                && !argument.text.starts_with(['-', '+'])
                && argument.pattern != Some(0)
        };
        let begins_pattern =
            |argument: &Argument<'_>| argument.pattern == Some(0) && argument.text.starts_with('*');
        if arguments.iter().all(|argument| is_number(&argument.text)) && !arguments.is_empty() {
            return Value::Number;
        }
        let is_word = |argument: &Argument<'_>| {
            argument.pattern.is_none() && !argument.text.contains([' ', '\t', '\n', '*', '?', '['])
        };
        match arguments.iter().all(|argument| is_tame(argument) || begins_pattern(argument)) {
            true if arguments.iter().all(|it| is_word(it) && places::is_inside(&it.text))
                && !self.place.is_outside =>
            {
                Value::Word
            }
            true if arguments.iter().all(|argument| places::is_inside(&argument.text))
                && !self.place.is_outside =>
            {
                Value::Inside
            }
            true => Value::Tame,
            false => Value::Unknown,
        }
    }

    /// Forgets for good the values that the body of a function may set.
    pub(super) fn never_known(&mut self, body: &Node) {
        let mut names = Vec::new();
        assigned(body, &mut names);
        for (name, _) in names {
            self.values.remove(&name);
            self.never.insert(name);
        }
    }

    /// Forgets the values that these commands may set.
    pub(super) fn forget(&mut self, nodes: &[Node]) {
        let mut names = Vec::new();
        for node in nodes {
            assigned(node, &mut names);
        }
        for (name, _) in names.iter().filter(|(_, is_number)| *is_number) {
            let is_number = matches!(self.values.get(name), None | Some(Value::Number))
                || matches!(self.values.get(name), Some(Value::Text(text)) if is_number(text));
            self.set(name, if is_number { Value::Number } else { Value::Unknown });
        }
        for (name, _) in names.iter().filter(|(_, is_number)| !is_number) {
            self.set(name, Value::Unknown);
        }
    }

    /// Returns whether a variable has nothing but a number in it, as far as this script sets it.
    pub(super) fn is_number(&self, name: &str) -> bool {
        match self.values.get(name) {
            _ if self.never.contains(name) => false,
            None | Some(Value::Number) => true,
            Some(Value::Text(text)) => is_number(text),
            Some(Value::Printed(printed)) => *printed == Printed::Number,
            Some(Value::Inside | Value::Word | Value::Tame | Value::Passing | Value::Unknown) => false,
        }
    }

    /// Returns a word as the shell puts it together, as one.
    pub(super) fn argument(&self, word: &'a Word) -> Argument<'a> {
        match &word.pieces[..] {
            [] => return Argument::default(),
            [Piece::Text(text)] => return Argument::known(text),
            _ => {}
        }
        let mut text = String::new();
        let mut pattern = None;
        let is_alone = word.pieces.len() == 1;
        for piece in &word.pieces {
            match piece {
                Piece::Text(more) => text.push_str(more),
                // What stands in braces takes their place: an option, or a program.
                Piece::Pattern('{') if text.is_empty() || (text.starts_with('-') && !text.contains('=')) => {
                    text.push(ANY)
                }
                Piece::Pattern(char) => {
                    pattern = pattern.or(Some(text.len()));
                    text.push(*char);
                }
                Piece::Variable { name, is_quoted } => {
                    self.variable(name, (*is_quoted, is_alone), &mut text);
                }
                Piece::Number | Piece::Sum { .. } => text.push('0'),
                // Without a program in the background, it is nothing.
                Piece::Job => text.push_str(if word.pieces.len() == 1 { "%1" } else { "\u{2}" }),
                Piece::Process(_) => text.push_str("/dev/fd/63"),
                Piece::Output { list, is_quoted } => text.push_str(mark(self.printed(list), *is_quoted)),
                Piece::Unknown { is_quoted, .. } => text.push(if *is_quoted { ANY } else { MANY }),
            }
        }
        Argument { text: Cow::Owned(text), pattern }
    }

    /// Returns the words that a shell makes of one.
    pub(super) fn arguments(&self, word: &'a Word) -> Vec<Argument<'a>> {
        if let [Piece::Variable { name, is_quoted: false }] = &word.pieces[..]
            && let Some(Value::Text(text)) = self.values.get(name)
            && !self.values.contains_key("IFS")
            && !text.contains(['*', '?', '['])
        {
            // zsh leaves it one word.
            let known = |text: &str| Argument { text: Cow::Owned(text.to_owned()), pattern: None };
            return match text.split_ascii_whitespace().count() {
                0 => vec![known("\u{2}")],
                1 => vec![known(text.trim())],
                _ => vec![known("\u{2}")],
            };
        }
        vec![self.argument(word)]
    }

    fn variable(&self, name: &str, (is_quoted, is_alone): (bool, bool), text: &mut String) {
        let unknown = if is_quoted { ANY } else { MANY };
        match self.values.get(name) {
            // At other characters than spaces, any value may be split.
            Some(_) if !is_quoted && self.values.contains_key("IFS") => text.push(unknown),
            _ if self.never.contains(name) => text.push(unknown),
            None => match USUAL.iter().find(|(usual, _)| *usual == name) {
                // In some shells, it is nothing.
                Some((_, "0" | "\u{3}")) if !is_quoted && text.is_empty() && !ALWAYS.contains(&name) => {
                    text.push(unknown);
                }
                Some((_, value)) => text.push_str(value),
                // It belongs to the person's environment, in which it is one word, or nothing.
                None => text.push(ANY),
            },
            Some(Value::Text(value))
                if is_quoted || !value.is_empty() && !value.contains([' ', '\t', '\n', '*', '?', '[']) =>
            {
                text.push_str(value);
            }
            Some(Value::Number) => text.push('0'),
            Some(Value::Passing) => text.push_str("/tmp/\u{3}"),
            Some(Value::Inside) if is_quoted => text.push(INSIDE),
            Some(Value::Word) => text.push(INSIDE),
            Some(Value::Tame) if is_quoted => text.push(TAME),
            // It may be nothing.
            Some(Value::Printed(Printed::Number | Printed::Word)) if is_alone && !is_quoted => {
                text.push(MANY)
            }
            Some(Value::Printed(Printed::Names | Printed::Tame)) if !is_quoted => text.push(MANY),
            Some(Value::Printed(printed)) => text.push_str(mark(*printed, is_quoted)),
            Some(_) => text.push(unknown),
        }
    }
}

/// Returns the mark of what commands print.
fn mark(printed: Printed, is_quoted: bool) -> &'static str {
    match printed {
        Printed::Number => "0",
        Printed::Word | Printed::Names => "\u{4}",
        Printed::Passing => "/tmp/\u{3}",
        Printed::Tame => "\u{3}",
        Printed::Ours => "\u{5}",
        Printed::Nothing | Printed::Unknown if is_quoted => "\u{1}",
        Printed::Nothing | Printed::Unknown => "\u{2}",
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Adds the variables that a command may set, each with whether it is a number then.
fn assigned(node: &Node, names: &mut Vec<(String, bool)>) {
    match node {
        Node::Simple(simple) => of_simple(simple, names),
        Node::Pipeline(parts) | Node::Chain { parts, .. } => {
            parts.iter().for_each(|part| assigned(part, names))
        }
        Node::Compound(compound) => {
            names.extend(compound.variable.iter().map(|(name, _)| (name.clone(), false)));
            compound.lists.iter().flatten().for_each(|node| assigned(node, names));
        }
        Node::Function { body, .. } => assigned(body, names),
    }
}

/// Builtins that set the variables that their words name.
const SETTING: [&str; 12] = [
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "printf",
    "declare",
    "local",
    "export",
    "typeset",
    "readonly",
    "unset",
    "wait",
];

fn of_simple(simple: &Simple, names: &mut Vec<(String, bool)>) {
    for assignment in &simple.assignments {
        let is_number = match &assignment.value.pieces[..] {
            [Piece::Sum { .. } | Piece::Number] => true,
            [Piece::Text(text)] => is_number(text),
            _ => false,
        };
        names.push((assignment.name.clone(), is_number && !assignment.is_more));
    }
    let mut words = simple.words.iter();
    let is_setting = words.next().and_then(Word::literal).is_some_and(|word| SETTING.contains(&word));
    if is_setting {
        let literal = words.filter_map(|word| match word.pieces.first() {
            Some(Piece::Text(text)) => Some(text),
            _ => None,
        });
        names.extend(literal.map(|text| (text.split('=').next().unwrap_or_default().to_owned(), false)));
    }
}
