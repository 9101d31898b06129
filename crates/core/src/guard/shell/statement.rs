//! Reads the statements of the shell: groups, conditions, loops, functions and `[[`.

use super::{
    reader::{Read, Reader},
    script::{Compound, List, Node, Piece, Redirection, Simple, Word},
};

/// Words that begin no command.
const OUT_OF_PLACE: [&str; 17] = [
    "then",
    "else",
    "elif",
    "fi",
    "do",
    "done",
    "esac",
    "in",
    "}",
    "]]",
    "coproc",
    "foreach",
    "end",
    "switch",
    "endif",
    "endsw",
    "nocasematch",
];

impl Reader<'_> {
    /// Reads a statement, if one stands here.
    pub(super) fn statement(&mut self) -> Read<Option<Node>> {
        if self.eat("((") {
            return self.arithmetic().map(Some);
        }
        if self.eat("(") {
            let list = self.list(&[])?;
            if !self.eat(")") {
                return self.fail("`(` has no end");
            }
            return self.compound(Compound { lists: vec![list], ..Compound::default() });
        }
        // All of these are small letters or brackets.
        if !self.peek().is_some_and(|char| char.is_ascii_lowercase() || "{}[]".contains(char)) {
            return Ok(None);
        }
        if let Some(word) = OUT_OF_PLACE.iter().find(|word| self.is_at(word)) {
            return self.fail(format!("`{word}` is out of place"));
        }
        let found = ["{", "if", "while", "until", "for", "select", "case", "function", "[["];
        let Some(word) = found.into_iter().find(|word| self.is_at(word)) else { return Ok(None) };
        self.at += word.len();
        let statement = match word {
            "{" => {
                let list = self.list(&["}"])?;
                self.expect("}")?;
                Compound { is_group: true, lists: vec![list], ..Compound::default() }
            }
            "if" => self.condition()?,
            "while" | "until" => {
                let condition = self.list(&["do"])?;
                Compound { lists: vec![condition, self.body()?], ..Compound::default() }
            }
            "for" | "select" => self.for_each()?,
            "case" => self.case()?,
            "[[" => self.test()?,
            _ => return self.named_function().map(Some),
        };
        self.compound(statement)
    }

    /// Reads the redirections of a statement.
    fn compound(&mut self, mut statement: Compound) -> Read<Option<Node>> {
        loop {
            self.blanks();
            match self.redirection()? {
                Some(redirection) => statement.redirections.push(redirection),
                None => return Ok(Some(Node::Compound(statement))),
            }
        }
    }

    fn condition(&mut self) -> Read<Compound> {
        let mut lists = vec![self.list(&["then"])?];
        self.expect("then")?;
        loop {
            lists.push(self.list(&["elif", "else", "fi"])?);
            if self.is_at("elif") {
                self.expect("elif")?;
                lists.push(self.list(&["then"])?);
                self.expect("then")?;
            } else if self.is_at("else") {
                self.expect("else")?;
            } else {
                self.expect("fi")?;
                return Ok(Compound { lists, ..Compound::default() });
            }
        }
    }

    /// Reads `do a; done`.
    fn body(&mut self) -> Read<List> {
        self.expect("do")?;
        let list = self.list(&["done"])?;
        self.expect("done")?;
        Ok(list)
    }

    fn for_each(&mut self) -> Read<Compound> {
        self.blanks();
        let name = self.name().to_owned();
        if name.is_empty() {
            return self.fail("`for` names no variable");
        }
        self.at += name.len();
        self.lines()?;
        let mut values = None;
        if self.is_at("in") {
            self.expect("in")?;
            let mut words = Vec::new();
            loop {
                self.blanks();
                match self.word()? {
                    Some(word) => words.push(word),
                    None => break,
                }
            }
            values = Some(words);
        }
        if self.peek() == Some(';') {
            self.bump();
        }
        self.lines()?;
        let lists = vec![self.body()?];
        Ok(Compound { variable: Some((name, values)), lists, ..Compound::default() })
    }

    fn case(&mut self) -> Read<Compound> {
        self.blanks();
        let mut words: Vec<_> = self.word()?.into_iter().collect();
        self.lines()?;
        self.expect("in")?;
        let mut lists = Vec::new();
        loop {
            self.lines()?;
            if self.is_at("esac") {
                self.expect("esac")?;
                return Ok(Compound { words, lists, ..Compound::default() });
            }
            self.eat("(");
            loop {
                self.blanks();
                let Some(word) = self.word()? else { return self.fail("`case` has no pattern here") };
                words.push(word);
                self.blanks();
                if !self.eat("|") {
                    break;
                }
            }
            if !self.eat(")") {
                return self.fail("`)` is missing");
            }
            lists.push(self.list(&["esac"])?);
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&");
        }
    }

    /// Reads the rest of `function name { a; }`.
    fn named_function(&mut self) -> Read<Node> {
        self.blanks();
        let name = self.word()?;
        let Some(name) = name.as_ref().and_then(Word::literal).map(str::to_owned) else {
            return self.fail("`function` has no name");
        };
        self.blanks();
        self.eat("()");
        self.lines()?;
        Ok(Node::Function { name, body: Box::new(self.command()?) })
    }

    /// Reads the rest of `((a))`. For some shells, each name in it is a program.
    fn arithmetic(&mut self) -> Read<Node> {
        let at = self.position();
        let sum = self.sum()?;
        let Piece::Sum { names, .. } = &sum else { return self.fail("what stands in `((` is no arithmetic") };
        let program = |name: &String| {
            let words = vec![Word { pieces: vec![Piece::Text(name.clone())] }];
            Node::Simple(Simple { at, words, ..Simple::default() })
        };
        let lists = names.iter().map(|name| vec![program(name)]).collect();
        Ok(Node::Compound(Compound { words: vec![Word { pieces: vec![sum] }], lists, ..Compound::default() }))
    }

    /// Reads the rest of `[[ a ]]`, in one line. Some shells do not know `[[`: they run what stands behind `||` or a line
    /// break, and write what stands behind `>`.
    fn test(&mut self) -> Read<Compound> {
        let begin = |at, first: &str| {
            let mut words = Vec::new();
            if !first.is_empty() {
                words.push(Word { pieces: vec![Piece::Text(first.to_owned())] });
            }
            Simple { at, words, ..Simple::default() }
        };
        let mut parts = vec![begin(self.position(), "[[")];
        loop {
            self.blanks();
            let Some(part) = parts.last_mut() else { return self.fail("`[[` has no end") };
            match self.rest() {
                _ if self.is_at("]]") => break self.expect("]]")?,
                rest if rest.starts_with("||") => {
                    let at = self.position() + 2;
                    self.at += 2;
                    parts.push(begin(at, ""));
                }
                rest if rest.starts_with("&&") => self.at += 2,
                rest if rest.starts_with(['(', ')']) => self.bump(),
                rest if rest.starts_with("=~") => {
                    self.at += 2;
                    self.blanks();
                    part.words.push(self.pattern()?);
                }
                rest if rest.starts_with(['<', '>']) => match self.redirection()? {
                    Some(redirection) => {
                        let word = match &redirection {
                            Redirection::Write { file: word, .. } | Redirection::Read(word) => word.literal(),
                            _ => None,
                        };
                        part.words
                            .extend(word.map(|text| Word { pieces: vec![Piece::Text(text.to_owned())] }));
                        part.redirections.push(redirection);
                    }
                    None => return self.fail("`[[` has a part that is no word"),
                },
                _ => match self.word()? {
                    Some(word) => part.words.push(word),
                    None => return self.fail("`[[` has no end"),
                },
            }
        }
        let lists = parts.into_iter().filter(|part| !part.words.is_empty());
        Ok(Compound { lists: lists.map(|part| vec![Node::Simple(part)]).collect(), ..Compound::default() })
    }

    /// Reads a pattern behind `=~`, in which brackets and `|` mean themselves.
    fn pattern(&mut self) -> Read<Word> {
        let mut word = Word::default();
        loop {
            word.pieces.extend(self.word()?.into_iter().flat_map(|word| word.pieces));
            match self.peek() {
                Some(char @ ('(' | ')' | '|')) => {
                    word.push(char);
                    self.bump();
                }
                _ => return Ok(word),
            }
        }
    }
}
