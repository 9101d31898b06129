//! Compares a received line with the line of a case, and binds the variables that the case names.

use crate::{
    case::Match,
    json::{self, Extent},
    variables::Variables,
    wire::shown,
};

/// The line that a case expects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected<'a> {
    text: &'a str,
    matching: Match,
    extent: Extent,
}

impl<'a> Expected<'a> {
    /// Expects this line.
    pub(crate) fn whole(text: &'a str, matching: Match) -> Self {
        Self { text, matching, extent: Extent::Whole }
    }

    /// Expects at least these members.
    pub(crate) fn part(text: &'a str) -> Self {
        Self { text, matching: Match::Json, extent: Extent::Part }
    }

    /// Expects exactly these members, but for those whose name ends with `?`, which may be absent.
    pub(crate) fn optional(text: &'a str) -> Self {
        Self { text, matching: Match::Json, extent: Extent::Optional }
    }

    /// Compares a line, with its line feed. The error has the difference and the expected line.
    pub(crate) fn compare(self, line: &[u8], variables: &mut Variables) -> Result<(), (String, String)> {
        let expected = |variables: &Variables| shown(variables.shown(self.text).as_bytes());
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(("it has no line feed".to_owned(), expected(variables)));
        };
        let compared = match self.matching {
            Match::Bytes => self.bytes(line, variables),
            Match::Json => self.json(line, variables),
        };
        compared.map_err(|what| (what, expected(variables)))
    }

    fn json(self, line: &[u8], variables: &mut Variables) -> Result<(), String> {
        let line = std::str::from_utf8(line).map_err(|error| format!("it is not UTF-8: {error}"))?;
        for (name, json) in json::compare(&variables.pattern(self.text), line, self.extent)? {
            variables.bind(&name, &json);
        }
        Ok(())
    }

    /// A variable that is not bound yet can only be found in JSON.
    fn bytes(self, line: &[u8], variables: &mut Variables) -> Result<(), String> {
        if variables.binds(self.text) {
            self.json(line, variables)?;
        }
        let expected = variables.fill(self.text)?;
        if expected.as_bytes() == line {
            return Ok(());
        }
        let at = expected.bytes().zip(line).take_while(|(one, other)| one == *other).count();
        Err(format!("differs at byte {at}"))
    }
}

/// Returns a notification that every peer ignores, and that every bridge forwards.
pub(crate) fn fence(number: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"_askbridge/fence","params":{{"fence":{number}}}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_compared_with_variables_as_they_were_spelled() {
        let mut variables = Variables::default();
        let expected = Expected::whole(r#"{"id":$id,"method":"m"}"#, Match::Bytes);
        expected.compare(b"{\"id\":1.50,\"method\":\"m\"}\n", &mut variables).unwrap();
        assert_eq!(variables.get("id"), Some("1.50"));
        let (what, shown) = expected.compare(b"{\"id\":2, \"method\":\"m\"}\n", &mut variables).unwrap_err();
        assert_eq!((what.as_str(), shown.as_str()), ("differs at byte 8", r#"{"id":$id,"method":"m"}"#));
        let (what, _) = expected.compare(b"{\"id\":2,\"method\":\"m\"}", &mut variables).unwrap_err();
        assert_eq!(what, "it has no line feed");
    }

    #[test]
    fn a_part_may_have_more_members() {
        let mut variables = Variables::default();
        let part = Expected::part(r#"{"result":{"a":1}}"#);
        part.compare(b"{\"id\":1,\"result\":{\"b\":2,\"a\":1}}\n", &mut variables).unwrap();
        assert!(part.compare(b"{\"result\":{\"b\":2}}\n", &mut variables).is_err());
        assert!(part.compare(b"\xff\n", &mut variables).is_err());
    }
}
