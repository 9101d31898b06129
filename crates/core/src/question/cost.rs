//! A bound of the steps that it takes to check JSON against a schema. An agent may send a schema whose references fan out
//! or lead back to themselves, and a check cannot be stopped once it runs.

use serde_json::Value as Json;

use crate::limits;

/// Keywords whose schemas are for the same value.
const HERE: [&str; 9] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
/// Keywords whose schemas are for the entries of the value.
const WITHIN: [&str; 11] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
/// Keywords that refer to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords for which a validator looks at the schemas beside them once more.
const AGAIN: [&str; 2] = ["unevaluatedItems", "unevaluatedProperties"];

/// How deep schemas may stand in each other, references followed.
const DEPTH: usize = 200;

/// Returns whether the check takes few enough steps. The bound is an estimate from above: it tries each schema with each
/// entry, whether it applies or not.
pub(super) fn is_cheap(schema: &Json, json: &Json) -> bool {
    Steps { root: schema, left: limits::SCHEMA_STEPS }.spend(schema, json, DEPTH).is_some()
}

struct Steps<'a> {
    root: &'a Json,
    left: usize,
}

impl<'a> Steps<'a> {
    /// Spends the steps of checking a value against a schema. Returns `None` if there are too few.
    fn spend(&mut self, schema: &'a Json, value: &Json, depth: usize) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        let Some(members) = schema.as_object() else { return Some(()) };
        let times = if AGAIN.iter().any(|keyword| members.contains_key(*keyword)) { 2 } else { 1 };
        for (keyword, below) in members {
            let keyword = keyword.as_str();
            for _ in 0..times {
                if REFERENCES.contains(&keyword) {
                    // A reference to elsewhere is not followed: no validator can be made of it.
                    let target = below.as_str().and_then(|to| to.strip_prefix('#'));
                    if let Some(target) = target.and_then(|pointer| self.root.pointer(&decoded(pointer))) {
                        self.spend(target, value, depth)?;
                    }
                } else if HERE.contains(&keyword) {
                    self.each(below, &mut |steps, schema| steps.spend(schema, value, depth))?;
                } else if WITHIN.contains(&keyword) {
                    self.each(below, &mut |steps, schema| steps.entries(schema, value, depth))?;
                }
            }
            if keyword == "uniqueItems" {
                let entries = value.as_array().map_or(0, Vec::len);
                self.left = self.left.checked_sub(entries.saturating_mul(entries))?;
            }
        }
        Some(())
    }

    fn entries(&mut self, schema: &'a Json, value: &Json, depth: usize) -> Option<()> {
        match value {
            Json::Array(entries) => entries.iter().try_for_each(|entry| self.spend(schema, entry, depth)),
            Json::Object(members) => {
                members.values().try_for_each(|member| self.spend(schema, member, depth))
            }
            _ => Some(()),
        }
    }

    /// Does this with the schema of a keyword, or with each of its schemas: in a list, or by a name.
    fn each(
        &mut self,
        below: &'a Json,
        with: &mut dyn FnMut(&mut Self, &'a Json) -> Option<()>,
    ) -> Option<()> {
        match below {
            Json::Array(schemas) => schemas.iter().try_for_each(|schema| with(self, schema)),
            Json::Object(members) => {
                with(self, below)?;
                members.values().filter(|it| it.is_object()).try_for_each(|schema| with(self, schema))
            }
            _ => Some(()),
        }
    }
}

/// Undoes the percent-encoding that a pointer may have in a reference.
fn decoded(pointer: &str) -> String {
    pointer.replace("%24", "$").replace("%20", " ").replace("%22", "\"").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_that_fan_out_or_never_end_are_too_much() {
        let again = json!({ "$ref": "#" });
        assert!(!is_cheap(&again, &json!(1)));
        let mut definitions = json!({ "d0": { "type": "string" } });
        for place in 1..30 {
            let below = json!({ "$ref": format!("#/$defs/d{}", place - 1) });
            definitions[format!("d{place}")] = json!({ "anyOf": [below, below] });
        }
        let fans = json!({ "$defs": definitions, "$ref": "#/$defs/d29" });
        assert!(!is_cheap(&fans, &json!(1)));
    }

    #[test]
    fn a_tree_and_a_long_list_are_few_steps() {
        let tree = json!({ "type": "object", "properties": {
            "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#" } } } });
        let leaf = json!({ "name": "x", "children": [] });
        let value = json!({ "name": "a", "children": [leaf, { "name": "b", "children": [leaf, leaf] }] });
        assert!(is_cheap(&tree, &value));
        let list = json!({ "type": "array", "items": { "type": "integer" } });
        assert!(is_cheap(&list, &Json::from((0..1000).collect::<Vec<_>>())));
        let unique = json!({ "type": "array", "uniqueItems": true });
        assert!(!is_cheap(&unique, &Json::from((0..10_000).collect::<Vec<_>>())));
    }
}
