//! Parses a TOML text into values and their positions. It continues after a mistake, so that the rest counts. The
//! meaning of the keys is left to `layers`.

use std::{collections::BTreeSet, ops::Range};

use serde_json::{Map, Number, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::limits;

/// A position: a line and a character of this line, each counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The line.
    pub line: usize,
    /// The character of the line.
    pub column: usize,
}

/// A value with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentEntry {
    /// The name, after the names of its tables. An entry of a list of tables is named by its number, counted from 0.
    pub path: Vec<String>,
    /// The value.
    pub value: Value,
    /// The position of the name.
    pub name: Mark,
    /// The position of the value.
    pub at: Mark,
}

/// The head of a table, or of an entry of a list of tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Its name, in the form of [`DocumentEntry::path`].
    pub path: Vec<String>,
    /// Where it begins.
    pub at: Mark,
}

/// The tables of a text, and its syntax errors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The values, in the order of their names.
    pub entries: Vec<DocumentEntry>,
    /// The tables, in the order of their names.
    pub heads: Vec<Head>,
    /// The lines that have a syntax error.
    pub broken: BTreeSet<usize>,
    /// The syntax errors, in the order of the text.
    pub errors: Vec<(Mark, String)>,
}

/// Parses a text. A table for whose name `is_table` returns `false` is a value.
pub fn read(text: &str, is_table: &dyn Fn(&str) -> bool) -> Document {
    let lines = Lines::new(text);
    let (mut table, found) = DeTable::parse_recoverable(text);
    let mut errors: Vec<_> =
        found.iter().map(|error| (error.span().map_or(0, |span| span.start), error.message())).collect();
    // Only neighbours are deduplicated below.
    errors.sort();
    // Further errors on a line mostly result from the first one.
    errors.dedup_by_key(|(at, _)| lines.line(*at));
    let mut broken: BTreeSet<_> = errors.iter().map(|(at, _)| lines.line(*at)).collect();
    // The parser skips some of the text behind a mistake. So parse again without the lines with mistakes.
    let mended = lines.without(&broken);
    if !broken.is_empty() {
        let (again, found) = DeTable::parse_recoverable(&mended);
        // Blanking a line can break others, such as those of a value over several lines.
        broken.extend(found.iter().filter_map(|error| error.span()).map(|span| lines.line(span.start)));
        table = again;
    }
    let (entries, heads, path) = (Vec::new(), Vec::new(), Vec::new());
    let mut reader = Reader { lines: &lines, is_table, broken, entries, heads, path };
    reader.table(table.get_ref());
    let Reader { entries, heads, broken, .. } = reader;
    // One error beyond the maximum shows the caller that errors were left out.
    let shown = errors.into_iter().take(limits::SETTINGS_PROBLEMS + 1);
    let errors = shown.map(|(at, message)| (lines.mark(at), message.to_owned())).collect();
    Document { entries, heads, broken, errors }
}

/// Parses a single value. Returns `None` if the text is not a TOML value.
pub fn value(text: &str) -> Option<Value> {
    DeValue::parse(text.trim()).ok().map(|value| json(value.get_ref()))
}

struct Reader<'a> {
    lines: &'a Lines<'a>,
    is_table: &'a dyn Fn(&str) -> bool,
    /// The lines that have a syntax error.
    broken: BTreeSet<usize>,
    entries: Vec<DocumentEntry>,
    heads: Vec<Head>,
    path: Vec<String>,
}

impl Reader<'_> {
    fn table(&mut self, table: &DeTable<'_>) {
        for (name, value) in table {
            // Finding a position takes time linear in its line. No file that a person writes has so many values.
            if self.entries.len() >= limits::SETTINGS_KEYS {
                return;
            }
            self.path.push(name.get_ref().to_string());
            if value.get_ref().is_table() {
                self.head(value.span());
            }
            match value.get_ref() {
                DeValue::Table(inner) if (self.is_table)(&self.path.join(".")) => self.table(inner),
                DeValue::Array(entries)
                    if !entries.is_empty() && entries.iter().all(|entry| entry.get_ref().is_table()) =>
                {
                    for (number, entry) in entries.iter().enumerate() {
                        self.path.push(number.to_string());
                        self.head(entry.span());
                        entry.get_ref().as_table().into_iter().for_each(|table| self.table(table));
                        self.path.pop();
                    }
                }
                found => self.entry(name.span(), value.span(), found),
            }
            self.path.pop();
        }
    }

    fn head(&mut self, span: Range<usize>) {
        // The same bound as for values. The caller sees that it is reached: without a head, the table before it would
        // seem longer.
        if self.heads.len() < limits::SETTINGS_KEYS {
            self.heads.push(Head { path: self.path.clone(), at: self.lines.mark(span.start) });
        }
    }

    /// Keeps a value, unless one of its lines has a syntax error: the value may then differ from the intended one.
    fn entry(&mut self, name: Range<usize>, value: Range<usize>, found: &DeValue<'_>) {
        let lines = self.lines.line(name.start)..=self.lines.line(value.end);
        if self.broken.range(lines).next().is_none() {
            let (name, at) = (self.lines.mark(name.start), self.lines.mark(value.start));
            self.entries.push(DocumentEntry { path: self.path.clone(), value: json(found), name, at });
        }
    }
}

fn json(value: &DeValue<'_>) -> Value {
    let in_list = |value: &Spanned<DeValue<'_>>| json(value.get_ref());
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => {
            let read = i64::from_str_radix(number.as_str(), number.radix());
            // The number is too large for any setting: as a text, the value fails the check of its kind, with a
            // message.
            read.map_or_else(|_| Value::String(number.to_string()), Value::from)
        }
        DeValue::Float(number) => {
            let read = number.as_str().parse().ok().and_then(Number::from_f64);
            read.map_or_else(|| Value::String(number.to_string()), Value::Number)
        }
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(time) => Value::String(time.to_string()),
        DeValue::Array(entries) => entries.iter().map(in_list).collect(),
        DeValue::Table(table) => {
            let member = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                let name: &std::borrow::Cow<'_, str> = name.get_ref();
                (name.to_string(), json(value.get_ref()))
            };
            Value::Object(table.iter().map(member).collect::<Map<_, _>>())
        }
    }
}

/// The lines of a text.
struct Lines<'a> {
    text: &'a str,
    /// The byte at which each line begins.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines { text, starts: std::iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect() }
    }

    /// Returns the line that this byte is in, counted from 1.
    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// Returns the text with these lines blanked by spaces, so that all positions stay the same. The head of a table
    /// stays: otherwise the values below it would get into the table before it.
    fn without(&self, broken: &BTreeSet<usize>) -> String {
        let lines = (1..).zip(self.text.split_inclusive('\n'));
        let kept = |(number, line): (usize, &str)| match line.trim_start().starts_with('[')
            || !broken.contains(&number)
        {
            true => line.to_owned(),
            false => line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect(),
        };
        lines.map(kept).collect()
    }

    fn mark(&self, at: usize) -> Mark {
        let line = self.line(at);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let before = self.text.get(start..at).unwrap_or_default();
        Mark { line, column: before.chars().count() + 1 }
    }
}
