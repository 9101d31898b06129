//! A place in the text of a script, and what is known of the text before it.

use super::script::Document;
use crate::guard::hidden::is_hidden;

/// How deep the parts of a script may be in each other.
const DEPTH: usize = 16;

/// The part of a script that is not understood.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::guard) struct Unread {
    /// Where it is in the text.
    pub at: usize,
    pub why: String,
}

pub(super) type Read<T> = Result<T, Unread>;

/// A here-document whose text was not read yet.
pub(super) struct Pending {
    pub number: usize,
    pub end: String,
    /// Whether the shell takes the text as it is.
    pub is_literal: bool,
    /// Whether tabs at the beginning of a line do not count.
    pub has_tabs: bool,
}

/// A place in a text, and what is known of the text before it.
pub(super) struct Reader<'a> {
    pub text: &'a str,
    pub at: usize,
    pub end: usize,
    /// The place that parts are said to have, if this text is not the one that was asked for.
    pub place: Option<usize>,
    depth: usize,
    /// The here-documents whose texts follow after the line, and how many of them belong to commands around this one.
    pub pending: Vec<Pending>,
    pub outer: usize,
    pub documents: Vec<Document>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, depth: usize) -> Self {
        let (pending, documents) = (Vec::new(), Vec::new());
        Reader { text, at: 0, end: text.len(), place: None, depth, pending, outer: 0, documents }
    }

    pub(super) fn fail<T>(&self, why: impl Into<String>) -> Read<T> {
        Err(Unread { at: self.position(), why: why.into() })
    }

    pub(super) fn position(&self) -> usize {
        self.place.unwrap_or(self.at)
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the character after the next one.
    pub(super) fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(super) fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    pub(super) fn eat(&mut self, wanted: &str) -> bool {
        let is_there = self.rest().starts_with(wanted);
        self.at += if is_there { wanted.len() } else { 0 };
        is_there
    }

    /// Reads a part that is deeper in the script than this one.
    pub(super) fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == DEPTH {
            return self.fail("it is nested too deep");
        }
        self.depth += 1;
        let read = part(self);
        self.depth -= 1;
        read
    }

    /// Passes spaces, line ends that a backslash takes away, and a comment.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.second() == Some('\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// Passes what may stand between commands.
    pub(super) fn lines(&mut self) -> Read<()> {
        loop {
            self.blanks();
            match self.peek() {
                Some('\n') => self.newline()?,
                Some('#') => self.comment()?,
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn comment(&mut self) -> Read<()> {
        while let Some(char) = self.peek().filter(|char| *char != '\n') {
            self.check_seen(char)?;
            self.bump();
        }
        Ok(())
    }

    /// Checks that a character can be seen.
    pub(super) fn check_seen(&self, char: char) -> Read<()> {
        match is_hidden(char) && !matches!(char, '\n' | '\t') {
            true => self.fail(format!("it has a character that cannot be seen: {}", char.escape_unicode())),
            false => Ok(()),
        }
    }

    /// Returns whether this word is next, as a shell takes it for one of its own.
    pub(super) fn is_at(&self, word: &str) -> bool {
        let rest = self.rest();
        rest.starts_with(word)
            && rest[word.len()..].chars().next().is_none_or(|char| " \t\n;&|()<>".contains(char))
    }

    pub(super) fn expect(&mut self, word: &str) -> Read<()> {
        match self.is_at(word) {
            true => {
                self.at += word.len();
                Ok(())
            }
            false => self.fail(format!("`{word}` is missing")),
        }
    }

    /// Returns the name of a variable that stands here, or nothing.
    pub(super) fn name(&self) -> &'a str {
        let rest = self.rest();
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = rest.bytes().take_while(is_name).count();
        if rest.starts_with(|char: char| char.is_ascii_digit()) { "" } else { &rest[..length] }
    }
}
