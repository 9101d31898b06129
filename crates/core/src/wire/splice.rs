//! Changes one member of a JSON line and leaves every other byte of it unchanged. The choice of the member is left to
//! `acp::capabilities`.

use super::scan::Members;

/// Sets the value at the end of `path` in the object in `json`. Missing objects on the path are added, each as the last
/// member of its parent. `null` on the path counts as missing, and so does `false` at its end.
///
/// `None` if there is nothing to do or nothing can be done: another value is there already, the path leads through a
/// value that is not an object, a key on the path is duplicated, or `json` is no complete object. The caller has
/// checked that `json` is valid.
pub fn insert(json: &[u8], path: &[&str], value: &str) -> Option<Vec<u8>> {
    let (first, rest) = path.split_first()?;
    let mut members = Members::enter(json).ok()?;
    let mut found = None;
    let mut last = None;
    while let Some(key) = members.key().ok()? {
        members.value_start().ok()?;
        let start = members.position();
        members.value().ok()?;
        last = Some(members.position());
        if key.is(first) && found.replace(start..members.position()).is_some() {
            return None;
        }
    }
    match found {
        Some(span) if is_missing(&json[span.clone()], rest) => {
            Some(replace(json, span, nested(rest, value).as_bytes()))
        }
        // Any other value that the peer has set is left as it is.
        Some(_) if rest.is_empty() => None,
        Some(span) => insert(&json[span.clone()], rest, value).map(|inner| replace(json, span, &inner)),
        None => {
            // The object is empty. A byte order mark or white space may come before its brace.
            let at = last.unwrap_or_else(|| 1 + json.iter().position(|byte| *byte == b'{').unwrap_or(0));
            let comma = if last.is_some() { "," } else { "" };
            let member = format!("{comma}{}:{}", quoted(first), nested(rest, value));
            Some(replace(json, at..at, member.as_bytes()))
        }
    }
}

fn is_missing(value: &[u8], rest: &[&str]) -> bool {
    value == b"null" || (value == b"false" && rest.is_empty())
}

/// Replaces the value of a member that occurs once in the object in `json`. `None` if there is no such member.
pub fn replace_member(json: &[u8], name: &str, value: &str) -> Option<Vec<u8>> {
    let mut members = Members::enter(json).ok()?;
    while let Some(key) = members.key().ok()? {
        members.value_start().ok()?;
        let start = members.position();
        members.value().ok()?;
        if key.is(name) {
            return Some(replace(json, start..members.position(), value.as_bytes()));
        }
    }
    None
}

/// Takes a member out of the object in `json`, with its comma. `None` if there is no such member.
pub fn remove_member(json: &[u8], name: &str) -> Option<Vec<u8>> {
    let mut members = Members::enter(json).ok()?;
    // Where the member before ends, or the object begins.
    let mut before = None;
    while let Some(key) = members.key().ok()? {
        members.value_start().ok()?;
        let value = members.position();
        members.value().ok()?;
        let end = members.position();
        if key.is(name) {
            return Some(match before {
                Some(before) => replace(json, before..end, b""),
                None => replace(json, first_member(json, value)?..behind_comma(json, end), b""),
            });
        }
        before = Some(end);
    }
    None
}

/// Returns where the first member begins, whose value begins at `value`.
fn first_member(json: &[u8], value: usize) -> Option<usize> {
    json[..value].iter().position(|byte| *byte == b'{').map(|brace| brace + 1)
}

/// Returns the place behind the comma that follows a member which ends here, if one does.
fn behind_comma(json: &[u8], end: usize) -> usize {
    let rest = &json[end..];
    let at = rest.iter().position(|byte| !byte.is_ascii_whitespace()).filter(|at| rest[*at] == b',');
    at.map_or(end, |at| end + at + 1)
}

fn nested(path: &[&str], value: &str) -> String {
    path.iter().rev().fold(value.to_owned(), |inner, key| format!("{{{}:{inner}}}", quoted(key)))
}

fn quoted(key: &str) -> String {
    // A key may need escapes.
    serde_json::Value::from(key).to_string()
}

fn replace(json: &[u8], span: std::ops::Range<usize>, with: &[u8]) -> Vec<u8> {
    [&json[..span.start], with, &json[span.end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inserted(json: &str, path: &[&str]) -> Option<String> {
        insert(json.as_bytes(), path, "true").map(|bytes| String::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn what_is_missing_is_put_in_behind_what_is_there() {
        assert_eq!(inserted("{}", &["a", "b"]).as_deref(), Some(r#"{"a":{"b":true}}"#));
        assert_eq!(inserted(" { } \r\n", &["a"]).as_deref(), Some(" {\"a\":true } \r\n"));
        assert_eq!(
            inserted(r#"{ "x" : 1.0 ,"a":{"y":[]} , "z":"\u0041" }"#, &["a", "b"]).as_deref(),
            Some(r#"{ "x" : 1.0 ,"a":{"y":[],"b":true} , "z":"\u0041" }"#)
        );
        assert_eq!(inserted(r#"{"a":null}"#, &["a", "b"]).as_deref(), Some(r#"{"a":{"b":true}}"#));
        assert_eq!(inserted(r#"{"a":{"b":null}}"#, &["a", "b"]).as_deref(), Some(r#"{"a":{"b":true}}"#));
        assert_eq!(inserted(r#"{"a":{"b": false }}"#, &["a", "b"]).as_deref(), Some(r#"{"a":{"b": true }}"#));
    }

    #[test]
    fn one_member_gets_another_value_and_the_rest_stays() {
        let json = br#"{ "x":1.50, "a" : [ "b" ] ,"y":{} }"#;
        let replaced = replace_member(json, "a", "[]").expect("a member");
        assert_eq!(replaced, br#"{ "x":1.50, "a" : [] ,"y":{} }"#);
        assert_eq!(replace_member(json, "b", "[]"), None);
    }

    #[test]
    fn one_member_is_taken_out_and_the_rest_stays() {
        for (json, rest) in [
            (r#"{"a":1}"#, "{}"),
            (r#" { "a" : [1,{"b":2}] } "#, " { } "),
            (r#"{"a":1 , "b":2}"#, r#"{ "b":2}"#),
            (r#"{"x":{"a":1}, "a":"}" ,"b":2}"#, r#"{"x":{"a":1} ,"b":2}"#),
            (r#"{"x":1,"a":2}"#, r#"{"x":1}"#),
        ] {
            let removed = remove_member(json.as_bytes(), "a").expect("a member");
            assert_eq!(String::from_utf8(removed).expect("text"), rest, "{json}");
        }
        assert_eq!(remove_member(br#"{"x":{"a":1}}"#, "a"), None);
    }

    #[test]
    fn what_is_there_or_in_the_way_stays() {
        assert_eq!(inserted(r#"{"a":{"b":true}}"#, &["a", "b"]), None);
        assert_eq!(inserted(r#"{"a":{"b":{}}}"#, &["a", "b"]), None);
        assert_eq!(inserted(r#"{"a":false}"#, &["a", "b"]), None);
        assert_eq!(inserted(r#"{"a":5}"#, &["a", "b"]), None);
        assert_eq!(inserted(r#"{"a":{},"a":{}}"#, &["a", "b"]), None);
        assert_eq!(inserted(r#"[]"#, &["a"]), None);
    }
}
