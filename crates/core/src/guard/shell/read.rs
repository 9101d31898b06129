//! Reads the lists, pipelines and programs of a script, and its here-documents: their ends stand in the line of a command,
//! and their texts follow after that line. Statements are left to `statement`, and words to `word`.

use super::{
    reader::{Pending, Read, Reader, Unread},
    script::{Assignment, Document, List, Node, Redirection, Script, Simple, Word},
};

/// The most bytes of a script that are read.
const LENGTH: usize = 64 * 1024;

/// Reads a script.
///
/// # Errors
/// The first part that is not understood.
pub(in crate::guard) fn read(text: &str) -> Result<Script, Unread> {
    let mut reader = Reader::new(text, 0);
    if text.len() > LENGTH {
        return reader.fail("it is too long");
    }
    let list = reader.list(&[])?;
    match reader.peek() {
        Some(char) => reader.fail(format!("`{char}` is out of place")),
        None if !reader.pending.is_empty() => reader.fail("a here-document has no end"),
        None => Ok(Script { list, documents: reader.documents }),
    }
}

impl Reader<'_> {
    /// Reads commands up to one of these words, a closing bracket, or the end.
    pub(super) fn list(&mut self, stops: &[&str]) -> Read<List> {
        let mut list = List::new();
        loop {
            self.lines()?;
            let is_over = |reader: &Self| {
                reader.peek().is_none_or(|char| char == ')')
                    || reader.rest().starts_with(";;")
                    || reader.rest().starts_with(";&")
                    || stops.iter().any(|stop| reader.is_at(stop))
            };
            if is_over(self) {
                return Ok(list);
            }
            list.push(self.chain()?);
            self.blanks();
            match self.peek() {
                _ if is_over(self) => return Ok(list),
                Some('&') => {
                    // It runs in a shell of its own, as a part of a pipeline does.
                    let node = list.pop().into_iter().collect();
                    list.push(Node::Pipeline(node));
                    self.bump();
                }
                Some(';') => self.bump(),
                Some('#') => self.comment()?,
                Some('\n') => self.newline()?,
                Some(char) => return self.fail(format!("`{char}` is out of place")),
                None => return Ok(list),
            }
        }
    }

    fn chain(&mut self) -> Read<Node> {
        let mut parts = vec![self.pipeline()?];
        let mut has_or = false;
        loop {
            self.blanks();
            match self.rest() {
                rest if rest.starts_with("&&") => {}
                rest if rest.starts_with("||") => has_or = true,
                _ => break,
            }
            self.at += 2;
            self.lines()?;
            parts.push(self.pipeline()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Node::Chain { parts, has_or } })
    }

    fn pipeline(&mut self) -> Read<Node> {
        while self.peek() == Some('!') && matches!(self.second(), Some(' ' | '\t')) {
            self.bump();
            self.blanks();
        }
        if self.is_at("time") {
            // It may stand before a statement.
            let at = self.at;
            self.at += 4;
            self.blanks();
            if !matches!(self.peek(), Some('(' | '{')) {
                self.at = at;
            }
        }
        let mut parts = vec![self.command()?];
        loop {
            self.blanks();
            if self.peek() != Some('|') || self.second() == Some('|') {
                break;
            }
            self.bump();
            self.eat("&");
            self.lines()?;
            parts.push(self.command()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Node::Pipeline(parts) })
    }

    /// Reads one command: a program with its words, or a statement.
    pub(super) fn command(&mut self) -> Read<Node> {
        match self.deeper(Self::statement)? {
            Some(statement) => Ok(statement),
            None => self.simple(),
        }
    }

    fn simple(&mut self) -> Read<Node> {
        let mut simple = Simple { at: self.position(), ..Simple::default() };
        let mut is_over = false;
        loop {
            self.blanks();
            // For some shells, `&` ends the command here, and the next word is a program.
            is_over |= self.rest().starts_with("&>");
            if self.is_at_long_number()
                && simple.words.first().is_some_and(|word| word.literal() != Some("exec"))
            {
                return self.fail("some shells take a number of several digits before `>` or `<` for a word");
            }
            if let Some(redirection) = self.redirection()? {
                simple.redirections.push(redirection);
                continue;
            }
            if simple.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                simple.assignments.push(assignment);
                continue;
            }
            match self.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => break,
                Some('#') => break self.comment()?,
                Some(_) if is_over => return self.fail("shells read `&>` before a word in different ways"),
                Some('(') => return self.function(&simple),
                Some(_) => simple.words.extend(self.word()?),
            }
        }
        match simple.words.is_empty() && simple.assignments.is_empty() && simple.redirections.is_empty() {
            true => self.fail(match self.peek() {
                Some(char) => format!("no command stands before `{}`", char.escape_debug()),
                None => "it ends where a command has to follow".to_owned(),
            }),
            false => Ok(Node::Simple(simple)),
        }
    }

    /// Reads the rest of `name() { a; }`.
    fn function(&mut self, before: &Simple) -> Read<Node> {
        let is_alone = before.assignments.is_empty() && before.redirections.is_empty();
        let name = before.words.first().filter(|_| before.words.len() == 1).and_then(Word::literal);
        let Some(name) = name.filter(|name| is_alone && !name.is_empty()).map(str::to_owned) else {
            return self.fail("a shell gives `(` a special meaning");
        };
        if !self.eat("()") {
            return self.fail("a shell gives `(` a special meaning");
        }
        self.lines()?;
        Ok(Node::Function { name, body: Box::new(self.command()?) })
    }

    /// Reads `NAME=value`, `NAME+=value` or `NAME=(values)`.
    fn assignment(&mut self) -> Read<Option<Assignment>> {
        let name = self.name();
        let rest = &self.rest()[name.len()..];
        let is_more = rest.starts_with("+=");
        if name.is_empty() || !(is_more || rest.starts_with('=')) {
            return Ok(None);
        }
        let name = name.to_owned();
        self.at += name.len() + if is_more { 2 } else { 1 };
        if !self.eat("(") {
            let value = self.word()?.unwrap_or_default();
            return Ok(Some(Assignment { name, value, is_more }));
        }
        let mut value = Word::default();
        loop {
            self.lines()?;
            match self.word()? {
                Some(word) => value.pieces.extend(word.pieces),
                None => break,
            }
        }
        if !self.eat(")") {
            return self.fail("`)` is missing");
        }
        // What stands behind it belongs to the assignment, or is the program.
        match self.peek().is_none_or(|char| " \t\n;&|)".contains(char)) {
            true => Ok(Some(Assignment { name, value, is_more: true })),
            false => self.fail("shells read what stands behind the `)` of a list in different ways"),
        }
    }

    /// Whether a number of several digits stands here, right before a redirection.
    fn is_at_long_number(&self) -> bool {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 1 && rest[digits..].starts_with(['<', '>'])
    }

    /// Reads a redirection, if one stands here.
    pub(super) fn redirection(&mut self) -> Read<Option<Redirection>> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let operator = &rest[digits..];
        let operators = ["&>>", "&>", ">>", ">&", ">|", ">", "<<<", "<<", "<&", "<>", "<"];
        let found = operators.into_iter().find(|it| operator.starts_with(it));
        let Some(found) = found.filter(|it| digits == 0 || !it.starts_with('&')) else { return Ok(None) };
        // `<(a)` is a word.
        if operator[found.len()..].starts_with('(') && matches!(found, "<" | ">") {
            return Ok(None);
        }
        self.at += digits + found.len();
        if found == "<<" {
            return self.here_document().map(Some);
        }
        self.blanks();
        let Some(target) = self.word()? else { return self.fail(format!("`{found}` names no file")) };
        let is_copy = |word: &Word| {
            word.literal().is_some_and(|text| {
                text == "-" || text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        Ok(Some(match found {
            "<<<" => Redirection::Text(target),
            "<" => Redirection::Read(target),
            // A copy of what is open already.
            ">&" | "<&" if is_copy(&target) => Redirection::Text(Word::default()),
            "<&" => Redirection::Read(target),
            _ => Redirection::Write { file: target, appends: matches!(found, ">>" | "&>>") },
        }))
    }
}

impl Reader<'_> {
    /// Reads what stands behind `<<`.
    pub(super) fn here_document(&mut self) -> Read<Redirection> {
        let has_tabs = self.eat("-");
        self.blanks();
        let from = self.at;
        let word = self.word()?;
        let is_literal = self.text[from..self.at].contains(['\'', '"', '\\']);
        match word.as_ref().and_then(Word::literal) {
            Some(end) if !end.is_empty() && !end.contains('\n') => {
                let number = self.documents.len();
                self.documents.push(Document::default());
                self.pending.push(Pending { number, end: end.to_owned(), is_literal, has_tabs });
                Ok(Redirection::Document(number))
            }
            _ => self.fail("the end of a here-document is no plain word"),
        }
    }

    /// Passes the end of a line, with the texts that follow after it.
    pub(super) fn newline(&mut self) -> Read<()> {
        self.bump();
        if self.outer > 0 && !self.pending.is_empty() {
            return self.fail("a line ends between a here-document and its text");
        }
        for pending in std::mem::take(&mut self.pending) {
            self.text_of(&pending)?;
        }
        Ok(())
    }

    fn text_of(&mut self, pending: &Pending) -> Read<()> {
        let from = self.at;
        let mut is_continued = false;
        loop {
            if self.at >= self.end {
                return self.fail(format!("a here-document has no end: {}", pending.end));
            }
            let line = self.rest().split('\n').next().unwrap_or_default();
            let text = if pending.has_tabs { line.trim_start_matches('\t') } else { line };
            let begin = self.at;
            self.at = (begin + line.len() + 1).min(self.end);
            if text == pending.end {
                if is_continued {
                    return self.fail("a backslash stands before the end of a here-document");
                }
                let text = self.words_between(from, begin, pending.is_literal)?;
                self.documents[pending.number] = Document { at: from, text };
                return Ok(());
            }
            is_continued = !pending.is_literal && line.ends_with('\\');
        }
    }

    fn words_between(&mut self, from: usize, to: usize, is_literal: bool) -> Read<Word> {
        let after = (self.at, self.end);
        (self.at, self.end) = (from, to);
        let mut word = Word::default();
        if is_literal {
            self.check_quoted(self.rest())?;
            word.push_text(self.rest());
        } else {
            self.quoted(&mut word, None)?;
        }
        (self.at, self.end) = after;
        Ok(word)
    }
}
