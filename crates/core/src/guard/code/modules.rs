//! The modules that code imports, and what it uses of them.

use super::{
    tables::{Language, Part, has},
    tokens::Token::{self, Name, Sign, Text},
};

/// What code imports.
#[derive(Default)]
pub(super) struct Modules<'t> {
    /// Names that stand for modules of which only a part is known, or nothing.
    bound: Vec<(&'t str, String)>,
    /// Names of values and functions that were taken from modules.
    pub taken: Vec<&'t str>,
    /// The parts of the code that were read here, by their numbers.
    read: Vec<usize>,
    /// The modules that are used.
    used: Vec<String>,
    /// Whether code of other files runs.
    pub runs: bool,
}

impl<'t> Modules<'t> {
    /// Reads what is imported, and each use of it. `None` if a use is not known to do nothing else.
    pub(super) fn of(language: &Language, tokens: &[Token<'t>]) -> Option<Self> {
        let mut modules = Modules::default();
        for at in 0..tokens.len() {
            match tokens[at] {
                Name("require") if language.is_js() => modules.required(language, tokens, at)?,
                Name("import") if language.is_js() && is_first(tokens, at) => {
                    modules.named(language, tokens, at)?;
                }
                Name("import" | "from") if !language.is_js() && is_first(tokens, at) => {
                    modules.imported(language, tokens, at)?;
                }
                _ => {}
            }
        }
        for at in 0..tokens.len() {
            let Name(name) = tokens[at] else { continue };
            let is_member = at > 0 && tokens[at - 1] == Sign('.');
            if let Some((_, path)) = modules.bound.iter().find(|(bound, _)| *bound == name)
                && !is_member
                && !modules.has_read(at)
            {
                let path = path.clone();
                modules.member(language, tokens, at, path)?;
            }
        }
        let is_without = |part: &&Part| modules.used.iter().any(|used| used == part.module);
        let is_harmful = language.parts.iter().filter(is_without).any(|part| {
            tokens
                .windows(2)
                .any(|pair| matches!(pair, [Sign('.'), Name(member)] if has(part.without, member)))
        });
        (!is_harmful).then_some(modules)
    }

    /// Returns whether a part of the code was read here.
    pub(super) fn has_read(&self, at: usize) -> bool {
        self.read.contains(&at)
    }

    /// Reads `import a.b as c, d` or `from a.b import c as d, e`, which begins here.
    fn imported(&mut self, language: &Language, tokens: &[Token<'t>], begin: usize) -> Option<()> {
        let length = tokens[begin..].iter().position(|token| *token == Sign(';'));
        let end = length.map_or(tokens.len(), |length| begin + length);
        let mut rest = &tokens[begin + 1..end];
        let from = match tokens[begin] {
            Name("from") => {
                let path = path(&mut rest)?;
                (rest.first() == Some(&Name("import"))).then_some(())?;
                rest = &rest[1..];
                Some(path)
            }
            _ => None,
        };
        loop {
            let imported = path(&mut rest)?;
            let mut name = imported.first().copied()?;
            let mut stands_for = imported[..1].join(".");
            if let [Name("as"), Name(alias), ..] = rest {
                (name, stands_for) = (alias, imported.join("."));
                rest = &rest[2..];
            }
            match &from {
                Some(from) => self.take(language, &from.join("."), &imported, name)?,
                None => self.bind(language, name, &imported.join("."), stands_for),
            }
            match rest {
                [] => break,
                [Sign(','), ..] => rest = &rest[1..],
                _ => return None,
            }
        }
        self.read.extend(begin..end);
        Some(())
    }

    /// Takes a name from a module.
    fn take(&mut self, language: &Language, from: &str, names: &[&'t str], as_name: &'t str) -> Option<()> {
        let [name] = names else { return None };
        let whole = format!("{from}.{name}");
        if language.part(&whole).is_some() {
            self.bind(language, as_name, from, whole);
            return Some(());
        }
        let list = match language.part(from) {
            Some(part) => part.names,
            None if has(language.modules, from) => language.members,
            None => {
                self.runs = true;
                language.foreign
            }
        };
        self.used.push(from.to_owned());
        self.taken.push(as_name);
        has(list, name).then_some(())
    }

    /// Lets a name stand for a module.
    fn bind(&mut self, language: &Language, name: &'t str, module: &str, stands_for: String) {
        if has(language.modules, module) {
            return self.taken.push(name);
        }
        self.runs |= !language.has_part(module);
        self.bound.push((name, stands_for));
    }

    /// Reads the member of a module behind its name.
    fn member(&mut self, language: &Language, tokens: &[Token<'t>], at: usize, path: String) -> Option<()> {
        let (mut at, mut path) = (at, path);
        self.read.push(at);
        loop {
            let (Some(Sign('.')), Some(Name(name))) = (tokens.get(at + 1), tokens.get(at + 2)) else {
                return None;
            };
            at += 2;
            self.read.push(at);
            let longer = format!("{path}.{name}");
            if language.has_part(&longer) {
                path = longer;
                continue;
            }
            let list = language.part(&path).map_or(language.foreign, |part| part.names);
            self.used.push(path);
            return has(list, name).then_some(());
        }
    }

    /// Reads `import a from "b"`, `import * as a from "b"` or `import { a, b as c } from "d"`, which begins here.
    fn named(&mut self, language: &Language, tokens: &[Token<'t>], begin: usize) -> Option<()> {
        let length = tokens[begin + 1..].iter().position(|token| *token == Name("from"))?;
        let (names, rest) = tokens[begin + 1..].split_at(length);
        let Some(Text(module)) = rest.get(1) else { return None };
        let path = module.strip_prefix("node:").unwrap_or(module);
        if path.contains("..") || path.contains(':') || path.starts_with('/') {
            return None;
        }
        self.read.extend(begin..begin + length + 3);
        self.runs |= language.part(path).is_none();
        match names {
            [Name(name)] | [Sign('*'), Name("as"), Name(name)] if !has(language.refused, name) => {
                self.bound.push((name, path.to_owned()));
            }
            [Sign('{'), names @ .., Sign('}')] => {
                let known = language.part(path)?.names;
                for one in names.split(|token| *token == Sign(',')).filter(|one| !one.is_empty()) {
                    let ([Name(name)] | [Name(_), Name("as"), Name(name)], Name(of)) = (one, one.first()?)
                    else {
                        return None;
                    };
                    (has(known, of) && !has(language.refused, name)).then(|| self.taken.push(name))?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Reads `require("…")`, which begins here.
    fn required(&mut self, language: &Language, tokens: &[Token<'t>], at: usize) -> Option<()> {
        let [Sign('('), Text(module), Sign(')')] = tokens.get(at + 1..at + 4)? else { return None };
        self.read.extend(at..at + 4);
        let is_relative = module.starts_with('.');
        let is_data = if is_relative { module.ends_with(".json") } else { module.ends_with("/package.json") };
        if module.contains("..") || module.starts_with('/') {
            return None;
        }
        if is_data {
            return Some(());
        }
        let path = module.strip_prefix("node:").unwrap_or(module).to_owned();
        self.runs |= language.part(&path).is_none();
        match &tokens[..at] {
            [.., Name("const" | "let" | "var") | Sign(',' | ';'), Name(name), Sign('=')] => {
                self.bound.push((name, path));
                self.read.push(at - 2);
                Some(())
            }
            [.., Sign('}'), Sign('=')] => {
                let names = language.part(&path)?.names;
                for at in (0..at - 2).rev() {
                    match tokens[at] {
                        Sign(',') => {}
                        Sign('{') => return Some(()),
                        Name(name) if has(names, name) => self.taken.push(name),
                        _ => return None,
                    }
                }
                None
            }
            // It is printed as a whole.
            [.., Name("console" | "Object"), Sign('.'), Name("log" | "keys"), Sign('(')]
                if tokens.get(at + 4) == Some(&Sign(')')) =>
            {
                Some(())
            }
            _ => self.member(language, tokens, at + 3, path),
        }
    }
}

/// Returns whether a statement begins here.
fn is_first(tokens: &[Token<'_>], at: usize) -> bool {
    at == 0 || matches!(tokens[at - 1], Sign(';' | ':'))
}

/// Takes `a.b.c` from the front.
fn path<'t>(rest: &mut &[Token<'t>]) -> Option<Vec<&'t str>> {
    let mut path = Vec::new();
    loop {
        let [Name(name), after @ ..] = *rest else { return None };
        path.push(*name);
        *rest = after;
        match after {
            [Sign('.'), after @ ..] => *rest = after,
            _ => return Some(path),
        }
    }
}
