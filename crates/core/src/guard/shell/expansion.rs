//! Reads what a shell replaces by other text: variables, what commands print, and arithmetic.

use super::{
    reader::{Read, Reader},
    script::{List, Node, Piece, Simple, Word},
};

impl Reader<'_> {
    /// Reads a `$` with what belongs to it.
    pub(super) fn dollar(&mut self, word: &mut Word, is_quoted: bool) -> Read<()> {
        self.bump();
        let name = self.name();
        // A shell takes the line break away before it looks at what follows.
        if self.rest()[name.len()..].starts_with("\\\n") {
            return self.fail("a line goes on within what a shell replaces");
        }
        if !name.is_empty() {
            word.pieces.push(Piece::Variable { name: name.to_owned(), is_quoted });
            self.at += name.len();
            return Ok(());
        }
        let Some(char) = self.peek() else {
            word.push('$');
            return Ok(());
        };
        match char {
            '(' if self.second() == Some('(') => {
                self.at += 2;
                let sum = self.sum()?;
                word.pieces.push(sum);
            }
            '(' => {
                self.bump();
                let list = self.substituted()?;
                word.pieces.push(Piece::Output { list, is_quoted });
            }
            '{' => {
                self.bump();
                let piece = self.deeper(|reader| reader.parameter(is_quoted))?;
                word.pieces.push(piece);
            }
            '?' | '#' | '$' => {
                self.bump();
                word.pieces.push(Piece::Number);
            }
            // Some shells have no flags.
            '-' => {
                self.bump();
                word.pieces.push(unknown(Vec::new(), is_quoted));
            }
            '!' => {
                self.bump();
                word.pieces.push(Piece::Job);
            }
            '@' | '*' | '0'..='9' => {
                self.bump();
                word.pieces.push(unknown(Vec::new(), is_quoted && char != '@'));
            }
            '\'' if !is_quoted => self.escapes(word)?,
            // A text to be translated, other arithmetic, and flags of zsh.
            '"' if !is_quoted => return self.fail("a shell gives `$\"` a special meaning"),
            '[' | '=' | '^' | '~' | '+' => {
                return self.fail(format!("shells read `${char}` in different ways"));
            }
            _ => word.push('$'),
        }
        Ok(())
    }

    /// Reads `$'text'`, in which escapes stand for characters.
    fn escapes(&mut self, word: &mut Word) -> Read<()> {
        self.bump();
        let Some(length) = self.rest().find('\'') else { return self.fail("a quotation mark has no end") };
        let text = &self.rest()[..length];
        self.check_quoted(text)?;
        if text.ends_with('\\') {
            return self.fail("a backslash stands before a quotation mark");
        }
        match text.replace(r"\n", "\n").replace(r"\t", "\t") {
            plain if !plain.contains('\\') => word.push_text(&plain),
            _ => word.pieces.push(unknown(Vec::new(), true)),
        }
        self.at += length + 1;
        Ok(())
    }

    /// Reads commands up to the bracket that ends their substitution.
    pub(super) fn substituted(&mut self) -> Read<List> {
        let (outer, pending) = (self.outer, self.pending.len());
        self.outer = pending;
        let list = self.deeper(|reader| reader.list(&[]))?;
        self.outer = outer;
        if self.pending.len() > pending {
            return self.fail("a here-document has no end");
        }
        match self.eat(")") {
            true => Ok(list),
            false => self.fail("`$(` has no end"),
        }
    }

    /// Reads commands in backticks.
    pub(super) fn backticks(&mut self, word: &mut Word, is_quoted: bool) -> Read<()> {
        let place = self.position();
        self.bump();
        let mut text = String::new();
        loop {
            let Some(char) = self.peek() else { return self.fail("a backtick has no end") };
            self.bump();
            match (char, self.peek()) {
                ('`', _) => break,
                ('\\', Some(next @ ('`' | '\\' | '$'))) => {
                    text.push(next);
                    self.bump();
                }
                ('\\', Some('"')) if is_quoted => {
                    return self.fail("shells read a quotation mark in backticks in different ways");
                }
                ('\n', _) if !self.pending.is_empty() => {
                    return self.fail("a line ends between a here-document and its text");
                }
                (char, _) => text.push(char),
            }
        }
        let depth = self.depth();
        let mut inner = Reader::new(&text, depth);
        inner.place = Some(place);
        let list = inner.deeper(|reader| reader.list(&[]))?;
        if inner.peek().is_some() || !inner.documents.is_empty() {
            return inner.fail("what stands in backticks is no list of commands");
        }
        word.pieces.push(Piece::Output { list, is_quoted });
        Ok(())
    }

    /// Reads what follows after `${`.
    fn parameter(&mut self, is_quoted: bool) -> Read<Piece> {
        if self.eat("#}") {
            return Ok(Piece::Number);
        }
        let is_length = self.eat("#");
        let name = self.name().to_owned();
        self.at += name.len();
        let is_own = name.is_empty()
            && self.rest().starts_with(|char: char| char.is_ascii_digit() || "@*".contains(char));
        if is_own {
            self.bump();
        }
        let is_list = self.eat("[@]") || self.eat("[*]");
        if !is_list && self.eat("[") {
            let digits =
                self.rest().bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'-').count();
            self.at += digits;
            if digits == 0 || !self.eat("]") {
                return self.fail("a shell computes what stands in `[…]`");
            }
            return self.end_of_parameter(unknown(Vec::new(), is_quoted));
        }
        if name.is_empty() && !is_own {
            return self.fail("a shell gives `${` a special meaning");
        }
        match self.peek() {
            Some('}') if is_length => self.end_of_parameter(Piece::Number),
            Some('}') if is_list || is_own => self.end_of_parameter(unknown(Vec::new(), false)),
            Some('}') => self.end_of_parameter(Piece::Variable { name, is_quoted }),
            Some(':') if self.second().is_some_and(|char| char.is_ascii_digit() || char == ' ') => {
                let is_number = |byte: &u8| byte.is_ascii_digit() || b": -".contains(byte);
                self.at += self.rest().bytes().take_while(is_number).count();
                self.end_of_parameter(unknown(Vec::new(), is_quoted))
            }
            Some(':' | '-' | '+' | '?' | '%' | '#' | '/' | '^' | ',') => {
                self.eat(":");
                if self.peek() == Some('=') {
                    return self.fail("`${name=}` assigns a variable");
                }
                self.bump();
                let lists = self.operand()?;
                self.end_of_parameter(unknown(lists, is_quoted))
            }
            _ => self.fail("a shell gives `${` a special meaning"),
        }
    }

    fn end_of_parameter(&mut self, piece: Piece) -> Read<Piece> {
        match self.eat("}") {
            true => Ok(piece),
            false => self.fail("`${` has no end"),
        }
    }

    /// Reads the text in `${name:-text}`, and returns the commands in it.
    fn operand(&mut self) -> Read<Vec<List>> {
        let mut word = Word::default();
        loop {
            match self.peek() {
                None | Some('}') => return Ok(lists_of(word)),
                Some('$') => self.dollar(&mut word, true)?,
                Some('`') => self.backticks(&mut word, true)?,
                Some('\\') => {
                    self.bump();
                    self.bump();
                }
                // Whether quotes count here depends on the quotes around it, and on the shell.
                Some('\'' | '"' | '{' | '\n') => {
                    return self.fail("shells read quotes in `${…}` in different ways");
                }
                Some(char) => {
                    self.check_seen(char)?;
                    self.bump();
                }
            }
        }
    }

    /// Reads arithmetic up to `))`.
    pub(super) fn sum(&mut self) -> Read<Piece> {
        let mut word = Word::default();
        let mut names = Vec::new();
        let mut depth = 0_u32;
        // Two words beside each other are no arithmetic, but may be a command.
        let mut is_after_word = false;
        loop {
            let Some(char) = self.peek() else { return self.fail("`((` has no end") };
            match char {
                ')' if depth == 0 => break,
                ')' => depth -= 1,
                '(' => depth += 1,
                ' ' | '\t' => {}
                '$' | '0'..='9' | 'a'..='z' | 'A'..='Z' | '_' => {
                    if is_after_word {
                        return self.fail("what stands in `((` is no arithmetic");
                    }
                    if char == '$' {
                        self.dollar(&mut word, true)?;
                    } else {
                        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                        let length = self.rest().bytes().take_while(is_name).count();
                        if !char.is_ascii_digit() {
                            names.push(self.rest()[..length].to_owned());
                        }
                        self.at += length;
                    }
                    is_after_word = true;
                    continue;
                }
                '+' | '-' | '*' | '/' | '%' | '<' | '>' | '=' | '!' | '&' | '|' | '^' | '~' | '?' | ':'
                | ',' => {}
                _ => return self.fail("what stands in `((` is no arithmetic"),
            }
            is_after_word = matches!(char, ' ' | '\t' | ')') && is_after_word;
            self.bump();
        }
        names.extend(word.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable { name, .. } => Some(name.clone()),
            _ => None,
        }));
        match self.eat("))") {
            true => Ok(Piece::Sum { names, lists: lists_of(word) }),
            false => self.fail("`((` has no end"),
        }
    }
}

fn unknown(lists: Vec<List>, is_quoted: bool) -> Piece {
    Piece::Unknown { lists, is_quoted }
}

/// Returns the commands in a word.
fn lists_of(word: Word) -> Vec<List> {
    let lists = word.pieces.into_iter().flat_map(|piece| match piece {
        Piece::Output { list, .. } | Piece::Process(list) => vec![list],
        Piece::Unknown { lists, .. } => lists,
        // What computes a number may run something as well.
        sum @ Piece::Sum { .. } => vec![vec![Node::Simple(Simple {
            words: vec![Word { pieces: vec![Piece::Text("true".to_owned()), sum] }],
            ..Simple::default()
        })]],
        _ => Vec::new(),
    });
    lists.collect()
}
