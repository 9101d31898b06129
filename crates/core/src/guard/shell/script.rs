//! The parts of a script, as they stand in its text.

/// A script.
#[derive(Debug, Default)]
pub(in crate::guard) struct Script {
    pub list: List,
    /// The texts of the here-documents, by their numbers.
    pub documents: Vec<Document>,
}

/// Commands one after another.
pub(in crate::guard) type List = Vec<Node>;

#[derive(Debug)]
pub(in crate::guard) enum Node {
    Simple(Simple),
    /// `a | b`.
    Pipeline(Vec<Node>),
    /// `a && b || c`: whether a part runs depends on the parts before it.
    Chain {
        parts: Vec<Node>,
        /// Whether one of the operators is `||`.
        has_or: bool,
    },
    /// `{ a; }`, `( a )`, `if`, `while`, `for`, `case`.
    Compound(Compound),
    /// `name() { a; }`.
    Function {
        name: String,
        body: Box<Node>,
    },
}

/// A program with its words.
#[derive(Debug, Default)]
pub(in crate::guard) struct Simple {
    /// Where it begins in the text.
    pub at: usize,
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
    pub redirections: Vec<Redirection>,
}

/// `NAME=value`.
#[derive(Debug)]
pub(in crate::guard) struct Assignment {
    pub name: String,
    pub value: Word,
    /// Whether it appends to the variable, or assigns a list.
    pub is_more: bool,
}

/// A statement that has lists of commands.
#[derive(Debug, Default)]
pub(in crate::guard) struct Compound {
    /// Whether its one list runs exactly once, in this shell.
    pub is_group: bool,
    /// The variable of a `for`, with its values. Without values, they are the arguments of the script.
    pub variable: Option<(String, Option<Vec<Word>>)>,
    /// The words that a `case` compares.
    pub words: Vec<Word>,
    pub lists: Vec<List>,
    pub redirections: Vec<Redirection>,
}

#[derive(Debug)]
pub(in crate::guard) enum Redirection {
    /// `> file` and its like.
    Write {
        file: Word,
        /// Whether what is there stays.
        appends: bool,
    },
    /// `< file`.
    Read(Word),
    /// `<<< text`.
    Text(Word),
    /// `<< END`: the number of the document.
    Document(usize),
}

/// The text of a here-document.
#[derive(Debug, Default)]
pub(in crate::guard) struct Document {
    /// Where it begins in the text.
    pub at: usize,
    pub text: Word,
}

/// A word, in the pieces that it is put together from.
#[derive(Debug, Default)]
pub(in crate::guard) struct Word {
    pub pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(in crate::guard) enum Piece {
    /// Characters that mean themselves.
    Text(String),
    /// Characters of a pattern, which the shell may replace by names of files: `*`, `[a]`, `{a,b}`.
    Pattern(char),
    /// The value of a variable.
    Variable { name: String, is_quoted: bool },
    /// A number, such as `$?`.
    Number,
    /// A number that is computed from variables, and from what these commands print.
    Sum { names: Vec<String>, lists: Vec<List> },
    /// The identifier of the process that runs in the background: `$!`.
    Job,
    /// What these commands print. In quotes, it stays one word.
    Output { list: List, is_quoted: bool },
    /// A file that is what these commands print, or read.
    Process(List),
    /// Any text, put together from what these commands print.
    Unknown { lists: Vec<List>, is_quoted: bool },
}

impl Word {
    /// Returns the text of a word without anything that a shell replaces.
    pub(in crate::guard) fn literal(&self) -> Option<&str> {
        match &self.pieces[..] {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Adds a character that means itself.
    pub(in crate::guard) fn push(&mut self, char: char) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(char),
            _ => self.pieces.push(Piece::Text(char.to_string())),
        }
    }
}
