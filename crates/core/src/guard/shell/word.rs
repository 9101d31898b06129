//! Reads words: their quotes, escapes and patterns. What a shell replaces by other text is left to `expansion`.

use super::{
    reader::{Read, Reader},
    script::{Piece, Word},
};

impl Word {
    /// Adds characters that mean themselves; nothing is added as well, so that `''` is a word.
    pub(super) fn push_text(&mut self, more: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push_str(more),
            _ => self.pieces.push(Piece::Text(more.to_owned())),
        }
    }
}

/// Returns whether a character means itself to every shell, wherever it stands in a word.
fn is_plain(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_./:,=@%+-".contains(byte)
}

impl Reader<'_> {
    /// Reads a word, if one stands here.
    pub(super) fn word(&mut self) -> Read<Option<Word>> {
        let from = self.at;
        let mut word = Word::default();
        loop {
            let plain = self.rest().bytes().take_while(is_plain).count();
            if plain > 0 {
                word.push_text(&self.rest()[..plain]);
                self.at += plain;
            }
            let Some(char) = self.peek() else { break };
            match char {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '(' | ')' => break,
                '<' | '>' if self.second() == Some('(') => {
                    self.at += 2;
                    let list = self.substituted()?;
                    word.pieces.push(Piece::Process(list));
                }
                '<' | '>' => break,
                '\'' => self.single_quoted(&mut word)?,
                '"' => {
                    self.bump();
                    word.push_text("");
                    self.quoted(&mut word, Some('"'))?;
                }
                '\\' => self.escaped(&mut word)?,
                '$' => self.dollar(&mut word, false)?,
                '`' => self.backticks(&mut word, false)?,
                _ => self.unquoted(&mut word, char)?,
            }
        }
        Ok((self.at > from).then_some(word))
    }

    /// Reads a character without quotes that may stand for others.
    fn unquoted(&mut self, word: &mut Word, char: char) -> Read<()> {
        self.check_seen(char)?;
        let second = self.second();
        let is_first = word.pieces.is_empty();
        match char {
            // `[` alone is a program.
            '[' if is_first && matches!(second, Some(' ' | '[')) => word.push(char),
            '*' | '?' | '[' => word.pieces.push(Piece::Pattern(char)),
            '{' => match self.braces() {
                Some(literal) => {
                    word.push_text(literal);
                    self.at += literal.len();
                    return Ok(());
                }
                None => word.pieces.push(Piece::Pattern(char)),
            },
            // An interactive shell takes this for a word of its history.
            '!' if !second.is_none_or(|next| " \t\n=()\"';".contains(next)) => {
                return self.fail("a shell gives `!` a special meaning");
            }
            _ => word.push(char),
        }
        self.bump();
        Ok(())
    }

    /// Returns braces that stand for nothing but themselves: `{}`, `{` alone, and `{0}`.
    fn braces(&self) -> Option<&str> {
        let rest = self.rest();
        if matches!(self.second(), None | Some(' ' | '\t' | '\n')) {
            return Some(&rest[..1]);
        }
        let inner =
            rest[1..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
        (rest[1 + inner..].starts_with('}')).then(|| &rest[..inner + 2])
    }

    fn escaped(&mut self, word: &mut Word) -> Read<()> {
        self.bump();
        match self.peek() {
            None => self.fail("a backslash stands at its end"),
            Some('\n') => {
                self.bump();
                Ok(())
            }
            Some(char) => {
                self.check_seen(char)?;
                self.bump();
                word.push(char);
                Ok(())
            }
        }
    }

    fn single_quoted(&mut self, word: &mut Word) -> Read<()> {
        self.bump();
        let Some(length) = self.rest().find('\'') else { return self.fail("a quotation mark has no end") };
        let text = &self.rest()[..length];
        let backslashes = text.bytes().rev().take_while(|byte| *byte == b'\\').count();
        if backslashes % 2 == 1 {
            // fish takes it for an escaped mark.
            return self.fail("a backslash stands before a quotation mark");
        }
        self.check_quoted(text)?;
        word.push_text(text);
        self.at += length + 1;
        Ok(())
    }

    /// Checks the text in quotes, which begins here.
    pub(super) fn check_quoted(&self, text: &str) -> Read<()> {
        let mut before = ' ';
        for char in text.chars() {
            // The signs that join emojis or choose their form.
            if !(matches!(char, '\u{fe0f}' | '\u{200d}') && before > '\u{2000}') {
                self.check_seen(char)?;
            }
            if char == '\n' && !self.pending.is_empty() {
                return self.fail("a line ends between a here-document and its text");
            }
            before = char;
        }
        Ok(())
    }

    /// Reads text in double quotes up to its mark, or the text of a here-document up to its end.
    pub(super) fn quoted(&mut self, word: &mut Word, mark: Option<char>) -> Read<()> {
        loop {
            let Some(char) = self.peek() else {
                return if mark.is_some() { self.fail("a quotation mark has no end") } else { Ok(()) };
            };
            match char {
                char if Some(char) == mark => {
                    self.bump();
                    return Ok(());
                }
                '\\' => match self.second() {
                    Some('\n') => self.at += 2,
                    Some(next @ ('$' | '`' | '\\')) => {
                        word.push(next);
                        self.at += 2;
                    }
                    Some('"') if mark.is_some() => {
                        word.push('"');
                        self.at += 2;
                    }
                    _ => {
                        word.push('\\');
                        self.bump();
                    }
                },
                '$' => self.dollar(word, true)?,
                '`' => self.backticks(word, true)?,
                '!' if mark.is_some() && !self.second().is_none_or(|next| " \t\n=\"".contains(next)) => {
                    return self.fail("a shell gives `!` a special meaning");
                }
                _ => {
                    let length = self.rest().find(['\\', '$', '`', '!', '"']).unwrap_or(self.rest().len());
                    let length = length.max(char.len_utf8());
                    let text = &self.rest()[..length];
                    self.check_quoted(text)?;
                    word.push_text(text);
                    self.at += length;
                }
            }
        }
    }
}
