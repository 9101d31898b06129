//! A settings file as a tree of values, each with its place in the text: JSON with comments and trailing commas, or
//! TOML. Changing the text at these places is left to `splice.rs`.

use std::{collections::BTreeSet, ops::Range};

use jsonc_parser::{
    CollectOptions, ParseOptions,
    ast::{Object, Value as Json},
    common::Ranged,
    parse_to_ast,
};
use thiserror::Error;
use toml_edit::{Item, TableLike, Value as Toml};

/// The byte order mark, which some editors on Windows write.
pub(super) const BOM: char = '\u{feff}';

/// Why settings cannot be edited.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}, column {column}: {what}")]
pub struct DocumentError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The mistake there.
    pub what: String,
}

/// The language of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// JSON with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
}

/// A value, and the bytes at which it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The first byte.
    pub start: usize,
    /// The byte behind the last one.
    pub end: usize,
    /// The value.
    pub value: Value,
}

/// What a value is, as far as setup has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Named members.
    Members(Vec<Member>),
    /// True or false.
    Flag(bool),
    /// Anything else.
    Other,
}

/// A named value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// The first byte of its key. In TOML, this is the whole key, such as `server.command`.
    pub start: usize,
    /// The first byte of the last word of its key.
    pub word: usize,
    /// The value.
    pub node: Node,
}

impl Node {
    /// Returns the members, none if this is not a value with members.
    pub fn members(&self) -> &[Member] {
        match &self.value {
            Value::Members(members) => members,
            _ => &[],
        }
    }

    /// Returns the value of the member of this name.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.member(name).map(|member| &member.node)
    }

    /// Returns the member of this name.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members().iter().find(|member| member.name == name)
    }

    /// Returns the text, if this is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the texts of a list, or `None` if this is not a list of texts.
    pub fn texts(&self) -> Option<Vec<String>> {
        match &self.value {
            Value::List(nodes) => nodes.iter().map(|node| node.text().map(str::to_owned)).collect(),
            _ => None,
        }
    }
}

/// Reads a settings file.
///
/// # Errors
/// Says where the text is broken.
pub fn parse(text: &str, language: Language) -> Result<Node, DocumentError> {
    // The places are those in the whole text.
    let skipped = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
    let rest = &text[skipped..];
    let mut node = match language {
        Language::Json => json(rest),
        Language::Toml => toml(rest),
    }?;
    shift(&mut node, skipped);
    Ok(node)
}

/// Returns an error if two members have one name: programs read the last one, and the first must not be edited in its
/// place.
pub fn unique(text: &str, members: &[Member]) -> Result<(), DocumentError> {
    let mut names = BTreeSet::new();
    match members.iter().find(|member| !names.insert(&member.name)) {
        Some(twice) => Err(mistake(text, twice.start, format!("{:?} occurs twice", twice.name))),
        None => Ok(()),
    }
}

/// Returns the error of this mistake at this byte.
pub fn mistake(text: &str, at: usize, what: String) -> DocumentError {
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    DocumentError { line, column, what }
}

fn shift(node: &mut Node, by: usize) {
    if by == 0 {
        return;
    }
    (node.start, node.end) = (node.start + by, node.end + by);
    match &mut node.value {
        Value::List(nodes) => nodes.iter_mut().for_each(|node| shift(node, by)),
        Value::Members(members) => {
            for member in members {
                (member.start, member.word) = (member.start + by, member.word + by);
                shift(&mut member.node, by);
            }
        }
        Value::Text(_) | Value::Flag(_) | Value::Other => {}
    }
}

/// Returns how JSON of settings is read.
pub(super) fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        // Syntax that the clients themselves do not read.
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

pub(super) fn broken(error: &jsonc_parser::errors::ParseError) -> DocumentError {
    let (line, column) = (error.line_display(), error.column_display());
    DocumentError { line, column, what: uncapitalized(&error.kind().to_string()) }
}

/// A message follows the line and the column in one sentence.
fn uncapitalized(what: &str) -> String {
    let mut letters = what.chars();
    letters.next().map(|first| first.to_lowercase().to_string() + letters.as_str()).unwrap_or_default()
}

fn json(text: &str) -> Result<Node, DocumentError> {
    let parsed =
        parse_to_ast(text, &CollectOptions::default(), &options()).map_err(|error| broken(&error))?;
    match parsed.value {
        Some(value) => Ok(of_json(&value)),
        // A file without a value is an empty one.
        None => Ok(Node { start: 0, end: text.len(), value: Value::Members(Vec::new()) }),
    }
}

fn of_json(json: &Json<'_>) -> Node {
    let value = match json {
        Json::StringLit(text) => Value::Text(text.value.to_string()),
        Json::BooleanLit(flag) => Value::Flag(flag.value),
        Json::Array(array) => Value::List(array.elements.iter().map(of_json).collect()),
        Json::Object(object) => return of_object(object),
        Json::NumberLit(_) | Json::NullKeyword(_) => Value::Other,
    };
    Node { start: json.start(), end: json.end(), value }
}

/// Returns an object of JSON as a node.
pub(super) fn of_object(object: &Object<'_>) -> Node {
    let members = object.properties.iter().map(|member| Member {
        name: member.name.as_str().to_owned(),
        start: member.range.start,
        word: member.range.start,
        node: of_json(&member.value),
    });
    Node { start: object.range.start, end: object.range.end, value: Value::Members(members.collect()) }
}

fn toml(text: &str) -> Result<Node, DocumentError> {
    let document = toml_edit::Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        mistake(text, at, uncapitalized(error.message().lines().next().unwrap_or_default()))
    })?;
    Ok(of_table(text, document.as_table(), 0..text.len(), false))
}

fn of_table(text: &str, table: &dyn TableLike, place: Range<usize>, is_inline: bool) -> Node {
    let mut members = Vec::new();
    for (name, item) in table.iter() {
        let Some(word) = table.key(name).and_then(|key| key.span()) else { continue };
        let start = if is_inline { word.start } else { line(text, word.start) };
        members.push(Member {
            name: name.to_owned(),
            start,
            word: word.start,
            node: of_item(text, item, word),
        });
    }
    Node { start: place.start, end: place.end, value: Value::Members(members) }
}

/// Returns where the text of the line begins in which a key stands. A dotted key begins there.
fn line(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    at - line.trim_start().len()
}

fn of_item(text: &str, item: &Item, key: Range<usize>) -> Node {
    match item {
        Item::Value(value) => of_value(text, value, key),
        Item::Table(table) => of_table(text, table, table.span().unwrap_or(key), false),
        Item::None | Item::ArrayOfTables(_) => Node { start: key.start, end: key.end, value: Value::Other },
    }
}

fn of_value(text: &str, value: &Toml, key: Range<usize>) -> Node {
    let place = value.span().unwrap_or(key);
    let read = match value {
        Toml::String(text) => Value::Text(text.value().clone()),
        Toml::Boolean(flag) => Value::Flag(*flag.value()),
        Toml::Array(array) => {
            Value::List(array.iter().map(|value| of_value(text, value, place.clone())).collect())
        }
        // Where a dotted key begins within braces is not known: what it names cannot be changed.
        Toml::InlineTable(table) if table.is_dotted() => Value::Members(Vec::new()),
        Toml::InlineTable(table) => return of_table(text, table, place, true),
        _ => Value::Other,
    };
    Node { start: place.start, end: place.end, value: read }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text of each member, from its key to its end.
    fn members<'a>(text: &'a str, node: &Node) -> Vec<&'a str> {
        node.members().iter().map(|member| &text[member.start..member.node.end]).collect()
    }

    #[test]
    fn json_is_read_with_its_places() {
        let text = "\u{feff}// é\n{ \"a\": [\"b\", /* c */ \"d\\n\"], \"f\": true, }";
        let tree = parse(text, Language::Json).unwrap();
        assert_eq!(members(text, &tree), ["\"a\": [\"b\", /* c */ \"d\\n\"]", "\"f\": true"]);
        assert_eq!(tree.get("a").unwrap().texts().unwrap(), ["b", "d\n"]);
        assert_eq!(tree.get("f").unwrap().value, Value::Flag(true));
        assert!(parse("", Language::Json).unwrap().members().is_empty());
        let error = parse("{\n  \"a\" 1 }", Language::Json).unwrap_err();
        assert_eq!((error.line, error.column), (2, 7), "{error}");
    }

    #[test]
    fn toml_is_read_with_its_places_whatever_its_shape() {
        for text in [
            "# é\n[s.x]\n  command = 'npx' # c\nargs = [ \"-y\", # d\n]\n[s.x.env]\nA = '1'\n",
            "s.x.command = 'npx'\ns.x.args = [ \"-y\", # d\n]\ns.x.env.A = '1'\n",
            "[s]\nx.command = 'npx'\nx.args = [ \"-y\", # d\n]\nx.env = { A = '1' }\n",
            "[s]\nx = { command = 'npx', args = [ \"-y\", # d\n], env = { A = '1' } }\n",
        ] {
            let tree = parse(text, Language::Toml).unwrap();
            let server = tree.get("s").unwrap().get("x").unwrap();
            let command = server.member("command").unwrap();
            assert_eq!(command.node.text(), Some("npx"), "{text}");
            assert_eq!(&text[command.node.start..command.node.end], "'npx'", "{text}");
            assert!(text[command.word..].starts_with("command = "), "{text}");
            let key = text[command.start..command.word].trim_end_matches('.');
            assert!(["", "x", "s.x"].contains(&key), "{key}: {text}");
            let args = server.get("args").unwrap();
            assert_eq!(&text[args.start..args.end], "[ \"-y\", # d\n]", "{text}");
            assert_eq!(args.texts().unwrap(), ["-y"], "{text}");
            assert_eq!(server.get("env").unwrap().get("A").unwrap().text(), Some("1"), "{text}");
        }
        let error = parse("a = 1\nb = \n", Language::Toml).unwrap_err();
        assert_eq!(error.line, 2, "{error}");
        assert!(parse("a = 1\na = 2\n", Language::Toml).is_err());
    }

    #[test]
    fn a_name_that_occurs_twice_is_named_with_its_place() {
        let text = "{ \"a\": 1,\n \"b\": 2,\n  \"a\": 3 }";
        let tree = parse(text, Language::Json).unwrap();
        let error = unique(text, tree.members()).unwrap_err();
        assert_eq!((error.line, error.column, error.what.as_str()), (3, 3, "\"a\" occurs twice"));
        assert!(unique(text, &[]).is_ok());
    }
}
