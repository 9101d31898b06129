//! Compares JSON by its values: white space, the order of members and the spelling of strings and numbers do not count.
//! Numbers are compared as decimals of any length, so that one that was rounded differs.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::variables::unbound;

/// How much of a value must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Exactly the expected members.
    Whole,
    /// Exactly the expected members, but for those whose name ends with `?`, which may be absent.
    Optional,
    /// At least the expected members, at every depth. Those whose name ends with `?` may be absent.
    Part,
}

/// Compares a value with a pattern. Returns the variables that the value binds, or where the two differ.
pub(crate) fn compare(expected: &str, got: &str, extent: Extent) -> Result<Vec<(String, String)>, String> {
    let raw = |text: &str| serde_json::from_str::<Box<RawValue>>(text);
    let expected = raw(expected).map_err(|error| format!("the expected line is no JSON: {error}"))?;
    let got = raw(got).map_err(|error| format!("no JSON: {error}"))?;
    let mut compared = Compared { extent, path: Vec::new(), how: "differs", bound: Vec::new() };
    if compared.fits(expected.get(), got.get()) {
        return Ok(compared.bound);
    }
    let (path, how) = (compared.path.concat(), compared.how);
    Err(if path.is_empty() {
        format!("it {how}")
    } else {
        format!("`{}` {how}", path.trim_start_matches('.'))
    })
}

struct Compared {
    extent: Extent,
    /// The place of the first difference.
    path: Vec<String>,
    /// How it differs there.
    how: &'static str,
    bound: Vec<(String, String)>,
}

impl Compared {
    fn fits(&mut self, expected: &str, got: &str) -> bool {
        if let Ok(string) = serde_json::from_str::<String>(expected) {
            if let Some(name) = unbound(&string) {
                if let Some(is_of_type) = of_type(name) {
                    return is_of_type(got);
                }
                self.bound.push((name.to_owned(), got.to_owned()));
                return true;
            }
            return serde_json::from_str::<String>(got).is_ok_and(|got| got == string);
        }
        match (expected.as_bytes().first(), got.as_bytes().first()) {
            (Some(b'{'), Some(b'{')) => self.object(expected, got),
            (Some(b'['), Some(b'[')) => self.array(expected, got),
            (Some(b'-' | b'0'..=b'9'), Some(b'-' | b'0'..=b'9')) => decimal(expected) == decimal(got),
            // Literals, and strings that are no Unicode.
            _ => expected == got,
        }
    }

    fn object(&mut self, expected: &str, got: &str) -> bool {
        type Members<'a> = BTreeMap<String, &'a RawValue>;
        let (Ok(expected), Ok(got)) =
            (serde_json::from_str::<Members>(expected), serde_json::from_str::<Members>(got))
        else {
            return expected == got;
        };
        for (name, value) in &expected {
            // A member whose name ends with `?` may be absent.
            let optional = name.strip_suffix('?').filter(|_| self.extent != Extent::Whole);
            let (name, is_optional) = (optional.unwrap_or(name), optional.is_some());
            self.path.push(format!(".{name}"));
            // Some peers write `null` where others leave a member out.
            let Some(got) = got.get(name).filter(|got| !is_optional || got.get() != "null") else {
                if is_optional {
                    self.path.pop();
                    continue;
                }
                self.how = "is missing";
                return false;
            };
            if !self.fits(value.get(), got.get()) {
                return false;
            }
            self.path.pop();
        }
        let is_expected = |name: &String| {
            let is_optional = self.extent == Extent::Optional && expected.contains_key(&format!("{name}?"));
            self.extent == Extent::Part || expected.contains_key(name) || is_optional
        };
        let extra = got.keys().find(|name| !is_expected(name));
        if let Some(name) = extra {
            self.path.push(format!(".{name}"));
            self.how = "is not expected";
        }
        extra.is_none()
    }

    fn array(&mut self, expected: &str, got: &str) -> bool {
        type Values<'a> = Vec<&'a RawValue>;
        let (Ok(expected), Ok(got)) =
            (serde_json::from_str::<Values>(expected), serde_json::from_str::<Values>(got))
        else {
            return expected == got;
        };
        for (at, (value, got)) in expected.iter().zip(&got).enumerate() {
            self.path.push(format!("[{at}]"));
            if !self.fits(value.get(), got.get()) {
                // The path is not shortened here: it says where the first difference is.
                return false;
            }
            self.path.pop();
        }
        expected.len() == got.len()
    }
}

/// Returns what a variable with the name of a type fits.
fn of_type(name: &str) -> Option<fn(&str) -> bool> {
    Some(match name {
        "string" => |json| json.starts_with('"'),
        "boolean" => |json| matches!(json, "true" | "false"),
        "integer" => |json| json.parse::<i64>().is_ok(),
        "byte" => |json| json.parse::<u8>().is_ok(),
        "path" => |json| json.starts_with("\"/"),
        "object" => |json| json.starts_with('{'),
        "array" => |json| json.starts_with('['),
        _ => return None,
    })
}

/// The value of a number: whether it is negative, its digits without zeros at either end, and the power of ten of the last
/// digit.
fn decimal(number: &str) -> (bool, String, i64) {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let kept = digits.trim_end_matches('0');
    let dropped = i64::try_from(digits.len() - kept.len()).unwrap_or(i64::MAX);
    let behind_the_point = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let kept = kept.trim_start_matches('0');
    // `-0`, `0.0` and `0e9` are the same number, so zero has neither a sign nor an exponent.
    if kept.is_empty() {
        return (false, String::new(), 0);
    }
    let exponent: i64 = exponent.parse().unwrap_or(i64::MAX);
    (negative, kept.to_owned(), exponent.saturating_add(dropped).saturating_sub(behind_the_point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_optional_members_are_compared() {
        let fits = |expected: &str, got: &str| {
            compare(expected, got, Extent::Part).is_ok_and(|bound| bound.is_empty())
        };
        let expected = r#"{"n":"\u0000$integer","l?":"\u0000$array","o?":{"b":"\u0000$boolean"}}"#;
        for got in [r#"{"n":1}"#, r#"{"n":-1,"l":[],"o":{"b":true}}"#, r#"{"n":1,"l":null}"#] {
            assert!(fits(expected, got), "{got}");
        }
        for got in ["{}", r#"{"n":"1"}"#, r#"{"n":1.5}"#, r#"{"n":1,"l":{}}"#, r#"{"n":1,"o":{}}"#] {
            assert!(!fits(expected, got), "{got}");
        }
        assert!(fits("\"\\u0000$byte\"", "255") && !fits("\"\\u0000$byte\"", "256"));
        assert!(fits("\"\\u0000$string\"", "\"a\"") && !fits("\"\\u0000$object\"", "[]"));
    }

    #[test]
    fn only_the_optional_members_may_be_absent_and_no_others_be_there() {
        let fits = |got| compare(r#"{"a":1,"o?":{"b?":{}}}"#, got, Extent::Optional).is_ok();
        assert!([r#"{"a":1}"#, r#"{"a":1,"o":{}}"#, r#"{"a":1,"o":{"b":{}}}"#].into_iter().all(fits));
        let wrong =
            [r#"{"o":{}}"#, r#"{"a":1,"b":2}"#, r#"{"a":1,"o":{"c":{}}}"#, r#"{"a":1,"o":{"b":{"c":1}}}"#];
        assert!(!wrong.into_iter().any(fits));
    }

    fn differs(expected: &str, got: &str, extent: Extent) -> String {
        compared(expected, got, extent).unwrap_err()
    }

    fn compared(expected: &str, got: &str, extent: Extent) -> Result<Vec<(String, String)>, String> {
        compare(expected, got, extent)
    }

    #[test]
    fn spelling_does_not_count() {
        for (expected, got) in [
            (r#"{"a":1,"b":[true,null]}"#, r#" { "b" : [ true , null ], "\u0061": 1.0 } "#),
            ("100", "1e2"),
            ("0", "-0.0"),
            ("-1.50", "-15e-1"),
            (r#""é\n""#, r#""\u00e9\u000a""#),
            (r#""\ud800""#, r#""\ud800""#),
            (r#""\u0000a""#, r#""\u0000a""#),
        ] {
            assert_eq!(compared(expected, got, Extent::Whole).unwrap(), [], "{expected} {got}");
        }
    }

    #[test]
    fn the_place_of_a_difference_is_named() {
        let whole = Extent::Whole;
        assert_eq!(differs("{\"a\":{\"b\":[1,2]}}", "{\"a\":{\"b\":[1,3]}}", whole), "`a.b[1]` differs");
        assert_eq!(differs("{\"a\":1}", "{\"a\":1,\"b\":2}", whole), "`b` is not expected");
        assert_eq!(differs("{\"a\":1}", "{}", whole), "`a` is missing");
        assert_eq!(differs("[1]", "[1,2]", whole), "it differs");
        assert_eq!(differs("\"1\"", "1", whole), "it differs");
        // A text may begin as a variable does, but for the `$`.
        assert_eq!(differs(r#""\u0000a""#, r#""a""#, whole), "it differs");
        assert_eq!(differs("18446744073709551617", "18446744073709551616", whole), "it differs");
        assert!(differs("{}", "oops", whole).starts_with("no JSON"));
        assert!(compared("{\"a\":{}}", "{\"a\":{\"c\":1},\"b\":2}", Extent::Part).is_ok());
    }

    #[test]
    fn variables_are_bound_to_the_spelling() {
        let pattern = r#"{"id":"\u0000$id","of":"\u0000$name"}"#;
        let bound = compared(pattern, r#"{"id": 1.50,"of":"x"}"#, Extent::Whole).unwrap();
        assert_eq!(bound, [("id".to_owned(), "1.50".to_owned()), ("name".to_owned(), "\"x\"".to_owned())]);
    }
}
