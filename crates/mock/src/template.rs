//! Requests as JSON templates, in which `{{name}}` stands for a value that is known only when the mock agent asks. The
//! templates are in `requests`, one file for each dialect. The choice of the file is left to `dialects` and
//! `permissions`.

use serde_json::Value;

/// Returns the template with these values in the place of their names, escaped as parts of JSON strings.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, (name, after))) =
        rest.split_once("{{").and_then(|(before, named)| Some((before, named.split_once("}}")?)))
    {
        filled.push_str(before);
        let value =
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| Value::from(*value).to_string());
        filled.push_str(
            value.as_deref().and_then(|value| value.strip_prefix('"')?.strip_suffix('"')).unwrap_or(name),
        );
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_and_not_filled_again() {
        let template = r#"{"a":{"cwd":"{{cwd}}/x","b":["{{id}}{{id}}"]},"c":{"d":{}}}"#;
        let filled = fill(template, &[("cwd", r#"/a "{{id}}\"#), ("id", "1")]);
        assert_eq!(filled, r#"{"a":{"cwd":"/a \"{{id}}\\/x","b":["11"]},"c":{"d":{}}}"#);
    }
}
