//! Splits code into parts in one pass: no part is looked at again, and what looks ahead is consumed, or ends with its
//! line. The parts together are the text.

use super::languages::{Language, Manner, Quote, has};
use crate::tree::{CodePart, Role};

/// What was found: its role, and where it ends.
type Found = (Option<Role>, usize);

pub(super) struct Scanner<'a> {
    text: &'a str,
    language: &'a Language,
    /// Where it stands.
    at: usize,
    /// Whether nothing but blanks stands before this place in its line.
    begins_line: bool,
    /// Open braces of a style, or whether this is within a tag.
    depth: usize,
    /// Whether the name of a tag has come.
    is_named: bool,
    /// The word that ends a document within a script, which begins on the next line.
    document: Option<&'a str>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, language: &'a Language) -> Self {
        let (depth, is_named, document) = (0, false, None);
        Scanner { text, language, at: 0, begins_line: true, depth, is_named, document }
    }

    /// Returns the parts, unless they are more than `most`.
    pub(super) fn parts(mut self, most: usize) -> Option<Vec<CodePart>> {
        let mut parts = Vec::new();
        let mut plain = 0;
        while self.at < self.text.len() {
            let (from, (role, end)) = (self.at, self.next());
            if let Some(role) = role {
                parts.extend((plain < from).then(|| CodePart::Plain(self.text[plain..from].to_owned())));
                parts.push(CodePart::Token { role, text: self.text[from..end].to_owned() });
                plain = end;
            }
            if parts.len() >= most {
                return None;
            }
            let passed = &self.text[from..end];
            self.at = end;
            let is_bullet = passed == "-" && self.ahead(0) == b' ';
            self.begins_line =
                passed.ends_with('\n') || (self.begins_line && (is_bullet || matches!(passed, " " | "\t")));
        }
        parts.extend((plain < self.at).then(|| CodePart::Plain(self.text[plain..].to_owned())));
        Some(parts)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns the byte that stands so far ahead, or 0.
    fn ahead(&self, count: usize) -> u8 {
        self.text.as_bytes().get(self.at + count).copied().unwrap_or(0)
    }

    /// Returns where the next of these texts begins, or the end of the code.
    fn find(&self, from: usize, what: &str) -> usize {
        self.text[from..].find(what).map_or(self.text.len(), |at| from + at)
    }

    /// Returns where bytes of this kind end.
    fn run(&self, from: usize, is_of: impl Fn(u8) -> bool) -> usize {
        from + self.text.as_bytes()[from..].iter().take_while(|byte| is_of(**byte)).count()
    }

    fn next(&mut self) -> Found {
        let found = match self.language.manner {
            Manner::Patch => Some(self.patch()),
            Manner::Markup => self.markup(),
            _ => None,
        };
        let found = found.or_else(|| self.document()).or_else(|| self.comment()).or_else(|| self.own());
        let found = found.or_else(|| self.string(self.at)).or_else(|| self.number()).or_else(|| self.word());
        found.unwrap_or_else(|| (None, self.next_char()))
    }

    fn comment(&self) -> Option<Found> {
        let rest = self.rest();
        if let Some((open, close)) = self.language.comment.filter(|(open, _)| rest.starts_with(open)) {
            let end = self.find(self.at + open.len(), close) + close.len();
            return Some((Some(Role::Comment), end.min(self.text.len())));
        }
        let mark = self.language.notes.iter().find(|mark| rest.starts_with(**mark))?;
        // Within a word, it is a part of it.
        let is_loose = matches!(self.language.manner, Manner::Shell | Manner::Keyed);
        let before = self.text[..self.at].bytes().next_back();
        if is_loose
            && mark.len() == 1
            && !before.is_none_or(|byte| byte.is_ascii_whitespace() || byte == b';')
        {
            return None;
        }
        Some((Some(Role::Comment), self.find(self.at, "\n")))
    }

    /// Returns what only this language has.
    fn own(&mut self) -> Option<Found> {
        match self.language.manner {
            Manner::Shell => self.shell(),
            Manner::Keyed if self.begins_line => self.key(),
            Manner::Rust => self.rust(),
            Manner::Style => self.style(),
            _ => None,
        }
    }

    /// Characters and lifetimes, and texts between any number of signs.
    fn rust(&self) -> Option<Found> {
        if self.ahead(0) == b'\'' {
            let end = match self.rest()[1..].chars().next()? {
                '\\' => self.quoted(self.at + 1, &Quote { mark: "'", escapes: true, is_long: false }),
                c if self.ahead(1 + c.len_utf8()) == b'\'' => self.at + 2 + c.len_utf8(),
                _ => return Some((None, self.run(self.at + 1, is_letter))),
            };
            return Some((Some(Role::String), end));
        }
        let from = self.at + ["br", "r"].iter().find(|mark| self.rest().starts_with(**mark))?.len();
        let signs = self.run(from, |byte| byte == b'#') - from;
        if self.text.as_bytes().get(from + signs) != Some(&b'"') {
            return None;
        }
        let close = format!("\"{}", "#".repeat(signs));
        let end = self.find(from + signs + 1, &close) + close.len();
        Some((Some(Role::String), end.min(self.text.len())))
    }

    /// Variables, and the beginning of a document.
    fn shell(&mut self) -> Option<Found> {
        match (self.ahead(0), self.ahead(1)) {
            (b'$', b'{') => {
                let end = self.run(self.at, |byte| byte != b'}' && byte != b'\n');
                Some((Some(Role::Name), end + usize::from(self.text[end..].starts_with('}'))))
            }
            (b'$', next) if is_letter(next) => Some((Some(Role::Name), self.run(self.at + 1, is_letter))),
            (b'$', b'?' | b'@' | b'#' | b'*' | b'!') => Some((Some(Role::Name), self.at + 2)),
            (b'\\', next) if next.is_ascii() && next != 0 => Some((None, self.at + 2)),
            (b'<', b'<') if self.ahead(2) == b'<' => Some((None, self.at + 3)),
            (b'<', b'<') => {
                let blanks = self.run(self.at + 2, |byte| matches!(byte, b'-' | b' '));
                let from = self.run(blanks, |byte| matches!(byte, b'\'' | b'"' | b'\\'));
                let end = self.run(from, is_letter);
                self.document = Some(&self.text[from..end]).filter(|word| !word.is_empty());
                Some((None, self.run(end, |byte| matches!(byte, b'\'' | b'"'))))
            }
            _ => None,
        }
    }

    /// Returns a document within a script, up to the line of its word.
    fn document(&mut self) -> Option<Found> {
        let is_begun = self.text[..self.at].ends_with('\n');
        let word = self.document.take_if(|_| is_begun)?;
        let mut end = self.at;
        for line in self.rest().split_inclusive('\n') {
            if line.trim_start_matches('\t').trim_end() == word {
                break;
            }
            end += line.len();
        }
        (end > self.at).then_some((Some(Role::String), end))
    }

    /// Returns the name at the beginning of a line, or the head of a section.
    fn key(&self) -> Option<Found> {
        if self.ahead(0) == b'[' {
            let end = self.run(self.at, |byte| byte != b'\n');
            let is_head = self.text[self.at..end].trim_end().ends_with(']');
            return is_head.then_some((Some(Role::Name), end));
        }
        let is_of = |byte: u8| {
            is_letter(byte) || matches!(byte, b'.' | b'-' | b'/' | b'"' | b'\'' | b'$' | b'@' | b'*')
        };
        let end = self.run(self.at, is_of);
        if end == self.at {
            return None;
        }
        let sign = self.run(end, |byte| byte == b' ');
        let after = self.text.as_bytes().get(sign + 1).copied().unwrap_or(b'\n');
        let is_key = match self.text.as_bytes().get(sign) {
            Some(b'=') => true,
            Some(b':') => after.is_ascii_whitespace(),
            _ => false,
        };
        is_key.then_some((Some(Role::Name), end))
    }

    /// Properties, colours, and rules that begin with `@`.
    fn style(&mut self) -> Option<Found> {
        match self.ahead(0) {
            b'{' => self.depth += 1,
            b'}' => self.depth = self.depth.saturating_sub(1),
            b'@' => return Some((Some(Role::Keyword), self.run(self.at + 1, is_part))),
            b'#' if self.depth > 0 && self.ahead(1).is_ascii_hexdigit() => {
                return Some((Some(Role::Number), self.run(self.at + 1, is_letter)));
            }
            byte if is_letter(byte) && !byte.is_ascii_digit() || byte == b'-' && is_part(self.ahead(1)) => {
                let end = self.run(self.at, is_part);
                // A selector has a colon as well, and a letter behind it.
                let after = self.text[end..]
                    .strip_prefix(':')
                    .map(|rest| !rest.starts_with(|c: char| c.is_alphabetic()));
                let is_property = self.depth > 0 && after == Some(true);
                return Some((is_property.then_some(Role::Name), end));
            }
            _ => {}
        }
        None
    }

    /// Tags with their attributes. What stands between tags is text.
    fn markup(&mut self) -> Option<Found> {
        if self.rest().starts_with("<!--") {
            return self.comment();
        }
        if self.depth == 0 {
            if self.ahead(0) == b'<'
                && (is_letter(self.ahead(1)) || matches!(self.ahead(1), b'/' | b'!' | b'?'))
            {
                (self.depth, self.is_named) = (1, false);
                return Some((None, self.at + 1 + usize::from(!is_letter(self.ahead(1)))));
            }
            return Some((None, self.find(self.next_char(), "<")));
        }
        if self.ahead(0) == b'>' {
            self.depth = 0;
            return Some((None, self.at + 1));
        }
        if is_letter(self.ahead(0)) {
            let role = if self.is_named { Role::Name } else { Role::Keyword };
            self.is_named = true;
            return Some((
                Some(role),
                self.run(self.at, |byte| is_part(byte) || matches!(byte, b':' | b'.' | b'@')),
            ));
        }
        self.string(self.at).or_else(|| Some((None, self.next_char())))
    }

    fn next_char(&self) -> usize {
        self.at + self.rest().chars().next().map_or(1, char::len_utf8)
    }

    /// Returns a line of a patch, with its end.
    fn patch(&self) -> Found {
        let line = self.rest();
        let begins = |marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
        let role = if begins(&["@@"]) {
            Some(Role::Keyword)
        } else if begins(&["--- ", "+++ ", "diff ", "index "]) {
            Some(Role::Name)
        } else if begins(&["+"]) {
            Some(Role::Added)
        } else {
            begins(&["-"]).then_some(Role::Removed)
        };
        (role, (self.find(self.at, "\n") + 1).min(self.text.len()))
    }

    /// Returns a text whose quotation mark stands here.
    fn string(&self, at: usize) -> Option<Found> {
        let quote = self.language.quotes.iter().find(|it| self.text[at..].starts_with(it.mark))?;
        // In a word it is an apostrophe.
        let before = self.text[..at].bytes().next_back();
        if self.language.manner == Manner::Keyed && before.is_some_and(is_letter) {
            return None;
        }
        let end = self.quoted(at + quote.mark.len(), quote);
        let is_name = || self.text[self.run(end, |byte| byte == b' ')..].starts_with(':');
        let is_name = self.language.manner == Manner::Json && is_name();
        Some((Some(if is_name { Role::Name } else { Role::String }), end))
    }

    /// Returns where a text ends that begins here. One that is not closed ends with its line, or the code.
    fn quoted(&self, from: usize, quote: &Quote) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = from;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' if quote.escapes && (quote.is_long || bytes.get(at + 1) != Some(&b'\n')) => at += 1,
                b'\n' if !quote.is_long => return at,
                _ if bytes[at..].starts_with(quote.mark.as_bytes()) => return at + quote.mark.len(),
                _ => {}
            }
            at += 1;
        }
        bytes.len()
    }

    fn number(&self) -> Option<Found> {
        if !self.ahead(0).is_ascii_digit() {
            return None;
        }
        let mut end = self.run(self.at, is_letter);
        if self.text[end..].starts_with('.')
            && self.text.as_bytes().get(end + 1).is_some_and(u8::is_ascii_digit)
        {
            end = self.run(end + 1, is_letter);
        }
        Some((Some(Role::Number), end))
    }

    fn word(&self) -> Option<Found> {
        let sign =
            usize::from(matches!(self.ahead(0), b'@' | b'#') && self.language.manner == Manner::Program);
        if !is_letter(self.ahead(sign)) {
            return None;
        }
        let end = self.run(self.at + sign, |byte| is_letter(byte) || (self.is_shell() && byte == b'-'));
        let word = &self.text[self.at..end];
        if has(self.language.prefixes, word)
            && let Some((role, end)) = self.string(end)
        {
            return Some((role, end));
        }
        let next = |count: usize| self.text.as_bytes().get(end + count).copied().unwrap_or(0);
        let is_called = match self.language.manner {
            Manner::Program | Manner::Query => next(0) == b'(' || word.starts_with('@'),
            Manner::Rust => next(0) == b'(' || (next(0) == b'!' && matches!(next(1), b'(' | b'[' | b'{')),
            _ => false,
        };
        let role = self.language.owns(word).then_some(Role::Keyword);
        Some((role.or(is_called.then_some(Role::Name)), end))
    }

    fn is_shell(&self) -> bool {
        self.language.manner == Manner::Shell
    }
}

/// Whether a byte is a part of a word. Those of characters beyond ASCII are.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

/// The same of a name that may have hyphens.
fn is_part(byte: u8) -> bool {
    is_letter(byte) || byte == b'-'
}
