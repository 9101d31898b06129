//! The variables of a case, such as `$id`: JSON as a peer spelled it. Each is bound by an expected line, and stands for the
//! same text in later lines. Within a JSON string, a `$` is only a `$`.

use std::collections::BTreeMap;

/// The ID of the last request that an end got. It is bound anew by each expected line that names it.
const ID: &str = "id";
/// Fits every value and binds none.
const ANY: &str = "any";

/// The values that are bound so far.
#[derive(Debug, Default)]
pub(crate) struct Variables(BTreeMap<String, String>);

/// A part of a text.
enum Part<'a> {
    Text(&'a str),
    Name(&'a str),
}

impl Variables {
    /// Binds a variable to JSON as it was spelled.
    pub(crate) fn bind(&mut self, name: &str, json: &str) {
        if name != ANY {
            self.0.insert(name.to_owned(), json.to_owned());
        }
    }

    /// Returns what a variable is bound to.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns a text that is written, with all variables replaced.
    pub(crate) fn fill(&self, text: &str) -> Result<String, String> {
        let mut filled = String::new();
        for part in parts(text) {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Name(name) => filled.push_str(
                    self.get(name).ok_or_else(|| format!("`${name}` is not bound by a line before"))?,
                ),
            }
        }
        Ok(filled)
    }

    /// Returns a text that is expected, with the bound variables replaced and the others as strings that
    /// [`unbound`] recognizes.
    pub(crate) fn pattern(&self, text: &str) -> String {
        let mut pattern = String::new();
        for part in parts(text) {
            match part {
                Part::Text(text) => pattern.push_str(text),
                Part::Name(name) => match self.get(name).filter(|_| name != ID) {
                    Some(json) => pattern.push_str(json),
                    // A text of a case does not begin with a NUL, so the string is not mistaken for one.
                    None => pattern.push_str(&format!("\"\\u0000${name}\"")),
                },
            }
        }
        pattern
    }

    /// Returns a text that is expected as people read it: with the bound variables replaced.
    pub(crate) fn shown(&self, text: &str) -> String {
        let shown = |part| match part {
            Part::Text(text) => text.to_owned(),
            Part::Name(name) => {
                self.get(name).filter(|_| name != ID).map_or_else(|| format!("${name}"), str::to_owned)
            }
        };
        parts(text).into_iter().map(shown).collect()
    }

    /// Returns whether a text that is expected has a variable that is bound by the line that comes.
    pub(crate) fn binds(&self, text: &str) -> bool {
        parts(text)
            .iter()
            .any(|part| matches!(part, Part::Name(name) if *name == ID || self.get(name).is_none()))
    }
}

/// Returns the name of the variable that a string of a pattern stands for.
pub(crate) fn unbound(string: &str) -> Option<&str> {
    string.strip_prefix("\0$")
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    let (mut in_string, mut escaped) = (false, false);
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'$' if !in_string => {
                let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
                let end = at + bytes.get(at..).unwrap_or_default().iter().take_while(is_name).count();
                if end > at {
                    parts.extend(text.get(start..at - 1).map(Part::Text));
                    parts.extend(text.get(at..end).map(Part::Name));
                    (start, at) = (end, end);
                }
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..).map(Part::Text));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_outside_of_strings() {
        let mut variables = Variables::default();
        variables.bind("id", "1.50");
        variables.bind("first", "\"a\"");
        let text = r#"{"id":$id,"m":"$/id $id \" $id","of":$first,"price":"$"}"#;
        let filled = r#"{"id":1.50,"m":"$/id $id \" $id","of":"a","price":"$"}"#;
        assert_eq!(variables.fill(text).unwrap(), filled);
        assert!(variables.fill("$other").unwrap_err().contains("`$other`"));
        let pattern = r#"{"id":"\u0000$id","m":"$/id $id \" $id","of":"a","price":"$"}"#;
        assert_eq!(variables.pattern(text), pattern);
        assert!(variables.binds(text) && !variables.binds("$first $ \"$id\""));
        variables.bind("any", "1");
        assert!(variables.get("any").is_none());
    }
}
