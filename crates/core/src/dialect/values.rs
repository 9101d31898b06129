//! JSON that several dialects share: the `params` of a request, with error texts for the agent's developer; objects
//! whose members keep their order, because a form shows its fields in that order; and several values in one string,
//! joined with `", "`, as Claude and Qwen write multiple choices. Knows no dialect.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use serde_json::value::{RawValue, to_raw_value};

use super::unshown::is_too_long;
use crate::{limits, question::FieldOption};

/// Reads `params` as `T`. The error names the mistake and its place.
pub(super) fn read_params<T: DeserializeOwned>(params: &[u8]) -> Result<T, String> {
    let most = limits::QUESTION;
    if is_too_long(params) {
        return Err(format!("a question has at most {most} bytes, this one has {}", params.len()));
    }
    check_object(params)?;
    // Tracking the path slows parsing down, so it is done only after a failure.
    serde_json::from_slice(params).map_err(|_| explain::<T>("params", params))
}

/// Checks that `params` is a JSON object: serde reads a struct from an array of its members as well.
pub(super) fn check_object(params: &[u8]) -> Result<(), String> {
    if params.starts_with(b"{") { Ok(()) } else { Err("params is not an object".to_owned()) }
}

/// Explains why `json` cannot be read as `T`. The text begins with `name` and the path to the mistake.
pub(super) fn explain<'de, T: Deserialize<'de>>(name: &str, json: &'de [u8]) -> String {
    let mut json = serde_json::Deserializer::from_slice(json);
    match serde_path_to_error::deserialize::<_, T>(&mut json) {
        Ok(_) => format!("{name} is followed by something else"),
        Err(error) => {
            // serde_json appends a line and a column, counted from the start of `params` and not of the line that
            // the agent sent. The path is more useful.
            let what = error.inner().to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            match error.path().to_string().as_str() {
                "." => format!("{name}: {what}"),
                path => format!("{name}.{path}: {what}"),
            }
        }
    }
}

/// Writes a value as JSON.
pub(super) fn json(value: &impl Serialize) -> Box<RawValue> {
    // The values have string keys and finite numbers, so this cannot fail.
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The members of an object, in document order. A duplicate key has one entry for each occurrence.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries<T>(pub Vec<(String, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Entries(Vec::new())
    }
}

impl<T> Entries<T> {
    /// Returns the last member with this key: most parsers read duplicate keys that way.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0.iter().rev().find(|(other, _)| other == key).map(|(_, value)| value)
    }
}

impl<T: Serialize> Serialize for Entries<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
    type Value = Entries<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}

const SEPARATOR: &str = ", ";

/// Joins values. A value that contains the separator or a quote is quoted as JSON, as Claude's adapter does.
pub(super) fn join(items: &[String]) -> String {
    let quoted = items.iter().map(|item| {
        if item.contains(SEPARATOR) || item.contains('"') {
            serde_json::Value::from(item.as_str()).to_string()
        } else {
            item.clone()
        }
    });
    quoted.collect::<Vec<_>>().join(SEPARATOR)
}

/// Splits joined values. A value that contains the separator is recognised as an option, or is quoted as JSON.
pub(super) fn split(joined: &str, options: &[FieldOption]) -> Vec<String> {
    let mut items = Vec::new();
    let mut rest = joined;
    while !rest.is_empty() {
        let (item, length) = first_item(rest, options);
        items.push(item);
        rest = rest[length..].strip_prefix(SEPARATOR).unwrap_or(&rest[length..]);
    }
    items
}

fn first_item(rest: &str, options: &[FieldOption]) -> (String, usize) {
    let ends = |length: usize| rest[length..].is_empty() || rest[length..].starts_with(SEPARATOR);
    // The longest match wins: one option may begin like another one and a separator.
    let names = options.iter().flat_map(|option| [&option.value, &option.label]);
    let option = names.filter(|name| !name.is_empty() && rest.starts_with(*name) && ends(name.len()));
    if let Some(name) = option.max_by_key(|name| name.len()) {
        return (name.clone(), name.len());
    }
    let mut quoted = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    if let Some(Ok(item)) = quoted.next().filter(|_| ends(quoted.byte_offset())) {
        return (item, quoted.byte_offset());
    }
    let length = rest.find(SEPARATOR).unwrap_or(rest.len());
    (rest[..length].to_owned(), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_reverses_joining() {
        let options =
            [FieldOption { value: "a, b".to_owned(), label: "a, b".to_owned(), ..FieldOption::default() }];
        for items in [&["Auth"][..], &["Auth", "x, y", "say \"hi\""], &["a, b", "Auth"], &["c", "b"]] {
            let items: Vec<_> = items.iter().map(|item| (*item).to_owned()).collect();
            assert_eq!(split(&join(&items), &options), items);
        }
        assert_eq!(
            join(&["Auth".to_owned(), "Billing, invoices".to_owned()]),
            r#"Auth, "Billing, invoices""#
        );
    }
}
