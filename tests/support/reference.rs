//! Checks the scan of `wire` against a full parser.
//! The property tests and the fuzz targets share it.

use std::borrow::Cow;

use askbridge_core::wire::{
    envelope::{Envelope, Message, peek},
    scan, splice,
};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::members::{Members, string};

/// The number of prefixes of one line that are tried.
const CUTS: usize = 400;

fn is_valid(document: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(document).is_ok()
}

/// An owned [`Envelope`].
#[derive(Debug, PartialEq)]
enum Seen {
    Call(Option<String>),
    Response(String),
    Batch,
    Opaque,
    Undecided,
}

/// Classifies a valid document by the documented rule: the first `method` decides, or an ID with a result or an error,
/// whichever is complete first.
fn seen_by_reference(document: &[u8]) -> Seen {
    if document.trim_ascii_start().starts_with(b"[") {
        return Seen::Batch;
    }
    let Some(Members(members)) = Members::of(document) else { return Seen::Opaque };
    let (mut id, mut responds) = (None, false);
    for (key, value) in members {
        match key.as_deref() {
            Some("method") if value.starts_with('"') => return Seen::Call(string(value)),
            Some("method") if value == "null" => {}
            Some("method") => return Seen::Opaque,
            Some("id") => id = Some(value.to_owned()),
            Some("result" | "error") => responds = true,
            _ => {}
        }
        if responds && let Some(id) = &id {
            return Seen::Response(id.clone());
        }
    }
    Seen::Opaque
}

fn seen_by_peek(line: &[u8]) -> Seen {
    match peek(line) {
        Envelope::Call(method) => {
            let meaning = method.unescaped().map(Cow::into_owned);
            if let Some(meaning) = &meaning {
                assert!(method.is(meaning), "{}", line.escape_ascii());
            }
            Seen::Call(meaning)
        }
        Envelope::Response(id) => Seen::Response(id.to_owned()),
        Envelope::Batch => Seen::Batch,
        Envelope::Opaque => Seen::Opaque,
        Envelope::Undecided => Seen::Undecided,
    }
}

/// Checks that `peek` classifies a valid document as a full parser does.
pub(crate) fn check_peek(document: &[u8]) {
    if std::str::from_utf8(document).is_ok() && is_valid(document) {
        assert_eq!(seen_by_peek(document), seen_by_reference(document), "{}", document.escape_ascii());
    }
}

/// Checks that `peek` classifies every prefix of a line as it does the line, or as undecided.
pub(crate) fn check_beginnings(line: &[u8]) {
    let whole = peek(line);
    for cut in (0..line.len()).step_by(line.len() / CUTS + 1) {
        let beginning = peek(&line[..cut]);
        assert!(
            beginning == Envelope::Undecided || beginning == whole,
            "{beginning:?} at {cut}, {whole:?} at the end of {}",
            line.escape_ascii()
        );
    }
}

/// Checks that `Message::read` finds the parts that a full parser finds, and nothing if a part is ambiguous.
pub(crate) fn check_message(line: &[u8]) {
    // A full parser refuses a byte order mark.
    if line.starts_with(scan::BOM) {
        return;
    }
    let read = Message::read(line);
    if !is_valid(line) {
        assert_eq!(read, None, "{}", line.escape_ascii());
    } else if std::str::from_utf8(line).is_ok() {
        assert_eq!(read, message_by_reference(line), "{}", line.escape_ascii());
    }
    if let Some(read) = read {
        let prefix = Message::read_prefix(line.trim_ascii_end());
        assert_eq!(prefix, Some(read), "{}", line.escape_ascii());
    }
}

fn message_by_reference(line: &[u8]) -> Option<Message<'_>> {
    let members = Members::of(line)?;
    let part = |name: &str| match members.all(name).collect::<Vec<_>>()[..] {
        [] => Some(None),
        [only] => Some(Some(only)),
        _ => None,
    };
    let methods = members.all("method").filter(|method| *method != "null").collect::<Vec<_>>();
    let method = match methods[..] {
        [_, _, ..] => return None,
        [] => None,
        [method] => Some(Cow::Owned(string(method)?)),
    };
    Some(Message {
        method,
        id: part("id")?,
        params: part("params")?.map(str::as_bytes),
        result: part("result")?.map(str::as_bytes),
        error: part("error")?.map(str::as_bytes),
    })
}

/// Checks that `scan::member` finds what a full parser finds, and nothing else in a prefix of the object.
pub(crate) fn check_members(object: &[u8]) {
    if std::str::from_utf8(object).is_err() {
        return;
    }
    let Some(members) = Members::of(object) else { return };
    let names = members.0.iter().filter_map(|(key, _)| key.as_deref());
    for name in names.chain(["", "no such member"]).take(20) {
        let found = scan::member(object, name);
        match members.all(name).collect::<Vec<_>>()[..] {
            [only] => {
                assert_eq!(found, Some(only.as_bytes()), "{name:?} in {}", object.escape_ascii());
                check_beginnings_of_member(object, name, only);
            }
            _ => assert_eq!(found, None, "{name:?} in {}", object.escape_ascii()),
        }
    }
    if let Ok(Value::Object(values)) = serde_json::from_slice(object)
        && values.len() == members.0.len()
    {
        for (name, value) in &values {
            let found = scan::member(object, name).and_then(|found| serde_json::from_slice(found).ok());
            assert_eq!(found.as_ref(), Some(value), "{name:?} in {}", object.escape_ascii());
        }
    }
}

fn check_beginnings_of_member(object: &[u8], name: &str, value: &str) {
    for cut in (0..object.len()).step_by(object.len() / 50 + 1) {
        let found = scan::member(&object[..cut], name);
        assert!(
            found.is_none_or(|found| found == value.as_bytes()),
            "{name:?} at {cut} of {}",
            object.escape_ascii()
        );
    }
}

/// Checks that `splice::insert` adds the missing part of this path and changes no other byte.
pub(crate) fn check_insert(document: &[u8], path: &[&str]) {
    let inserted = splice::insert(document, path, "true");
    let Ok(text) = std::str::from_utf8(document) else { return };
    if !is_valid(document) {
        return;
    }
    let Some((missing, replaced)) = missing(text, path) else {
        return assert_eq!(inserted, None, "{path:?} in {text}");
    };
    let Some(inserted) = inserted else { panic!("{path:?} is not inserted in {text}") };
    let same = |(a, b): &(&u8, &u8)| a == b;
    let begins = document.iter().zip(&inserted).take_while(same).count();
    let ends = document.iter().rev().zip(inserted.iter().rev()).take_while(same).count();
    let kept = document.len() - replaced;
    assert!(begins + ends >= kept, "{path:?} changed more of {text}: {}", inserted.escape_ascii());
    let nested = missing.iter().rev().fold(Value::Bool(true), |inner, key| {
        Value::Object([((*key).to_owned(), inner)].into_iter().collect())
    });
    let nested = nested.to_string();
    let added = if replaced > 0 { nested.len() } else { nested.len() - "{}".len() };
    assert!((added..=added + 1).contains(&(inserted.len() - kept)), "more than {nested} is in {text}");
    check_inserted_value(document, path, &inserted);
}

fn check_inserted_value(document: &[u8], path: &[&str], inserted: &[u8]) {
    assert!(is_valid(inserted), "{}", inserted.escape_ascii());
    // A full parser that cannot represent a number gives no document to compare with.
    let Ok(mut expected) = serde_json::from_slice::<Value>(document) else { return };
    let mut place = &mut expected;
    for key in path {
        place = &mut place[*key];
    }
    *place = Value::Bool(true);
    assert_eq!(serde_json::from_slice::<Value>(inserted).ok(), Some(expected), "{}", inserted.escape_ascii());
}

/// Returns the missing part of the path, and the length of the `null` or `false` that it replaces. Returns `None` if
/// nothing is missing or nothing can be inserted.
fn missing<'p>(document: &str, path: &'p [&'p str]) -> Option<(&'p [&'p str], usize)> {
    let (first, rest) = path.split_first()?;
    let members = Members::of(document.as_bytes())?;
    match members.all(first).collect::<Vec<_>>()[..] {
        [] => Some((path, 0)),
        ["null"] => Some((rest, "null".len())),
        ["false"] if rest.is_empty() => Some((rest, "false".len())),
        [_] if rest.is_empty() => None,
        [only] => missing(only, rest),
        _ => None,
    }
}
