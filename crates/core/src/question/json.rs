//! Whether JSON that a person typed fits the schema of its field, and the mistake with its path if not.
//! What a check may cost is left to `cost.rs`, reading a schema as fields to the dialects.

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value as Json;

use super::cost;
use crate::limits;

/// The drafts that a schema is tried with: that which it names, or else the newest, and those whose schemas are none in
/// the newest (`items` with a list, `exclusiveMinimum` with a flag).
const DRAFTS: [Option<Draft>; 3] = [None, Some(Draft::Draft7), Some(Draft::Draft4)];

/// How many characters of a mistake are told: it may quote the answer.
const TOLD: usize = 200;

/// Parses a text as JSON.
///
/// # Errors
/// The mistake, as a sentence whose subject is the field.
pub fn parse(text: &str) -> Result<Json, String> {
    serde_json::from_str(text).map_err(|error| {
        let hint = if text.trim_start().starts_with(['{', '[', '"']) { "" } else { "; a text needs quotes" };
        format!("must be JSON: {error}{hint}")
    })
}

/// Checks that JSON fits a schema. A schema that no draft knows, and one with references to elsewhere, takes all JSON,
/// and so does one that would take too long: the agent judges then.
///
/// # Errors
/// The mistake, as a sentence whose subject is the field. It quotes nothing of a secret.
pub fn check(schema: &Json, json: &Json, is_secret: bool) -> Result<(), String> {
    if !cost::is_cheap(schema, json) {
        return Ok(());
    }
    let Some(validator) = validator(schema) else { return Ok(()) };
    validator.validate(json).map_err(|error| describe(&error, is_secret))
}

/// Returns whether answers are checked against this schema at all.
pub fn is_checked(schema: &Json) -> bool {
    validator(schema).is_some()
}

fn validator(schema: &Json) -> Option<Validator> {
    DRAFTS.into_iter().find_map(|draft| {
        // Only this engine takes time in proportion to the text for every pattern.
        let patterns = PatternOptions::regex().size_limit(limits::SCHEMA_PATTERN);
        let options = jsonschema::options().offline().with_pattern_options(patterns);
        let options = match draft {
            Some(draft) => options.with_draft(draft),
            None => options,
        };
        options.build(schema).ok()
    })
}

fn describe(error: &ValidationError<'_>, is_secret: bool) -> String {
    let what = if is_secret { error.masked().to_string() } else { error.to_string() };
    let what = match what.char_indices().nth(TOLD) {
        Some((end, _)) => format!("{}…", &what[..end]),
        None => what,
    };
    match error.instance_path().as_str() {
        "" => format!("does not fit its schema: {what}"),
        path => format!("does not fit its schema at {path}: {what}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_mistake_says_where_it_is_and_why() {
        let schema = json!({ "type": "object", "required": ["a"],
            "properties": { "a": { "type": "array", "items": { "type": "integer" } } } });
        let told = |text: &str| parse(text).and_then(|json| check(&schema, &json, false)).err();
        assert_eq!(told(r#"{"a":[1,2]}"#), None);
        let wrong = r#"does not fit its schema at /a/1: "x" is not of type "integer""#;
        assert_eq!(told(r#"{"a":[1,"x"]}"#).as_deref(), Some(wrong));
        assert_eq!(told("{}").as_deref(), Some(r#"does not fit its schema: "a" is a required property"#));
        assert_eq!(
            told("a few").as_deref(),
            Some("must be JSON: expected value at line 1 column 1; a text needs quotes")
        );
        let told = |is_secret| check(&json!({ "type": "integer" }), &json!("hunter2"), is_secret).err();
        assert!(told(false).is_some_and(|said| said.contains("hunter2")));
        assert!(told(true).is_some_and(|said| !said.contains("hunter2")));
        let long = check(&json!({ "type": "integer" }), &json!("x".repeat(10_000)), false);
        assert!(long.is_err_and(|said| said.chars().count() < 300));
    }

    #[test]
    fn older_drafts_are_read_and_what_none_knows_takes_all() {
        let exclusive = json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true });
        assert!(check(&exclusive, &json!(2), false).is_ok() && check(&exclusive, &json!(1), false).is_err());
        let tuple = json!({ "type": "array", "items": [{ "type": "integer" }, { "type": "string" }] });
        assert!(check(&tuple, &json!([1, "a"]), false).is_ok());
        assert!(check(&tuple, &json!([1, 2]), false).is_err());
        for unknown in [
            json!({ "type": "file" }),
            json!({ "$ref": "https://example.com/schema.json" }),
            json!({ "$ref": "#/$defs/missing" }),
            json!({ "type": "string", "pattern": "(" }),
        ] {
            assert!(!is_checked(&unknown), "{unknown}");
            assert!(check(&unknown, &json!([{}]), false).is_ok(), "{unknown}");
        }
    }
}
