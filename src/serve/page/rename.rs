//! Gives short names to what only one script of the page can know: private members of classes, and variables. It knows no
//! scopes: a name is either replaced wherever the script has it, or nowhere. So a variable keeps its name where the same
//! word is also that of a property, or may be. A script must not name a variable like a global that it uses elsewhere.

use std::collections::{HashMap, HashSet};

use minifier::js::{Condition, Keyword, Operation, ReservedChar as Char, Token, Tokens};

/// Words that mean something only in some places, where they look like names.
const CONTEXTUAL: [&str; 10] =
    ["as", "async", "await", "class", "export", "from", "get", "of", "set", "static"];

/// Returns the short names of variables and private members.
pub(super) fn short_names(tokens: &Tokens<'_>) -> HashMap<String, String> {
    Names::of(tokens).shortened()
}

/// What an open bracket holds.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    /// Members of a class.
    Class,
    /// Statements, or the members of an object.
    Braces,
    /// Parameters of a function, or the variables that get the elements of an array.
    Parameters,
    /// Other expressions.
    Expressions,
}

/// The names in a script.
struct Names<'a> {
    tokens: &'a [Token<'a>],
    /// How often each stands there.
    counts: HashMap<&'a str, usize>,
    /// Those of variables and private members.
    declared: HashSet<&'a str>,
    /// Those that stay, as they may be known elsewhere.
    kept: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    fn of(tokens: &'a [Token<'a>]) -> Self {
        let kept = HashSet::from(CONTEXTUAL);
        let mut names = Names { tokens, counts: HashMap::new(), declared: HashSet::new(), kept };
        let mut open = vec![Inside::Expressions];
        let mut is_class = false;
        for (place, token) in tokens.iter().enumerate() {
            if let Some(name) = token.get_other() {
                is_class |= name == "class" && names.at(place + 1).is_some_and(Token::is_other);
                names.see(name, place, open.last().copied());
            }
            match token.get_char() {
                Some(Char::OpenCurlyBrace) if is_class => {
                    open.push(Inside::Class);
                    is_class = false;
                }
                Some(Char::OpenCurlyBrace) => open.push(Inside::Braces),
                Some(Char::OpenParenthese) if names.are_parameters(place, open.last().copied()) => {
                    open.push(Inside::Parameters)
                }
                Some(Char::OpenBracket) if names.are_elements(place, open.last().copied()) => {
                    open.push(Inside::Parameters);
                }
                Some(Char::OpenParenthese | Char::OpenBracket) => open.push(Inside::Expressions),
                Some(Char::CloseCurlyBrace | Char::CloseParenthese | Char::CloseBracket) => {
                    open.pop();
                }
                _ => {}
            }
        }
        // A template may have code in it.
        let templates = tokens.iter().filter_map(Token::get_string).filter(|text| text.starts_with('`'));
        let is_sign = |char: char| !char.is_alphanumeric() && char != '_' && char != '#';
        names.kept.extend(templates.flat_map(|text| text.split(is_sign)));
        names
    }

    /// Takes note of a name and of how it is used at its place.
    fn see(&mut self, name: &'a str, place: usize, inside: Option<Inside>) {
        *self.counts.entry(name).or_default() += 1;
        if name.starts_with('#') {
            self.declared.insert(name);
            return;
        }
        if self.is_declared(place, inside) {
            self.declared.insert(name);
        }
        if self.may_be_known(place, inside) {
            self.kept.insert(name);
        }
    }

    /// Returns whether a variable gets its name here.
    fn is_declared(&self, place: usize, inside: Option<Inside>) -> bool {
        let before = self.before(place, 1).and_then(Token::get_char);
        let begins = [Char::OpenParenthese, Char::OpenBracket, Char::Comma, Char::Dot];
        let is_parameter =
            inside == Some(Inside::Parameters) && before.is_some_and(|before| begins.contains(&before));
        is_parameter || self.is_arrow(place + 1) || self.declares(place)
    }

    /// Returns whether a word is, or may be, the name of a property, or is exported.
    fn may_be_known(&self, place: usize, inside: Option<Inside>) -> bool {
        let is = |back: usize, char: Char| self.before(place, back).is_some_and(|token| token.eq_char(char));
        let next = self.at(place + 1).and_then(Token::get_char);
        let is_read = is(1, Char::Dot) && !is(2, Char::Dot);
        // No key is followed by a dot.
        let begins = (is(1, Char::OpenCurlyBrace) || is(1, Char::Comma)) && next != Some(Char::Dot);
        let is_key = inside == Some(Inside::Braces) && (begins || next == Some(Char::Colon));
        // Such as the name after `get`, or the flags of a pattern.
        let follows = self.before(place, 1).is_some_and(|before| {
            let is_contextual = |word: &str| CONTEXTUAL.contains(&word) && word != "of" && word != "await";
            before.is_regex() || before.get_other().is_some_and(is_contextual)
        });
        let is_exported = self.declares(place)
            && [2, 3]
                .iter()
                .any(|back| self.before(place, *back).and_then(Token::get_other) == Some("export"));
        is_read
            || is_key
            || (follows && !self.is_arrow(place + 1))
            || is_exported
            || inside == Some(Inside::Class)
    }

    /// Returns whether a declaration stands before this place.
    fn declares(&self, place: usize) -> bool {
        let keyword = self.before(place, 1).and_then(Token::get_keyword);
        matches!(keyword, Some(Keyword::Const | Keyword::Let | Keyword::Function))
    }

    /// Returns whether the parenthesis that opens here holds the parameters of a function or a method.
    fn are_parameters(&self, open: usize, inside: Option<Inside>) -> bool {
        let mut depth = 0;
        let length = self.tokens[open..].iter().position(|token| {
            match token.get_char() {
                Some(Char::OpenParenthese) => depth += 1,
                Some(Char::CloseParenthese) => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(after) = length.map(|length| open + length + 1) else { return false };
        let is_function = self.before(open, 2).and_then(Token::get_keyword) == Some(Keyword::Function);
        let has_body = self.at(after).is_some_and(|token| token.eq_char(Char::OpenCurlyBrace));
        is_function || self.is_arrow(after) || (has_body && inside == Some(Inside::Class))
    }

    /// Returns whether the bracket that opens here holds variables, which get the elements of an array.
    fn are_elements(&self, open: usize, inside: Option<Inside>) -> bool {
        let before = self.before(open, 1).and_then(Token::get_char);
        let is_parameter = matches!(before, Some(Char::OpenParenthese | Char::Comma));
        self.declares(open) || (inside == Some(Inside::Parameters) && is_parameter)
    }

    fn is_arrow(&self, place: usize) -> bool {
        self.at(place).is_some_and(|token| token.eq_operation(Operation::Equal))
            && self.at(place + 1).is_some_and(|token| token.eq_condition(Condition::SuperiorThan))
    }

    fn at(&self, place: usize) -> Option<&'a Token<'a>> {
        self.tokens.get(place)
    }

    fn before(&self, place: usize, back: usize) -> Option<&'a Token<'a>> {
        place.checked_sub(back).and_then(|place| self.at(place))
    }

    /// Returns the short names; the most frequent name gets the shortest.
    fn shortened(&self) -> HashMap<String, String> {
        let mut names: Vec<_> = self.declared.difference(&self.kept).copied().collect();
        names.sort_unstable_by_key(|name| (std::cmp::Reverse(self.counts.get(name)), *name));
        let (private, variables): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| name.starts_with('#'));
        let mut short = HashMap::new();
        for (names, sign) in [(private, "#"), (variables, "")] {
            let free = names_like(sign).filter(|name| !self.counts.contains_key(&**name));
            let pairs = names.into_iter().map(str::to_owned).zip(free);
            short.extend(pairs.filter(|(name, short)| short.len() < name.len()));
        }
        short
    }
}

/// Returns short names: single letters, then letters with a digit, none of which is a word of the language.
fn names_like(sign: &str) -> impl Iterator<Item = String> {
    let letters = || ('a'..='z').chain('A'..='Z');
    let single = letters().map(move |letter| format!("{sign}{letter}"));
    single.chain((0..10).flat_map(move |digit| letters().map(move |letter| format!("{sign}{letter}{digit}"))))
}

#[cfg(test)]
mod tests {
    use crate::serve::page::shorten::script as shortened;

    /// Checks that each script becomes the other.
    fn check(scripts: &[(&str, &str)]) {
        for (source, expected) in scripts {
            assert_eq!(shortened(source), *expected);
        }
    }

    #[test]
    fn variables_and_parameters_get_short_names() {
        check(&[
            ("let total=1;let{size}=total;total+=size", "let a=1,{size}=a;a+=size"),
            ("list.map((entry,[first,...rest])=>entry+first+rest)", "list.map((a,[b,...c])=>a+b+c)"),
            ("function sum(left,right=left){return left+right}sum(1)", "function c(a,b=a){return a+b}c(1)"),
            ("class A{add(entry){return entry+entry}}", "class A{add(a){return a+a}}"),
            ("for(const entry of[...list])entry(entry)", "for(let a of[...list])a(a)"),
            ("const pick=place=>f({[place]:pick},place?pick:place)", "let b=a=>f({[a]:b},a?b:a)"),
        ]);
    }

    #[test]
    fn names_that_are_known_elsewhere_stay() {
        for script in [
            "let total=1;other.total=total",
            "let total=1;f({total})",
            "let total=1;f({a,total})",
            "let total=1;f({total:total})",
            "let total=1;f(`${total + 1}`)",
            "class A{total=1;f(total){}}",
            "class A{get total(){let total=1;return total}}",
            "export let total=1",
            "export async function total(){}",
            "import{total}from\"./a.js\";f(total=>1)",
            "f(total?.size,document)",
        ] {
            assert_eq!(shortened(script), script);
        }
    }

    #[test]
    fn private_members_get_short_names() {
        check(&[
            (
                "class A{#list=1;get #text(){return this.#list??b.#list}}",
                "class A{#a=1;get #b(){return this.#a??b.#a}}",
            ),
            ("class A{#text;c=`${this.#text}`}", "class A{#text;c=`${this.#text}`}"),
        ]);
    }

    #[test]
    fn no_short_name_is_one_that_the_script_has() {
        check(&[
            ("let total=1;f(total,a,b)", "let c=1;f(c,a,b)"),
            ("f(/x/dgimsu,total=>total)", "f(/x/dgimsu,a=>a)"),
            ("class A{#text;#a;b=this.#text}", "class A{#b;#a;b=this.#b}"),
        ]);
    }
}
