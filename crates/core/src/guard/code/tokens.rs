//! Code as its parts: names, numbers, texts and signs.

use super::tables::Language;

/// A part of code.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Name(&'a str),
    Number,
    /// A text in quotes.
    Text(&'a str),
    /// A text with code in it: in `{…}` for Python, in `${…}` for JavaScript.
    Format(&'a str),
    Sign(char),
}

/// Splits code. `None` if it has a part that is not known.
pub(super) fn tokens<'t>(language: &Language, code: &'t str) -> Option<Vec<Token<'t>>> {
    let is_js = language.is_js();
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(char) = rest.chars().next() {
        let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
        if rest.starts_with(language.comment) {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if is_js && rest.starts_with("/*") {
            rest = rest.split_once("*/")?.1;
        } else if char.is_ascii_digit() {
            let length = rest.find(|char: char| !is_name(char) && char != '.').unwrap_or(rest.len());
            tokens.push(Token::Number);
            rest = &rest[length..];
        } else if is_name(char) {
            let (name, after) = rest.split_at(rest.find(|char: char| !is_name(char)).unwrap_or(rest.len()));
            rest = after;
            let is_mark = after.starts_with(['\'', '"']) && !is_js;
            match name.to_ascii_lowercase().as_str() {
                prefix @ ("f" | "r" | "b" | "u" | "rb" | "br" | "rf" | "fr") if is_mark => {
                    let (text, after) = quoted(rest)?;
                    tokens.push(if prefix.contains('f') { Token::Format(text) } else { Token::Text(text) });
                    rest = after;
                }
                _ => tokens.push(Token::Name(name)),
            }
        } else if matches!(char, '\'' | '"') {
            let (text, after) = quoted(rest)?;
            tokens.push(Token::Text(text));
            rest = after;
        } else if char == '`' && is_js {
            let (text, after) = rest[1..].split_once('`')?;
            // An escaped backtick would end it too early.
            tokens.push(if text.contains('\\') { return None } else { Token::Format(text) });
            rest = after;
        } else if char == '/' && is_js && !is_division(&tokens)? {
            rest = behind_expression(rest)?;
            tokens.push(Token::Number);
        } else if char.is_ascii() && !char.is_ascii_control() || matches!(char, '\n' | '\t') {
            match char {
                ' ' | '\t' => {}
                '\n' => tokens.push(Token::Sign(';')),
                _ => tokens.push(Token::Sign(char)),
            }
            rest = &rest[1..];
        } else {
            return None;
        }
    }
    Some(tokens)
}

/// Returns whether a `/` behind these parts divides, and does not begin a regular expression. `None` if it may do both.
fn is_division(before: &[Token<'_>]) -> Option<bool> {
    const BEHIND_OPERATOR: [&str; 11] =
        ["return", "typeof", "case", "in", "do", "else", "void", "delete", "instanceof", "new", "throw"];
    match before.last() {
        Some(Token::Name(name)) if BEHIND_OPERATOR.contains(name) => Some(false),
        // These may be names of values as well.
        Some(Token::Name("of" | "await" | "yield" | "async")) => None,
        // `if (…) /a/.test(b)`
        Some(Token::Sign(')')) if is_behind_condition(before) => None,
        Some(Token::Name(_) | Token::Number | Token::Text(_) | Token::Format(_) | Token::Sign(')' | ']')) => {
            Some(true)
        }
        Some(Token::Sign('(' | ',' | '=' | ':' | '[' | '!' | '&' | '|' | '?' | '{' | ';' | '>')) | None => {
            Some(false)
        }
        Some(Token::Sign(_)) => None,
    }
}

/// Returns whether the parenthesis that closes last belongs to a statement, or was never opened.
fn is_behind_condition(before: &[Token<'_>]) -> bool {
    let mut depth = 0_usize;
    let opens = before.iter().rposition(|token| {
        match token {
            Token::Sign(')') => depth += 1,
            Token::Sign('(') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    opens.is_none_or(|at| {
        matches!(before[..at].last(), Some(Token::Name("if" | "while" | "for" | "with" | "await" | "catch")))
    })
}

/// Returns what stands behind the regular expression that begins here.
fn behind_expression(code: &str) -> Option<&str> {
    let (mut is_escaped, mut is_in_brackets) = (false, false);
    for (at, char) in code.char_indices().skip(1) {
        match char {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_in_brackets = true,
            ']' => is_in_brackets = false,
            '/' if !is_in_brackets => {
                return Some(code[at + 1..].trim_start_matches(|flag: char| "dgimsuvy".contains(flag)));
            }
            _ => {}
        }
    }
    None
}

/// Returns the text in quotes that begins here, and what stands behind it.
fn quoted(rest: &str) -> Option<(&str, &str)> {
    let mark = rest.chars().next()?;
    let triple: String = [mark; 3].iter().collect();
    let marks = if rest.starts_with(&triple) { 3 } else { 1 };
    let inner = &rest[marks..];
    let mut is_escaped = false;
    for (at, char) in inner.char_indices() {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' if marks == 1 => return None,
            char if char == mark && (marks == 1 || inner[at..].starts_with(&triple)) => {
                return Some((&inner[..at], &inner[at + marks..]));
            }
            _ => {}
        }
    }
    None
}
